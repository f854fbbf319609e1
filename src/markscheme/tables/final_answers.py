"""The final answer of texts that hold more: reasoning, worked solutions, errors of failed calls.

Readers of files pass every batch through here, and the service every request, so that all judges
see the same answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import polars as pl

from markscheme.text import ABOUT_ERRORS, API_ERROR
from markscheme.text.replies import REASONING, without_reasoning

WORKED = r"(?s)^(?:.*\s)?####[ \t]*([^\n#]*[^\n#\s])\s*$"
"""A worked solution that ends in its answer, as GSM8K writes it: `6*4=24\\n#### 24`."""

_LAST = r"(?:</s>|<\|(?:im_end|eot_id|end|endoftext|return)\|>|<end_of_turn>|<eos>)\s*$"
"""Tokens with which a model ends a text, where they were not taken away."""

_TAGGED = r"(?is)<answer>(.*?)(?:</answer>|$)"
"""An answer between tags, as a prompt may want it."""

_RUN_ON = (
    r"(?is)\S\s*(?:\n[ \t]*(?:[#*]{1,6}[ \t]*)?(?:question|q|user|human)\*{0,2}[ \t]*:|"
    r"[ \t](?:question|q):[^?\n]{1,500}\?\s{0,9}(?:answer|a):|"
    r"(?:<s>)?[ \t]?\[INST\]|<(?:\|im_start\||\|start_header_id\||start_of_turn)>[ \t]?user\b|"
    r"<\|user\|>).*$"
)
"""Another question after the answer, by a label or by a template's mark: a base model continues the
pattern of its prompt."""

_NO_ANSWER = re.compile(r"(?:`{3,}|~{3,})\w*|^\W*(?:question|q|user|human)[ \t]*:.*", re.I | re.S)
"""A fence that opens, or a question before another one."""

MORE = f"(?:{REASONING})|(?:{API_ERROR})|(?:{_LAST})|(?:{_TAGGED})|(?:{_RUN_ON})"
"""What an answer that may hold more than an answer has."""

_WORKED = re.compile(WORKED)
_GROUPED = re.compile(r"[-+]?[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?")
_CUT = "answers begin with a block of reasoning such as <think>: what follows it is judged"
_ONLY = "answers are a block of reasoning such as <think> and nothing else: not answered"
_TOKENS = "answers end with a token such as </s>, which is cut"
_BETWEEN = "answers are between <answer> and </answer>: what is between them is judged"
_NEXT = "answers continue with another question, such as 'Question:': what follows is cut"
_FAILED = (
    "answers are the error of a failed call, such as 'Error code: 429' or 'Request timed out.': "
    "not judged"
)
_SOLVED = "references are worked solutions that end in '#### ANSWER': the answer is the reference"


def final_answers(frame: pl.DataFrame, notes: Counter[str]) -> pl.DataFrame:
    """An answers table with final answers alone; what was cut is counted in `notes`.

    - A token that ends an answer is cut, and reasoning between tags is left out; an answer that
      holds nothing else is null: not given. A tag that the question or a reference has too is part
      of the answer.
    - Of an answer with `<answer>...</answer>` the last one between tags is judged; another question
      after the answer is cut with all that follows.
    - The error of a failed call is no answer: it goes to `answer_error`, unless the question or a
      reference speaks of errors.
    - Of a worked solution that ends in `#### ANSWER` the reference is the answer, and so it is of
      an answer that is written like it.
    """
    frame = _replaced(
        frame, _LAST, lambda text, _: re.sub(_LAST, "", text).rstrip(), notes, _TOKENS
    )
    frame = _replaced(
        frame, REASONING, lambda text, _: without_reasoning(text), notes, _CUT, nothing=_ONLY
    )
    frame = _replaced(frame, _RUN_ON, _before_next, notes, _NEXT)
    frame = _replaced(frame, _TAGGED, _between_tags, notes, _BETWEEN)
    frame = _without_errors(frame, notes)
    return _solved(frame, notes)


def bare_answers(frame: pl.DataFrame) -> pl.Series:
    """The column `answer` as judges read it where no reference, which is not known, is like it."""
    unknown = pl.lit(None, dtype=pl.String)
    full = frame.select(
        "question",
        "answer",
        references=pl.lit(None, dtype=pl.List(pl.String)),
        reference_kind=unknown,
        answer_error=unknown,
    )
    answers = final_answers(full, Counter())["answer"]
    return answers.map_elements(_final, return_dtype=pl.String)


def _speaks_of(pattern: str) -> pl.Expr:
    """Rows whose question or references have a pattern."""
    there = pl.col("references").list.eval(pl.element().str.contains(pattern)).list.any()
    return there.fill_null(value=False) | pl.col("question").str.contains(pattern).fill_null(
        value=False
    )


def _in_answer_alone(pattern: str, spoken_of: str | None = None) -> pl.Expr:
    """Rows whose answer has a pattern, where neither question nor references have it.

    `spoken_of` is what these must not have, in place of the pattern.
    """
    there = pl.col("answer").str.contains(pattern).fill_null(value=False)
    return there & ~_speaks_of(spoken_of or pattern)


def _replaced(
    frame: pl.DataFrame,
    pattern: str,
    final: Callable[[str, str], str | None],
    notes: Counter[str],
    note: str,
    *,
    nothing: str = "",
) -> pl.DataFrame:
    """Answers with a pattern that neither question nor reference has, by their final part.

    `final` takes the answer and its question; the answers of which it leaves nothing (None) are
    counted under `nothing`, the others under `note`.
    """
    rows = frame.select(_in_answer_alone(pattern)).to_series().arg_true()
    if rows.is_empty():
        return frame
    texts = (frame[name].gather(rows) for name in ("answer", "question"))
    parts = [final(answer, question or "") for answer, question in zip(*texts, strict=True)]
    lost = parts.count(None)
    notes[note] += len(rows) - lost
    notes[nothing] += lost
    return frame.with_columns(frame["answer"].scatter(rows, pl.Series(parts, dtype=pl.String)))


def _before_next(answer: str, question: str) -> str:
    """Cut before another question; the question itself may come before the answer."""
    found = re.search(_RUN_ON, answer)
    if found is None:
        return answer
    before, after = answer[: found.start() + 1], answer[found.start() + 1 :]
    before = re.sub(_LAST, "", before)
    asked, repeated = (" ".join(re.findall(r"\w+", one.lower())) for one in (question, after))
    if not re.search(r"\w", _NO_ANSWER.sub("", before)) or (asked and asked in repeated):
        return answer
    return before


def _between_tags(answer: str, _: str) -> str:
    texts = (text.strip() for text in reversed(re.findall(_TAGGED, answer)))
    return next(filter(None, texts), answer)


def _without_errors(frame: pl.DataFrame, notes: Counter[str]) -> pl.DataFrame:
    spoken_of = f"(?:{ABOUT_ERRORS})|(?:{API_ERROR})"
    failed = frame.select(_in_answer_alone(API_ERROR, spoken_of)).to_series()
    notes[_FAILED] += int(failed.sum())
    return frame.with_columns(
        pl.when(~failed).then("answer").alias("answer"),
        pl.when(failed).then("answer").otherwise("answer_error").alias("answer_error"),
    )


def _solved(frame: pl.DataFrame, notes: Counter[str]) -> pl.DataFrame:
    has_work = pl.col("references").list.eval(pl.element().str.contains(WORKED)).list.any()
    of_text = pl.col("reference_kind").fill_null("text") == "text"
    solved = frame.select(has_work.fill_null(value=False) & of_text).to_series()
    if not solved.any():
        return frame
    notes[_SOLVED] += int(solved.sum())
    rows = zip(frame["references"].to_list(), frame["answer"], solved, strict=True)
    cut = [
        ([_final(one) for one in references], None if answer is None else _final(answer))
        if worked
        else (references, answer)
        for references, answer, worked in rows
    ]
    return frame.with_columns(
        pl.Series("references", [one for one, _ in cut], dtype=pl.List(pl.String)),
        pl.Series("answer", [one for _, one in cut], dtype=pl.String),
    )


def _final(text: str) -> str:
    """What follows the last `####`, a number without the commas between its digits."""
    match = _WORKED.match(text)
    if match is None:
        return text
    return match[1].replace(",", "") if _GROUPED.fullmatch(match[1]) else match[1]
