"""Low-rank adapters (LoRA, Hu et al. 2021) for a causal model: batches, steps, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson

from markscheme_research.judges.finetuned import ADAPTER, Causal, Encoded, adapting
from markscheme_research.transformers_models import lora_library

Bar = Callable[[str, int], AbstractContextManager[Callable[[int, str], None]]]
"""Opens a progress bar (name, steps); what it gives is called with the steps done and a note."""

CONFIG = "adapter_config.json"

_NOT_TOLD = -100
"""The label of tokens that are given, not learned, as torch's cross entropy has it."""
_SORTED_TOGETHER = 32
"""Batches whose rows are sorted by length: enough for little padding, few enough for chance."""


@dataclass(frozen=True, kw_only=True)
class LoraOptions:
    """How adapters are trained; the paper prints none of these, so they are common choices.

    Attributes:
        epochs: how often every example is seen.
        steps: updates of the weights, whatever `epochs` says; none uses `epochs`.
        batch: examples run together.
        accumulate: batches whose gradients are added up for an update.
        rate: highest learning rate.
        schedule: `linear`: the rate rises over a tenth of the steps and then falls to nought;
            `constant`: it is the same throughout.
        decay: of the weights (AdamW's).
        clip: largest norm of the gradients.
        rank, scale, dropout: of the adapters, which go on every linear layer but the last.
        seed: of the adapters' first values, the order of examples and the dropout.
    """

    epochs: int = 2
    steps: int | None = None
    batch: int = 8
    accumulate: int = 2
    rate: float = 2e-4
    schedule: Literal["linear", "constant"] = "linear"
    decay: float = 0.0
    clip: float = 1.0
    rank: int = 16
    scale: int = 32
    dropout: float = 0.05
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A trained adapter that has not been saved yet.

    `losses` are means in nats over the learned tokens of each update.
    """

    tensors: dict[str, Any]
    config: dict[str, Any]
    losses: list[float]

    def save(self, folder: Path) -> None:
        """Write it as the peft library reads it; equal adapters give equal bytes."""
        torch_files = lora_library("safetensors.torch")
        folder.mkdir(parents=True, exist_ok=True)
        # Through bytes, since a file that the library writes only its owner may read.
        (folder / ADAPTER).write_bytes(torch_files.save(self.tensors, metadata={"format": "pt"}))
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
        (folder / CONFIG).write_bytes(orjson.dumps(self.config, option=options))


def adapted(causal: Causal, options: LoraOptions) -> Any:
    """The model with a fresh adapter on it; the model itself is changed in place.

    Raises:
        MissingExtraError: torch or peft is not installed.
    """
    torch, peft = lora_library("torch"), lora_library("peft")
    torch.manual_seed(options.seed)
    config = peft.LoraConfig(
        r=options.rank,
        lora_alpha=options.scale,
        lora_dropout=options.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    with adapting():
        model = causal.model
        if getattr(model, "is_loaded_in_4bit", False):
            model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
        return peft.get_peft_model(model, config)


def fit(
    model: Any,
    examples: Sequence[Encoded],
    options: LoraOptions,
    *,
    name: str = "training",
    progress: Bar | None = None,
) -> Adapter:
    """Train the adapter of a model on what follows each prompt, and nothing else.

    Args:
        model: of `adapted`.
        examples: at least one.
        options: how.
        name: what the progress bar says.
        progress: opens one.

    Returns:
        The adapter; the model has it too and is left ready for predictions.
    """
    torch, peft = lora_library("torch"), lora_library("peft")
    lengths = np.array([len(one.ids) for one in examples])
    batches = -(-len(examples) // options.batch)
    steps = options.steps or options.epochs * -(-batches // options.accumulate)
    weights = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=options.rate, weight_decay=options.decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 1.0 if options.schedule == "constant" else _rate(step, steps)
    )
    losses: list[float] = []
    model.train()
    bar = progress(name, steps) if progress else nullcontext(lambda _count, _note: None)
    with bar as advance:
        for group in updates(lengths, options, steps):
            target_tokens = sum(examples[row].target_tokens for batch in group for row in batch)
            total = 0.0
            for batch in group:
                loss = _loss(model, [examples[row] for row in batch]) / target_tokens
                loss.backward()
                total += loss.item()
            torch.nn.utils.clip_grad_norm_(weights, options.clip)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(total)
            advance(1, f"loss {total:.3f}")
    model.eval()
    tensors = {
        key: value.detach().float().cpu().contiguous().clone()
        for key, value in peft.get_peft_model_state_dict(model, save_embedding_layers=False).items()
    }
    return Adapter(tensors=tensors, config=_config(model), losses=losses)


def updates(lengths: Any, options: LoraOptions, steps: int) -> Iterator[list[Any]]:
    """For each update its batches, for each batch its rows: seeded, rows of like length together.

    Every row is seen once before any is seen again.

    Args:
        lengths: of each row, an array of integers.
        options: how many rows are together, and the seed.
        steps: how many updates.

    Yields:
        A list of batches, each an array of rows.
    """
    rng = np.random.default_rng(options.seed)
    done = 0
    while True:
        order = rng.permutation(len(lengths))
        size = options.batch * _SORTED_TOGETHER
        batches = []
        for start in range(0, len(order), size):
            part = order[start : start + size]
            part = part[np.argsort(lengths[part], kind="stable")]
            batches += [part[at : at + options.batch] for at in range(0, len(part), options.batch)]
        shuffled = [batches[place] for place in rng.permutation(len(batches))]
        for start in range(0, len(shuffled), options.accumulate):
            if done == steps:
                return
            done += 1
            yield shuffled[start : start + options.accumulate]


def _rate(step: int, steps: int) -> float:
    warming = max(1, round(0.1 * steps))
    if step < warming:
        return (step + 1) / warming
    return max(0.0, (steps - step) / max(1, steps - warming))


def _loss(model: Any, rows: Sequence[Encoded]) -> Any:
    """Sum of the cross entropy of the learned tokens, in nats."""
    import torch

    longest = max(len(one.ids) for one in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask, labels = torch.zeros_like(ids), torch.full_like(ids, _NOT_TOLD)
    for row, one in enumerate(rows):
        size = len(one.ids)
        ids[row, :size] = torch.tensor(one.ids)
        mask[row, :size] = 1
        labels[row, size - one.target_tokens : size] = ids[row, size - one.target_tokens : size]
    # Only places before a learned token need an output: most of the memory would go into the rest.
    places = (labels[:, 1:] != _NOT_TOLD).any(dim=0).nonzero()[:, 0]
    device = model.device
    logits = model(
        input_ids=ids.to(device), attention_mask=mask.to(device), logits_to_keep=places.to(device)
    ).logits
    wanted = labels[:, places + 1].to(device)
    return torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), wanted.flatten(), ignore_index=_NOT_TOLD, reduction="sum"
    )


def _config(model: Any) -> dict[str, Any]:
    """The adapter's configuration; sets become sorted lists, so that equal ones look equal."""
    found = model.peft_config["default"].to_dict() | {"inference_mode": True}
    return {key: sorted(value) if isinstance(value, set) else value for key, value in found.items()}
