"""The two calls most people need: `judge` for a table of answers, `mark` for a single one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from markscheme.contract import Judge, ModelSource, judge_name, parse_judge
from markscheme.engine import CLUSTERS, RunReport, process_pool, run_in_folder, run_in_memory
from markscheme.flags import CLEANING, Cleaning, with_keywords
from markscheme.results import (
    Table,
    Tabular,
    people_figures,
    slice_clusters,
    slice_records,
    summary_table,
)
from markscheme.tables import (
    ANSWERS_SCHEMA,
    JUDGMENTS_SCHEMA,
    AnswersReader,
    ReadOptions,
    Source,
    slices_of,
    sources_of,
)

if TYPE_CHECKING:
    from markscheme.agreement import (
        AgreeResult,
        CompareResult,
        Gate,
        JudgmentsSource,
        TableSource,
    )
    from markscheme.analysis import FailuresResult

DEFAULT_JUDGE = "examiner"


class _Frame(pl.DataFrame):
    """A table that was a method in 0.1.0, and may still be called until 0.3."""

    def __init__(self, table: pl.DataFrame, name: str) -> None:
        super().__init__(table)
        self._name = name

    def __call__(self) -> pl.DataFrame:
        warnings.warn(
            f"Result.{self._name} is a table now, no method: write result.{self._name} without "
            "brackets; calling it ends in 0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        return self


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Tabular):
    """What judging gave: the judgments, the figures, and what was met on the way.

    Every function of `markscheme.agreement` takes it where it takes judgments. `frame` has the
    figures of `summary`, `tables` the table that the command prints; `to_pandas`, `to_json`,
    `to_csv`, `to_markdown`, `to_latex` and `save` write these figures.
    """

    run: RunReport = field(repr=False)
    read: Callable[[], pl.DataFrame] = field(repr=False)
    """Reads the answers table again, where it is in no folder."""
    slices: tuple[str, ...] = field(default=(), repr=False)
    """The columns of the user's own that figures are given by as well."""
    held: tuple[Gate, ...] = field(default=(), repr=False)
    """The figures as they were held against a limit, where one was set."""

    @classmethod
    def of(cls, report: RunReport, reader: AnswersReader) -> Result:
        """The result of a run over what a reader gives."""

        def read() -> pl.DataFrame:
            # A new reader: one that has read counts rows and repeats.
            again = AnswersReader(reader.sources, reader.options, system=reader.system)
            return pl.concat(list(again))

        return cls(run=report, read=read, slices=tuple(reader.options.slices))

    @cached_property
    def answers(self) -> pl.DataFrame:
        """The answers table: one row per answer, as it was judged.

        Raises:
            DataError: the run is in no folder, and its file cannot be read again.
        """
        stored = self.run.answers
        return _Frame(self.read() if stored is None else stored.collect(), "answers")

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """The judgments table: one row per answer and judge, with its id from the file.

        Columns: those of `markscheme.tables.JUDGMENTS_SCHEMA`, and `system`; first what a reader
        looks for.
        """
        first = ("answer_id", "system", "judge", "verdict", "score")
        rest = (name for name in JUDGMENTS_SCHEMA if name not in first)
        return self.run.judgments.select(*first, *rest).collect()

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Figures per judge and system: counts, accuracy and mean score with 95% intervals."""
        flat = [
            {**record, "not_judged": sum(record["not_judged"].values())}
            for record in self.run.records
        ]
        return _Frame(pl.DataFrame(flat, infer_schema_length=None), "summary")

    @property
    def frame(self) -> pl.DataFrame:
        """The figures of `summary`."""
        return self.summary

    @property
    def tables(self) -> tuple[Table, ...]:
        """Accuracy and mean score by judge and system, then by slice: what the command prints."""
        answers = self._answers_lazily()
        by_slice = (
            summary_table(
                records, by=name, people=people_figures(answers, slice_clusters(answers, name))
            )
            for name, records in self.by_slice.items()
        )
        return (summary_table(self.run.records, people=self._people), *by_slice)

    @cached_property
    def people(self) -> Mapping[str, float]:
        """By system, the share of labelled answers (0 to 1) that people accept.

        Empty where no answer has a label, or where labels are grades.
        """
        return {system: one["accuracy"] for system, one in self._people.items()}

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """By system, how many labels the share in `people` is of."""
        return {system: one["judged"] for system, one in self._people.items()}

    @cached_property
    def _people(self) -> Mapping[str, dict[str, Any]]:
        answers = self._answers_lazily()
        return people_figures(answers, answers.select(CLUSTERS))

    @cached_property
    def by_slice(self) -> Mapping[str, list[dict[str, Any]]]:
        """By column of `slices`: a record per judge and value, as `run.records` has for systems."""
        return {
            name: slice_records(self.run.judgments, self._answers_lazily(), name)
            for name in self.slices
        }

    def _answers_lazily(self) -> pl.LazyFrame:
        stored = self.run.answers
        return self.answers.lazy() if stored is None else stored

    def gates(
        self, limit: float, *, confidence: float | None = None, slices: bool = False
    ) -> list[Gate]:
        """Hold the figure of every judge and system against a limit.

        Args:
            limit: the accuracy wanted, 0 to 1.
            confidence: how sure to be; see `markscheme.agreement.gates`.
            slices: hold the figure of every slice against it too.

        Raises:
            MarkschemeError: the limit or the confidence is out of range.
        """
        from markscheme.agreement import gates

        records = self.records if slices else self.run.records
        return gates(records, limit, confidence=confidence, skipped=self.run.skipped_of)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The figures of every judge by system and then by slice, as nested values."""
        return [*self.run.records, *chain.from_iterable(self.by_slice.values())]

    @property
    def data(self) -> Mapping[str, Any]:
        """The figures as nested values; `not_judged` counts by status.

        `accuracy` is of the answers with a verdict. Where a limit was set, `gate` has what it was
        held against: an `accuracy` in which what was not judged counts as wrong.
        """
        found: dict[str, Any] = {"command": "judge", "figures": self.run.records}
        if self.people:
            found["people"] = self.people
            found["labels"] = self.labels
        if self.slices:
            found["slices"] = self.by_slice
        if self.held:
            shared = {"limit": self.held[0].limit, "confidence": self.held[0].confidence}
            found["gate"] = {
                "passed": all(one.passed for one in self.held),
                **shared,
                "figures": [
                    {name: value for name, value in asdict(one).items() if name not in shared}
                    for one in self.held
                ],
            }
        return found

    @property
    def accuracy(self) -> pl.DataFrame:
        """Share of answers accepted (0 to 1) per judge and system, of those judged.

        Columns: `judge`, `system`, `accuracy`, `accuracy_low` and `accuracy_high` (95% interval),
        `judged`, `not_judged`.
        """
        columns = ("accuracy", "accuracy_low", "accuracy_high", "judged", "not_judged")
        return self.summary.select("judge", "system", *columns)

    def by(self, column: str) -> pl.DataFrame:
        """Accuracy by the values of a column of your own that `judge(slices=...)` retained.

        Columns: `judge`, the column, and the figures of `accuracy`.

        Raises:
            DataError: the answers have no such column.
        """
        records = slice_records(self.run.judgments, self.answers.lazy(), column)
        flat = [
            {
                **record,
                column: record["system"].partition("=")[2],
                "not_judged": sum(record["not_judged"].values()),
            }
            for record in records
        ]
        figures = ("accuracy", "accuracy_low", "accuracy_high", "judged", "not_judged")
        return pl.DataFrame(flat, infer_schema_length=None).select("judge", column, *figures)

    def wrong(self) -> pl.DataFrame:
        """The answers that a judge rejected (verdict false), one row per judge and answer.

        What a judge says is wrong, right or not; where labels are known, `agree` and `failures`
        show where the judge itself errs. Rows are in the order of the judgments; answers that were
        not judged are not among them.

        Columns: `answer_id`, `judge`, `system`, `question`, `references`, `answer`, `score`,
        `explanation` (the judge's), `mode` and `evidence` (what differs from the references; see
        `markscheme.failures`), and the slices.
        """
        from markscheme.analysis import with_rejections

        own = slices_of(self.answers)
        texts = self.answers.select(*ANSWERS_SCHEMA, *own).unique(
            "answer_id", keep="first", maintain_order=True
        )
        rejected = self.judgments.filter(~pl.col("verdict"))
        found = rejected.select("answer_id", "judge", "status", "score", "explanation", "relation")
        joined = found.with_columns(pl.col("relation").cast(pl.String)).join(
            texts, on="answer_id", how="left", maintain_order="left"
        )
        return with_rejections(joined).select(
            "answer_id",
            "judge",
            "system",
            "question",
            "references",
            "answer",
            "score",
            "explanation",
            "mode",
            "evidence",
            *own,
        )

    def failures(self, labels: TableSource | None = None, **options: Any) -> FailuresResult:
        """What the judges reject and why, mode by mode: see `markscheme.failures`.

        Args:
            labels: people's labels, to see what the judges get wrong.
            options: fields of `markscheme.analysis.FailureOptions`.
        """
        from markscheme.analysis import failures

        return failures(self, labels, **options)

    def agree(self, labels: JudgmentsSource | None = None, **options: Any) -> AgreeResult:
        """Agreement with people's labels: see `markscheme.agree`, which has the options.

        Args:
            labels: a file, a frame or rows with labels; None for those of the answers.
            options: fields of `markscheme.agreement.AgreeOptions`.
        """
        from markscheme.agreement import agree

        return agree(self, labels, **options)

    def compare(self, other: JudgmentsSource | None = None, **options: Any) -> CompareResult:
        """Judges, or systems, compared pair by pair: see `markscheme.compare`.

        Args:
            other: another result, or judgments, of the same answers, to compare with too.
            options: `labels`, and fields of `markscheme.agreement.CompareOptions`.
        """
        from markscheme.agreement import compare

        return compare(self, other=other, **options)

    def plot(self, kind: Literal["accuracy", "reliability", "agreement"] = "accuracy") -> Any:
        """A chart of these judgments as altair has it, which a notebook shows and `.save` writes.

        Args:
            kind: `accuracy`: the share of each system's answers that every judge accepts, with 95%
                intervals, and people where there are labels. `reliability`: scores against
                the share of answers that people accept. `agreement`: how far each judge agrees
                with people.

        Raises:
            MissingExtraError: the extra `report` is not installed.
            AgreementError: the answers have no labels that the chart needs.
        """
        from markscheme.errors import AgreementError, UnknownNameError
        from markscheme.reports import chart_of, read_material

        kinds = ("accuracy", "reliability", "agreement")
        if kind not in kinds:
            raise UnknownNameError("chart", kind, kinds, f"there are {', '.join(kinds)}")
        chart = chart_of(read_material(self, title="answers"), kind)
        if chart is None:
            raise AgreementError(
                f"there is no chart of {kind}: it needs people's labels of both kinds"
                + (", and scores of more than ten values" if kind == "reliability" else "")
            )
        return chart

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report of these judgments: one HTML file that opens offline.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        from markscheme.reports import report

        return report(self, path, title=title).path

    def __repr__(self) -> str:
        """The judges and how many answers each judged: `Result(exact_match: 248 answers)`."""
        rows: dict[str, int] = {}
        for record in self.run.records:
            rows[record["judge"]] = max(rows.get(record["judge"], 0), record["rows"])
        return f"Result({', '.join(f'{judge}: {count} answers' for judge, count in rows.items())})"


@dataclass(frozen=True, kw_only=True)
class Judgment:
    """The judgment of one answer. What the judge does not give is None."""

    judge: str
    signature: str
    status: str
    score: float | None
    verdict: bool | None
    relation: str | None
    marks: float | None
    explanation: str | None
    scope: str | None
    raw: str | None
    cost_usd: float | None
    tokens_in: int | None
    tokens_out: int | None
    seconds: float | None

    def __bool__(self) -> bool:
        """The verdict.

        Raises:
            ValueError: there is none, since the answer was not judged; that is not a "no".
        """
        if self.verdict is None:
            raise ValueError(f"no verdict: {self.status} ({self.explanation or 'no reason given'})")
        return self.verdict


def judge(
    answers: Source | Sequence[str | Path],
    judges: str | Judge | Sequence[str | Judge] = DEFAULT_JUDGE,
    options: ReadOptions | None = None,
    *,
    out: str | Path | None = None,
    clean: Cleaning = CLEANING,
    models: ModelSource | None = None,
    workers: int = 1,
    on_progress: Callable[[int], None] | None = None,
    **keywords: Any,
) -> Result:
    """Judge answers.

    Args:
        answers: a path (or several), `-` for standard input, a Polars or pandas frame, or a list of
            dicts; with columns for question, references and answer under their usual names.
        judges: names such as `"token_f1(threshold=0.6)"`, judge objects, or several of either.
        options: how the answers are read; the defaults if None.
        out: a folder to write the run to, and to resume from if it was interrupted; None keeps
            everything in memory.
        clean: what is taken out of answers first: `"formatting"` (citation marks, lists of sources,
            closing offers and wrappings, for judges that ask no chat model) or `"none"`.
        models: opens weights and servers for judges that need some.
        workers: processes that judge side by side, for many answers and a judge that is not
            lexical; a script that asks for several needs `if __name__ == "__main__":`.
        on_progress: called with the number of judgments just finished.
        keywords: fields of `ReadOptions`, in place of or on top of `options`: `columns` (our names
            to the data's), `answer_columns` (one for each system), `slices` (columns to give
            figures by: see `Result.by`), `on_bad_row` (`skip` leaves malformed rows out and counts
            them), `reference_separator` and others.

    Returns:
        The judgments, the figures and the counts.

    Raises:
        DataError: the answers cannot be read.
        JudgeError: a judge's name or parameters are wrong.
        MarkschemeError: an option that there is not.
        RunError: the folder cannot be used.

    Example:
        >>> import markscheme
        >>> row = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Austen"}
        >>> markscheme.judge([row], "exact_match").summary["accuracy"].to_list()
        [0.0]
    """
    # Lists are tuples there: what a run depends on is written from them.
    given = {key: tuple(one) if isinstance(one, list) else one for key, one in keywords.items()}
    if given.get("columns", ()) is None:
        del given["columns"]
    options = with_keywords(ReadOptions, options, given)
    sources = sources_of(answers)
    named = [judges] if isinstance(judges, str) or not isinstance(judges, Sequence) else judges
    reader = AnswersReader(sources, options)
    made = [parse_judge(one) for one in named]
    report = run(
        reader,
        made,
        out=out,
        clean=clean,
        models=models,
        workers=workers,
        on_progress=on_progress,
    )
    return Result.of(report, reader)


def run(
    reader: AnswersReader,
    judges: Sequence[Judge],
    *,
    out: str | Path | None,
    clean: Cleaning = CLEANING,
    models: ModelSource | None = None,
    workers: int | None = 1,
    on_progress: Callable[[int], None] | None = None,
    command: str | None = None,
    again: bool = False,
) -> RunReport:
    """Judge what a reader gives, in memory or into a folder; what `judge` and the command share.

    `workers` None starts processes by itself where they pay (see `process_pool`).
    """
    with process_pool(workers, models) as ask:
        if out is None:
            return run_in_memory(
                reader,
                judges,
                models=models,
                clean=clean,
                ask=ask,
                on_progress=on_progress,
            )
        return run_in_folder(
            reader,
            judges,
            out,
            models=models,
            clean=clean,
            ask=ask,
            render=lambda report: summary_table(report.records).markdown(),
            on_progress=on_progress,
            command=command,
            again=again,
        )


def mark(
    question: str,
    references: str | Sequence[str],
    answer: str,
    judge: str | Judge = DEFAULT_JUDGE,
    *,
    models: ModelSource | None = None,
) -> Judgment:
    """Judge one answer.

    Args:
        question: the question.
        references: the reference answers, or the only one; an empty list where the question has no
            answer, so that one that says so is right.
        answer: a system's answer.
        judge: a judge's name or a judge.
        models: opens weights and servers for judges that need some.

    Raises:
        DataError: question or references are empty.
        JudgeError: the judge's name or parameters are wrong.

    Example:
        >>> import markscheme
        >>> markscheme.mark("Who wrote Emma?", ["Jane Austen"], "Jane Austen", "contains").verdict
        True
    """
    from markscheme.engine import apply, reading_for, signed, with_plain

    judging = parse_judge(judge)
    row = {"question": question, "references": several(references), "answer": answer}
    answers = pl.concat(list(AnswersReader([[row]], reading_for(ReadOptions(), [judging]))))
    outcome = apply(judging, with_plain(answers), models).row(0, named=True)
    signature = signed(judging, models, CLEANING)
    return Judgment(judge=judge_name(judging), signature=signature, **outcome)


def several(references: Any) -> list[Any]:
    """One reference or several, as a list."""
    # An object's keys are no references.
    single = isinstance(references, str | Mapping) or not isinstance(references, Iterable)
    return [references] if single else list(references)
