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

from markscheme.agreement import best_threshold
from markscheme.contract import Lineage
from markscheme.errors import DataError
from markscheme.models import Models
from markscheme.tables import whole_folder
from markscheme_research.judges.finetuned import (
    CHOICES,
    SETTINGS,
    STATEMENTS,
    VARIANTS,
    VERDICT,
    fields_of,
    material,
    model_scores,
    open_causal,
    scored,
)
from markscheme_research.training import (
    Agreement,
    fold_of,
    pandas_halves,
    parts,
    question_hash,
    usable,
)
from markscheme_research.training.lora import Adapter, Bar, LoraOptions, adapted, fit
from markscheme_research.transformers_models import causal_revision

Variant = Literal["plain", "nli", "cvi", "cvi-statements"]
THRESHOLD = 0.5


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """What a learned judge is trained and tried on.

    Attributes:
        variant: `plain`, `nli`, `cvi` or `cvi-statements`.
        limit: answers to learn from at most; whole questions are taken, by a seeded draw.
        report_on: the part that the figures are on; nothing is ever learned from either.
        report_limit: answers to try it on at most, taken in the same way.
        split: which questions are in which part: by `hash` of the question (`splits`), or a half
            drawn as `pandas` draws it (`pandas_halves`), which has no development part.
        four_bits: whether the base model's weights are held in 4 bits.
        lora: how the adapters are trained.
    """

    variant: Variant = "plain"
    limit: int | None = None
    report_on: Literal["development", "test"] = "development"
    report_limit: int | None = None
    split: Literal["hash", "pandas"] = "hash"
    four_bits: bool = False
    lora: LoraOptions = field(default_factory=LoraOptions)


AUTHORS = LoraOptions(
    epochs=5, batch=2, accumulate=2, rate=2e-4, rank=8, scale=16, dropout=0.1,
    schedule="constant", decay=0.001, clip=0.3,
)  # fmt: skip
"""The settings in the repository of Yao & Barbosa (2024) that are of the adapters. (Their warm-up
of .03 has no effect with a constant rate in the library that they use.)"""

THEIRS = LearnOptions(report_on="test", split="pandas", four_bits=True, lora=AUTHORS)

RECIPES: Mapping[str, LearnOptions] = MappingProxyType(
    {
        "yao2024-sft": THEIRS,
        "yao2024-sft-nli": replace(THEIRS, variant="nli"),
        "yao2024-cvi": replace(THEIRS, variant="cvi-statements", lora=replace(AUTHORS, epochs=1)),
    }
)
"""Rows of their Table 2, by name."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The answers to learn from and those to try it on; no question is in both."""

    learn: pl.DataFrame
    held: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class TunedThreshold:
    """A threshold that held-out labels chose, by accuracy, and two figures at it.

    Attributes:
        threshold: chosen on all of the part.
        flattered: agreement on that very part, as Yao & Barbosa's code reports it.
        honest: agreement where each half of the part's questions has the other half's threshold.
    """

    threshold: float
    flattered: Agreement
    honest: Agreement


@dataclass(frozen=True, kw_only=True)
class HeldOutFigures:
    """Agreement with people on held-out questions, alongside two judges that learned nothing.

    `accept_all` takes every answer for right, `contains` those in which a reference occurs.
    `tuned` is of the variants by conditional information, whose scores have no natural threshold.
    """

    part: str
    rows: int
    questions: int
    trained: Agreement
    accept_all: Agreement
    contains: Agreement
    tuned: TunedThreshold | None = None


@dataclass(frozen=True, kw_only=True)
class TrainedJudge:
    """What came out: the folder, the figures, held-out answers with `score`, each role's losses."""

    folder: Path
    figures: HeldOutFigures
    held: pl.DataFrame
    losses: dict[str, list[float]]


def split(answers: pl.DataFrame, options: LearnOptions) -> Parts:
    """Labelled answers in parts by their questions (`splits`), cut to the limits.

    Raises:
        DataError: too few labelled answers, a part lacks one of the verdicts, or pandas' split is
            to have a development part.
    """
    rows = usable(answers)
    halved = options.split == "pandas"
    if halved and options.report_on != "test":
        raise DataError("pandas' split has a train and a test part, no development part")
    part = (pandas_halves if halved else parts)(rows["question"]).cast(pl.String)
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
                "(whole questions go to a part)"
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
        folder: where adapters and `learned.json` go; a new one.
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
    causal = open_causal(model, four_bits=options.four_bits)
    revision = causal_revision(model, causal.model)
    adapters: dict[str, Adapter] = {}
    found: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for role, template in templates.items():
        target = pl.select(
            pl.when(labels).then(pl.lit(CHOICES[0])).otherwise(pl.lit(CHOICES[1]))
        ).to_series()
        examples = learn.with_columns(
            target=target if role == VERDICT else pl.col("golden")
        ).select(*fields_of(template), "target")
        if role != VERDICT:
            # Five systems answer a question; the model that does not see their answers would
            # otherwise meet the same example five times.
            examples = examples.unique(maintain_order=True)
        encoded = causal.encode(
            template, examples.drop("target").to_dicts(), examples["target"].to_list()
        )
        own = adapted(causal, options.lora)
        adapters[role] = fit(own, encoded, options.lora, name=role, progress=progress)
        say(f"{role}: trained on {len(encoded):,} prompts; trying it on {held.height:,}")
        found[role] = model_scores(
            replace(causal, model=own), held, role=role, template=template,
            by_length=options.variant == STATEMENTS,
        )  # fmt: skip
        causal = replace(causal, model=own.unload())
    judged = chosen.held.with_row_index("row").join(
        scored(held, found), on="row", how="left", maintain_order="left"
    )
    # Empty answers are not sent to the model: the judge takes them for wrong.
    judged = judged.with_columns(pl.col("score").fill_null(0.0)).drop("row")
    figures = _figures(judged, options)
    if report is not None:
        report(figures)
    settings = {
        "variant": options.variant,
        "base": {
            "name": str(Path(model).absolute()) if Path(model).exists() else model,
            "revision": revision,
            "four_bits": options.four_bits,
        },
        "templates": dict(templates),
        "threshold": THRESHOLD,
        "seed": options.lora.seed,
        "split": {
            "rule": _RULES[options.split],
            "learned_from": _sizes(chosen.learn),
            "tried_on": {"part": options.report_on} | _sizes(chosen.held),
        },
        "lora": asdict(options.lora),
        "last_losses": {role: adapter.losses[-1] for role, adapter in adapters.items()},
        "figures": asdict(figures),
    }
    with whole_folder(folder) as place:
        for role, adapter in adapters.items():
            adapter.save(place / role)
        Lineage.of(chosen.learn["question"].unique().to_list()).save(place)
        (place / SETTINGS).write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2))
    return TrainedJudge(
        folder=folder,
        figures=figures,
        held=judged,
        losses={role: adapter.losses for role, adapter in adapters.items()},
    )


_RULES = {
    "hash": "hash of the question; questions of NQ301 are test",
    "pandas": "half of the questions by pandas' sample, random_state 42",
}


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


def _figures(rows: pl.DataFrame, options: LearnOptions) -> HeldOutFigures:
    from markscheme.contract import parse_judge

    labels = (rows["label"] >= 0.5).to_numpy().astype(float)
    contains = parse_judge("contains").judge(rows.drop("score", "reason"), Models())["verdict"]
    return HeldOutFigures(
        part=options.report_on,
        **_sizes(rows),
        trained=Agreement.of(labels, rows["score"].to_numpy()),
        accept_all=Agreement.of(labels, np.ones(len(labels))),
        contains=Agreement.of(labels, contains.cast(pl.Float64).to_numpy()),
        tuned=tuned_threshold(rows) if options.variant.startswith("cvi") else None,
    )


def tuned_threshold(rows: pl.DataFrame) -> TunedThreshold | None:
    """The best threshold of judged rows, and what it is worth on questions that did not choose it.

    Args:
        rows: `question`, `label`, `score`.

    Returns:
        None where a half of the questions has one verdict only.
    """
    scores, labels = rows["score"].to_numpy(), (rows["label"] >= 0.5).to_numpy()
    half = np.array([fold_of(question, 2) for question in rows["question"]], dtype=np.int64)
    verdicts = np.zeros(len(scores), dtype=bool)
    for fold in (0, 1):
        chosen_on = half != fold
        if labels[chosen_on].all() or not labels[chosen_on].any():
            return None
        limit = best_threshold(scores[chosen_on], labels[chosen_on])
        verdicts[~chosen_on] = scores[~chosen_on] >= limit
    threshold = best_threshold(scores, labels)
    truth = labels.astype(float)
    flattered = Agreement.of(truth, scores, threshold=threshold)
    honest = replace(Agreement.of(truth, verdicts.astype(float)), auroc=flattered.auroc)
    return TunedThreshold(threshold=threshold, flattered=flattered, honest=honest)


def _sizes(rows: pl.DataFrame) -> dict[str, int]:
    return {"rows": rows.height, "questions": rows["question"].n_unique()}


def _counted(rows: pl.DataFrame) -> str:
    return f"{rows.height:,} answers to {rows['question'].n_unique():,} questions"
