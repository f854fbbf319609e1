"""Kinds of failures and errors tagged by hand: a sample to tag, and its tags against the rules'.

Wang et al. (2023), section 6.3, sort 100 errors of each judge on each system by hand (their Figure
2 and Table 11); Kamalloo et al. (2023), section 5, the failures of exact match.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement import TableSource
from markscheme.errors import DataError
from markscheme.results import Column, Table, columns
from markscheme.tables import read_table
from markscheme.text import one_line

_SHOWN = 3


def with_error_ids(errors: pl.DataFrame) -> pl.DataFrame:
    """Errors of judges with `error_id`: the answer's id and a hash of the judge's name.

    One answer may be an error of several judges, each of a kind of its own.
    """
    marks = {
        judge: blake2b(judge.encode(), digest_size=4).hexdigest()
        for judge in errors["judge"].unique().to_list()
    }
    mark = pl.col("judge").replace_strict(marks, default=None, return_dtype=pl.String)
    return errors.with_columns(error_id=pl.concat_str("answer_id", pl.lit("."), mark))


def draw_to_tag(errors: pl.DataFrame, by: list[str], count: int, *, seed: int = 0) -> pl.DataFrame:
    """Errors to tag by hand, drawn at random within each group.

    Args:
        errors: `error_id`, `question`, `references`, `answer`, `context` and the columns of `by`.
        by: columns whose values make the groups: a judge, or a judge and a system.
        count: errors drawn of each group; all where it has fewer.
        seed: of the draw, which does not depend on the order of the rows.

    Returns:
        `answer_id` (the error's own), `question`, `references`, `answer`, `context` (the judge's
        reply), the columns of `by` and an empty `tag`. The order is random, so that tags of
        the first ones alone are a sample too.
    """
    rng = np.random.default_rng(seed)
    drawn = []
    for _, group in sorted(errors.group_by(by), key=lambda one: tuple(map(str, one[0]))):
        ordered = group.sort("error_id")
        drawn.append(ordered[rng.permutation(ordered.height)[:count].tolist()])
    table = pl.concat(drawn) if drawn else errors
    order = pl.Series(rng.permutation(table.height))
    return table.select(pl.all().gather(order)).select(
        pl.col("error_id").alias("answer_id"), "question", "references", "answer", "context",
        *by, pl.lit(None, dtype=pl.String).alias("tag"),
    )  # fmt: skip


def read_tags(source: TableSource, meanings: Mapping[str, object]) -> pl.DataFrame:
    """Tags by error: `error_id`, `tag`. Rows without a tag are left out.

    Args:
        source: a file or table with `answer_id` and `tag`: a sample filled in by hand, or what
            `annotate-export --as tags` writes.
        meanings: the tags that there are.

    Raises:
        DataError: columns are missing, a tag is not among them, or an error has two tags.
    """
    table = read_table(source)
    name = f"the tags in {source}" if isinstance(source, str) or hasattr(source, "name") else "tags"
    lacking = [column for column in ("answer_id", "tag") if column not in table.columns]
    if lacking:
        raise DataError(
            f"{name} lack the column {' and '.join(lacking)}; 'failures --to-tag FILE' writes a "
            "sample with both, and 'annotate-export --as tags' its tags"
        )
    found = table.select(
        pl.col("answer_id").cast(pl.String).alias("error_id"),
        pl.col("tag").cast(pl.String).str.strip_chars(),
        pl.int_range(pl.len()).alias("row"),
    ).filter(pl.col("tag").is_not_null() & (pl.col("tag") != ""))
    strange = found.filter(~pl.col("tag").is_in(list(meanings)))
    if strange.height:
        shown = "; ".join(
            f"row {row['row'] + 1}: {one_line(row['tag'])}"
            for row in strange.head(_SHOWN).iter_rows(named=True)
        )
        raise DataError(f"{name}: {shown} is no tag; tags are {', '.join(meanings)}")
    found = found.select("error_id", "tag").unique(maintain_order=True)
    twice = found.filter(pl.col("error_id").is_duplicated())
    if twice.height:
        tags = " and ".join(twice.filter(error_id=twice["error_id"][0])["tag"])
        raise DataError(f"{name}: {twice['error_id'][0]} has two tags, {tags}; keep one row each")
    return found


def tagged(errors: pl.DataFrame, tags: pl.DataFrame, rule: str) -> pl.DataFrame:
    """The errors that have a tag, with `tag` (by hand) and `rule` (the rules' word).

    Raises:
        DataError: no error of these has a tag.
    """
    found = errors.rename({rule: "rule"}).join(tags, on="error_id", how="inner")
    if found.is_empty():
        raise DataError(
            f"none of the {tags.height:,} tags is of an error found here; were they drawn from "
            "another run, other labels, or with or without --judge-errors?"
        )
    return found


def tags_table(
    found: pl.DataFrame, by: list[str], meanings: Mapping[str, object], errors: int, unknown: int
) -> Table:
    """Counts and shares of each tag by hand and by the rules, on the same errors (Table 11)."""
    rows: list[tuple[Any, ...]] = []
    for group, mine in found.group_by(by, maintain_order=True):
        for name in meanings:
            hand, rule = pl.col("tag") == name, pl.col("rule") == name
            said, ruled = mine.filter(hand).height, mine.filter(rule).height
            if said or ruled:
                both = mine.filter(hand & rule).height
                rows.append((*group, name, said, said / mine.height, ruled, both))
    same = (found["tag"] == found["rule"]).sum()
    notes = [
        f"Tagged: {found.height:,} of {errors:,} errors. Share: of those, in per cent. By rules: "
        f"on the same errors, where both agree on {same:,} of {found.height:,}."
    ]
    if unknown:
        notes.append(f"{unknown:,} tags are of no error found here, and left out.")
    return Table.of(
        "Tagged by hand",
        (
            *(Column(name, missing="(no system)") for name in by),
            "error",
            Column("by hand", format="count"),
            Column("share", format="share"),
            *columns("count", "by rules", "both"),
        ),
        rows,
        notes,
    )
