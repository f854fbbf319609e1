"""What every public function gives: a frame, tables for people and data for machines."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from markscheme.errors import MarkschemeError, MissingExtraError
from markscheme.results.figures import Figure, plain
from markscheme.results.table import Table, csv_remarks
from markscheme.tables import replace_file
from markscheme.text import html_text, markdown_note, one_line, printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


class Tabular:
    """What every result can be turned into, from three parts that its subclass has.

    Attributes:
        frame: the figures as a Polars table, one row per unit that the function reports on. A
            statistic `x` with an interval has the columns `x`, `x_low` and `x_high`; null where it
            is undefined (`tables` and `to_json` say why).
        tables: the same for people, as the command prints them.
        data: everything computed, as nested values; what `to_json` writes.
        lead: the answer in sentences, which come before the tables; may be empty.
    """

    lead: tuple[str, ...] = ()

    if TYPE_CHECKING:

        @property
        def frame(self) -> pl.DataFrame: ...

        @property
        def tables(self) -> tuple[Table, ...]: ...

        @property
        def data(self) -> Mapping[str, Any]: ...

    def to_pandas(self) -> pd.DataFrame:
        """The frame as a pandas DataFrame.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("to_pandas", "pandas") from None
        return pd.DataFrame(self.frame.to_dict(as_series=False))

    def to_json(self) -> str:
        """All data as indented JSON that ends with a line break; undefined figures are null."""
        return orjson.dumps(plain(self.data), option=orjson.OPT_INDENT_2).decode() + "\n"

    def to_csv(self) -> str:
        """The tables as comma-separated text with their notes, an empty line between two.

        The lead comes last, so that the first line is a header.
        """
        lead = [csv_remarks(self.lead)] if self.lead else []
        return "\n".join([*(table.csv() for table in self.tables), *lead])

    def to_markdown(self) -> str:
        """The lead, then the tables as Markdown, with their notes."""
        lead = (f"{markdown_note(one)}\n" for one in self.lead)
        return "\n".join((*lead, *(table.markdown() for table in self.tables)))

    def to_text(self, width: int | None = None) -> str:
        """The lead and the tables as the command prints them.

        Args:
            width: characters of a line of a table; the terminal's if None, 100 where there is none.
        """
        from rich.console import Console

        written = io.StringIO()
        width = width or shutil.get_terminal_size((100, 24)).columns
        self.print_on(Console(file=written, width=width, highlight=False, color_system=None))
        lines = (line.rstrip() for line in written.getvalue().splitlines())
        return "\n".join(lines).rstrip() + "\n"

    def print_on(self, console: Console) -> None:
        """Print the lead, the tables and their notes; a terminal's lines end between words."""
        how: dict[str, Any] = {"markup": False, "soft_wrap": not console.is_terminal}
        for sentence in self.lead:
            console.print(printable(sentence), **how)
        if self.lead:
            console.print()
        for table in self.tables:
            console.print(table.rich())
            for note in table.notes:
                console.print(printable(note), **how)
            if table.notes:
                console.print()

    def to_latex(self) -> str:
        """The tables as LaTeX tabulars with booktabs rules; lead and notes are comments."""
        lead = "".join(f"% {one_line(one)}\n" for one in self.lead)
        return lead + "\n".join(table.latex() for table in self.tables)

    def save(self, path: str | Path) -> Path:
        """Write the result to a file whose ending says how: .json, .csv, .md, .tex or .txt.

        Folders that do not exist are made; `.txt` is as the command prints it, 100 characters wide.

        Raises:
            MarkschemeError: another ending.
            DataError: it cannot be written.
        """
        target = Path(path)
        write = WRITERS[check_ending(target)]
        replace_file(target, write(self).encode())
        return target

    def __str__(self) -> str:
        """As `to_text`."""
        return self.to_text()

    def __repr__(self) -> str:
        """The class and the size of the frame: `AgreeResult(3 rows, 20 columns)`."""
        return f"{type(self).__name__}({self.frame.height} rows, {self.frame.width} columns)"

    def _repr_html_(self) -> str:
        """The lead and the tables as HTML, for a notebook; all text is escaped."""
        lead = (f"<p>{html_text(one)}</p>" for one in self.lead)
        return "\n".join((*lead, *(table.html() for table in self.tables)))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableResult(Tabular):
    """A result as a frame, as tables and as data. Public functions return one of its subclasses."""

    frame: pl.DataFrame
    tables: tuple[Table, ...]
    data: Mapping[str, Any]
    lead: tuple[str, ...] = ()


WRITERS: dict[str, Callable[[Tabular], str]] = {
    ".json": Tabular.to_json,
    ".csv": Tabular.to_csv,
    ".md": Tabular.to_markdown,
    ".tex": Tabular.to_latex,
    ".txt": lambda result: result.to_text(100),
}
"""How a result is written, by a file's ending."""


def check_ending(path: str | Path, endings: Collection[str] = WRITERS) -> str:
    """The ending by which a result is written to this file.

    Args:
        path: the file.
        endings: those that there are.

    Raises:
        MarkschemeError: nothing is written with the name's ending.
    """
    ending = Path(path).suffix.lower()
    if ending not in endings:
        said = f"not {ending!r}" if ending else "and this name has none"
        raise MarkschemeError(f"{str(path)!r}: the endings are {', '.join(endings)}, {said}")
    return ending


def flat_frame(records: Iterable[Any]) -> pl.DataFrame:
    """Dataclasses or mappings as a frame, one row each.

    A `Figure` becomes `name`, `name_low` and `name_high`; what is nested in a mapping or dataclass
    gets its name in front (`counts_true_positive`); sequences stay lists.
    """
    return pl.DataFrame([_flat(record) for record in records], infer_schema_length=None)


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    flat: dict[str, Any] = {}
    for name, part in value.items():
        column = f"{prefix}{name}"
        if isinstance(part, Figure):
            flat |= {column: part.value, f"{column}_low": part.low, f"{column}_high": part.high}
        elif isinstance(part, Mapping) or is_dataclass(part):
            flat |= _flat(part, f"{column}_")
        else:
            flat[column] = plain(part)
    return flat
