"""What a report is made of: a run's answers, every judge's judgments beside them, and labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import Agreement, AgreementOptions, agreement
from markscheme.analysis import error_rates, failure_modes, judge_errors, with_unattributed
from markscheme.engine import ALL_SYSTEMS, summarise
from markscheme.errors import RunError
from markscheme.metrics import exact_match
from markscheme.models import Models
from markscheme.tables import (
    JUDGMENTS_SCHEMA,
    Joined,
    as_binary,
    check_run,
    join_labels,
    load_labels,
    read_json,
    read_parquet,
)

PEOPLE = "people"
"""What labels are called where judges stand beside them."""

REASON_LEFT_OUT = "left out, since it may quote the answer"
"""In place of every reason, where a report has no texts."""

_KEPT = [name for name in JUDGMENTS_SCHEMA if name not in ("answer_id", "judge", "signature")]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One judge's judgments, one row per answer in the order of the answers.

    Attributes:
        name: unique within the report. signature: of the judge. run: the folder it comes from.
        rows: `status`, `score`, `verdict`, `relation`, `marks`, `explanation`, `raw`, `cost_usd`,
            `tokens_in`, `tokens_out`, `seconds`.
    """

    name: str
    signature: str
    run: str
    rows: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class Material:
    """Everything a report shows, computed when first asked for.

    Attributes:
        title: what the report is called.
        answers: the answers table, with `accepted` (Boolean, the label; null without one).
        judges: in order of appearance.
        joined: judgments with labels; None where there are no labels.
        origin: of the report: version, options and command of each run, by its name.
        positive_from: the grade from which a label is an acceptance.
    """

    title: str
    answers: pl.DataFrame = field(repr=False)
    judges: tuple[Judged, ...] = field(repr=False)
    joined: Joined | None = field(repr=False)
    origin: Mapping[str, Mapping[str, Any]]
    positive_from: float | None = None

    def without_reasons(self) -> Material:
        """The same without judges' explanations and replies, which may quote any text."""
        left_out = pl.when(pl.col("explanation").is_not_null()).then(pl.lit(REASON_LEFT_OUT))
        judges = tuple(
            replace(
                one,
                rows=one.rows.with_columns(explanation=left_out, raw=pl.lit(None, dtype=pl.String)),
            )
            for one in self.judges
        )
        return replace(self, judges=judges)

    @cached_property
    def systems(self) -> list[str]:
        """In order of appearance."""
        return self.answers["system"].unique(maintain_order=True).to_list()

    @property
    def labelled(self) -> int:
        """How many answers have a label."""
        return self.answers.height - self.answers["accepted"].null_count()

    def labelled_part(self) -> Material:
        """The labelled answers alone."""
        has = self.answers["accepted"].is_not_null()
        judges = tuple(replace(one, rows=one.rows.filter(has)) for one in self.judges)
        return replace(self, answers=self.answers.filter(has), judges=judges)

    @cached_property
    def long(self) -> pl.DataFrame:
        """Judgments as one table with `row`, `answer_id`, `system` and `judge`."""
        beside = self.answers.select("answer_id", "system", "accepted").with_row_index("row")
        return pl.concat(
            pl.concat([beside, one.rows], how="horizontal").with_columns(judge=pl.lit(one.name))
            for one in self.judges
        )

    @cached_property
    def contested(self) -> list[int]:
        """All rows, those first on which judges, then judges and people, differ."""
        verdicts = self.long.group_by("row").agg(
            yes=pl.col("verdict").any(), all=pl.col("verdict").all(),
            wrong=(pl.col("verdict") != pl.col("accepted")).any(),
        )  # fmt: skip
        rank = pl.when(pl.col("yes") & ~pl.col("all")).then(0).when("wrong").then(1).otherwise(2)
        return verdicts.sort(rank, "row")["row"].to_list()

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Figures per judge and system, as `engine.summary.summarise` gives them."""
        parts = [
            self.answers.select("answer_id", "system").with_columns(
                one.rows, judge=pl.lit(one.name), signature=pl.lit(one.signature)
            )
            for one in self.judges
        ]
        return summarise(pl.concat(parts).lazy(), _clusters(self.answers))

    def figures_of(self, rows: pl.DataFrame) -> list[dict[str, Any]]:
        """The same figures of some judgments, by judge and system.

        Args:
            rows: `row` (of the answers), `system`, `judge`, `verdict`.
        """
        found = []
        for (judge,), part in rows.sort("row").group_by("judge", maintain_order=True):
            said = part.select(
                judge=pl.lit(str(judge)), signature=pl.lit(""), verdict="verdict",
                status=pl.lit("judged").cast(JUDGMENTS_SCHEMA["status"]),
                score=pl.col("verdict").cast(pl.Float64), cost_usd=pl.lit(None, pl.Float64),
                tokens_in=pl.lit(None, pl.Int64), tokens_out=pl.lit(None, pl.Int64),
            )  # fmt: skip
            these = _clusters(self.answers[part["row"]])
            found += [one for one in summarise(said.lazy(), these) if one["system"] != ALL_SYSTEMS]
        return found

    @cached_property
    def people(self) -> dict[str, dict[str, Any]]:
        """The same figures of labels, over labelled answers, by system."""
        known = self.answers.filter(pl.col("accepted").is_not_null())
        if known.is_empty():
            return {}
        verdict = pl.col("accepted")
        rows = known.select(
            judge=pl.lit(PEOPLE), signature=pl.lit(""),
            status=pl.lit("judged").cast(JUDGMENTS_SCHEMA["status"]),
            score=verdict.cast(pl.Float64), verdict=verdict, cost_usd=pl.lit(None, pl.Float64),
            tokens_in=pl.lit(None, pl.Int64), tokens_out=pl.lit(None, pl.Int64),
        )  # fmt: skip
        return {one["system"]: one for one in summarise(rows.lazy(), _clusters(known))}

    @cached_property
    def agreement(self) -> list[Agreement]:
        """Every judge against labels, over all answers and by system; empty without labels."""
        if self.joined is None:
            return []
        options = AgreementOptions(by_system=True, positive_from=self.positive_from)
        return agreement(self.joined, options)

    @cached_property
    def matches(self) -> pl.Series:
        """Whether each answer matches a reference exactly (null: no answer, or a pattern)."""
        found = pl.Series(
            exact_match(self.answers["answer"], self.answers["references"]), dtype=pl.Boolean
        )
        known = self.answers.select(
            pl.col("answer").is_not_null() & (pl.col("reference_kind").fill_null("text") == "text")
        ).to_series()
        return pl.select(pl.when(known).then(found)).to_series().alias("matches")

    @cached_property
    def modes(self) -> pl.DataFrame:
        """Failure modes of answers that people accept and exact match rejects."""
        table = self.answers.filter(pl.col("reference_kind").fill_null("text") == "text")
        return failure_modes(table, Models())

    @cached_property
    def extras(self) -> pl.DataFrame:
        """Labelled long answers with claims that no reference supports, as `extras`."""
        known = self.answers.filter(pl.col("accepted").is_not_null())
        return with_unattributed(known).filter(pl.col("extras").list.len() > 0)

    @cached_property
    def mode_rates(self) -> pl.DataFrame:
        """How often each judge rejects the answers of each mode."""
        return error_rates(self.long.select("answer_id", "judge", "verdict"), self.modes)

    @cached_property
    def errors(self) -> pl.DataFrame:
        """Judgments that labels contradict: `row`, `judge`, `error`, `category`, `evidence`."""
        text = self.answers.select("answer_id", "question", "references", "answer")
        wrong = self.long.filter(pl.col("verdict") != pl.col("accepted"))
        table = wrong.select("row", "answer_id", "judge", "verdict", "score", "accepted")
        found = judge_errors(table.join(text, on="answer_id", maintain_order="left"))
        return found.select("row", "judge", "error", "category", "evidence")


def read_material(
    run: str | Path,
    *,
    labels: pl.DataFrame | None = None,
    positive_from: float | None = None,
    compare: Sequence[str | Path] = (),
    title: str | None = None,
    given: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Material:
    """Read a run's folder.

    Args:
        run: the folder that `markscheme judge` wrote.
        labels: people's labels, as `load_labels` gives them; None takes those in the answers.
        positive_from: the grade from which an answer is acceptable, where labels are grades.
        compare: folders of other runs on the same answers, whose judges stand beside.
        title: of the report; None takes the folder's name.
        given: puts labels that were given elsewhere into the answers table.

    Raises:
        RunError: no finished run there, or a run to compare lacks some of the answers.
        DataError, AgreementError: labels cannot be read, do not match, or contradict each other.
    """
    first = _opened(run)
    answers = read_parquet(first / "answers.parquet")
    if given is not None:
        answers = given(answers)
    origin: dict[str, dict[str, Any]] = {}
    judges: list[Judged] = []
    places = [first, *(_opened(other) for other in compare)]
    if len({place.resolve() for place in places}) < len(places):
        raise RunError("a run is compared with itself; name each folder once")
    for place in places:
        name = _name(place) if _name(place) not in origin else str(place)
        origin[name] = read_json(place / "run.json")
        judges += _judged(read_parquet(place / "judgments.parquet"), answers, run=name)
    return material_of(
        answers, _distinct(judges), labels=labels, positive_from=positive_from,
        title=title or _name(first), origin=origin,
    )  # fmt: skip


def material_in_memory(
    answers: pl.DataFrame,
    judgments: pl.DataFrame,
    *,
    title: str,
    labels: pl.DataFrame | None = None,
    positive_from: float | None = None,
) -> Material:
    """Material of an answers table and its judgments, without a folder.

    Raises:
        RunError: the judgments are not of these answers.
        AgreementError: the labels contradict each other, or are grades.
    """
    judges = _judged(judgments, answers, run=title)
    return material_of(
        answers, judges, title=title, origin={}, labels=labels, positive_from=positive_from
    )  # fmt: skip


def material_of(
    answers: pl.DataFrame,
    judges: Sequence[Judged],
    *,
    title: str,
    origin: Mapping[str, Mapping[str, Any]],
    labels: pl.DataFrame | None = None,
    positive_from: float | None = None,
) -> Material:
    """Put labels beside answers and judgments.

    Raises:
        DataError, AgreementError: as `read_material`.
    """
    joined, accepted = None, pl.Series([None] * answers.height, dtype=pl.Boolean)
    known = _labels(answers) if labels is None else labels
    if known is not None:
        keys = answers.select("answer_id", "question", "answer", "system")
        long = pl.concat(
            keys.with_columns(
                one.rows.select("status", "score", "verdict", "scope"), judge=pl.lit(one.name)
            )
            for one in judges
        ).with_columns(pl.col("status").cast(pl.String))
        joined = join_labels(long, known)
        binary = as_binary(joined.rows["label"], positive_from=positive_from)
        labelled = joined.rows.select(*joined.key, accepted=pl.Series(binary)).unique(joined.key)
        accepted = keys.join(
            labelled, on=joined.key, how="left", nulls_equal=True, maintain_order="left"
        )["accepted"]
    return Material(
        title=title,
        answers=answers.with_columns(accepted.alias("accepted")),
        judges=tuple(judges),
        joined=joined,
        origin=origin,
        positive_from=positive_from,
    )


def _labels(answers: pl.DataFrame) -> pl.DataFrame | None:
    names = ("label", "annotator_labels")
    there = [name for name in names if answers[name].null_count() < answers.height]
    return load_labels(answers.select("answer_id", *there)) if there else None


def _opened(run: str | Path) -> Path:
    """The folder of a finished run.

    Raises:
        RunError: it is none.
    """
    folder = Path(run)
    if not (folder / "run.json").is_file():
        raise RunError(
            f"{folder} is no run's folder; 'markscheme judge FILE --out {folder}' makes one"
        )
    check_run(folder, ("answers.parquet", "judgments.parquet"))
    return folder


def _name(folder: Path) -> str:
    return folder.resolve().name


def _judged(judgments: pl.DataFrame, answers: pl.DataFrame, *, run: str) -> list[Judged]:
    """Each judge's judgments in the order of the answers.

    Raises:
        RunError: a judge has not seen all of the answers.
    """
    found = []
    keys = answers.select("answer_id")
    for (name, signature), rows in judgments.group_by("judge", "signature", maintain_order=True):
        beside = keys.join(rows, on="answer_id", how="left", maintain_order="left")
        lacking = beside["status"].null_count()
        if lacking:
            raise RunError(
                f"{run}: {name} has judged {answers.height - lacking:,} of the {answers.height:,} "
                "answers only; runs can be compared where they judge the same answers"
            )
        found.append(
            Judged(name=str(name), signature=str(signature), run=run, rows=beside.select(_KEPT))
        )
    return found


def _distinct(judges: Sequence[Judged]) -> list[Judged]:
    """Judges of the same name in several runs get the run's name with theirs."""
    names = [one.name for one in judges]
    return [
        one
        if names.count(one.name) == 1
        else Judged(
            name=f"{one.name} ({one.run})", signature=one.signature, run=one.run, rows=one.rows
        )
        for one in judges
    ]


def _clusters(answers: pl.DataFrame) -> pl.DataFrame:
    return answers.select(pl.col("system").cast(pl.Categorical), pl.col("question").hash())
