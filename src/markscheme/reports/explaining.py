"""Why an answer fits its references or not: words in common, values that conflict, near matches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from markscheme.analysis import explain
from markscheme.contract import parse_judge, plain_answers
from markscheme.engine import with_plain
from markscheme.features.alignment import Batch, FeatureView, align
from markscheme.judges.examiner import open_weights
from markscheme.models import Models
from markscheme.text import WORD, folded
from markscheme.values import Outcome, compare_values
from markscheme.web import has_markup, plain_answer, render_answer

_NEAR = 75.0
"""Similarity of spelling (0 to 100) from which two words nearly match."""
_SHORTEST = 4
_LONGEST = 20_000
_MOST_NEAR = 8
_MOST_EDITS = 60
_BETWEEN = "\x00"
_EDITED: dict[str, Any] = {
    "question": pl.String,
    "references": pl.List(pl.String),
    "answer": pl.String,
}


def alignments(
    questions: pl.Series, references: pl.Series, answers: pl.Series
) -> list[list[dict[str, list[int]]]]:
    """Each answer against each of its references, word by word.

    Args:
        questions, references, answers: one row per answer; `references` are lists, an answer may be
            null.

    Returns:
        For each row and each reference, `answer` and `reference`: starts and ends in turn, in
        characters, of the words in common, in either text.
    """
    pairs = (
        pl.DataFrame({"question": questions, "reference": references, "answer": answers})
        .with_row_index("row")
        .explode("reference")
        .with_columns(pl.col("reference", "answer").fill_null(""))
    )
    if pairs.is_empty():
        return [[] for _ in range(len(answers))]

    def spans(of: str, against: str) -> pl.Series:
        return matched_spans(pairs["question"], pairs[against].reshape((-1, 1)).arr.to_list(),
                             pairs[of])  # fmt: skip

    both = pairs.select("row").with_columns(
        answer=spans("answer", "reference"), reference=spans("reference", "answer")
    )
    found: list[list[dict[str, list[int]]]] = [[] for _ in range(len(answers))]
    for row, answer, reference in both.iter_rows():
        found[row].append({"answer": answer, "reference": reference})
    return found


def value_findings(
    question: str, references: Sequence[str], answer: str
) -> list[dict[str, Any] | None]:
    """What the typed values of an answer say against each reference; None where nothing.

    A finding has `outcome` (`agree`, `conflict` or `missing`), `kind`, `reason` in plain words,
    `conflicting` (pairs of reference's and answer's value) and `missing`.
    """
    return [_finding(question, reference, answer[:_LONGEST]) for reference in references]


def _finding(question: str, reference: str, answer: str) -> dict[str, Any] | None:
    found = compare_values(question, reference, answer)
    if found.outcome is Outcome.NONE:
        return None
    return {
        "outcome": found.outcome.value,
        "kind": found.kind,
        "reason": found.reason,
        "conflicting": [[pair.reference, pair.answer] for pair in found.conflicting],
        "missing": list(found.missing),
    }


def near_matches(
    references: Sequence[str], answer: str, aligned: Sequence[dict[str, list[int]]]
) -> list[list[str]]:
    """Words of a reference that the answer lacks but nearly has: `[["Márquez", "Marques"]]`."""
    theirs: dict[str, None] = {}
    for reference, one in zip(references, aligned, strict=True):
        theirs |= dict.fromkeys(_unmatched(reference, one["reference"]))
    used = [one["answer"] for one in aligned]
    flat = [place for spans in used for place in spans]
    mine = list(dict.fromkeys(_unmatched(answer[:_LONGEST], flat)))
    if not theirs or not mine:
        return []
    found = []
    same = set(map(str.casefold, mine))
    for word in theirs:
        if word.casefold() in same:  # A word without content, which both have.
            continue
        best = process.extractOne(
            word, mine, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=_NEAR
        )
        if best is not None:
            found.append([word, best[0]])
    return found[:_MOST_NEAR]


def _unmatched(text: str, spans: Sequence[int]) -> list[str]:
    """Content words of a text outside of spans; figures are values and never nearly right."""
    taken = list(zip(spans[::2], spans[1::2], strict=True))
    return [
        found.group()
        for found in WORD.finditer(text)
        if len(found.group()) >= _SHORTEST
        and found.group().isalpha()
        and not any(start <= found.start() < end for start, end in taken)
    ]


def why(question: str, references: Sequence[str], answer: str) -> dict[str, Any]:
    """All that is shown of why one answer fits its references or not, as plain values.

    Returns:
        `answer` and `raw` (HTML: as the model means it, and as written), `references`: `text`,
        `spans`, `answer` (places in common) and `values` (a finding or None) of each; `near`.
    """
    aligned = alignments(
        pl.Series([question]), pl.Series([list(references)], dtype=pl.List(pl.String)),
        pl.Series([answer], dtype=pl.String),
    )[0]  # fmt: skip
    findings = value_findings(question, references, answer)
    marks = merged(place for one in aligned for place in _pairs(one["answer"]))
    return {
        "answer": render_answer(answer, marks) if has_markup(answer) else None,
        "raw": plain_answer(answer, marks),
        "references": [
            {"text": text, "spans": one["reference"], "answer": one["answer"], "values": value}
            for text, one, value in zip(references, aligned, findings, strict=True)
        ],
        "near": near_matches(references, answer, aligned),
    }


def _pairs(spans: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(spans[::2], spans[1::2], strict=True))


def merged(spans: Any) -> list[tuple[int, int]]:
    """Places in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def explained(question: str, references: Sequence[str], answer: str) -> dict[str, Any]:
    """Why the examiner judges one answer as it does: what decided, and what would flip it.

    Returns:
        `verdict`, `score`, `explanation`, `effects` (effect on the log-odds and meaning of the
        features that moved it most) and `flip` (the smallest edit tried that turns the verdict, or
        None).

    Raises:
        DataError: what `markscheme.judge` refuses has no judgment to explain.
    """
    found = explain(question, list(references), answer, features=8)
    judgment = found.judgment
    effects = [
        [round(row["effect"], 2), row["meaning"]]
        for row in found.frame.head(8).iter_rows(named=True)
    ]
    return {
        "verdict": judgment["verdict"],
        "score": judgment["score"],
        "explanation": judgment["explanation"],
        "effects": effects,
        "flip": smallest_edit(question, references, answer, verdict=bool(judgment["verdict"])),
    }


def smallest_edit(
    question: str, references: Sequence[str], answer: str, *, verdict: bool
) -> dict[str, Any] | None:
    """The edit nearest to the answer, of those tried, that turns the examiner's verdict.

    Tried are: leaving out words in common with a reference, or a sentence; writing the reference's
    value for one that conflicts; adding a reference; saying only the reference.

    Returns:
        `what` was done, the edited `answer`, its `score`; None where nothing tried turns it.
    """
    row = [(question, references, answer)]
    read = plain_answers(with_plain(pl.DataFrame(row, schema=_EDITED, orient="row")))
    text = read["answer"][0][:_LONGEST]
    (aligned,) = alignments(read["question"], read["references"], pl.Series([text]))
    edits = _edits(question, references, text, aligned)
    if not edits:
        return None
    table = pl.DataFrame(
        {
            "question": [question] * len(edits),
            "references": [list(references)] * len(edits),
            "answer": list(edits),
        }
    )
    outcomes = parse_judge("examiner").judge(table, Models())
    turned = [
        (Indel.distance(answer, edited), edited, score)
        for edited, found, score in zip(edits, outcomes["verdict"], outcomes["score"], strict=True)
        if found is not None and found != verdict
    ]
    if not turned:
        return None
    _, edited, score = min(turned)
    return {"what": edits[edited], "answer": edited, "score": score}


def _edits(
    question: str, references: Sequence[str], answer: str, aligned: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Edited answers, and what was done to each; `aligned` is the answer's row of `alignments`."""
    found: dict[str, str] = {}

    def add(text: str, what: str) -> None:
        text = " ".join(text.split())
        if text and text != answer and len(found) < _MOST_EDITS:
            found.setdefault(text, what)

    for start, end in merged(place for one in aligned for place in _pairs(one["answer"])):
        add(answer[:start] + answer[end:], f"without “{answer[start:end]}”")
    for finding in value_findings(question, references, answer):
        for reference, said in finding["conflicting"] if finding else ():
            if said in answer:
                add(answer.replace(said, reference), f"“{reference}” for “{said}”")
    pieces = re.split(r"(?<=[.!?])\s+", answer)
    for at, piece in enumerate(pieces if len(pieces) > 1 else []):
        add(" ".join([*pieces[:at], *pieces[at + 1 :]]), f"without “{piece[:80]}”")
    for reference in references[:8]:
        add(f"{answer.rstrip('. ')}: {reference}.", f"with “{reference[:80]}” added")
        add(reference, f"only “{reference[:80]}”")
    return found


def matched_spans(questions: pl.Series, references: pl.Series, answers: pl.Series) -> pl.Series:
    """Places in each answer whose content words are in its best reference.

    Words are compared as the examiner compares them: inflected forms and spelled-out numbers are
    the same word. Neighbouring matched words with nothing but spaces between make one span.

    Args:
        questions, references, answers: one row per answer; an answer may be null.

    Returns:
        `spans`: one list per row of starts and ends in turn, in characters: `[0, 5, 9, 12]`.
    """
    texts = answers.fill_null("")
    wanted = _matched_words(questions, references, texts)
    long = _BETWEEN.join(texts.to_list())
    words = pl.DataFrame(
        [(one.start(), one.end(), one.group().lower()) for one in WORD.finditer(long)],
        schema={"start": pl.Int64, "end": pl.Int64, "word": pl.String},
        orient="row",
    )
    begin = pl.Series("begin", np.cumsum(texts.str.len_chars().to_numpy() + 1)).shift(
        1, fill_value=0
    )
    rows = pl.DataFrame({"begin": begin.cast(pl.Int64)}).with_row_index("row")
    matched = (
        words.with_columns(
            _folded(words["word"]), row=begin.search_sorted(words["start"], side="right") - 1
        )
        .join(rows, on="row", maintain_order="left")
        .join(wanted, on=["row", "word"], how="semi", maintain_order="left")
    )
    gaps = zip(matched["end"].to_list(), matched["start"].to_list()[1:], strict=False)
    apart = [True, *(long[end:start].strip(" ") != "" for end, start in gaps)][: matched.height]
    spans = (
        matched.with_columns(span=pl.Series(apart, dtype=pl.Boolean).cum_sum())
        .group_by("row", "span", maintain_order=True)
        .agg(
            pl.col("start").first() - pl.col("begin").first(),
            pl.col("end").last() - pl.col("begin").first(),
        )
        .select("row", spans=pl.concat_list("start", "end"))
        .explode("spans")
        .group_by("row", maintain_order=True)
        .agg("spans")
    )
    found = rows.select("row").join(spans, on="row", how="left", maintain_order="left")
    return found["spans"].fill_null([])


def _folded(words: pl.Series) -> pl.Series:
    """Words as the examiner's tokeniser writes them: without accents."""
    marked = (
        words.unique()
        .to_frame()
        .filter(pl.col("word").str.len_bytes() != pl.col("word").str.len_chars())["word"]
        .to_list()
    )
    plain = list(map(folded, marked))
    return words.replace(marked, plain) if marked else words


def _matched_words(questions: pl.Series, references: pl.Series, answers: pl.Series) -> pl.DataFrame:
    """`row` and lower-cased `word` of every content word that answer and best reference share."""
    batch = Batch.of(questions, references, answers, open_weights(None).rarity)
    view = FeatureView.of(batch, align(batch))
    matched = view.a_ref & view.a_content
    names = pl.Series(batch.lexicon.words, dtype=pl.String).str.to_lowercase()
    numbers = pl.Series(batch.texts.word[view.a_place[matched]])
    return pl.DataFrame(
        {
            "row": pl.Series(view.a_row[matched]).cast(pl.get_index_type()),
            "word": names.gather(numbers),
        }
    ).unique()
