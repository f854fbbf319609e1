"""From tests of claims to outcomes: what each claim is, and what the answer gets for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import polars as pl

from markscheme.judges.claims_pieces import WHOLE
from markscheme.judgments import SPENT
from markscheme.text.inflection import stem
from markscheme.text.split import split
from markscheme.text.words import STOP

KINDS = ("supported", "contradicted", "extra", "undecided")
"""`supported`: a reference or the context entails the claim, or the claim a reference;
`contradicted`: the test says so or, where it tells no contradiction, the claim answers the question
with something else; `extra`: neither; `undecided`: a test could not be read or made."""

BLANK = "the answer is empty: it claims nothing"
OF_WHOLE = 0.75
"""Weight of the whole answer beside its likeliest claim: sentences lean on each other."""
UNLIKELY = 0.1
"""Below this probability in every direction a claim that answers the question says otherwise."""
_NAME_WORDS = 6
"""Up to so many words a fragment is a name, a number or the like, and so an answer."""
ON_THE_QUESTION = 0.6
"""Share of the question's content words from which a sentence counts as an answer to it."""
_STATUS_FIRST = ("failed", "skipped", "refused", "unparsed")
_QUOTED = 160
_SHOWN = 8


def tested(pairs: pl.DataFrame, tester: Any, models: Any) -> pl.DataFrame:
    """The pairs with `chance` (null if not decided), `entailed`, `label`, `status` and costs."""
    found: pl.DataFrame = tester.test(pairs, models)
    given = set(found.columns)
    spare = {"label": pl.String, "score": pl.Float64, **dict.fromkeys(SPENT, pl.Float64)}
    return found.with_columns(
        pl.lit(None, dtype=kind).alias(name) for name, kind in spare.items() if name not in given
    ).with_columns(
        chance=pl.coalesce("score", pl.col("entailed").cast(pl.Float64)),
        status=pl.col("status").cast(pl.String),
    )


def outcomes(
    claims: pl.DataFrame,
    against: pl.DataFrame,
    context: pl.DataFrame,
    *,
    threshold: float,
    partial: float,
    penalty: float,
) -> pl.DataFrame:
    """A row an answer: status, score, verdict, relation, marks, explanation, raw.

    Marks are `c + partial * l * (1 - c)`, less `penalty` times the share of claims contradicted:
    `c` is the chance that the whole answer entails a reference (`OF_WHOLE` of it) and that of its
    likeliest claim (the rest); `l` the likeliest chance that a reference entails answer or claim.

    Args:
        claims: see `Pieces`.
        against: every piece beside every reference, both directions, tested.
        context: claims below sentences of a context, tested.
        threshold, partial, penalty: see the judge.
    """
    by_piece = _summed(against)
    by_context = context.group_by("row", "claim").agg(
        by_context=pl.col("entailed").any(),
        context_chance=pl.col("chance").max(),
        context_denies=(pl.col("label") == "contradiction").any(),
    )
    table = claims.join(by_piece, on=["row", "claim"], how="left", maintain_order="left").join(
        by_context, on=["row", "claim"], how="left", maintain_order="left"
    )
    weights = {"threshold": threshold, "partial": partial, "penalty": penalty}
    found = [
        {"row": rows["row"][0], **_outcome(rows.to_dicts(), weights)}
        for rows in table.partition_by("row", maintain_order=True)
    ]
    kinds: Mapping[str, Any] = {
        "row": claims.schema["row"], "status": pl.String, "score": pl.Float64,
        "verdict": pl.Boolean, "relation": pl.String, "marks": pl.Float64,
        "explanation": pl.String, "raw": pl.String,
    }  # fmt: skip
    return pl.DataFrame(found, schema=dict(kinds))


def _summed(against: pl.DataFrame) -> pl.DataFrame:
    """The tests of each piece over references: best chances, what entails what, what is open."""
    says, said = pl.col("says"), ~pl.col("says")
    chance = pl.col("chance").fill_null(-1.0)
    return against.group_by("row", "claim", maintain_order=True).agg(
        up=pl.col("chance").filter(says).max(),
        down=pl.col("chance").filter(said).max(),
        says=pl.col("entailed").filter(says).any(),
        said=pl.col("entailed").filter(said).any(),
        nearest=pl.col("reference").sort_by(chance, descending=True).first(),
        denied=(pl.col("label") == "contradiction").any(),
        labelled=pl.col("label").is_not_null().any(),
        open=pl.col("status").filter(pl.col("status") != "judged"),
    )


def _outcome(rows: Sequence[dict[str, Any]], weights: Mapping[str, float]) -> dict[str, Any]:
    """One answer's outcome from its pieces."""
    whole = next((one for one in rows if one["claim"] == WHOLE), rows[0])
    listed = [one for one in rows if one["claim"] != WHOLE]
    for one in listed:
        one["kind"] = _kind(one)
    counts = {kind: sum(one["kind"] == kind for one in listed) for kind in KINDS}
    raw = orjson.dumps({"claims": [_shown(one) for one in listed], "whole": _chances(whole)})
    row: dict[str, Any] = {"raw": raw.decode(), "explanation": explained(listed, counts)}
    everything = [whole, *listed]
    says = any(one["says"] for one in everything)
    said = any(one["said"] for one in everything)
    if not (says or said or counts["supported"]):
        open_tests = [status for one in everything for status in one["open"] or ()]
        if open_tests:
            first = next((one for one in _STATUS_FIRST if one in open_tests), "failed")
            return row | {"status": first}
    best = _best(everything, "up")
    covered = OF_WHOLE * _best([whole], "up") + (1 - OF_WHOLE) * best
    less = _best(everything, "down")
    marks = covered + weights["partial"] * less * (1 - covered)
    marks *= 1 - weights["penalty"] * counts["contradicted"] / max(1, len(listed))
    marks = round(min(max(marks, 0.0), 1.0), 5)
    relation = "incorrect"
    if says:
        relation = "equivalent" if whole["said"] else "superior"
    elif said:
        relation = "inferior"
    verdict = marks >= weights["threshold"]
    return row | {
        "status": "judged", "score": marks, "marks": marks, "verdict": verdict,
        "relation": relation,
    }  # fmt: skip


def _best(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return max((one[name] for one in rows if one[name] is not None), default=0.0)


def _kind(claim: Mapping[str, Any]) -> str:
    """What a claim is; see `KINDS`."""
    if claim["says"] or claim["said"] or claim["by_context"]:
        return "supported"
    if claim["open"]:
        return "undecided"
    if claim["labelled"]:
        return "contradicted" if claim["denied"] or claim["context_denies"] else "extra"
    chances = (claim["up"], claim["down"], claim["context_chance"])
    unlikely = max((one for one in chances if one is not None), default=0.0) < UNLIKELY
    return "contradicted" if unlikely and _answers(claim) else "extra"


def _answers(claim: Mapping[str, Any]) -> bool:
    """Whether a claim is an answer to the question: a fragment, or a sentence with its words."""
    if claim["fragment"] and len(claim["text"].split()) <= _NAME_WORDS:
        return True
    asked = _content(claim["question"] or "")
    return bool(asked) and len(asked & _content(claim["text"])) >= ON_THE_QUESTION * len(asked)


def _content(text: str) -> set[str]:
    low = (word.lower() for word in split(text) if word.isalnum())
    return {stem(word) for word in low if word not in STOP}


def _shown(claim: Mapping[str, Any]) -> dict[str, Any]:
    """A claim as `raw` has it."""
    return {
        "claim": claim["text"], "outcome": claim["kind"], **_chances(claim),
        "statement": claim["statement"] if claim["fragment"] else None,
        "by_context": claim["by_context"], "context_entails": claim["context_chance"],
    }  # fmt: skip


def _chances(piece: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "entails_reference": piece["up"], "reference_entails": piece["down"],
        "nearest_reference": piece["nearest"],
    }  # fmt: skip


def explained(claims: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> str:
    """The claims and what became of them, in one line."""
    total = len(claims)
    tally = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    parts = [f"{total} claims: {tally}"] if total > 1 else []
    for one in claims[:_SHOWN]:
        text = one["text"]
        quoted = text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."
        parts.append(f'{one["kind"]}{_reason(one)}: "{quoted}"')
    if total > _SHOWN:
        parts.append(f"and {total - _SHOWN} more")
    return "; ".join(parts)


def _reason(claim: Mapping[str, Any]) -> str:
    """Why a claim counts as supported, in brackets."""
    if claim["kind"] != "supported":
        return ""
    if claim["says"]:
        return f' (says "{claim["nearest"]}")'
    if claim["said"]:
        return f' (follows from "{claim["nearest"]}")'
    return " (by the context)"
