"""The tables of rejected answers: counts, modes and the answers themselves."""

from __future__ import annotations

import polars as pl

from markscheme.analysis.error_categories import NEAR
from markscheme.analysis.rejections import REJECTIONS
from markscheme.results import Table

_LISTED = 200
"""Characters of a text that a listing shows."""


def counts_table(counts: pl.DataFrame, *, by: str | None = None) -> Table:
    """How many answers each judge rejects, doubts or does not judge, in all or by slices."""
    header = ["judge", *([by] if by else []), "answers", "rejected", "share", "doubtful"]
    header.append("not judged")
    rows = []
    for row in counts.iter_rows(named=True):
        share = _percent(row["rejected"] / row["judged"]) if row["judged"] else "-"
        names = [row["judge"], *([row[by] or "(none)"] if by else [])]
        figures = [row["answers"], row["rejected"], share, row["doubtful"], row["not_judged"]]
        rows.append((*names, *(one if isinstance(one, str) else f"{one:,}" for one in figures)))
    return Table(
        title=f"Rejected answers by {by}" if by else "Rejected answers",
        header=tuple(header),
        rows=tuple(rows),
        numeric=frozenset(header[-5:]),
        notes=() if by else (
            "Share: of the answers judged, in percent. Doubtful: the score is within "
            f"{NEAR:g} of the judge's threshold, accepted or not.",
        ),
    )  # fmt: skip


def rejections_table(found: pl.DataFrame, counts: pl.DataFrame) -> Table:
    """The modes of what each judge rejects or does not judge, commonest first."""
    rows = []
    for judge in counts["judge"]:
        mine = found.filter(pl.col("judge") == judge, pl.col("outcome") != "doubtful")
        for mode, count in mine["mode"].value_counts(sort=True).iter_rows():
            share = _percent(count / mine.height)
            rows.append((judge, mode, f"{count:,}", share, REJECTIONS[mode]))
    return Table(
        title="Why: what the answers say, beside their references",
        header=("judge", "mode", "answers", "share", "the answer is or says"),
        rows=tuple(rows),
        numeric=frozenset({"answers", "share"}),
        notes=(
            "Modes are found by comparing texts, without labels: they say where to look, not who "
            "is right.",
        ),
    )


def listing_table(found: pl.DataFrame, *, examples: int) -> Table:
    """The first answers of each mode, with the reasons."""
    shown = found.group_by("judge", "outcome", "mode", maintain_order=True).head(examples)
    left = found.height - shown.height
    several = found["judge"].n_unique() > 1
    rows = []
    for row in shown.iter_rows(named=True):
        mode = row["mode"] if row["outcome"] == "rejected" else f"{row['outcome']}, {row['mode']}"
        mode = "not judged" if row["outcome"] == "not judged" else mode
        score = "" if row["score"] is None else f"{row['score']:.2f}"
        rows.append((
            *([row["judge"]] if several else []), mode, _plain(row["question"]),
            " | ".join(map(_plain, (row["references"] or [])[:3])), _plain(row["answer"] or ""),
            score, row["evidence"] if row["mode"] != "other" else "",
            _plain(row["explanation"] or ""),
        ))  # fmt: skip
    header = ("mode", "question", "reference", "answer", "score", "evidence", "the judge says")
    return Table(
        title="Answers that were rejected, doubted or not judged",
        header=(*(["judge"] if several else []), *header),
        rows=tuple(rows),
        notes=(
            f"{left:,} more are not shown: --examples N shows N of each mode, --details FILE "
            "writes all.",
        ) if left else (),
    )  # fmt: skip


def _plain(text: str) -> str:
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return flat if len(flat) <= _LISTED else flat[: _LISTED - 1] + "…"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
