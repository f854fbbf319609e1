"""How easily a judge's verdict is moved: the public `probe`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.contract import Judge, ModelSource, judge_name, parse_judge
from markscheme.engine import signed
from markscheme.flags import CLEANING, with_keywords
from markscheme.results import (
    Column,
    Figure,
    Table,
    TableResult,
    by_judges,
    interval,
    interval_note,
    population,
)
from markscheme.tables import Source, read_answers
from markscheme_research.studies.options import ProbeOptions
from markscheme_research.studies.probes import chosen_probes, run_probes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProbeResult(TableResult):
    """How often each probe moves a judge's verdict. `frame` has a row for each probe."""


def probe(
    judge: str | Judge,
    answers: Source | list[str],
    options: ProbeOptions | None = None,
    *,
    models: ModelSource | None = None,
    on_progress: Callable[[int], None] | None = None,
    **keywords: Any,
) -> ProbeResult:
    """Change answers in ways that change nothing they say, and count the verdicts that flip.

    Args:
        judge: a judge's name or a judge.
        answers: a path (or several), a frame or rows; no labels are needed.
        options: see `ProbeOptions`.
        models: opens weights and servers for judges that need some.
        on_progress: called with the number of judgments just finished.
        keywords: single options, which go before those of `options`.

    Returns:
        A row per probe: `probe`, `meaning`, `answers` (judged before and after), `not_judged`,
        `flips`, `flip_rate` (0 to 1) with `low` and `high` (95%, clustered by question) and their
        `method`, `to_accepted`, `to_rejected`, `moved` (share of scores that change by more than
        0.05) and `mean_change` of the score. Null where the judge gives no verdicts.

    Raises:
        UnknownNameError: there is no such probe or option.
        DataError: the answers cannot be read.
        JudgeError, ModelError: as judging does.

    Example:
        >>> import markscheme_research
        >>> row = {"question": "Who wrote Emma?", "references": ["Austen"], "answer": "Austen"}
        >>> found = markscheme_research.probe("exact_match", [row], probes=("injection",))
        >>> found.frame["flips"].to_list()
        [1]
    """
    chosen = with_keywords(ProbeOptions, options, keywords)
    names = chosen_probes(chosen.probes)
    tried = parse_judge(judge)
    table = read_answers(answers, chosen.reading())
    found = table.height
    if chosen.limit is not None and chosen.limit < found:
        table = table.sample(chosen.limit, seed=chosen.seed)
    frame = run_probes(
        tried, table, probes=names, models=models, seed=chosen.seed, on_progress=on_progress
    )
    signature = signed(tried, models, CLEANING)
    data = {
        "command": "probe",
        "judge": judge_name(tried),
        "signature": signature,
        "answers": table.height,
        "of": found,
        "seed": chosen.seed,
        "probes": frame.to_dicts(),
    }
    about = population(
        by_judges([judge_name(tried)]),
        questions=table["question"].n_unique(),
        answers=table.height,
    )
    shown = _table(frame, judge_name(tried), table.height, about, signature)
    return ProbeResult(frame=frame, tables=(shown,), data=data)


def _table(frame: pl.DataFrame, judge: str, answers: int, about: str, signed: str) -> Table:
    def ends(row: dict[str, Any]) -> str | None:
        return None if row["flip_rate"] is None else interval(row["low"], row["high"])

    return Table.of(
        f"Verdicts of {judge} that flip, of {answers:,} answers",
        (
            "probe",
            Column("the answer or its references, changed", "meaning"),
            Column("answers", format="count"),
            Column("flips, %", "flip_rate", "share"),
            Column("95% interval", ends, "right", "-"),
            Column("to accepted", format="count", missing="-"),
            Column("to rejected", format="count", missing="-"),
            Column("scores moved, %", "moved", "share"),
            Column("mean change", format="change"),
            Column("not judged", format="count"),
        ),
        frame,
        (
            *interval_note(
                (
                    ("", Figure(value=row["flip_rate"], low=row["low"], method=row["method"]))
                    for row in frame.iter_rows(named=True)
                    if row["flip_rate"] is not None
                ),
                about,
            ),
            "Only answers that a probe can change are counted. Scores moved: by more than 5 points "
            "of 100. Under 'injection' the flips to accepted are what an attacker gains.",
            f"Signature: `{signed}`",
        ),
    )
