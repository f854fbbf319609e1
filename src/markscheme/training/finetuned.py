"""How learned judges are made: parts by question, adapters, held-out figures, files.

Yao & Barbosa 2024, section 3 ("learned evaluators") and appendix C.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
import orjson
import polars as pl

from markscheme.contract import Lineage
from markscheme.errors import DataError
from markscheme.judges.finetuned import (
    CHOICES,
    SETTINGS,
    VARIANTS,
    VERDICT,
    fields_of,
    material,
    model_scores,
    scored,
)
from markscheme.models import Models
from markscheme.models.local import causal_revision, open_causal
from markscheme.training.examiner import Agreement, usable
from markscheme.training.lora import Adapter, Bar, LoraOptions, adapted, fit
from markscheme.training.splits import parts, question_hash

Variant = Literal["plain", "nli", "cvi"]
THRESHOLD = 0.5


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """What a learned judge is trained and tried on.

    Attributes:
        variant: `plain`, `nli` or `cvi`.
        limit: answers to learn from at most; whole questions are taken, by a seeded draw.
        report_on: the part that the figures are on; nothing is ever learned from either.
        report_limit: answers to try it on at most, taken in the same way.
        lora: how the adapters are trained.
    """

    variant: Variant = "plain"
    limit: int | None = None
    report_on: Literal["development", "test"] = "development"
    report_limit: int | None = None
    lora: LoraOptions = field(default_factory=LoraOptions)


AUTHORS = LoraOptions(
    epochs=5, batch=2, accumulate=2, rate=2e-4, rank=8, scale=16, dropout=0.1
)  # fmt: skip
"""The settings in the repository of Yao & Barbosa (2024), as far as they are of the adapters. They
also load the model in 4 bits, and split the questions by pandas; the split here is ours."""

RECIPES: Mapping[str, LearnOptions] = MappingProxyType(
    {
        "yao2024-sft": LearnOptions(variant="plain", report_on="test", lora=AUTHORS),
        "yao2024-sft-nli": LearnOptions(variant="nli", report_on="test", lora=AUTHORS),
        "yao2024-cvi": LearnOptions(
            variant="cvi", report_on="test", lora=replace(AUTHORS, epochs=1)
        ),
    }
)
"""Rows of their Table 2, by name."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The answers to learn from and those to try it on; no question is in both."""

    learn: pl.DataFrame
    held: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class HeldOutFigures:
    """Agreement with people on held-out questions, alongside two judges that learned nothing.

    `accept_all` takes every answer for right, `contains` those in which a reference occurs.
    """

    part: str
    rows: int
    questions: int
    trained: Agreement
    accept_all: Agreement
    contains: Agreement


@dataclass(frozen=True, kw_only=True)
class TrainedJudge:
    """What came out: the folder, the figures, held-out answers with `score`, each role's losses."""

    folder: Path
    figures: HeldOutFigures
    held: pl.DataFrame
    losses: dict[str, list[float]]


def split(answers: pl.DataFrame, options: LearnOptions) -> Parts:
    """Labelled answers in parts by a hash of the question (`splits`), cut to the limits.

    Raises:
        DataError: too few labelled answers, or a part lacks one of the verdicts.
    """
    rows = usable(answers)
    part = parts(rows["question"]).cast(pl.String)
    seed = options.lora.seed
    found = Parts(
        learn=_drawn(rows.filter(part == "train"), options.limit, seed),
        held=_drawn(rows.filter(part == options.report_on), options.report_limit, seed),
    )
    for name, table in (("train", found.learn), (options.report_on, found.held)):
        accepted = int((table["label"] >= 0.5).sum())
        if accepted in (0, table.height):
            raise DataError(
                f"the {name} part has {table.height} labelled answers, {accepted} of them "
                "accepted; both verdicts are needed, so give more --data or a higher limit "
                "(a question's part follows from a hash of its text)"
            )
    return found


def train_finetuned(
    answers: pl.DataFrame,
    folder: Path,
    model: str,
    options: LearnOptions | None = None,
    *,
    say: Callable[[str], None] = print,
    report: Callable[[HeldOutFigures], None] | None = None,
    progress: Bar | None = None,
) -> TrainedJudge:
    """Fine-tune a model on labelled answers and write the adapters to `folder`.

    Args:
        answers: an answers table; rows without label or answer are left out; a label of 0.5 and
            more counts as accepted.
        folder: where adapters and `learned.json` go; made if it is not there.
        model: a folder, a `.gguf` file or a name on the hub.
        options: how to train.
        say: called with each step.
        report: called with the figures on held-out questions, before anything is saved.
        progress: opens a progress bar for each adapter.

    Raises:
        DataError: too few labelled answers, or a part lacks one of the verdicts.
        MissingExtraError: torch, transformers or peft is not installed.
        ModelError: the model cannot be used.
    """
    options = options or LearnOptions()
    chosen = split(answers, options)
    templates = VARIANTS[options.variant]
    say(
        f"{options.variant}: learning from {_counted(chosen.learn)}, trying it on "
        f"{_counted(chosen.held)} of the {options.report_on} part"
    )
    learn = material(chosen.learn, options.variant)
    held = material(chosen.held, options.variant)
    labels = chosen.learn["label"].gather(learn["row"]) >= 0.5
    causal = open_causal(model)
    revision = causal_revision(model, causal.model)
    adapters: dict[str, Adapter] = {}
    found: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for role, template in templates.items():
        told = pl.select(
            pl.when(labels).then(pl.lit(CHOICES[0])).otherwise(pl.lit(CHOICES[1]))
        ).to_series()
        examples = learn.with_columns(told=told if role == VERDICT else pl.col("golden")).select(
            *fields_of(template), "told"
        )
        if role != VERDICT:
            # Five systems answer a question; the model that does not see their answers would
            # otherwise meet the same example five times.
            examples = examples.unique(maintain_order=True)
        encoded = causal.encode(
            template, examples.drop("told").to_dicts(), examples["told"].to_list()
        )
        own = adapted(causal, options.lora)
        adapters[role] = fit(own, encoded, options.lora, name=role, progress=progress)
        say(f"{role}: trained on {len(encoded):,} prompts; trying it on {held.height:,}")
        found[role] = model_scores(replace(causal, model=own), held, role=role, template=template)
        causal = replace(causal, model=own.unload())
    judged = chosen.held.with_row_index("row").join(
        scored(held, found), on="row", how="left", maintain_order="left"
    )
    # Empty answers are not sent to the model: the judge takes them for wrong.
    judged = judged.with_columns(pl.col("score").fill_null(0.0)).drop("row")
    figures = _figures(judged, options.report_on)
    if report is not None:
        report(figures)
    for role, adapter in adapters.items():
        adapter.save(folder / role)
    settings = {
        "variant": options.variant,
        "base": {
            "name": str(Path(model).absolute()) if Path(model).exists() else model,
            "revision": revision,
        },
        "templates": dict(templates),
        "threshold": THRESHOLD,
        "seed": options.lora.seed,
        "split": {
            "rule": "hash of the question; questions of NQ301 are test",
            "learned_from": _sizes(chosen.learn),
            "tried_on": {"part": options.report_on} | _sizes(chosen.held),
        },
        "lora": asdict(options.lora),
        "last_losses": {role: adapter.losses[-1] for role, adapter in adapters.items()},
        "figures": asdict(figures),
    }
    Lineage.of(chosen.learn["question"].unique().to_list()).save(folder)
    (folder / SETTINGS).write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2))
    return TrainedJudge(
        folder=folder,
        figures=figures,
        held=judged,
        losses={role: adapter.losses for role, adapter in adapters.items()},
    )


def _drawn(rows: pl.DataFrame, limit: int | None, seed: int) -> pl.DataFrame:
    """Whole questions in a seeded order until the limit is reached; all rows if there is none."""
    if limit is None or rows.height <= limit:
        return rows
    known = {one: question_hash(one) for one in rows["question"].unique()}
    key = rows["question"].replace_strict(known, return_dtype=pl.String)
    order = sorted(set(known.values()))
    place = np.random.default_rng(seed).permutation(len(order))
    rank = pl.Series(place[np.searchsorted(order, key.to_list())])
    counts = pl.DataFrame({"rank": rank}).group_by("rank").len().sort("rank")
    kept = counts.filter(pl.col("len").cum_sum() <= limit)["rank"]
    return rows.filter(rank.is_in(kept.implode()))


def _figures(rows: pl.DataFrame, part: str) -> HeldOutFigures:
    from markscheme.contract import parse_judge

    labels = (rows["label"] >= 0.5).to_numpy().astype(float)
    contains = parse_judge("contains").judge(rows.drop("score", "reason"), Models())["verdict"]
    return HeldOutFigures(
        part=part,
        **_sizes(rows),
        trained=Agreement.of(labels, rows["score"].to_numpy()),
        accept_all=Agreement.of(labels, np.ones(len(labels))),
        contains=Agreement.of(labels, contains.cast(pl.Float64).to_numpy()),
    )


def _sizes(rows: pl.DataFrame) -> dict[str, int]:
    return {"rows": rows.height, "questions": rows["question"].n_unique()}


def _counted(rows: pl.DataFrame) -> str:
    return f"{rows.height:,} answers to {rows['question'].n_unique():,} questions"
