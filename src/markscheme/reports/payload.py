"""The answers table of a report as compact columns, which the page's script reads."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import orjson
import polars as pl

from markscheme.analysis import CATEGORIES, MODES, unsure
from markscheme.reports.explaining import Aligned, alignments, marked, value_findings
from markscheme.reports.material import PEOPLE, Judged, Material
from markscheme.results import p_text
from markscheme.tables import RELATIONS, STATUSES
from markscheme.web import has_markup, render_answer

_DIGITS = 4
_SEPARATOR = "\x1e"
_MOST_EXPLAINED = 10_000
"""Answers whose values are compared for the page, half a millisecond each; contested ones first."""

_NUMBERS = ("marks", "cost_usd", "tokens_in", "tokens_out", "seconds")


def payload(material: Material, *, live: bool = False) -> dict[str, Any]:
    """What the page needs to list, filter and sort answers, as columns of equal length.

    Texts that repeat are numbers into a list of the different ones. `later` has the rest.
    """
    answers = material.answers
    references = _coded(answers["references"].list.join(_SEPARATOR))
    return {
        "rows": answers.height,
        "ids": answers["answer_id"].to_list(),
        "system": _coded(answers["system"]),
        "question": _coded(answers["question"]),
        "reference": {
            # Nothing joined is "" as well; of a question without an answer there is no reference.
            "values": [text.split(_SEPARATOR) if text else [] for text in references["values"]],
            "codes": references["codes"],
        },
        "answer": _coded(answers["answer"]),
        "people": answers["accepted"].cast(pl.Int8).to_list()
        if material.labelled or live
        else None,
        "judges": [_verdicts(one) for one in material.judges],
        "names": {
            "statuses": STATUSES,
            "relations": RELATIONS,
            "modes": {name: [mode.group, mode.meaning] for name, mode in MODES.items()},
            "errors": {name: meaning for name, (_, meaning) in CATEGORIES.items()},
        },
    }


def later(material: Material) -> dict[str, Any]:
    """What the page shows of an answer besides its text, which takes longer to find and to read.

    Returns:
        Columns of `answers`, and of each of `judges`, of the same length as `payload`'s.
    """
    answers = material.answers
    aligned = alignments(answers)
    marks = [marked(row) for row in aligned]
    patterns = (answers["reference_kind"] == "regex").fill_null(value=False)
    return {
        "answers": {
            "context": _coded(answers["context"]),
            "patterns": patterns.to_list() if patterns.any() else None,
            "annotators": _column(answers["annotator_labels"]),
            "spans": [[place for span in row for place in span] for row in marks],
            "shown": _coded(_shown(answers["answer"], marks)),
            "aligned": aligned,
            "values": _values(material, aligned),
            "mode": _modes(material),
            "pairs": _pairs(material),
        },
        "judges": [_reasons(one, material) for one in material.judges],
    }


def packed(value: Any, *, quick: bool = False) -> str:
    """JSON, deflated, as base64: no character of it means anything to HTML.

    Args:
        quick: a page of a server is made while somebody waits, and travels no further.
    """
    return base64.b64encode(zlib.compress(orjson.dumps(value), 1 if quick else 9)).decode()


def _shown(answers: pl.Series, marks: list[list[tuple[int, int]]]) -> pl.Series:
    """The HTML of answers with markup; null where an answer is shown as it is written."""
    return pl.Series(
        [
            render_answer(text, places) if text is not None and has_markup(text) else None
            for text, places in zip(answers, marks, strict=True)
        ],
        dtype=pl.String,
    )


def _values(material: Material, aligned: list[Aligned]) -> list[Any]:
    """What each answer's values say: null where there is nothing, or too many came before."""
    values: list[Any] = [None] * len(aligned)
    texts = material.answers.select("question", "references", "answer").rows()
    for row in material.contested[:_MOST_EXPLAINED]:
        question, references, answer = texts[row]
        if answer is None or not aligned[row]:
            continue
        found = value_findings(question, references, answer)
        values[row] = found if any(found) else None
    return values


def _modes(material: Material) -> dict[str, Any] | None:
    if not material.labelled:
        return None
    tags = material.modes.select("answer_id", "mode", "evidence").unique("answer_id")
    beside = material.answers.select("answer_id").join(
        tags, on="answer_id", how="left", maintain_order="left"
    )
    return {"mode": _coded(beside["mode"]), "evidence": _coded(beside["evidence"])}


def _pairs(material: Material) -> dict[str, Any]:
    """By each judge, and by people: pairs of systems with p, corrected as `compare` does it.

    Not those without a question in common: the page counts questions that both answered.
    """
    voices = [*material.names, *([PEOPLE] if material.labelled else [])]
    return {
        voice: [
            (pair.first, pair.second, pair.p_holm, p_text(pair.p_holm, pair.p.reason))
            for pair in found.pairs
            if not pair.unpaired
        ]
        for voice in voices
        if (found := material.compared(voice)) is not None
    }


def _verdicts(one: Judged) -> dict[str, Any]:
    rows = one.rows
    return {
        "name": one.name,
        "signature": one.signature,
        "status": rows["status"].to_physical().to_list(),
        "verdict": rows["verdict"].cast(pl.Int8).to_list(),
        "relation": _column(rows["relation"].to_physical()),
        "score": _number(rows, "score"),
        "unsure": rows.select(unsure(rows, one.judge).arg_true()).to_series().to_list(),
    }


def _reasons(one: Judged, material: Material) -> dict[str, Any]:
    rows = one.rows
    found: dict[str, Any] = {
        "explanation": _coded(rows["explanation"]),
        "raw": _coded(rows["raw"]),
        **{name: _number(rows, name) for name in _NUMBERS},
    }
    if material.labelled:
        mine = material.errors.filter(judge=one.name)
        beside = pl.DataFrame({"row": range(rows.height)}).join(
            mine.with_columns(pl.col("row").cast(pl.Int64)),
            on="row",
            how="left",
            maintain_order="left",
        )
        found["error"] = _coded(beside["category"])
        found["evidence"] = _coded(beside["evidence"])
    return found


def _number(rows: pl.DataFrame, name: str) -> list[Any] | None:
    value = rows[name].cast(pl.Float64)
    short = value.round(_DIGITS)
    # The page tries thresholds in hundredths: what is below one stays below.
    risen = (short > value) & (short == short.round(2))
    return _column(
        pl.select(pl.when(risen).then(short - 10**-_DIGITS).otherwise(short)).to_series()
    )


def _column(values: pl.Series) -> list[Any] | None:
    """The values; None where there are none at all."""
    return None if values.null_count() == len(values) else values.to_list()


def _coded(texts: pl.Series) -> dict[str, Any]:
    """`values`: the different texts in order of appearance; `codes`: each row's, -1 for null."""
    named = texts.alias("text").to_frame()
    values = named.drop_nulls().unique(maintain_order=True).with_row_index("code")
    codes = named.join(values, on="text", how="left", maintain_order="left")["code"]
    return {
        "values": values["text"].to_list(),
        "codes": codes.cast(pl.Int64).fill_null(-1).to_list() if values.height else None,
    }
