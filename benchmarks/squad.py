"""The official SQuAD 1.1 formulas in plain Python, written by us, one row at a time."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = set(string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)


def _normalised(text: str) -> str:
    without_marks = "".join(letter for letter in text.lower() if letter not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without_marks).split())


def exact_match(prediction: str, reference: str) -> float:
    return float(_normalised(prediction) == _normalised(reference))


def f1(prediction: str, reference: str) -> float:
    ours, theirs = _normalised(prediction).split(), _normalised(reference).split()
    common = sum((Counter(ours) & Counter(theirs)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


def scores(rows: Iterable[tuple[str, list[str]]]) -> dict[str, float]:
    """Mean exact match and F1 in per cent, the best over each answer's references."""
    exact = total = count = 0.0
    for answer, texts in rows:
        exact += max(exact_match(answer, text) for text in texts)
        total += max(f1(answer, text) for text in texts)
        count += 1
    return {"exact_match": 100 * exact / count, "f1": 100 * total / count}
