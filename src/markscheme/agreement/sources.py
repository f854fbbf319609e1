"""What the public functions accept: paths, runs, frames and results, read into tidy tables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import getattr_static
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

import polars as pl

from markscheme.agreement.options import JudgmentOptions, LabelOptions
from markscheme.errors import (
    KEY_VARIABLE,
    AgreementError,
    BadValuesError,
    DataError,
    UnsealedWarning,
    signature_wanted,
)
from markscheme.flags import columns_option, parse_columns, split_list, with_keywords
from markscheme.results import NO_VALUE
from markscheme.tables import (
    ANNOTATOR_COLUMNS,
    ANSWERS_SCHEMA,
    KEYS,
    LABEL_OF,
    REMARKS,
    ReadOptions,
    column_names,
    holds_labels,
    judgments_file,
    load_judgments,
    load_labels,
    no_label_remarks,
    numbered,
    once_each,
    our_names,
    preview,
    read_answers,
    read_json,
    read_parquet,
    read_table,
    read_with_notes,
    recognise,
    renamed,
    text_columns,
    with_answers,
)

if TYPE_CHECKING:
    import pandas as pd


class JudgedAnswers(Protocol):
    """What `markscheme.judge` gives, as far as statistics need it."""

    @property
    def judgments(self) -> pl.DataFrame:
        """The judgments table."""

    @property
    def answers(self) -> pl.DataFrame:
        """The answers table."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """Judgments and the answers that were judged, as a source without a folder.

    Attributes:
        judgments: the judgments table. answers: the answers table.
    """

    judgments: pl.DataFrame
    answers: pl.DataFrame


_BY_JUDGES = ("judge", "verdict", "score")
"""Columns of judgments that no table of answers has."""

TableSource: TypeAlias = "str | Path | pl.DataFrame | pd.DataFrame | Sequence[Mapping[str, Any]]"
"""A file's path, a Polars or pandas frame, or a list of rows."""

JudgmentsSource: TypeAlias = "TableSource | JudgedAnswers | Run"
"""Judgments: a file, the folder of a run, a frame, a list of rows, a `markscheme.Result`, or what
`open_run` gave."""


def _is_result(source: Any) -> TypeGuard[JudgedAnswers]:
    """Whether a source is a `markscheme.Result`, or anything else with judgments and answers.

    The names are looked up without their values, which would be read by that.
    """
    if type(source).__module__.startswith(("pandas", "polars")):
        return False
    return all(getattr_static(source, name, None) is not None for name in ("judgments", "answers"))


@dataclass(frozen=True, eq=False)
class Run:
    """Judged answers, whatever they came as; each part is read when it is first needed.

    Attributes:
        source: what was given: a path, a run's folder, a frame, rows, or a `markscheme.Result`.
        given: the judged answers, where they were given apart.
        reading: how files are read that are no run's; its columns are our names to the source's,
            of judgments, answers or labels.
        notes: what was guessed and counted when the answers were read, once they have been.
    """

    source: Any
    given: Any = None
    reading: ReadOptions = field(default_factory=ReadOptions)
    notes: list[str] = field(default_factory=list, init=False, repr=False)

    @property
    def columns(self) -> Mapping[str, str]:
        """Our names of columns to the source's."""
        return self.reading.columns

    @property
    def name(self) -> str:
        """The source in an error."""
        return str(self.source) if isinstance(self.source, str | Path) else "the table"

    @cached_property
    def table(self) -> pl.DataFrame:
        """The judgments unchanged: of a run its own, else the whole source.

        Raises:
            DataError: it cannot be read.
        """
        if _is_result(self.source):
            return self.source.judgments
        return read_table(*self._unread)

    @property
    def _unread(self) -> tuple[Any, ReadOptions]:
        """The judgments before they are read, and how they are: a run's own by no options."""
        file = self.source if self.file is None else self.file
        return file, self.reading if self.folder is None else ReadOptions()

    @property
    def file(self) -> str | None:
        """The file of the judgments, with the run's answers known to be theirs; None of no path.

        Raises:
            DataError: the path is empty, or a folder that is no run's.
            RunError: the run has not ended, or its tables are not as it left them.
        """
        return self._opened[0]

    @property
    def is_sealed(self) -> bool:
        """Whether the file has a seal, by which it is unchanged; raises as `file` does."""
        return self._opened[1]

    @cached_property
    def _opened(self) -> tuple[str | None, bool]:
        is_path = isinstance(self.source, str | Path)
        return judgments_file(self.source) if is_path else (None, False)

    @cached_property
    def folder(self) -> Path | None:
        """The run's folder; None of what is in no run's folder."""
        if _is_result(self.source):
            return getattr(getattr(self.source, "run", None), "folder", None)
        if not isinstance(self.source, str | Path):
            return None
        path = Path(self.source)
        if path.is_dir():
            return path
        return path.parent if path.name == "judgments.parquet" else None

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What the run's `run.json` says: judges, options, versions, command; {} without one.

        Raises:
            RunError: it cannot be read.
        """
        if self.folder is None or not (self.folder / "run.json").is_file():
            return {}
        return read_json(self.folder / "run.json")

    @cached_property
    def stored_answers(self) -> pl.DataFrame | None:
        """The answers that a run or a `Result` has with its judgments; None of a table.

        Raises:
            DataError: they cannot be read.
        """
        if _is_result(self.source):
            return self.source.answers
        if self.file is None or self.folder is None:
            return None
        file = self.folder / "answers.parquet"
        return read_parquet(file) if file.exists() else None

    @cached_property
    def known_answers(self) -> pl.DataFrame | None:
        """The answers to the judgments: those given, else those stored; None if there are none.

        Raises:
            DataError: they cannot be read.
        """
        if self.given is None:
            return self.stored_answers
        reading = self._of_answers
        if reading.columns and not _is_result(self.given):
            there = column_names(self.given, reading)
            names = {
                ours: theirs
                for ours, theirs in reading.columns.items()
                if theirs in there or theirs not in self.table.columns  # else the judgments' alone
            }
            reading = replace(reading, columns=names)
        return self._read(self.given, reading)

    @cached_property
    def answers(self) -> pl.DataFrame:
        """What was judged: the answers to the judgments, else the source itself.

        Raises:
            DataError: they cannot be read, or the source has no references.
        """
        if self.known_answers is not None:
            return self.known_answers
        if not self.is_answers and set(_BY_JUDGES) & set(self.names):
            raise DataError(
                f"{self.name} holds judgments without references; name the judged file with "
                "--answers (Python: answers=...)"
            )
        names = dict(self._of_answers.columns)
        judges = [self.columns[ours] for ours in _BY_JUDGES if ours in self.columns]
        if judges and "label" not in names:  # A column of verdicts may be called like labels.
            others = [name for name in self.table.columns if name not in judges]
            names["label"] = recognise(others, "label", self.name) or "none"
        return self._read(self.source, replace(self._of_answers, columns=names))

    @cached_property
    def is_answers(self) -> bool:
        """Whether the source itself has what an answers table has, references above all."""
        if self.stored_answers is not None:
            return False
        if self.file is not None and self.file != str(self.source):
            return False
        there = set(self.names)
        if {"question", "references", "answer"} <= there or {"verdict", "judge"} & there:
            return {"question", "references", "answer"} <= there
        try:  # Another tool's export, whose columns lie inside objects, perhaps.
            seen = preview([self.source], self._of_answers)
        except DataError:
            return False
        return not any(one.trouble for one in seen)

    @cached_property
    def has_judgments(self) -> bool:
        """Whether there are verdicts or scores, and not answers alone.

        A column of answers that may be labels or verdicts, such as `correct`, has their labels.
        """
        if not self.is_answers:
            return True
        names = set(self._named("question", "answer", "label", "verdict", "score"))
        return {"question", "answer"} <= names and bool({"verdict", "score"} & names)

    @cached_property
    def names(self) -> list[str]:
        """The columns of the judgments, under our names where they are known."""
        return self._named("question", "references", "answer", "verdict", "score")

    def _named(self, *ours: str) -> list[str]:
        """The columns of the judgments, under those of our names, the first before later ones."""
        there = self.table.columns if _is_result(self.source) else column_names(*self._unread)
        return our_names(there, self.columns, ours)

    @cached_property
    def stored_labels(self) -> pl.DataFrame | None:
        """The stored answers with what was met when their labels were read: `annotator columns`,
        the names of those that held `annotator_labels`, and `remarks` on words that are no label.

        Raises:
            DataError, RunError: they cannot be read.
        """
        if self.stored_answers is None:
            return None
        annotators: list[str] = []
        words: Mapping[str, int] = {}
        if _is_result(self.source) and (report := getattr(self.source, "run", None)) is not None:
            annotators, words = getattr(report, "annotators", []), getattr(report, "no_labels", {})
        elif self.folder is not None and (self.folder / "summary.json").is_file():
            met = read_json(self.folder / "summary.json").get("answers", {})
            annotators, words = met.get("annotators", []), met.get("no_labels", {})
        more = [
            pl.lit(texts, dtype=pl.List(pl.String)).alias(name)
            for name, texts in (
                (ANNOTATOR_COLUMNS, annotators),
                (REMARKS, no_label_remarks(words)),
            )
            if texts and name not in self.stored_answers.columns
        ]
        return self.stored_answers.with_columns(more) if more else self.stored_answers

    def labels(self, column: str | None = None) -> pl.DataFrame | None:
        """The answers of a run or a `Result`, with the labels that came with them; None of a table.

        Args:
            column: which of its columns has them.

        Raises:
            DataError: there are none.
        """
        if self.stored_answers is None:
            return None
        known = [column] if column else ["label", "annotator_labels"]
        there = [name for name in known if name in self.stored_answers.columns]
        if any(holds_labels(self.stored_answers[name]) for name in there):
            return self.stored_labels
        lacks = (
            f"none of the {self.stored_answers.height:,} answers of the run has a label"
            + (f" (column {column!r})" if column else "")
            if there
            else f"the run has saved no column {column!r}"
        )
        raise DataError(
            f"{lacks}; judge again with {columns_option({'label': column or 'COLUMN'})}, or name "
            f"the file that has them: --labels FILE{f' --label-column {column}' if column else ''} "
            f"(Python: labels=...{', label_column=...' if column else ''})"
        )

    @property
    def _of_answers(self) -> ReadOptions:
        """How answers are read: the columns of judgments and labels are none of theirs."""
        names = {
            ours: theirs
            for ours, theirs in self.columns.items()
            if ours.partition(":")[0] in ANSWERS_SCHEMA
        }
        return replace(self.reading, columns=names)

    def _read(self, source: Any, reading: ReadOptions) -> pl.DataFrame:
        if _is_result(source):
            return source.answers
        name = str(source) if isinstance(source, str | Path) else self.name
        table, notes = read_with_notes(source, reading)
        self.notes[:] = [one if one.startswith(name) else f"{name}: {one}" for one in notes]
        return table


def open_run(
    source: JudgmentsSource,
    options: ReadOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> Run:
    """Judged answers from a path, a run's folder, a frame, rows, or what `markscheme.judge` gave.

    Nothing is read yet.

    Args:
        source: where they are.
        options: how files are read that are no run's; the defaults if None.
        answers: the judged answers, where they are apart.
        keywords: fields of `ReadOptions`, in place of or on top of `options`; `columns` may be a
            text such as `question=q,answer=pred`.

    Raises:
        MarkschemeError: an option that there is not, or a value that it cannot have.
    """
    if isinstance(source, Run):
        return source if answers is None else replace(source, given=answers)
    if "columns" in keywords:
        keywords["columns"] = columns_of(keywords["columns"])
    return Run(source, given=answers, reading=with_keywords(ReadOptions, options, keywords))


def names_of(names: str | Sequence[str]) -> list[str]:
    """Names given as a list, or in one text with commas; commas in brackets belong to a name."""
    return split_list(names) if isinstance(names, str) else list(names)


def columns_of(columns: str | Mapping[str, str]) -> dict[str, str]:
    """Our names of columns to a file's: a mapping, or a text such as `question=q,answer=pred`.

    Raises:
        MarkschemeError: a piece of the text without `=`.
    """
    return parse_columns(columns) if isinstance(columns, str) else dict(columns)


def judged_table(
    source: JudgmentsSource,
    *,
    judges: str | Sequence[str] = (),
    columns: str | Mapping[str, str] = "",
    answers: TableSource | None = None,
    threshold: float = 0.5,
    slices: Sequence[str] = (),
    labels: JudgmentsSource | None = None,
) -> pl.DataFrame:
    """Judgments as a long table, with questions, answers and systems from the judged answers.

    These are `answers` where given, else what a run or a `Result` keeps. Of equal judgments of one
    of them by one judge, one is taken.

    Args:
        source: the judgments.
        judges: which of them; all if empty.
        columns: our names of columns to the table's.
        answers: the judged answers.
        threshold: from which score an answer is accepted where a judge gave no verdict.
        slices: columns of the user's own, of the judgments or else of the answers, as text.
        labels: a table of labels, whose columns `columns` may name as well.

    Raises:
        DataError, AgreementError: judgments or answers cannot be read, do not fit together, or
            neither has a slice; or a judge has two verdicts on one of the judged answers.
    """
    run = open_run(source, answers=answers)
    names = {
        ours: theirs
        for ours, theirs in columns_of(columns).items()
        if ours.partition(":")[0] != "label"
    }
    known = run.stored_answers
    if known is not None or labels is not None or run.given is not None:
        # What judgments are matched by is then theirs and the answers': labels do without it.
        names = {
            ours: theirs for ours, theirs in names.items() if theirs != "none" or ours not in KEYS
        }
    if run.given is not None:  # Its columns are read with the answers.
        names = {
            ours: theirs
            for ours, theirs in names.items()
            if theirs in (*run.table.columns, "none") or run.columns.get(ours) != theirs
        }
    if labels is not None:
        names = names_of_judged(names, run, labels)
        for ours, theirs in names.items():
            if theirs != "none" and theirs not in run.table.columns:
                raise DataError(
                    f"neither the judgments nor the labels have a column {theirs!r} (named as "
                    f"{ours}); the judgments have {', '.join(map(repr, run.table.columns))}; "
                    f"the labels have {', '.join(map(repr, _label_table(labels).columns))}"
                )
    found = load_judgments(
        run.table,
        judges=names_of(judges) or None,
        threshold=threshold,
        names=names,
        slices=slices,
    )
    if run.given is not None:
        wanted = tuple(set(slices) - set(found.columns))
        known = replace(run, reading=replace(run.reading, slices=wanted)).known_answers
    if known is not None:
        found = once_each(with_answers(found, known, slices))
    return _sliced(found, slices)


def names_of_judged(
    names: Mapping[str, str],
    judged: JudgmentsSource,
    labels: JudgmentsSource,
    *,
    answers: TableSource | None = None,
) -> dict[str, str]:
    """The names of columns without those that the labels have and what was judged has not.

    Args:
        names: ours to theirs.
        judged: judgments. labels: their labels.
        answers: the judged answers, where they are apart.
    """
    if not names:
        return {}
    of_labels = set(_label_table(labels).columns)
    for one in (judged, *([] if answers is None else [answers])):
        of_labels -= set(open_run(one).table.columns)
    return {ours: theirs for ours, theirs in names.items() if theirs not in of_labels}


def _label_table(labels: JudgmentsSource) -> pl.DataFrame:
    """Where labels are: the answers of a run or a `Result`, else the table itself."""
    run = open_run(labels)
    file = run.file if run.folder is None else None  # A run's own are in its seal.
    if file and signature_wanted() and not run.is_sealed:
        warnings.warn(
            f"labels: {file} has no seal, and {KEY_VARIABLE} is set, so nothing shows whether "
            "they were changed",
            UnsealedWarning,
            stacklevel=2,
        )
    return run.table if run.stored_labels is None else run.stored_labels


def labelled_table(
    source: JudgmentsSource,
    *,
    column: str | None = None,
    columns: str | Mapping[str, str] = "",
    positive_from: float | None = None,
) -> pl.DataFrame:
    """Labels as a table, by the column that holds them.

    Args:
        source: where they are.
        column: the column with labels, where it is not called `label`.
        columns: columns with unusual names, ours to the source's.
        positive_from: the grade from which an answer is acceptable.

    Raises:
        DataError, AgreementError: they cannot be read.
    """
    table = _label_table(source)
    given = columns_of(columns) | ({"label": column} if column else {})
    known = {
        ours: theirs
        for ours, theirs in given.items()
        if ours.startswith(("annotator", LABEL_OF)) or ours in (*KEYS, "label")
        if theirs in (*table.columns, "none")
    }
    lost = [ours for ours in given if ours.partition(":")[0] == "label" and ours not in known]
    # A run has its labels under our name, whatever they were called in the judged file.
    if lost and (column or open_run(source).stored_answers is None):
        raise DataError(
            f"the labels have no column {given[lost[0]]!r} (named as {lost[0]}); the columns are "
            f"{', '.join(map(repr, table.columns))}"
        )
    return load_labels(table, names=known, positive_from=positive_from)


def judged_and_labelled(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None,
    reading: LabelOptions,
    *,
    judges: str | Sequence[str] = (),
    answers: TableSource | None = None,
    slices: Sequence[str] = (),
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments and labels, of two tables or, where `labels` is None, of one, a run or a result.

    Args:
        judgments, labels: where they are. A table without labels may have them in its `answers`.
        reading: how they are read.
        judges: the judges to take; () for all.
        answers: the judged answers, where judgments lack question, answer or system.
        slices: columns of the user's own, as of `judged_table`.

    Raises:
        DataError, AgreementError: they cannot be read.
    """
    run = open_run(judgments, answers=answers)
    column, columns, cut = reading.label_column, reading.columns, reading.positive_from
    how = _how(reading, judges, slices)
    if labels is None or labels is run.source or _same_file(labels, run.source):
        labels = run
        try:
            if run.labels(column) is None:
                names = columns_of(columns)
                named = column or names.get("label")
                # The label first, lest a column such as 'correct' be taken for a verdict too.
                both = renamed(
                    numbered(run.table),
                    {"label": named} if named else {},
                    ("label",),
                    keep=names_of(judges),
                )
                own = {ours: theirs for ours, theirs in names.items() if ours != "label"}
                rows = judged_table(both, answers=run.given, **how)
                return rows, labelled_table(both, columns=own, positive_from=cut)
        except BadValuesError as error:
            if run.given is None:
                raise
            raise BadValuesError(f"{error}, or name those to take with --labels FILE") from None
        except DataError:
            if run.given is None:
                raise
            labels = run.given
    rows = judged_table(run, **how, labels=labels)
    return rows, labelled_table(labels, column=column, columns=columns, positive_from=cut)


def judged_and_labels_if_any(
    run: Run,
    labels: JudgmentsSource | None,
    reading: LabelOptions,
    *,
    judges: str | Sequence[str] = (),
    slices: Sequence[str] = (),
    own: bool = True,
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """As `judged_and_labelled`; None in place of labels where nothing names them or has any.

    `own` is whether the labels may be in the table of judgments itself. A column that looks like
    labels and holds none may be something else; one with some that cannot be read is an error.

    Raises:
        DataError, AgreementError: they cannot be read, or no column has the name that was given.
    """
    named = reading.label_column or "label" in columns_of(reading.columns)
    if own or any(one is not None for one in (labels, run.given, run.stored_answers)):
        try:
            rows, known = judged_and_labelled(run, labels, reading, judges=judges, slices=slices)
            return rows, known if known["label"].count() else None
        except DataError as error:
            if labels is not None or named or isinstance(error, BadValuesError):
                raise
    return judged_table(run, **_how(reading, judges, slices)), None


def _how(
    reading: LabelOptions, judges: str | Sequence[str], slices: Sequence[str]
) -> dict[str, Any]:
    """The options of `judged_table`."""
    how: dict[str, Any] = {"judges": judges, "columns": reading.columns, "slices": slices}
    return how | {"threshold": reading.threshold} if isinstance(reading, JudgmentOptions) else how


_WITH_TEXTS = ("question", "references", "answer")


def with_texts(
    rows: pl.DataFrame, run: Run, reading: LabelOptions, names: Sequence[str]
) -> pl.DataFrame:
    """Rows of judged answers with such texts as `references` as well, as far as they are known.

    Args:
        rows: with the ids of the answers, or their texts.
        run: what was judged: its answers have the texts, or else the judgments' own table.
        reading: how its columns are called.
        names: of the texts; those that `rows` have, those without a value, and those that several
            columns may be are passed over.
    """
    answers, key = run.known_answers, ["answer_id"]
    if answers is None:
        there = run.table.columns
        known = {o: theirs for o, theirs in reading.columns.items() if theirs in (*there, "none")}
        try:
            found = our_names(there, known, _WITH_TEXTS)
        except DataError:  # Several columns may be one of them, and statistics need none.
            return rows
        key = [name for name in ("question", "answer") if name in rows.columns and name in found]
        if "references" not in found or "question" not in key:
            return rows
        answers = text_columns(renamed(run.table, known, _WITH_TEXTS), key)
    shown = [
        name
        for name in names
        if name in answers.columns and name not in rows.columns and answers[name].count()
    ]
    if not shown or not set(key) <= set(rows.columns):
        return rows
    texts = answers.select(*key, *shown).unique(key, keep="first")
    return rows.join(texts, on=key, how="left", nulls_equal=True, maintain_order="left")


def answers_table(source: Any, options: ReadOptions | None = None) -> pl.DataFrame:
    """An answers table from a file, a frame, rows, or what `markscheme.judge` returned.

    Raises:
        DataError: it cannot be read.
    """
    return source.answers if _is_result(source) else read_answers(source, options)


def check_systems(rows: pl.DataFrame, *, by: str | None) -> None:
    """Raises AgreementError where figures by system are wanted of answers without one."""
    if by == "system" and not ("system" in rows.columns and rows["system"].count()):
        raise AgreementError(
            "--by system requires --answers (Python: answers=...): the judgments lack the system"
        )


def by_system(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The answers of each system, in the order of the first ones, without those of none."""
    parts = rows.drop_nulls("system").group_by("system", maintain_order=True)
    return [(str(name), part) for (name,), part in parts]


def _sliced(rows: pl.DataFrame, slices: Sequence[str]) -> pl.DataFrame:
    """Judgments with the columns of the user's own as text.

    Raises:
        DataError: there is no such column.
    """
    for name in slices:
        if name not in rows.columns:
            raise DataError(
                f"there is no column {name!r} in the judged answers; judge with --slices {name}, "
                "or give the answers with --answers FILE"
            )
    return text_columns(rows, slices).with_columns(pl.col(n).fill_null(NO_VALUE) for n in slices)


def _same_file(one: Any, other: Any) -> bool:
    paths = isinstance(one, str | Path) and isinstance(other, str | Path)
    return paths and str(one) == str(other)
