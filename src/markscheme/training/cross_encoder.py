"""Fine-tuning a cross-encoder on (question, references, answer), in steps that can be resumed.

    python -m markscheme.training.cross_encoder DATA.parquet OUT --encoder FOLDER [--steps 200]

A step is one batch of pairs of about equal length. `OUT/checkpoint.pt` holds weights, optimiser and
step; started again with the same arguments, training goes on where it stopped and gives the weights
that an unbroken run gives. When all steps are done, `OUT/torch` has the model for transformers and
`OUT/onnx` the 8-bit graph that `OnnxPairClassifier` runs without torch.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import MissingExtraError
from markscheme.training.export_onnx import export

Say = Callable[[str], None]
Example = tuple[list[int], list[int], float, float]
"""Token ids, token types, label and weight of a pair."""

_REFERENCES, _ANSWER = 700, 1600
"""Characters read of all references and of the answer."""
LABELS = {0: "accepted"}


@dataclass(frozen=True, kw_only=True)
class CrossEncoderOptions:
    """How a cross-encoder is fine-tuned.

    Attributes:
        encoder: a folder of a BERT-shaped model that transformers opens, or a name on the hub.
        epochs: times that every pair is seen.
        tokens: tokens of a batch, padding counted.
        longest: tokens kept of a pair.
        rate: the highest learning rate, reached after `warmup` of the steps, then falling to 2%.
        warmup: share of the steps in which the rate rises.
        decay: weight decay of matrices.
        save_every: steps between checkpoints.
        threads: of torch; with one, a busy machine does not make threads wait for each other.
        seed: of order, new weights and dropout.
    """

    encoder: str
    epochs: int = 4
    tokens: int = 2400
    longest: int = 256
    rate: float = 2e-4
    warmup: float = 0.05
    decay: float = 0.01
    save_every: int = 100
    threads: int = 1
    seed: int = 0


def pair_of(question: str, references: Sequence[str], answer: str) -> tuple[str, str]:
    """The two texts that the cross-encoder reads: question with references, and answer."""
    return f"{question} [SEP] {' ; '.join(references)[:_REFERENCES]}", answer[:_ANSWER]


def train_cross_encoder(
    answers: pl.DataFrame,
    folder: Path,
    options: CrossEncoderOptions,
    *,
    steps: int | None = None,
    say: Say = print,
) -> bool:
    """Take training on by `steps` steps (all that are left where None), and save a checkpoint.

    Args:
        answers: question, references, answer, label (0.5 and more is accepted) and, if there, how
            much each row counts (`weight`).
        folder: where checkpoint and weights go; made if it is not there.
        options: how to train; a checkpoint of other options or rows is refused.
        steps: most steps of this call.
        say: told of the loss now and then.

    Returns:
        Whether all steps are done and the model is exported.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        ValueError: the checkpoint was made with other options or rows.
    """
    try:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("fine-tuning a cross-encoder", "hf") from error
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(options.encoder)
    model = AutoModelForSequenceClassification.from_pretrained(
        options.encoder, num_labels=1, id2label=LABELS, label2id={"accepted": 0}
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).train()
    examples = [_example(tokenizer, row, options.longest) for row in answers.to_dicts()]
    plan = [one for epoch in range(options.epochs) for one in _batches(examples, options, epoch)]
    optimiser = _optimiser(model, options)
    made = f"{options} {len(examples)} rows"
    path, first = folder / "checkpoint.pt", 0
    if path.is_file():
        state = torch.load(path, weights_only=True, map_location=device)
        if state["made"] != made:
            raise ValueError(f"{path} was made with {state['made']}, not with {made}")
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        first = state["step"]

    def checkpoint(step: int) -> None:
        state = {"made": made, "step": step, "model": model.state_dict(),
                 "optimiser": optimiser.state_dict()}  # fmt: skip
        torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    last = len(plan) if steps is None else min(len(plan), first + steps)
    loss_sum = 0.0
    for step in range(first, last):
        torch.manual_seed(options.seed * 1_000_003 + step)  # dropout, the same after a resumption
        for group in optimiser.param_groups:
            group["lr"] = options.rate * _slope(step / len(plan), options.warmup)
        loss = _loss(model, [examples[row] for row in plan[step]])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        loss_sum += loss.item()
        if (step + 1) % options.save_every == 0 and step + 1 < last:
            checkpoint(step + 1)
            say(f"step {step + 1:,} of {len(plan):,}, loss {loss_sum / (step + 1 - first):.3f}")
    checkpoint(last)
    if last < len(plan):
        say(f"stopped at step {last:,} of {len(plan):,}; the same command goes on")
        return False
    model.eval()
    model.save_pretrained(folder / "torch")
    tokenizer.save_pretrained(folder / "torch")
    export(folder / "torch", folder / "onnx", positions=options.longest)
    say(f"exported to {folder / 'onnx'}")
    return True


def _optimiser(model: Any, options: CrossEncoderOptions) -> Any:
    """AdamW whose decay leaves vectors alone; the rate is set at each step."""
    import torch

    named = list(model.named_parameters())
    matrices = [one for _, one in named if one.ndim > 1]
    vectors = [one for _, one in named if one.ndim <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": options.decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=1.0,
    )


def _example(tokenizer: Any, row: dict[str, Any], longest: int) -> Example:
    left, right = pair_of(row["question"], row["references"], row["answer"])
    found = tokenizer(left, right, truncation="longest_first", max_length=longest)
    types = found.get("token_type_ids") or [0] * len(found["input_ids"])
    return found["input_ids"], types, float(row["label"] >= 0.5), float(row.get("weight") or 1.0)


def _batches(
    examples: Sequence[Example], options: CrossEncoderOptions, epoch: int
) -> list[list[int]]:
    """The rows of each batch of an epoch: of about equal length, in an order of its own."""
    drawn = random.Random(f"{options.seed} {epoch}")
    order = list(range(len(examples)))
    drawn.shuffle(order)
    found: list[list[int]] = []
    for start in range(0, len(order), 1024):
        rows = sorted(order[start : start + 1024], key=lambda row: len(examples[row][0]))
        while rows:
            size = max(4, options.tokens // len(examples[rows[-1]][0]))
            found.append(rows[-size:])
            del rows[-size:]
    drawn.shuffle(found)
    return found


def _slope(done: float, warmup: float) -> float:
    """Share of the highest rate after a share of the steps."""
    return done / warmup if done < warmup else max(0.02, (1 - done) / (1 - warmup))


def _loss(model: Any, rows: Sequence[Example]) -> Any:
    """Weighted mean of the binary cross entropy of padded pairs, in nats."""
    import torch

    longest = max(len(row[0]) for row in rows)
    fed = {
        name: torch.zeros(len(rows), longest, dtype=torch.long)
        for name in ("input_ids", "token_type_ids", "attention_mask")
    }
    for place, (ids, types, _label, _weight) in enumerate(rows):
        fed["input_ids"][place, : len(ids)] = torch.tensor(ids)
        fed["token_type_ids"][place, : len(ids)] = torch.tensor(types)
        fed["attention_mask"][place, : len(ids)] = 1
    device = model.device
    labels, weights = (torch.tensor([row[i] for row in rows], device=device) for i in (2, 3))
    with torch.autocast(device.type, torch.bfloat16):
        logits = model(**{name: one.to(device) for name, one in fed.items()}).logits.squeeze(-1)
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        logits.float(), labels, weight=weights, reduction="sum"
    )
    return losses / weights.sum()


def main() -> None:
    """Train from the command line; run it again to go on."""
    parser = argparse.ArgumentParser(description="Fine-tune a cross-encoder in resumable steps.")
    parser.add_argument("data", type=Path, help="Parquet: question, references, answer, label")
    parser.add_argument("out", type=Path)
    parser.add_argument("--encoder", required=True, help="folder or hub name")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, help="most steps of this run")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    options = CrossEncoderOptions(encoder=given.encoder, epochs=given.epochs, threads=given.threads)
    train_cross_encoder(pl.read_parquet(given.data), given.out, options, steps=given.steps)


if __name__ == "__main__":
    main()
