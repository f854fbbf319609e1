"""The aligning cross-encoder with a token head, in PyTorch: one class for both encoders.

Soft alignment of the words of references and answer is that of Parikh et al. (2016).

* The encoder is written out here (post-norm transformer, relative position bias where the encoder
  has one), so that attention runs through `scaled_dot_product_attention` and activations stay in
  bfloat16 while trained weights stay in float32. Autocast would keep the residual stream in
  float32, at half of the speed.
* Linear layers of the encoder are frozen, each with a low-rank addition that is trained (LoRA: Hu
  et al. 2021).
* A token head marks words of the answer that contradict the references. The highest mark and the
  mean of the marks are inputs of the verdict head.

A sequence is `cls question sep references sep answer sep`, padded at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

COMPARED, HIDDEN, MARKING = 192, 256, 128
"""Widths of the comparison of two words, of the verdict's hidden layer, of the token head's."""
SHARPNESS = 12.0
"""Factor of cosines before the softmax that selects the most similar words."""
LINEARS = ("q", "k", "v", "o", "inner", "outer")
QUESTION_MOST = 96
"""Most tokens read of a question: some contain a whole passage."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Sizes of an encoder, and the ids of its special tokens."""

    layers: int
    width: int
    heads: int
    epsilon: float
    pad: int
    cls: int
    sep: int
    rank: int
    """Of the low-rank additions."""
    longest: int
    """Most tokens of a sequence."""

    def as_dict(self) -> dict[str, Any]:
        """Its fields, for a JSON file."""
        return asdict(self)


def cut(question: Any, references: Any, answer: Any, longest: int) -> tuple[Any, Any, Any]:
    """How many tokens of each text are read; the longer of references and answer is cut first.

    Takes and returns numbers, or integer arrays of shape (rows,).
    """
    question = np.minimum(question, QUESTION_MOST)
    room = longest - 4 - question
    half = room // 2
    read = np.minimum(references, np.maximum(half, room - answer))
    return question, read, np.minimum(answer, room - read)


def relative_buckets(length: int, buckets: int = 32, furthest: int = 128) -> Tensor:
    """Buckets of relative positions as MPNet has them (T5's), shape (length, length)."""
    position = torch.arange(length)
    distance = position[:, None] - position[None, :]
    half = buckets // 2
    direction = (distance < 0).long() * half
    distance = distance.abs()
    exact = half // 2
    relative = torch.log(distance.clamp(min=1).float() / exact) / math.log(furthest / exact)
    far = exact + (relative * (half - exact)).long()
    return direction + torch.where(distance < exact, distance, far.clamp(max=half - 1))


def dropped(x: Tensor, share: float, training: bool) -> Tensor:
    """Inverted dropout; on a CPU the choice is by bytes, whose draw is ten times as fast."""
    if not training or not share:
        return x
    if x.is_cuda:
        return functional.dropout(x, share, training)
    drawn = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    remains = drawn.view(torch.uint8)[: x.numel()].view(x.shape) >= round(256 * share)
    return x * (remains / (1 - round(256 * share) / 256)).to(x.dtype)


class Linear(nn.Module):
    """A frozen linear layer with a low-rank addition."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.down = nn.Parameter(torch.empty(rank, weight.shape[1]))
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        kind = x.dtype
        y = functional.linear(x, self.weight.to(kind), self.bias.to(kind))
        return y + functional.linear(functional.linear(x, self.down.to(kind)), self.up.to(kind))

    def merged(self) -> nn.Linear:
        """A plain layer in float32 whose weights have the addition in them."""
        with torch.no_grad():
            layer = nn.Linear(self.weight.shape[1], self.weight.shape[0])
            layer.weight.copy_(self.weight.float() + self.up.float() @ self.down.float())
            layer.bias.copy_(self.bias.float())
        return layer


class Norm(nn.Module):
    """Layer norm, frozen."""

    def __init__(self, weight: Tensor, bias: Tensor, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        weight, bias = self.weight.to(x.dtype), self.bias.to(x.dtype)
        return functional.layer_norm(x, weight.shape, weight, bias, self.epsilon)


class Block(nn.Module):
    """One post-norm transformer layer."""

    def __init__(self, tensors: Mapping[str, Tensor], name: str, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        for linear in LINEARS:
            weight, bias = tensors[f"{name}.{linear}.weight"], tensors[f"{name}.{linear}.bias"]
            setattr(self, linear, Linear(weight, bias, shape.rank))
        for norm in ("attention_norm", "output_norm"):
            weight, bias = tensors[f"{name}.{norm}.weight"], tensors[f"{name}.{norm}.bias"]
            setattr(self, norm, Norm(weight, bias, shape.epsilon))

    def forward(self, x: Tensor, mask: Tensor, dropout: float) -> Tensor:
        pairs, length, width = x.shape

        def split(y: Tensor) -> Tensor:
            return y.view(pairs, length, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        if x.is_cuda or not self.training:
            attended = functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, dropout_p=dropout
            )
        else:  # PyTorch's kernel for a CPU takes five times as long, most of it backwards
            shares = (q @ k.transpose(2, 3) * q.shape[-1] ** -0.5 + mask).softmax(-1)
            attended = dropped(shares, dropout, training=True) @ v
        attended = self.o(attended.transpose(1, 2).reshape(pairs, length, width))
        x = self.attention_norm(x + dropped(attended, dropout, self.training))
        inner = functional.gelu(self.inner(x))
        outer = dropped(self.outer(inner), dropout, self.training)
        return self.output_norm(x + outer)


class Encoder(nn.Module):
    """Word and position vectors (frozen) and the blocks over them."""

    def __init__(self, tensors: Mapping[str, Tensor], shape: Shape, kind: torch.dtype) -> None:
        super().__init__()
        self.shape, self.kind, self.dropout = shape, kind, 0.1
        for name in ("words", "places"):
            self.register_buffer(name, tensors[name].to(kind))
        self.norm = Norm(
            tensors["embedding_norm.weight"], tensors["embedding_norm.bias"], shape.epsilon
        )
        blocks = [Block(tensors, f"layer.{number}", shape) for number in range(shape.layers)]
        self.blocks = nn.ModuleList(blocks)
        bias = None
        if "relative" in tensors:
            bias = (
                tensors["relative"][relative_buckets(shape.longest + 8)].permute(2, 0, 1).to(kind)
            )
        self.register_buffer("bias", bias)

    def forward(self, ids: Tensor) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        length = ids.shape[1]
        x = self.norm(self.words[ids] + self.places[:length])
        x = dropped(x, dropout, self.training)
        # Added to the attention scores: minus infinity would give NaN on rows without words.
        mask = torch.zeros(ids.shape, dtype=self.kind, device=ids.device)
        mask = mask.masked_fill(ids == self.shape.pad, -1e4)[:, None, None, :]
        if self.bias is None:
            mask = mask.expand(-1, -1, length, -1)
        else:
            mask = (mask + self.bias[:, :length, :length]).contiguous()
        for block in self.blocks:
            x = block(x, mask, dropout)
        return x


def unit(vectors: Tensor) -> Tensor:
    """Vectors of length 1."""
    return functional.normalize(vectors, dim=-1)


def contrast(left: Tensor, right: Tensor, scale: float) -> list[Tensor]:
    """Two vectors, their absolute difference and their product: the inputs of a comparison."""
    product = left * right * scale * scale
    return [left * scale, right * scale, (left - right).abs() * scale, product]


class Aligning(nn.Module):
    """Encoder, soft alignment of references and answer, token head and verdict."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.shape.width
        self.scale = width**0.5
        self.compare = nn.Linear(4 * width, COMPARED)
        self.marking = nn.Linear(width + COMPARED, MARKING)
        self.mark = nn.Linear(MARKING, 1)
        self.hidden = nn.Linear(4 * COMPARED + 5 * width + 4 + 2, HIDDEN)
        self.drop = nn.Dropout(0.1)
        self.classifier = nn.Linear(HIDDEN, 1)
        nn.init.constant_(self.mark.bias, -3.0)  # few words are wrong

    def parts(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Masks of the tokens of the references and of the answer, each of the shape of `ids`."""
        valid = ids != self.encoder.shape.pad
        ends = (ids == self.encoder.shape.sep).long()
        segment = torch.cumsum(ends, 1) - ends
        inner = valid & (ends == 0)
        return inner & (segment == 1), inner & (segment == 2)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Log-odds that an answer is right (rows,) and that a token is wrong (rows, tokens).

        Values of tokens outside the answer have no meaning.
        """
        x = self.encoder(ids).float()
        reference_words, answer_words = self.parts(ids)
        means = [
            unit((x * part.unsqueeze(-1)).sum(1) / part.sum(1, keepdim=True).clamp(min=1))
            for part in (answer_words.float(), reference_words.float())
        ]
        words = unit(x)
        similarity = torch.bmm(words, words.transpose(1, 2)) * SHARPNESS
        first, _compared = self.side(words, similarity, reference_words, answer_words)
        second, compared = self.side(words, similarity, answer_words, reference_words)
        marks = self.mark(
            functional.gelu(self.marking(self.drop(torch.cat([x, compared], -1))))
        ).squeeze(-1)
        worst = marks.masked_fill(~answer_words, -10.0).amax(1, keepdim=True).clamp(-10, 10) / 5
        count = answer_words.sum(1, keepdim=True).clamp(min=1)
        share = (marks.sigmoid() * answer_words).sum(1, keepdim=True) / count
        features = torch.cat(
            [*first, *second, *contrast(means[0], means[1], self.scale), x[:, 0], worst, share], -1
        )
        hidden = functional.gelu(self.hidden(features))
        return self.classifier(self.drop(hidden)).squeeze(-1), marks

    def side(
        self, words: Tensor, similarity: Tensor, own: Tensor, other: Tensor
    ) -> tuple[list[Tensor], Tensor]:
        """Each word of `own` compared with the most similar of `other`: pooled, and by word."""
        attention = similarity.masked_fill(~other.unsqueeze(1), -1e4).softmax(-1)
        partner = torch.bmm(attention, words)
        compared = self.compare(torch.cat(contrast(words, partner, self.scale), -1))
        compared = functional.gelu(compared)
        cosine, mask = (words * partner).sum(-1), own.unsqueeze(-1)
        count = own.sum(1, keepdim=True).clamp(min=1)
        return [
            (compared * mask).sum(1) / count,
            compared.masked_fill(~mask, -1e4).amax(1).clamp(min=-1),
            cosine.masked_fill(~own, 2.0).amin(1, keepdim=True).clamp(max=1.0),
            (cosine * own).sum(1, keepdim=True) / count,
        ], compared


def trained_state(network: Aligning) -> dict[str, Tensor]:
    """The tensors that training changes: adapters and heads."""
    return {name: tensor.detach() for name, tensor in network.named_parameters()}


def load_trained(network: Aligning, tensors: Mapping[str, Any]) -> None:
    """Put the tensors that `trained_state` returns into a network.

    Raises:
        ValueError: a tensor is missing, or is not one of the network's.
    """
    parameters = dict(network.named_parameters())
    unmatched = set(parameters) ^ set(tensors)
    if unmatched:
        raise ValueError(f"in the network or in the file only: {sorted(unmatched)}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(torch.as_tensor(np.asarray(tensors[name])))


def build(
    arrays: Mapping[str, np.ndarray], shape: Shape, kind: torch.dtype, device: str
) -> Aligning:
    """A network over the tensors of an encoder, with fresh adapters and heads.

    Args:
        arrays: tensors of the encoder, in float32, as `recipes.encoder.weights` names them.
        shape: sizes of the encoder.
        kind: of activations and of frozen weights; what is trained is float32.
        device: as PyTorch names it.
    """
    tensors = {name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in arrays.items()}
    tensors = {
        name: tensor.to(kind) if name.startswith("layer.") else tensor
        for name, tensor in tensors.items()
    }
    network = Aligning(Encoder(tensors, shape, kind))
    network.to(device)
    return network
