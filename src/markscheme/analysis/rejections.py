"""Why a judge rejects an answer, found without labels: what differs from the references.

An answer's typed values are compared with the references' first (`markscheme.values`), its wording
by the rules of the failure modes after that. The modes say where to look; they do not judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from markscheme.analysis.mode_detection import Tag, tag
from markscheme.analysis.wording import in_common, named, wording
from markscheme.features.alignment import says_nothing
from markscheme.text import REFUSAL, excerpt, yes_or_no
from markscheme.values import Comparison, Outcome, compare_values

_QUOTED = 70
"""Characters of a text in a line."""

REJECTIONS: dict[str, str] = {
    "not_judged": "no verdict, for the reason given",
    "no_answer": "declines, asks back or says nothing",
    "date": "another date than any reference",
    "number": "another number, amount or time than any reference",
    "identifier": "another identifier, version or formula than any reference",
    "missing": "none of the kind that a reference gives, such as no number or no date",
    "list": "items of a list are missing or wrong",
    "choice": "another of the things to choose from, such as no for yes",
    "reference_in_it": "a reference is in it word for word: perhaps right",
    "near_reference": "close to a reference in wording or form: perhaps right",
    "name": "another name than any reference",
    "says_less": "part of what a reference says",
    "other": "something else than any reference",
}
"""The modes of a rejection, in the order they are tried, and what the answer does."""

_DECLINES_WITHIN = 200
"""A refusal is at the beginning of an answer: in so many characters."""

_MODE_OF = {
    **dict.fromkeys(
        ("number", "percent", "quantity", "money", "duration", "time", "range"),
        "number",
    ),
    **dict.fromkeys(("identifier", "expression"), "identifier"),
    **{kind: kind for kind in ("date", "list", "choice")},
}
"""The mode of a conflict by the kind of value compared; another kind is `other`."""
_NEAR = frozenset(
    [
        "tokenization",
        "symbolic_equivalence",
        "multinominal_entity",
        "bridging_abridging",
        "temporal_granularity",
        "spatial_granularity",
        "more_elaborate",
        "synonym",
    ]
)


def rejection(
    question: str,
    references: Sequence[str],
    answer: str | None,
    *,
    relation: str | None = None,
) -> Tag:
    """Why an answer was rejected, as its texts show.

    Args:
        question: the question.
        references: plain texts, not patterns.
        answer: a system's answer; None for nothing.
        relation: the judge's, where it gave one.

    >>> rejection("When did it open?", ["1975"], "It opened in 1985.").evidence
    '1985 where the reference has 1975'
    """
    if answer is None or not answer.strip():
        said = "no answer was given" if answer is None else "the answer is empty"
        return Tag(mode="no_answer", evidence=said)
    compared = compare_values(question, list(references), answer)
    refused, hedged = says_nothing(answer), REFUSAL.search(answer[:_DECLINES_WITHIN].lower())
    if refused or (hedged and compared.outcome is not Outcome.CONFLICT):
        said = hedged.group() if hedged else excerpt(answer, _QUOTED)
        return Tag(mode="no_answer", evidence=f"says {said!r}")
    if compared.outcome in (Outcome.CONFLICT, Outcome.MISSING) and compared.reason:
        return Tag(mode=_mode_of(compared), evidence=compared.reason)
    wanted, given = yes_or_no(references[0] if references else ""), yes_or_no(answer)
    if wanted is not None and given is not None and wanted is not given:
        both = ("yes", "no") if given else ("no", "yes")
        return Tag(mode="choice", evidence=f"says {both[0]} where the reference says {both[1]}")
    found = tag(question, references, answer)
    if found is not None and found.mode == "em_in_explanatory":
        return Tag(mode="reference_in_it", evidence=found.evidence)
    if found is not None and found.mode in _NEAR:
        return Tag(mode="near_reference", evidence=found.evidence)
    if relation == "inferior":
        return Tag(mode="says_less", evidence="the judge finds it to say less than a reference")
    spoken, worded = wording(answer), [wording(one) for one in references]
    names = bool(named(spoken) - wording(question).capitals) and all(map(named, worded))
    evidence = in_common(spoken, worded, of="a reference's name" if names else "a reference")
    return Tag(mode="name" if names else "other", evidence=evidence)


def _mode_of(compared: Comparison) -> str:
    mode = _MODE_OF.get(compared.kind, "other")
    lacks = compared.outcome is Outcome.MISSING and mode not in ("list", "choice")
    return "missing" if lacks else mode


def in_a_line(row: Mapping[str, Any]) -> str:
    """A rejected answer in a line for a terminal or a log.

    Args:
        row: `question`, `references`, `answer`, `evidence`, `explanation`.
    """
    references = row["references"] or []
    wanted = " or ".join(repr(excerpt(one, _QUOTED)) for one in references[:2])
    more = f" (or {len(references) - 2} more)" if len(references) > 2 else ""
    said = "no answer" if row["answer"] is None else repr(excerpt(row["answer"], _QUOTED))
    reason = row["evidence"] or row["explanation"] or "no reason given"
    question = excerpt(row["question"], _QUOTED)
    return f"{said} for {wanted}{more} to {question!r}: {excerpt(reason, 120)}"


def with_rejections(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of rejected, unsure or not judged answers with the `mode` and the `evidence` of each.

    Args:
        rows: `question`, `references`, `answer`, `status`, `explanation`; `relation` and
            `reference_kind` where known. Equal items are looked at once.
    """
    needed: dict[str, Any] = {"relation": pl.String, "reference_kind": pl.String}
    full = rows.with_columns(
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in needed.items()
        if name not in rows.columns
    )
    known: dict[tuple[Any, ...], Tag] = {}
    tags = []
    names = ("question", "references", "answer", "relation", "reference_kind", "status")
    for *item, explanation in full.select(*names, "explanation").iter_rows():
        question, references, answer, relation, kind, status = item
        if status not in (None, "judged") and (answer is not None or explanation):
            tags.append(Tag(mode="not_judged", evidence=explanation or f"{status}, no reason"))
            continue
        key = (question, tuple(references or ()), answer, relation, kind)
        if key not in known:
            if kind == "none" and answer:
                known[key] = Tag(mode="other", evidence=explanation or "the question has no answer")
            elif kind == "regex" and answer:
                known[key] = Tag(mode="other", evidence="matches no pattern")
            else:
                known[key] = rejection(question, references or (), answer, relation=relation)
        tags.append(known[key])
    return rows.with_columns(
        mode=pl.Series([found.mode for found in tags], dtype=pl.String),
        evidence=pl.Series([found.evidence for found in tags], dtype=pl.String),
    )


_SHOWN = (
    "answer_id",
    "judge",
    "outcome",
    "mode",
    "evidence",
    "system",
    "question",
    "references",
    "answer",
    "score",
    "explanation",
)


def rejected_answers(rows: pl.DataFrame, *, slices: Sequence[str] = ()) -> pl.DataFrame:
    """What judges reject, are unsure of or do not judge, judge by judge, with mode and evidence.

    Args:
        rows: as `judged_answers` gives them.
        slices: further columns to include.

    Returns:
        `outcome` is `rejected`, `not judged`, or `unsure` for what a judge accepts and is
        unsure of; the order is by judge, outcome (rejected first) and mode, as the answers stood.
    """
    outcome = (
        pl.when(pl.col("status") != "judged")
        .then(pl.lit("not judged"))
        .when(~pl.col("verdict"))
        .then(pl.lit("rejected"))
        .when("unsure")
        .then(pl.lit("unsure"))
    )
    found = rows.with_columns(outcome=outcome).drop_nulls("outcome")
    order = pl.col("outcome").replace_strict({"rejected": 0, "unsure": 1, "not judged": 2})
    place = {mode: number for number, mode in enumerate(REJECTIONS)}
    judges = {name: number for number, name in enumerate(rows["judge"].unique(maintain_order=True))}
    listed = with_rejections(found)
    return listed.sort(
        pl.col("judge").replace_strict(judges, return_dtype=pl.Int64),
        order,
        pl.col("mode").replace_strict(place, return_dtype=pl.Int64),
        maintain_order=True,
    ).select(_columns(listed, slices))


def accepted_answers(rows: pl.DataFrame, *, slices: Sequence[str] = ()) -> pl.DataFrame:
    """What judges accept, judge by judge in the order of the rows, with `explanation`.

    Args:
        rows: as `judged_answers` gives them.
        slices: further columns to include.
    """
    found = rows.filter((pl.col("status") == "judged") & pl.col("verdict"))
    first = pl.int_range(pl.len()).min().over("judge")
    return found.sort(first, maintain_order=True).select(_columns(found, slices))


def _columns(rows: pl.DataFrame, slices: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys((*_SHOWN, *slices)) if name in rows.columns]


def rejection_counts(rows: pl.DataFrame, *, by: str | None = None) -> pl.DataFrame:
    """Per judge, and per value of a column where one is named, how many answers are what.

    Columns: `judge`, the column, `answers`, `judged`, `rejected`, `unsure`, `not_judged`.
    """
    keys = ["judge", *([by] if by and by != "judge" else [])]
    judged = pl.col("status") == "judged"
    return rows.group_by(keys, maintain_order=True).agg(
        answers=pl.len(),
        judged=judged.sum(),
        rejected=(judged & ~pl.col("verdict")).sum(),
        unsure=(judged & pl.col("unsure")).sum(),
        not_judged=(~judged).sum(),
    )
