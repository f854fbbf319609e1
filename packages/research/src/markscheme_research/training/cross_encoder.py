r"""Fine-tuning a cross-encoder on (question, references, answer), in steps that can be resumed.

    python -m markscheme_research.training.cross_encoder DATA.parquet OUT --encoder FOLDER \
        [--steps 200]

A step is one batch of pairs of about equal length. `OUT/checkpoint.pt` holds weights, optimiser and
step; started again with the same arguments, training resumes where it stopped and gives the weights
that an unbroken run gives. When all steps are done, `OUT/torch` has the tensors and `OUT/onnx` the
8-bit graph that `OnnxPairClassifier` runs without torch.

The encoder reads question, references and answer as one sequence. Over its last layer every word
of the references is compared with the words of the answer that are most like it, and the other way
round (after Parikh et al. 2016, "A Decomposable Attention Model"); what the comparisons say is
pooled by mean and by maximum. The usual head over the first token alone learned nothing from 20,000
minimal pairs: answers that look alike give it alike first tokens.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.contract import Lineage
from markscheme.errors import MissingExtraError, ModelError
from markscheme.judges.examiner import open_weights, pair_of
from markscheme.models.local import positions
from markscheme_research.training.export_onnx import RUN, export
from markscheme_research.training.exported_weights import read_exported

Say = Callable[[str], None]
Example = tuple[list[int], float, float]
"""Token ids, label and weight of a pair."""

SHIPPED = "shipped"
"""Names the examiner's own cross-encoder as the one to train further."""
_MARKS = ("pad", "sep", "cls", "unk", "mask")
COMPARED, HIDDEN = 192, 256
"""Width of a comparison of two words, and of the layer that reads all of them."""
SHARPNESS = 12.0
"""What cosines are multiplied by before the softmax that picks the most alike words."""


@dataclass(frozen=True, kw_only=True)
class CrossEncoderOptions:
    """How a cross-encoder is fine-tuned.

    Attributes:
        encoder: a folder of a BERT-shaped model that transformers opens, a name on the hub, or
            `shipped`: the examiner's own cross-encoder, which is trained further.
        epochs: times that every pair is seen, after those of the column `first`.
        tokens: tokens of a batch, padding counted.
        longest: tokens read of a pair at most.
        rate: the highest learning rate of the encoder, reached after `warmup` of the steps, then
            falling to 2%; the new layers learn five times as fast.
        warmup: share of the steps in which the rate rises.
        decay: weight decay of matrices.
        save_every: steps between checkpoints.
        threads: of torch; with one, a busy machine does not make threads wait for each other.
        seed: of order, new weights and dropout.
    """

    encoder: str
    epochs: int = 3
    tokens: int = 2000
    longest: int = 160
    rate: float = 1e-4
    warmup: float = 0.02
    decay: float = 0.01
    save_every: int = 100
    threads: int = 1
    seed: int = 0


def positions_read(encoder: str) -> int | None:
    """Most tokens that an encoder reads; None where it does not say, or cannot be opened."""
    if encoder == SHIPPED:
        return positions(open_weights(None).cross_encoder)
    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise MissingExtraError("fine-tuning a cross-encoder", "hf") from error
    try:
        found = getattr(AutoConfig.from_pretrained(encoder), "max_position_embeddings", None)
    except (OSError, ValueError):
        return None  # named as an error where it is opened to be trained
    return None if found is None else int(found)


def aligning_network(encoder: str, longest: int) -> tuple[Any, Any]:
    """A torch module over a BERT-shaped encoder that gives one logit a pair, and its tokenizer.

    Its forward pass takes token ids of shape (pairs, tokens), padded with 0. Segments are marked by
    the separators: question, references, answer. Of `shipped` the compared words' layers come
    trained too; of others they are new.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        ModelError: it cannot be opened, is not BERT-shaped, reads fewer tokens than
            `longest`, or its tokenizer has no separator.
    """
    try:
        import torch
        from torch import nn
        from transformers import (
            AutoConfig,
            AutoModel,
            AutoTokenizer,
            BertConfig,
            BertModel,
            PreTrainedTokenizerFast,
        )
    except ImportError as error:
        raise MissingExtraError("fine-tuning a cross-encoder", "hf") from error
    trained: dict[str, Any] = {}
    try:
        if encoder == SHIPPED:
            folder = open_weights(None).cross_encoder
            exported = read_exported(folder)
            shape, trained = BertConfig(**exported.shape), exported.tensors
        else:
            shape = AutoConfig.from_pretrained(encoder)
        if shape.model_type != "bert" or shape.hidden_size % RUN:
            raise ModelError(
                f"{encoder} is of type {shape.model_type}; choose an encoder of type bert whose "
                f"hidden size is a multiple of {RUN}, such as google-bert/bert-base-uncased"
            )
        if shape.max_position_embeddings < longest:
            raise ModelError(
                f"{encoder} reads {shape.max_position_embeddings} tokens at most; choose an "
                f"encoder that reads {longest}"
            )
        if encoder == SHIPPED:
            marks = {f"{name}_token": f"[{name.upper()}]" for name in _MARKS}
            tokenizer = PreTrainedTokenizerFast(
                tokenizer_file=str(folder / "tokenizer.json"), **marks
            )
            bert = BertModel(shape, add_pooling_layer=False)
        else:
            tokenizer = AutoTokenizer.from_pretrained(encoder)
            bert = AutoModel.from_pretrained(encoder, add_pooling_layer=False)
    except (OSError, ValueError) as error:
        said = " ".join(str(error).split())
        raise ModelError(
            f"no encoder can be opened from {encoder}; give a folder with config.json, weights and "
            f"tokenizer.json, or a name on the hub ({said})"
        ) from None
    separator = tokenizer.sep_token_id
    if separator is None:
        raise ModelError(f"the tokenizer of {encoder} has no separator; choose a BERT-shaped model")

    def unit(vectors: Any) -> Any:
        return nn.functional.normalize(vectors, dim=-1)

    def contrast(one: Any, other: Any, scale: float) -> list[Any]:
        return [
            one * scale, other * scale, (one - other).abs() * scale, one * other * scale * scale
        ]  # fmt: skip

    class Aligning(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert = bert
            width = self.bert.config.hidden_size
            self.scale = width**0.5
            self.compare = nn.Linear(4 * width, COMPARED)
            self.hidden = nn.Linear(4 * COMPARED + 5 * width + 4, HIDDEN)
            self.drop = nn.Dropout(0.1)
            self.classifier = nn.Linear(HIDDEN, 1)

        def forward(self, ids: Any) -> Any:
            there = (ids != 0).long()
            x = self.bert(input_ids=ids, attention_mask=there).last_hidden_state.float()
            ends = (ids == separator).long()
            segment = torch.cumsum(ends, 1) - ends
            wanted, said = (
                ((there == 1) & (ends == 0) & (segment == number)).float() for number in (1, 2)
            )
            means = [
                unit((x * part.unsqueeze(-1)).sum(1) / part.sum(1, keepdim=True).clamp(min=1))
                for part in (said, wanted)
            ]
            words = unit(x)
            alike = torch.bmm(words, words.transpose(1, 2)) * SHARPNESS
            sides = [*self.side(words, alike, wanted, said), *self.side(words, alike, said, wanted)]
            seen = torch.cat([*sides, *contrast(means[0], means[1], self.scale), x[:, 0]], -1)
            hidden = nn.functional.gelu(self.hidden(seen))
            return self.classifier(self.drop(hidden)).squeeze(-1)

        def side(self, words: Any, alike: Any, own: Any, other: Any) -> list[Any]:
            """Every word of `own` alongside what in `other` is most like it; mean and maximum."""
            chosen = alike.masked_fill(other.unsqueeze(1) < 0.5, -1e4).softmax(-1)
            partner = torch.bmm(chosen, words)
            compared = self.compare(torch.cat(contrast(words, partner, self.scale), -1))
            compared = nn.functional.gelu(compared)
            cosine, mask = (words * partner).sum(-1), own.unsqueeze(-1)
            count = own.sum(1, keepdim=True).clamp(min=1)
            return [
                (compared * mask).sum(1) / count,
                compared.masked_fill(mask < 0.5, -1e4).amax(1).clamp(min=-1),
                cosine.masked_fill(own < 0.5, 2.0).amin(1, keepdim=True).clamp(max=1.0),
                (cosine * own).sum(1, keepdim=True) / count,
            ]

    network = Aligning()
    if trained:
        inner = ("embeddings.", "encoder.")
        tensors = {
            f"bert.{name}" if name.startswith(inner) else name: torch.from_numpy(tensor)
            for name, tensor in trained.items()
        }
        network.load_state_dict(tensors)
    return network, tokenizer


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
            much each row counts (`weight`) and whether it is seen once before all others (`first`):
            plain rows first teach the encoder what an answer is; on minimal pairs alone the loss
            stays at that of a coin.
        folder: where checkpoint and weights go; made if it is not there.
        options: how to train; a checkpoint of other options or rows is refused.
        steps: most steps of this call.
        say: called with the loss now and then.

    Returns:
        Whether all steps are done and the model is exported.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        ModelError: the encoder cannot be used.
        ValueError: the checkpoint was made with other options or rows.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("fine-tuning a cross-encoder", "hf") from error
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer = aligning_network(options.encoder, options.longest)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device).train()
    examples = [_example(tokenizer, row, options.longest) for row in answers.to_dicts()]
    plan = _plan(examples, first_rows(answers), options)
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
            group["lr"] = group["times"] * options.rate * _slope(step / len(plan), options.warmup)
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
        say(f"stopped at step {last:,} of {len(plan):,}; the same command resumes there")
        return False
    model.eval()
    _save(model, tokenizer, folder / "torch")
    export(folder / "torch", folder / "onnx", positions=options.longest)
    Lineage.of(answers["question"].to_list()).save(folder / "onnx")
    say(f"exported to {folder / 'onnx'}")
    return True


def first_rows(answers: pl.DataFrame) -> list[int]:
    """Places of the rows that are seen before all others."""
    if "first" not in answers.columns:
        return []
    return answers["first"].fill_null(value=False).arg_true().to_list()


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Tensors, configuration and tokenizer as `export` reads them."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors")
    described = {
        **model.bert.config.to_dict(), "id2label": {"0": "accepted"}, "label2id": {"accepted": 0},
        "separator": tokenizer.sep_token_id, "sharpness": SHARPNESS,
    }  # fmt: skip
    text = json.dumps(described, indent=1, default=str)
    (folder / "config.json").write_text(text, encoding="utf-8")
    tokenizer.save_pretrained(folder)


def _optimiser(model: Any, options: CrossEncoderOptions) -> Any:
    """AdamW whose decay leaves vectors alone; words' vectors stay as they were.

    Most words of the table are in no training row, and would be left behind by the others.
    """
    import torch

    for parameter in model.bert.embeddings.parameters():
        parameter.requires_grad_(False)
    named = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
    groups = [
        {
            "params": [
                one
                for name, one in named
                if (one.ndim > 1) == matrix and name.startswith("bert.") == pretrained
            ],
            "weight_decay": options.decay if matrix else 0.0,
            "times": 1.0 if pretrained else 5.0,
        }
        for matrix in (True, False)
        for pretrained in (True, False)
    ]
    return torch.optim.AdamW(groups, lr=1.0)


def _example(tokenizer: Any, row: dict[str, Any], longest: int) -> Example:
    left, right = pair_of(row["question"], row["references"], row["answer"])
    found = tokenizer(left, right, truncation="longest_first", max_length=longest)
    return found["input_ids"], float(row["label"] >= 0.5), float(row.get("weight") or 1.0)


def _plan(
    examples: Sequence[Example], first: Sequence[int], options: CrossEncoderOptions
) -> list[list[int]]:
    """The rows of every batch: those seen first, then every row in each epoch."""
    everything = range(len(examples))
    passes = [first, *[everything] * options.epochs]
    return [
        batch
        for number, rows in enumerate(passes)
        for batch in _batches(examples, rows, options, number)
    ]


def _batches(
    examples: Sequence[Example], rows: Sequence[int], options: CrossEncoderOptions, epoch: int
) -> list[list[int]]:
    """The rows of each batch of an epoch: of about equal length, in an order of its own."""
    drawn = random.Random(f"{options.seed} {epoch}")
    order = list(rows)
    drawn.shuffle(order)
    found: list[list[int]] = []
    for start in range(0, len(order), 1024):
        near = sorted(order[start : start + 1024], key=lambda row: len(examples[row][0]))
        while near:
            size = max(4, options.tokens // len(examples[near[-1]][0]))
            found.append(near[-size:])
            del near[-size:]
    drawn.shuffle(found)
    return found


def _slope(done: float, warmup: float) -> float:
    """Share of the highest rate after a share of the steps."""
    return done / warmup if done < warmup else max(0.02, (1 - done) / (1 - warmup))


def _loss(model: Any, rows: Sequence[Example]) -> Any:
    """Weighted mean of the binary cross entropy of padded pairs, in nats."""
    import torch

    longest = max(len(row[0]) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    for place, (tokens, _label, _weight) in enumerate(rows):
        ids[place, : len(tokens)] = torch.tensor(tokens)
    device = next(model.parameters()).device
    labels, weights = (torch.tensor([row[i] for row in rows], device=device) for i in (1, 2))
    with torch.autocast(device.type, torch.bfloat16):
        logits = model(ids.to(device))
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        logits.float(), labels, weight=weights, reduction="sum"
    )
    return losses / weights.sum()


def main() -> None:
    """Train from the command line; run it again to go on."""
    parser = argparse.ArgumentParser(description="Fine-tune a cross-encoder in resumable steps.")
    parser.add_argument("data", type=Path, help="Parquet: question, references, answer, label")
    parser.add_argument("out", type=Path)
    parser.add_argument("--encoder", required=True, help="folder, hub name or `shipped`")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, help="most steps of this run")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    options = CrossEncoderOptions(encoder=given.encoder, epochs=given.epochs, threads=given.threads)
    train_cross_encoder(pl.read_parquet(given.data), given.out, options, steps=given.steps)


if __name__ == "__main__":
    main()
