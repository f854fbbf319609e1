"""The tables of failure modes and of judges' errors."""

from __future__ import annotations

import polars as pl

from markscheme.analysis.error_categories import CATEGORIES
from markscheme.analysis.modes import GROUPS, MODES
from markscheme.results import Table

_LONGEST = 60


def modes_table(modes: pl.DataFrame, *, examples: int) -> Table:
    """Counts and shares of groups and modes beside the paper's, with examples."""
    total = modes.height
    rows: list[tuple[str, ...]] = []
    for group, printed in GROUPS.items():
        of_group = modes.filter(pl.col("group") == group)
        if of_group.is_empty() and printed is None:
            continue
        rows.append((group, "", *_shares(of_group.height, total, printed), ""))
        for name, mode in MODES.items():
            found = of_group.filter(pl.col("mode") == name)
            if mode.group == group and found.height and name != group:
                shown = found.head(examples).iter_rows(named=True)
                text = "; ".join(
                    f"{_short(row['answer'])} for {_short(row['references'][0])}" for row in shown
                )
                rows.append(("", name, *_shares(found.height, total, mode.paper), text))
    return Table(
        title=f"Why exact match rejects {total:,} answers that people accept",
        header=("group", "mode", "answers", "share", "NQ301 paper", "for instance"),
        rows=tuple(rows),
        numeric=frozenset({"answers", "share", "NQ301 paper"}),
        notes=(
            "Share and paper in percent; the paper's are of 493 answers to NQ301, tagged by hand "
            "(Kamalloo et al. 2023, section 5). Tags are made by rules, each with its evidence: "
            "--details FILE writes them.",
        ),
    )


def rates_table(rates: pl.DataFrame) -> Table:
    """How often each judge rejects accepted answers, by group."""
    groups = rates.group_by("judge", "group", maintain_order=True).agg(
        pl.col("answers").sum(), pl.col("rejected").sum()
    )
    names = [group for group in GROUPS if group in groups["group"].to_list()]
    rows = []
    for judge in groups["judge"].unique(maintain_order=True):
        mine = {row["group"]: row for row in groups.filter(judge=judge).iter_rows(named=True)}
        answers = sum(row["answers"] for row in mine.values())
        rejected = sum(row["rejected"] for row in mine.values())
        cells = [f"{rejected:,} of {answers:,}"]
        for name in names:
            row = mine.get(name)
            cells.append("-" if row is None or not row["answers"] else
                         _percent(row["rejected"] / row["answers"]))  # fmt: skip
        rows.append((judge, *cells))
    return Table(
        title="Of these answers, what each judge rejects too, in percent of a group",
        header=("judge", "rejected", *names),
        rows=tuple(rows),
        numeric=frozenset({"rejected", *names}),
    )


def errors_table(errors: pl.DataFrame, *, examples: int) -> Table:
    """Each judge's errors by category."""
    rows = []
    for (judge, kind), of_judge in errors.group_by("judge", "kind", maintain_order=True):
        for name, (_, meaning) in CATEGORIES.items():
            found = of_judge.filter(pl.col("category") == name)
            if found.height:
                shown = found.head(examples).iter_rows(named=True)
                text = "; ".join(
                    f"{row['error']} {_short(row['answer'])} for {_short(row['references'][0])}"
                    for row in shown
                )
                share = _percent(found.height / of_judge.height)
                rows.append(
                    (str(judge), str(kind), name, f"{found.height:,}", share, meaning, text)
                )
    return Table(
        title="Errors of judges against people, by Wang et al.'s categories",
        header=("judge", "kind", "error", "answers", "share", "meaning", "for instance"),
        rows=tuple(rows),
        numeric=frozenset({"answers", "share"}),
    )


def _shares(count: int, total: int, printed: float | None) -> tuple[str, str, str]:
    share = _percent(count / total) if total else "-"
    return f"{count:,}", share, "" if printed is None else f"{printed:.1f}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
