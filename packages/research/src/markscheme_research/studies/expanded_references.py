"""References that are regular expressions, written out as texts for judges that compare texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import DataError
from markscheme.flags import with_keywords
from markscheme.results import Table, TableResult, share_text
from markscheme.tables import FileOptions, read_answers, write_answers
from markscheme_research.studies import expand_pattern


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExpandedReferences(TableResult):
    """Answers whose reference patterns are written out. `frame` is the answers table.

    Attributes:
        counts: rows, rows expanded, distinct patterns, patterns expanded, texts.
        left: patterns that match texts without number, or are not valid; their rows keep
            `reference_kind` `regex` where no other pattern of theirs could be expanded.
    """

    counts: Mapping[str, int]
    left: tuple[str, ...]

    def write(self, path: str | Path) -> Path:
        """Write the answers: .jsonl, .csv, .tsv or .parquet."""
        write_answers(self.frame, Path(path))
        return Path(path)


def expand_references(
    answers: str | Path | pl.DataFrame,
    *,
    most: int = 12,
    kind: str | None = None,
    options: FileOptions | None = None,
    **keywords: Any,
) -> ExpandedReferences:
    r"""Write reference patterns out as texts, so that every judge can compare answers with them.

    Each text matches its pattern as a whole. The first spelling of each pattern comes first.
    Patterns that cannot be written out (`5\d+ feet`) are left, and counted; the judge `regex` reads
    the patterns themselves.

    Args:
        answers: a file or a table of answers.
        most: texts at most for each pattern.
        kind: `regex` where the data do not say in `reference_kind` that references are patterns.
        options: how the answers are read; the defaults if None.
        keywords: fields of `FileOptions`, in place of or on top of `options`.

    Raises:
        DataError: the answers cannot be read, or no reference is a pattern.

    Example:
        >>> row = {"question": "Which?", "references": [r"Mt\.? Etna|Aetna"], "answer": "Etna"}
        >>> expand_references(pl.DataFrame([row]), kind="regex").frame["references"].to_list()
        [['Mt. Etna', 'Aetna', 'Mt Etna']]
    """
    if most < 1:
        raise DataError(f"most={most} must be 1 or more")
    table = read_answers(answers, with_keywords(FileOptions, options, keywords).reading())
    if kind is not None:
        if kind != "regex":
            raise DataError(f"kind={kind!r} is not 'regex'")
        table = table.with_columns(reference_kind=pl.lit("regex"))
    is_pattern = (pl.col("reference_kind") == "regex").fill_null(value=False)
    chosen = table.filter(is_pattern)
    if chosen.is_empty():
        raise DataError(
            "no reference is a pattern: no row has reference_kind 'regex'. Where all of them are, "
            "say so with --kind regex"
        )
    patterns = chosen["references"].explode().drop_nulls().unique(maintain_order=True).to_list()
    known = {one: expand_pattern(one, most=most) for one in patterns}
    references, kinds = [], []
    for given, of_kind in table.select("references", "reference_kind").iter_rows():
        texts = (
            list(dict.fromkeys(text for one in given for text in known.get(one, ())))
            if of_kind == "regex"
            else []
        )
        references.append(texts or given)
        kinds.append("text" if texts else of_kind)
    frame = table.with_columns(
        pl.Series("references", references, dtype=table.schema["references"]),
        pl.Series("reference_kind", kinds, dtype=table.schema["reference_kind"]),
    )
    left = tuple(one for one, texts in known.items() if not texts)
    counts = {
        "rows": chosen.height,
        "rows_expanded": chosen.height - frame.filter(is_pattern).height,
        "patterns": len(patterns),
        "patterns_expanded": len(patterns) - len(left),
        "texts": sum(map(len, known.values())),
    }
    return ExpandedReferences(
        frame=frame,
        tables=(_table(counts, left),),
        data={"command": "references expand", **counts, "left": left},
        counts=counts,
        left=left,
    )


def _table(counts: Mapping[str, int], left: tuple[str, ...]) -> Table:
    def share(part: str, whole: str) -> tuple[str, str, str]:
        return (
            f"{counts[part]:,}",
            f"{counts[whole]:,}",
            share_text(counts[part] / counts[whole] if counts[whole] else None),
        )

    notes = [f"{counts['texts']:,} texts; each matches its pattern as a whole"]
    if left:
        shown = ", ".join(repr(one if len(one) < 60 else f"{one[:59]}…") for one in left[:5])
        more = f" and {len(left) - 5:,} more" if len(left) > 5 else ""
        notes.append(f"not expanded (texts without number, or not valid): {shown}{more}")
    return Table(
        title="Reference patterns written out",
        header=("", "expanded", "of", "per cent"),
        rows=(
            ("patterns", *share("patterns_expanded", "patterns")),
            ("rows", *share("rows_expanded", "rows")),
        ),
        numeric=frozenset({"expanded", "of", "per cent"}),
        notes=tuple(notes),
    )
