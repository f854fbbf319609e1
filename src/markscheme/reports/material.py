"""What a report is made of: a run's answers, every judge's judgments of them, and labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import (
    Agreement,
    AgreeOptions,
    CompareResult,
    EstimateOptions,
    EstimateResult,
    InMemory,
    JudgmentsSource,
    Run,
    agreement,
    closest_judges,
    compare,
    estimate,
    judged_table,
    open_run,
)
from markscheme.analysis import error_rates, failure_modes, judge_errors, kind_of
from markscheme.engine import CLUSTERS, summarise, verdict_figures
from markscheme.errors import AgreementError, RunError
from markscheme.metrics import exact_match
from markscheme.models import Models
from markscheme.tables import (
    JUDGMENTS_SCHEMA,
    UNSURE,
    Joined,
    as_binary,
    holds_labels,
    join_labels,
    load_labels,
    one_judge,
    with_answers,
)

PEOPLE = "people"
"""What labels are called where judges are next to them."""

REASON_LEFT_OUT = "left out, since it may quote the answer"
"""In place of every reason, where a report has no texts."""

_MOST_SYSTEMS = 30
"""Systems up to which they are compared in pairs."""

_KEPT = [name for name in JUDGMENTS_SCHEMA if name not in ("answer_id", "judge", "signature")]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One judge's judgments, one row per answer in the order of the answers.

    Attributes:
        name: unique within the report. judge: the judge's own name. signature: of the judge.
        run: what its judgments come from.
        rows: `status`, `score`, `verdict`, `relation`, `marks`, `explanation`, `raw`, `cost_usd`,
            `tokens_in`, `tokens_out`, `seconds`.
    """

    name: str
    judge: str
    signature: str
    run: str
    rows: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class Material:
    """Everything a report shows, computed on first use.

    Attributes:
        title: what the report is called.
        answers: the answers table, with `accepted` (Boolean, the label; null without one).
        judges: in order of appearance.
        labels: people's labels as they were given; None where there are none.
        joined: judgments with labels; None where there are no labels.
        origin: of the report: version, options and command of each run, by its name.
        positive_from: the grade from which a label is an acceptance.
        judge: the name of the judge that was chosen to lead; None for none.
        left_out: why labels that there are do not count, and how they would; empty without any.
    """

    title: str
    answers: pl.DataFrame = field(repr=False)
    judges: tuple[Judged, ...] = field(repr=False)
    labels: pl.DataFrame | None = field(repr=False)
    joined: Joined | None = field(repr=False)
    origin: Mapping[str, Mapping[str, Any]]
    positive_from: float | None = None
    judge: str | None = None
    left_out: str = ""

    def without_reasons(self) -> Material:
        """The same without judges' explanations and replies, which may quote any text.

        Judgments with labels have their questions by number: notes name those that trained a judge.
        """
        unsure = pl.col("explanation").str.extract(f"({UNSURE})")  # which figures count
        said = pl.concat_str(pl.lit(REASON_LEFT_OUT), unsure, separator=" ", ignore_nulls=True)
        left_out = pl.when(pl.col("explanation").is_not_null()).then(said)
        judges = tuple(
            replace(
                one,
                rows=one.rows.with_columns(explanation=left_out, raw=pl.lit(None, dtype=pl.String)),
            )
            for one in self.judges
        )
        joined = self.joined
        if joined is not None:
            numbers = pl.col("question").rank("dense")
            joined = replace(joined, rows=joined.rows.with_columns(numbers))
        return replace(self, judges=judges, joined=joined)

    @cached_property
    def systems(self) -> list[str]:
        """In order of appearance."""
        return self.answers["system"].unique(maintain_order=True).to_list()

    @property
    def names(self) -> list[str]:
        """Of the judges."""
        return [one.name for one in self.judges]

    @property
    def labelled(self) -> int:
        """How many answers have a label."""
        return self.answers.height - self.answers["accepted"].null_count()

    @cached_property
    def long(self) -> pl.DataFrame:
        """Judgments as one table with `row`, `answer_id`, `system`, `judge` and `signature`."""
        beside = self.answers.select("answer_id", "system", "accepted").with_row_index("row")
        return pl.concat(
            beside.with_columns(one.rows, judge=pl.lit(one.name), signature=pl.lit(one.signature))
            for one in self.judges
        )

    def judged_by(self, voice: str) -> InMemory:
        """All judgments by one judge, or by people (`PEOPLE`), without labels."""
        if voice == PEOPLE:
            verdict = self.answers["accepted"].alias("verdict")
            rows = verdict.to_frame().with_columns(
                score=pl.lit(None, pl.Float64),
                status=pl.when(verdict.is_not_null())
                .then(pl.lit("judged"))
                .otherwise(pl.lit("skipped")),
            )
        else:
            rows = next(one.rows for one in self.judges if one.name == voice)
        keys = self.answers.select("answer_id", "question", "answer", "system")
        return InMemory(
            keys.with_columns(rows, judge=pl.lit(voice)),
            self.answers.with_columns(
                pl.lit(None, dtype=self.answers.schema[name]).alias(name)
                for name in ("label", "annotator_labels")
            ),
        )

    @cached_property
    def leading(self) -> tuple[str, str]:
        """The judge that the page leads with, and why it is this one (empty where there is one)."""
        if self.judge is not None:
            return self.judge, "chosen with --judge"
        if len(self.judges) == 1:
            return self.names[0], ""
        if closest := closest_judges(self.agreement):
            kappa = closest[0].as_errors["kappa"].value
            why = "" if kappa is None else f": kappa {kappa:.2f}"
            return closest[0].judge, f"of the judges the closest to the labels{why}"
        return self.names[0], "the first judge named"

    @cached_property
    def estimated(self) -> EstimateResult | str | None:
        """What people would accept, from labels and the leading judge, or why it is unknown.

        None where no answer has a label, or every one.
        """
        if not 0 < self.labelled < self.answers.height or self.labels is None:
            return None
        judge, _ = self.leading
        options = EstimateOptions(
            judge=judge,
            by="system" if len(self.systems) > 1 else None,
            positive_from=self.positive_from,
        )
        try:
            return estimate(self.judged_by(judge), self.labels, options)
        except AgreementError as error:
            return str(error)

    def compared(self, voice: str, labels: pl.DataFrame | None = None) -> CompareResult | None:
        """Systems in pairs by a judge or by people; what people would say too, with `labels`.

        None where there is one system or very many, or nothing of one was judged.
        """
        if not 1 < len(self.systems) <= _MOST_SYSTEMS:
            return None
        try:
            return compare(
                self.judged_by(voice), labels, systems=True, positive_from=self.positive_from
            )
        except AgreementError:
            return None

    @cached_property
    def contested(self) -> list[int]:
        """All rows, those first on which judges, then judges and people, differ."""
        verdicts = self.long.group_by("row").agg(
            yes=pl.col("verdict").any(),
            all=pl.col("verdict").all(),
            wrong=(pl.col("verdict") != pl.col("accepted")).any(),
        )
        rank = pl.when(pl.col("yes") & ~pl.col("all")).then(0).when("wrong").then(1).otherwise(2)
        return verdicts.sort(rank, "row")["row"].to_list()

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Figures per judge and system, as `engine.summary.summarise` gives them."""
        return summarise(self.long.drop("row").lazy(), self.answers.select(CLUSTERS))

    def figures_of(self, verdicts: pl.Series) -> dict[str, dict[str, Any]]:
        """The accuracy of some verdicts on the answers, by system."""
        return {
            one["system"]: one for one in verdict_figures(verdicts, self.answers.select(CLUSTERS))
        }

    @cached_property
    def people(self) -> dict[str, dict[str, Any]]:
        """The same of labels, over labelled answers."""
        return self.figures_of(self.answers["accepted"])

    @cached_property
    def agreement(self) -> list[Agreement]:
        """Every judge against labels, over all answers and by system; empty without labels."""
        if self.joined is None:
            return []
        options = AgreeOptions(by="system", positive_from=self.positive_from)
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
        return failure_modes(self.answers, Models())

    @cached_property
    def mode_rates(self) -> pl.DataFrame:
        """How often each judge rejects the answers of each mode."""
        return error_rates(self.long.select("answer_id", "judge", "verdict"), self.modes)

    @cached_property
    def errors(self) -> pl.DataFrame:
        """Judgments that labels contradict: `row`, `judge`, `error`, `category`, `evidence`."""
        text = self.answers.select(
            "answer_id", "question", "references", "reference_kind", "answer"
        )
        wrong = self.long.filter(pl.col("verdict") != pl.col("accepted"))
        table = wrong.select("row", "answer_id", "judge", "verdict", "score", "accepted")
        kinds = {one.name: kind_of(one.judge) for one in self.judges}
        found = judge_errors(table.join(text, on="answer_id", maintain_order="left"), kinds)
        return found.select("row", "judge", "error", "category", "evidence")


def read_material(
    source: JudgmentsSource,
    *,
    labels: pl.DataFrame | None = None,
    positive_from: float | None = None,
    compare: Sequence[JudgmentsSource] = (),
    judge: str | None = None,
    title: str | None = None,
    given: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Material:
    """What a report of judged answers is made of.

    Args:
        source: the judgments: a run's folder, a file, a frame, rows, or a `Result`.
        labels: people's labels, as `load_labels` gives them; None takes those in the answers.
        positive_from: the grade from which an answer is acceptable, where labels are grades.
        compare: other judgments of the same answers, shown as well.
        judge: which one leads; None for the closest to the labels, or without labels the first.
        title: of the report; None takes the name of the folder or the file.
        given: adds labels that were given elsewhere to the answers table.

    Raises:
        RunError: the run is not finished or damaged, or a judge lacks some of the answers.
        UnknownNameError: no judge is called `judge`.
        DataError, AgreementError: a table cannot be read, judgments come without answers, or
            labels do not match or contradict each other.
    """
    runs = [open_run(one) for one in (source, *compare)]
    folders = [run.folder.resolve() for run in runs if run.folder is not None]
    if len(set(folders)) < len(folders):
        raise RunError("a run is compared with itself; name each folder once")
    table = runs[0].answers
    if given is not None:
        table = given(table)
    origin: dict[str, dict[str, Any]] = {}
    judges: list[Judged] = []
    for run in runs:
        called = _title(run)
        paths = [run.name] if isinstance(run.source, str | Path) else []
        names = (called, *paths, f"{called} {len(origin) + 1}")  # in memory all are called alike
        name = next(one for one in names if one not in origin)
        origin[name] = run.manifest
        judges += _judged(_judgments(run, table), table, run=name)
    joined, accepted = None, pl.Series([None] * table.height, dtype=pl.Boolean)
    known = _labels(table, positive_from) if labels is None else labels
    judges = _distinct(judges)
    if judge is not None:
        one_judge(pl.DataFrame({"judge": [one.name for one in judges]}), judge)
    if known is not None:
        joined, accepted = _joined(table, judges, known, positive_from)
    return Material(
        title=title or _title(runs[0]),
        answers=table.with_columns(accepted.alias("accepted")),
        judges=tuple(judges),
        labels=known,
        joined=joined,
        origin={name: manifest for name, manifest in origin.items() if manifest},
        positive_from=positive_from,
        judge=judge,
    )


def _joined(
    answers: pl.DataFrame,
    judges: Sequence[Judged],
    labels: pl.DataFrame,
    positive_from: float | None,
) -> tuple[Joined, pl.Series]:
    """Judgments matched with labels, and the label of each answer; null without one."""
    keys = answers.select("answer_id", "question", "answer", "system")
    joined = join_labels(
        pl.concat(
            keys.with_columns(
                one.rows.select("status", "score", "verdict", "scope"), judge=pl.lit(one.name)
            )
            for one in judges
        ).with_columns(pl.col("status").cast(pl.String)),
        labels,
    )
    return joined, as_binary(joined.labels_of(keys), positive_from=positive_from)


def _labels(answers: pl.DataFrame, positive_from: float | None) -> pl.DataFrame | None:
    names = ("label", "annotator_labels")
    there = [name for name in names if holds_labels(answers[name])]
    if not there:
        return None
    return load_labels(answers.select("answer_id", *there), positive_from=positive_from)


def _title(run: Run) -> str:
    """What the source is called: by its folder, its file, or as answers in memory."""
    if run.folder is not None:
        return run.folder.resolve().name
    return Path(run.source).stem if isinstance(run.source, str | Path) else "answers"


def _judgments(run: Run, answers: pl.DataFrame) -> pl.DataFrame:
    """The judgments table of a source; of another tool's, with nulls for what it does not say."""
    if run.stored_answers is not None:
        return run.table
    rows = with_answers(judged_table(run, columns=run.columns), answers)
    lacking = {name: kind for name, kind in JUDGMENTS_SCHEMA.items() if name not in rows.columns}
    return rows.with_columns(
        pl.lit("" if name == "signature" else None, dtype=kind).alias(name)
        for name, kind in lacking.items()
    ).cast({"status": JUDGMENTS_SCHEMA["status"]})


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
                f"{run}: {name} has judged only {answers.height - lacking:,} of the "
                f"{answers.height:,} answers; runs are compared where they judge the same answers"
            )
        found.append(
            Judged(
                name=str(name),
                judge=str(name),
                signature=str(signature),
                run=run,
                rows=beside.select(_KEPT),
            )
        )
    return found


def _distinct(judges: Sequence[Judged]) -> list[Judged]:
    """Judges of the same name get the run's name with theirs, and in the same run a number."""
    names = [one.judge for one in judges]
    found: list[Judged] = []
    for one in judges:
        name = one.judge if names.count(one.judge) == 1 else f"{one.judge} ({one.run})"
        before = sum((other.judge, other.run) == (one.judge, one.run) for other in found)
        found.append(replace(one, name=f"{name} {before + 1}" if before else name))
    return found
