"""Parsers that a prompt sets up itself: a choice of its own labels, a scale, several criteria.

    parser = "scale(1, 7)"

    parser = "choice"
    labels = {faithful = 1, "partly faithful" = 0.5, unfaithful = 0}

    parser = "json"
    [criteria]
    accuracy = {low = 1, high = 5, weight = 2}
    style = {labels = {good = 1, poor = 0}}

A reading's score is from 0 to 1. What fits none of a prompt's labels, or several, is `unparsed`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from markscheme.text.replies import (
    BRACKETS,
    Place,
    Reading,
    field,
    json_number,
    json_objects,
    member_name,
    member_place,
    read_score,
    reads,
    trimmed,
    undecided,
    unparsed,
)

SCALE = re.compile(r"scale\(\s*(?:low\s*=\s*)?(-?\d+)\s*,\s*(?:high\s*=\s*)?(-?\d+)\s*\)")
_LINE = re.compile(
    r"^[^\w\n]*(?:(?:final |my |overall )?(?:label|verdict|choice|answer|rating|result|preference)"
    r"[^\w\n]*(?:[:=]|\bis\b)[^\w\n]*)?(?P<label>[^\n]*?)[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)


# Which of two answers, A and B, a reply prefers; the last group is the word.
_BRACKETED = re.compile(
    r"(?:\[\[?|\\boxed\{)\s*(A|B|C|tie|equal|neither|both)\s*[\]}]", re.IGNORECASE
)
_BETTER = re.compile(
    r"\b(?:answer |option |choice )?\b(A|B)\b(?:'s answer)?\*{0,2} (?:is|was|seems|wins)\b(?: the)?"
    r"(?: (?:much|clearly|slightly|far))?"
    r"(?: (?:better|best|preferred|superior|winner)|\b(?<=wins))",
    re.IGNORECASE,
)
# In "A is better, B lacks detail" the word after "better" is the loser.
_NAMED = re.compile(
    rf"(?i:{_BETTER.pattern})"
    r"|(?i:\b(?:winner|choice|better|best|verdict|preferred|choose|prefer|pick)\b(?: is)?)"
    r"[^\w\n.!;]*(?i:answer |option )?"
    r"\b(A|B|[Tt]ie)\b(?!\w| is (?:not|worse)| (?:and|or) [AB]\b)"
)
_TIE = re.compile(
    r"\b(tie|tied|a draw|equally good|neither is better|equal in quality)\b", re.IGNORECASE
)
_ALONE = re.compile(r"^\W*(?:answer|option|choice)?\W*(A|B|C|tie)\W*$", re.IGNORECASE)


def _preferred(text: str, *forms: re.Pattern[str]) -> Iterator[list[tuple[str, Place]]]:
    """A, B or a tie as sentences say it: of each form the words, as labels, with their places."""
    for form in forms:
        hits = [(hit[form.groups], hit.span(form.groups)) for hit in form.finditer(text)]
        yield [(word if len(word) == 1 else "tie", place) for word, place in hits if word]


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One of a prompt's own labels, each with its score.

    Read in this order: JSON with `label` or the like, `[[label]]`, a line that is a label alone or
    after `Verdict:`. Where A and B are among the labels, also "I choose A", "A is better", "a tie".
    """

    MEMBERS: ClassVar[tuple[str, ...]] = (
        "label",
        "verdict",
        "choice",
        "answer",
        "rating",
        "result",
        "winner",
        "better",
    )

    labels: Mapping[str, float]

    def __call__(self, reply: str, *, finished: bool = True) -> Reading:
        """The label that the reply says."""
        return reads(self._read)(reply, finished=finished)

    def _read(self, text: str, *, finished: bool) -> Reading:
        plain = {_plain(label): label for label in self.labels}
        objects, member = json_objects(text), member_place(text, *self.MEMBERS)
        said = [field(item, *self.MEMBERS) for item in objects]
        two = {"A", "B"} <= self.labels.keys()
        # A letter on a line of an object that was cut off begins a member's name.
        lines = not objects and text.count("{") <= text.count("}")
        forms: tuple[Sequence[tuple[str, Place | None]], ...] = (
            [(str(label), member) for label in said if label is not None],
            [(word[1], trimmed(text, word.span(1))) for word in BRACKETS.finditer(text)],
            *_preferred(text, *(_BRACKETED, *(_ALONE,) * lines, _NAMED) * two),
            [
                (line["label"], trimmed(text, line.span("label")))
                for line in (_LINE.finditer(text) if lines else [])
            ],
            *_preferred(text, *(_BETTER, _TIE) * two),
        )
        for form in forms:
            found = {
                plain[_plain(word)]: place
                for word, place in reversed(form)
                if _plain(word) in plain
            }
            if len(found) > 1:
                return unparsed(f"several labels: {', '.join(sorted(found))}")
            if found:
                label, place = found.popitem()
                return Reading(status="judged", reason=label, score=self.labels[label], place=place)
        return undecided(text, f"none of {', '.join(self.labels)} in it", finished=finished)


PAIR = Choice(labels={"A": 1.0, "B": 0.0, "tie": 0.5, "C": 0.5})
"""Which of two answers is better; C is a tie."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """A number on a prompt's own scale; see `read_score`."""

    low: int
    high: int

    def __call__(self, reply: str, *, finished: bool = True) -> Reading:
        """The mark, from 0 at `low` to 1 at `high`."""
        return read_score(reply, finished=finished, low=self.low, high=self.high)


@dataclass(frozen=True, kw_only=True, slots=True)
class Criterion:
    """One member of the requested JSON object: a label or a number, and its weight."""

    labels: Mapping[str, float] | None = None
    low: float = 0.0
    high: float = 1.0
    weight: float = 1.0

    def score(self, value: Any) -> float | None:
        """From 0 to 1; None if the value is none that the criterion has."""
        if self.labels is not None:
            known = {_plain(label): score for label, score in self.labels.items()}
            return known.get(_plain(str(value)))
        number = json_number(value, self.high)
        if number is None or not self.low <= number <= self.high:
            return None
        return (number - self.low) / (self.high - self.low)


@dataclass(frozen=True, kw_only=True, slots=True)
class Criteria:
    """Several criteria in one JSON object; the score is their weighted mean."""

    criteria: Mapping[str, Criterion]

    def __call__(self, reply: str, *, finished: bool = True) -> Reading:
        """Every criterion must be there and on its scale."""
        return reads(self._read)(reply, finished=finished)

    def _read(self, text: str, *, finished: bool) -> Reading:
        names = {name: member_name(name) for name in self.criteria}
        objects = [
            one
            for one in json_objects(text)
            if any(field(one, key) is not None for key in names.values())
        ]
        if not objects:
            return undecided(text, f"no JSON with {', '.join(names)} in it", finished=finished)
        if any(one != objects[0] for one in objects):
            return unparsed("contradicts itself: it gives several objects")
        scores: dict[str, float] = {}
        for name, key in names.items():
            value = field(objects[0], key)
            score = self.criteria[name].score(value)
            if score is None:
                return unparsed(f"its {name} {value!r} is none that the prompt allows")
            scores[name] = score
        weights = math.fsum(one.weight for one in self.criteria.values())
        mean = math.fsum(self.criteria[name].weight * scores[name] for name in scores) / weights
        summary = "; ".join(f"{name} {scores[name]:.2f}" for name in scores)
        reason = str(field(objects[0], "reason", "explanation") or "").strip()
        return Reading(
            status="judged",
            reason=f"{summary}: {reason}" if reason else summary,
            score=min(1.0, max(0.0, mean)),
        )


Parser = Choice | Scale | Criteria


def own_parser(
    parser: str, labels: Mapping[str, Any] | None, criteria: Mapping[str, Any] | None
) -> Parser | None:
    """The parser that a prompt file sets up; None if it names another.

    Raises:
        ValueError: it is set up wrongly; the message says what to write.
    """
    for name, given, owner in (("labels", labels, "choice"), ("criteria", criteria, "json")):
        if given is not None and parser != owner:
            raise ValueError(f"{name} belong to parser = {owner!r}, not to {parser!r}")
    scale = SCALE.fullmatch(parser.strip())
    if scale:
        low, high = int(scale[1]), int(scale[2])
        if low >= high:
            raise ValueError(f"parser {parser!r}: the scale must rise, as in scale(1, 5)")
        return Scale(low=low, high=high)
    if parser == "choice":
        return Choice(labels=_scores(labels, "labels"))
    if parser == "json":
        if not criteria:
            raise ValueError('parser "json" needs [criteria], as in accuracy = {low = 1, high = 5}')
        return Criteria(criteria={name: _criterion(name, one) for name, one in criteria.items()})
    return None


def _criterion(name: str, given: Any) -> Criterion:
    if not isinstance(given, Mapping) or set(given) - {"labels", "low", "high", "weight"}:
        raise ValueError(
            f"criteria.{name} must be a table of labels, or of low and high, and perhaps weight, "
            f"not {given!r}"
        )
    weight = given.get("weight", 1.0)
    if not _is_number(weight) or weight <= 0:
        raise ValueError(f"criteria.{name}: weight={weight!r} must be a number above 0")
    if "labels" in given:
        return Criterion(labels=_scores(given["labels"], f"criteria.{name}.labels"), weight=weight)
    low, high = given.get("low", 0.0), given.get("high", 1.0)
    if not (_is_number(low) and _is_number(high) and low < high):
        raise ValueError(f"criteria.{name}: low={low!r} must be a number below high={high!r}")
    return Criterion(low=low, high=high, weight=weight)


def _scores(given: Any, where: str) -> Mapping[str, float]:
    good = isinstance(given, Mapping) and len(given) > 1
    if not good or not all(_is_number(one) and 0 <= one <= 1 for one in given.values()):
        raise ValueError(
            f"{where} must give two labels or more with scores from 0 to 1, as in "
            "{good = 1, fair = 0.5, poor = 0}, not " + repr(given)
        )
    if len({_plain(label) for label in given}) < len(given) or not all(map(_plain, given)):
        raise ValueError(f"{where}: labels must differ without their case and signs, none empty")
    return {label: float(score) for label, score in given.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
