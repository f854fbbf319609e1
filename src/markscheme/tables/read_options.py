"""How raw rows become answers: the options of everything that reads answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from markscheme.errors import DataError
from markscheme.flags import Columns, Option, ReferenceSeparator, Slices

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "xlsx"]


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file of answers is read: what every command has that reads one.

    Attributes:
        columns: our name to theirs, for columns with unusual names; theirs may be a path into
            objects and lists (`doc.question`, `resps.0.0`, `messages.assistant`), or `none` to
            leave a column out that would otherwise be recognised.
        answer_columns: columns that hold one system's answers each; () finds out where no column
            is the answer by its name.
        input_format: of the file; None finds out.
        encoding: of a file of text; None finds out.
        sheet: of a workbook, by its name; None takes the only one that holds a table.
        reference_separator: splits references given as one text. `auto` splits at ` || ` and
            ` | `; `none` never does; anything else is the separator itself, such as `/`.
        on_bad_row: `error` stops and names the rows, `skip` leaves them out and counts them.
        repeats: rows that repeat an earlier one exactly `count` again, or `drop` leaves them out.
        blank_answers: `wrong` judges a row without an answer as wrong, `drop` leaves it out, as
            where a wide table has a system's column for questions that the system never got.
        max_bytes: longest text of one field in UTF-8; a longer one is a malformed row.
    """

    columns: Columns = field(default_factory=dict)
    answer_columns: Annotated[
        tuple[str, ...],
        Option(
            "Columns that each hold one system's answers, comma-separated: gpt-4o,claude.",
            aliases=("--answers",),
            split=True,
            metavar="NAME,...",
        ),
    ] = ()
    input_format: Annotated[
        Format | None,
        Option("Format of the input. [default: detected]", aliases=("--format",), rare=True),
    ] = None
    encoding: Annotated[
        str | None,
        Option("Encoding of text files, such as cp1252 or utf-16. [default: detected]", rare=True),
    ] = None
    sheet: Annotated[
        str | None, Option("Sheet of a workbook. [default: the only one with a table]", rare=True)
    ] = None
    reference_separator: ReferenceSeparator = "auto"
    on_bad_row: Annotated[
        Literal["error", "skip"],
        Option(
            "error: list bad rows and stop. skip: leave them out and report their number.",
            rare=True,
        ),
    ] = "error"
    repeats: Annotated[
        Literal["count", "drop"],
        Option(
            "Exact repeats of an earlier row. count: keep them. drop: leave them out.", rare=True
        ),
    ] = "count"
    blank_answers: Annotated[
        Literal["wrong", "drop"],
        Option(
            "Rows, or cells of --answer-columns, without an answer. wrong: judge them as wrong. "
            "drop: leave them out, as questions that the system never got.",
            rare=True,
        ),
    ] = "wrong"
    max_bytes: Annotated[
        int, Option("Maximum length of a field, in bytes.", minimum=1, rare=True)
    ] = 4_000_000

    def __post_init__(self) -> None:
        """Raises DataError where a value is none of those that there are."""
        if self.on_bad_row not in ("error", "skip"):
            raise DataError(f"on_bad_row={self.on_bad_row!r} is neither 'error' nor 'skip'")
        if self.repeats not in ("count", "drop"):
            raise DataError(f"repeats={self.repeats!r} is neither 'count' nor 'drop'")
        if self.blank_answers not in ("wrong", "drop"):
            raise DataError(f"blank_answers={self.blank_answers!r} is neither 'wrong' nor 'drop'")
        if self.answer_columns and "answer" in self.columns:
            raise DataError(
                "answer_columns and a column for the answer are both given; give one of them"
            )
        if self.max_bytes < 1:
            raise DataError(f"max_bytes={self.max_bytes} must be 1 or more")

    def reading(self, **more: Any) -> ReadOptions:
        """These options and further fields of `ReadOptions`, as a reader takes them."""
        own = {one.name: getattr(self, one.name) for one in fields(FileOptions)}
        return ReadOptions(**(own | more))


@dataclass(frozen=True, kw_only=True)
class ReadOptions(FileOptions):
    """How raw rows become answers.

    Attributes:
        slices: columns of the data to keep as they are, as texts, to give figures by.
        batch_rows: rows per batch when streaming.
        references: `declared` takes questions that have no answer by their own account: an empty
            list of references, as in SQuAD 2.0, where declining is right; a run sets it.
            `optional` takes rows without references too, counted; a run sets it where one of its
            judges needs none.
        own_columns: further columns to read, as text; a run sets those that its judges name.
    """

    slices: Slices = ()
    batch_rows: int = 65_536
    references: Literal["required", "declared", "optional"] = "required"
    own_columns: tuple[str, ...] = ()

    def changed(self) -> list[str]:
        """What is not as by default, as `name=value` in a fixed order: what else a run depends on.

        >>> ReadOptions(columns={"question": "q", "answer": "a"}).changed()
        ["columns=[('answer', 'a'), ('question', 'q')]"]
        """
        plain = ReadOptions()
        found = []
        for one in fields(self):
            value = getattr(self, one.name)
            if value != getattr(plain, one.name) and one.name != "batch_rows":
                shown = sorted(value.items()) if isinstance(value, Mapping) else value
                found.append(f"{one.name}={shown!r}")
        return found

    def __post_init__(self) -> None:
        """Raises DataError where a value is none of those that there are."""
        super().__post_init__()
        if self.batch_rows < 1:
            raise DataError(f"batch_rows={self.batch_rows} must be 1 or more")
