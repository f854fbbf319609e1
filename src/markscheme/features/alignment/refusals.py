"""Whether the answer says yes or no as the reference does, declines, or speaks to the marker."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from markscheme.features.alignment.batch import Array
from markscheme.features.alignment.overlap import FeatureView
from markscheme.features.wording import denies_and_adds_nothing
from markscheme.tables import BLANK
from markscheme.text import (
    CAPITAL,
    INJECTION,
    NUMBER,
    OUTDATED,
    QUESTION_WORDS,
    REFUSAL,
    asks_amount,
    declines,
    declines_abroad,
    yes_or_no,
)

_READ = 2_000
"""Characters of an answer that are searched for any turn of phrase."""

_NO_ANSWERS = frozenset(
    [
        "no idea",
        "dunno",
        "idk",
        "no answer",
        "no comment",
        "keine angabe",
        "keine antwort",
        "k.a",
        "pas de réponse",
        "aucune réponse",
        "sin respuesta",
        "nessuna risposta",
        "sem resposta",
    ]
)
"""Whole answers that say there is none, in addition to those that `declines` knows."""


def refusal_features(view: FeatureView) -> dict[str, Array]:
    """Yes against no, signs of refusal, and names and numbers that the question lacks."""
    batch, raw = view.batch, view.batch.raw
    found: dict[str, Array] = {"question_words": batch.texts.count[batch.question]}
    found["polarity"] = np.array(
        [
            polarity(raw[reference][:_READ], raw[answer][:_READ])
            for reference, answer in zip(
                view.reference.tolist(), batch.answer.tolist(), strict=True
            )
        ]
    )
    distinct = sorted(set(batch.answer.tolist()))
    where = {text: i for i, text in enumerate(distinct)}
    of_row = np.array([where[i] for i in batch.answer.tolist()], dtype=np.int64)
    small = [raw[i][:_READ].lower() for i in distinct]
    lowered = pl.Series(small, dtype=pl.String)

    def found_in(pattern: re.Pattern[str]) -> Array:
        """Where a pattern without lookaround is found, all texts at once."""
        return lowered.str.contains(pattern.pattern).to_numpy()

    refusals = [
        REFUSAL.search(text) if has else None
        for text, has in zip(small, found_in(REFUSAL).tolist(), strict=True)
    ]
    found["refusal"] = np.array([float(hit is not None) for hit in refusals])[of_row]
    found["refusal_place"] = np.array(
        [-1.0 if hit is None else float(hit.start()) for hit in refusals]
    )[of_row]
    found["outdated_cue"] = found_in(OUTDATED).astype(float)[of_row]
    found["speaks_to_marker"] = found_in(INJECTION).astype(float)[of_row]
    kind = batch.kind[view.a_place]
    new = ~view.a_known
    found["answer_numbers"] = view.per_answer(((kind & NUMBER) > 0) & new)
    found["answer_names"] = view.per_answer(((kind & CAPITAL) > 0) & new)
    return found


def polarity(reference: str, answer: str) -> float:
    """1 where both begin with yes or both with no, -1 where they differ, -2 where the answer declines.

    0 where the reference says neither, and where the answer does not and does not decline.

    >>> polarity("No", "No, it closed."), polarity("No", "Yes."), polarity("Yes", "I don't know.")
    (1.0, -1.0, -2.0)
    """
    expected = yes_or_no(reference)
    if expected is None:
        return 0.0
    found = yes_or_no(answer)
    if found is None:
        return -2.0 if declines(answer) or declines_abroad(answer) else 0.0
    return 1.0 if found is expected else -1.0


def says_nothing(answer: str | None) -> bool:
    """Whether an answer is empty, or says in some language only that there is none.

    >>> says_nothing("N/A"), says_nothing("Das weiß ich nicht."), says_nothing("No.")
    (True, True, False)
    """
    if answer is None or answer.strip().strip(".!").lower() in (*BLANK, *_NO_ANSWERS):
        return True
    return declines(answer) or declines_abroad(answer)


def says_there_is_none(question: str, answer: str | None) -> bool:
    """Whether an answer says that the question has none: it declines, or denies what it is about.

    It denies where it has more denials than the question and no content word that the question
    lacks. To a question of yes or no, or of an amount, a denial is an answer.

    >>> says_there_is_none("Who is the king of France?", "There is no king of France.")
    True
    >>> says_there_is_none("Is there a king of France?", "There is no king of France.")
    False
    """
    if says_nothing(answer):
        return True
    thing = not QUESTION_WORDS.isdisjoint(question.lower().split()) and not asks_amount(question)
    return thing and answer is not None and denies_and_adds_nothing(question, answer)
