"""Kinds of failures and errors tagged by hand: a sample to tag, and its tags against the rules'.

Wang et al. (2023), section 6.3, sort 100 errors of each judge on each system by hand (their Figure
2 and Table 11); Kamalloo et al. (2023), section 5, the failures of exact match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement import JudgmentsSource, TableSource
from markscheme.analysis import CATEGORIES, MODES, failures
from markscheme.errors import DataError, MarkschemeError
from markscheme.flags import with_keywords
from markscheme.results import Column, Table, TableResult, columns
from markscheme.tables import read_table, write_table
from markscheme.text import counted, one_line
from markscheme_research.studies.options import TagOptions

_SHOWN = 3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TagsResult(TableResult):
    """Errors to tag by hand, or those that have a tag with what the rules say of them.

    `frame` without tags: `answer_id` (the error's own), `question`, `references`, `answer`,
    `context` (the words of judge and people), the judge, the system where it is counted by itself,
    and an empty `tag`. With tags: `error_id`, the judge and system, `tag` (by hand), `rule`, and
    what `failures` says of the error.
    """

    def write(self, path: str | Path) -> None:
        """Write the errors to tag: .csv, .tsv, .jsonl or .parquet.

        Raises:
            MarkschemeError: the file is there with tags.
            DataError: another ending, or it cannot be written.
        """
        target = Path(path)
        there = read_table(target) if target.is_file() else pl.DataFrame()
        tags = there.get_column("tag", default=pl.Series([None])).cast(pl.String)
        if filled := int((tags.str.strip_chars() != "").sum()):
            raise MarkschemeError(
                f"{target} holds {counted(filled, 'tag')}, which would be lost; choose another "
                f"--to-tag, or count them with --tags {target}"
            )
        write_table(self.frame, target)


def errors_by_hand(
    judged: JudgmentsSource,
    labels: TableSource | None = None,
    options: TagOptions | None = None,
    *,
    answers: TableSource | None = None,
    tags: TableSource | None = None,
    **keywords: Any,
) -> TagsResult:
    """Draw errors to tag by hand; with tags, count them next to those of the rules.

    The errors are those of the judges, or of exact match: the answers that people accept and it
    rejects.

    Args:
        judged: labelled answers, judgments, a run's folder, or what `markscheme.judge` returned.
        labels: people's labels; None takes those in `judged`.
        options: see `TagOptions`.
        answers: the judged answers, where judgments lack questions and references.
        tags: what was drawn, with the column `tag` filled in.
        keywords: single options, which go before those of `options`.

    Raises:
        DataError: the files cannot be read; tags that are none, or of other errors.
        AgreementError: there are neither labels nor judgments.
        MarkschemeError: there are no labels, no judge's verdicts, or no errors.
    """
    wanted = with_keywords(TagOptions, options, keywords)
    found = failures(
        judged, labels, answers=answers, judge_errors=wanted.judge_errors, judges=wanted.judges,
        columns=wanted.columns, threshold=wanted.threshold, label_column=wanted.label_column,
        positive_from=wanted.positive_from,
    )  # fmt: skip
    if not found.labelled:
        raise MarkschemeError("errors are against people: give --labels FILE")
    by = ["judge"]
    if not wanted.judge_errors:
        rule, meanings = "mode", list(MODES)
        errors = found.frame.with_columns(
            error_id="answer_id", judge=pl.lit("exact_match"), error=pl.lit("rejects"),
            accepted=pl.lit(True),
        )  # fmt: skip
    elif found.judge_errors is None:
        raise MarkschemeError("no judge's verdicts are here, so no errors of judges")
    else:
        rule, meanings = "category", list(CATEGORIES)
        errors = _with_ids(found.judge_errors)
        by += ["system"] if wanted.by == "system" else []
    if errors.is_empty():
        raise MarkschemeError("there is no error to tag: judges and people agree")
    data = {"command": "tags", "tags": meanings}
    if tags is None:
        drawn = _drawn(errors, by, wanted.sample, seed=wanted.seed)
        return TagsResult(frame=drawn, tables=(), data={**data, "errors": drawn.to_dicts()})
    known = _read_tags(tags, meanings)
    both = errors.rename({rule: "rule"}).join(known, on="error_id", how="inner")
    if both.is_empty():
        raise DataError(
            f"none of the {known.height:,} tags is of an error found here; were they drawn from "
            "another run, other labels, or with or without --judge-errors?"
        )
    unknown = known.height - both["error_id"].n_unique()
    table = _table(both, by, meanings, errors.height, unknown)
    return TagsResult(frame=both, tables=(table,), data={**data, "tagged": both.to_dicts()})


def _with_ids(errors: pl.DataFrame) -> pl.DataFrame:
    """Errors of judges with `error_id`: the answer's id and a hash of the judge's name.

    One answer may be an error of several judges, each of a kind of its own.
    """
    marks = {
        judge: blake2b(judge.encode(), digest_size=4).hexdigest()
        for judge in errors["judge"].unique().to_list()
    }
    mark = pl.col("judge").replace_strict(marks, default=None, return_dtype=pl.String)
    return errors.with_columns(error_id=pl.concat_str("answer_id", pl.lit("."), mark))


def _drawn(errors: pl.DataFrame, by: list[str], count: int, *, seed: int) -> pl.DataFrame:
    """`count` errors of each group, or all it has, as `TagsResult` describes them.

    Their order is random, so that the tags of the first ones alone are a sample too.
    """
    rng = np.random.default_rng(seed)
    groups = sorted(errors.group_by(by), key=lambda item: tuple(map(str, item[0])))
    ordered = [group.sort("error_id") for _, group in groups]
    table = pl.concat(group[rng.permutation(group.height)[:count].tolist()] for group in ordered)
    people = pl.when("accepted").then(pl.lit("accept")).otherwise(pl.lit("reject"))
    verdicts = pl.format("{} {} this answer; people {} it.", "judge", "error", people)
    order = pl.Series(rng.permutation(table.height))
    shuffled: pl.DataFrame = table.select(pl.all().gather(order))
    return shuffled.select(
        pl.col("error_id").alias("answer_id"), "question", "references", "answer",
        verdicts.alias("context"), *by, pl.lit(None, dtype=pl.String).alias("tag"),
    )  # fmt: skip


def _read_tags(source: TableSource, meanings: Sequence[str]) -> pl.DataFrame:
    """Tags by error: `error_id`, `tag`. Rows without a tag are left out.

    Args:
        source: a file or table with `answer_id` and `tag`: a sample filled in by hand.
        meanings: the tags that there are.

    Raises:
        DataError: columns are missing, a tag is not among them, or an error has two tags.
    """
    table = read_table(source)
    name = f"the tags in {source}" if isinstance(source, str) or hasattr(source, "name") else "tags"
    lacking = [column for column in ("answer_id", "tag") if column not in table.columns]
    if lacking:
        raise DataError(
            f"{name} lack the column {' and '.join(lacking)}; 'markscheme research tags RUN "
            "--to-tag FILE' writes a sample with both"
        )
    found = table.select(
        pl.col("answer_id").cast(pl.String).alias("error_id"),
        pl.col("tag").cast(pl.String).str.strip_chars(),
        pl.int_range(pl.len()).alias("row"),
    ).filter(pl.col("tag").is_not_null() & (pl.col("tag") != ""))
    strange = found.filter(~pl.col("tag").is_in(meanings))
    if strange.height:
        shown = "; ".join(
            f"row {row['row'] + 1}: {one_line(row['tag'])}"
            for row in strange.head(_SHOWN).iter_rows(named=True)
        )
        raise DataError(f"{name}: {shown} is not a tag; tags are {', '.join(meanings)}")
    found = found.select("error_id", "tag").unique(maintain_order=True)
    twice = found.filter(pl.col("error_id").is_duplicated())
    if twice.height:
        tags = " and ".join(twice.filter(error_id=twice["error_id"][0])["tag"])
        raise DataError(f"{name}: {twice['error_id'][0]} has two tags, {tags}; keep one row each")
    return found


def _table(
    found: pl.DataFrame, by: list[str], meanings: Sequence[str], errors: int, unknown: int
) -> Table:
    """Counts and shares of each tag by hand and by the rules, on the same errors (Table 11)."""
    rows: list[tuple[Any, ...]] = []
    for group, mine in found.group_by(by, maintain_order=True):
        for name in meanings:
            hand, rule = pl.col("tag") == name, pl.col("rule") == name
            tagged, ruled = mine.filter(hand).height, mine.filter(rule).height
            if tagged or ruled:
                both = mine.filter(hand & rule).height
                rows.append((*group, name, tagged, tagged / mine.height, ruled, both))
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
