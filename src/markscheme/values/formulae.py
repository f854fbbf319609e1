"""Whole texts that are formulae, compared as such: never by a number that is pulled out of one.

Intervals and inequalities, tuples, sets, equations and expressions; an answer may lead up to its
formula ("Therefore, x = 3 or x = -3.").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from markscheme.text import SENTENCE_BREAK
from markscheme.values.expressions import (
    Relation,
    alternatives,
    equal_expressions,
    is_expression,
    letters_of,
    relate,
)
from markscheme.values.kinds import Number, Quantity
from markscheme.values.outcome import Comparison, Outcome, agreement, conflict, undecided
from markscheme.values.parse import parse_values

_LONGEST = 2_000
"""Characters of a text in which a formula is looked for."""
_MOST_PARTS = 6
_LEAD = re.compile(
    r"(?P<lead>[^=<>≤≥∈\d{}\[\]√]{0,160}\b(?:is|are|equals?|be|get|gives?|obtain|yields?|have|to|"
    r"answer|solutions?|result|value|interval|therefore|thus|hence|so|that|approaches)\b)[\s:,]*"
    r"(?:(?:simply|exactly|just|given by|approximately|about|roughly|either|therefore|thus|then)\b"
    r"[\s:,]*)*(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_DENIED = re.compile(r"\b(?:not|never|no|cannot|wrong|incorrect|false|instead)\b|n['’]t\b", re.I)
_ABOUT = re.compile(
    r"\s*[,(]?\s*(?:≈|(?:which|or|that) is (?:approximately|about)|approximately|approx\.?|about|"
    r"roughly)\s*",
    re.IGNORECASE,
)
_DERIVED = re.compile(r"(?<=[a-z])['′]+(?=\()")
"""The mark of a derivative: f'(x)."""
_END = "[-+]?[^,;()\\[\\]]*(?:\\([^,()]*\\)[^,;()\\[\\]]*)*"
_INTERVAL = re.compile(rf"([(\[])({_END}),({_END})([)\]])")
_MEMBER = re.compile(r"[a-zA-Z]\s*(?:∈|\bin\b)\s*(?=[(\[{])")
_UNION = re.compile(r"\s*(?:∪|\bor\b|(?<=[)\]])\s*U(?=\s*[(\[]))\s*")
_BOTH = re.compile(r"\s*(?:\band\b|∩|&)\s*")
_SIGN = re.compile(r"\s*(<=|>=|<|>|≤|≥)\s*")
_NAME = re.compile(r"[A-Za-zα-ω](?:_\w)?")
_EVERY = re.compile(r"(?:all )?real numbers?|ℝ|[a-z] ∈ [Rℝ]", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\binterval|\bdomain|\brange|inequalit|values of|for (?:which|what)|increas|decreas|converg",
    re.IGNORECASE,
)


class _Interval(NamedTuple):
    """An interval of one variable, ends as written."""

    low: str
    high: str
    ends: str
    """The brackets at its ends."""


class _Tuple(NamedTuple):
    items: tuple[str, ...]
    bracket: str


def compare_formulae(question: str, reference: str, answer: str) -> Comparison | None:
    """The comparison of two texts of which one is a formula, and the other one or a number.

    >>> compare_formulae("Solve.", "x = 3", "The answer is 3.").outcome.value
    'agree'
    """
    if not (_may_be_formula(reference) or _may_be_formula(answer)):
        return None
    wanted = formula_of(reference)
    given = wanted and formula_of(answer)
    if not given or not (is_formula(wanted) or is_formula(given)):
        return None
    if not (_comparable(wanted, given) and _comparable(given, wanted)):
        return None
    relation = relate_formulae(wanted, given, question)
    if relation == "different" and given.endswith("!"):
        relation = relate_formulae(wanted, given.rstrip("!"), question)  # "It is 5!" for 5
    return _comparison(relation, wanted, given)


def _comparison(relation: Relation, wanted: str, given: str) -> Comparison:
    if relation == "equal":
        return agreement("expression", wanted, given, 0.95, f"{given} agrees with {wanted}")
    if relation == "different":
        return conflict("expression", wanted, given, 0.97)
    if relation == "missing":
        return Comparison(
            outcome=Outcome.MISSING,
            confidence=0.8,
            kind="expression",
            granularity="coarser",
            missing=(wanted,),
            reason=f"{given} is less exact than {wanted}",
        )
    return undecided("expression", f"{given} may be the same as {wanted}")


_HINT = re.compile(
    r"[=^²³√π∞<>≤≥∈∪ℝ!{}()\[\]*+/_]|infinity|real number|\b(?:log|ln|sqrt|pi)(?![A-Za-z])",
    re.IGNORECASE,
)


def _may_be_formula(text: str) -> bool:
    return len(text) <= _LONGEST and _HINT.search(text) is not None


@lru_cache(maxsize=4096)
def formula_of(text: str) -> str:
    """The formula or bare number that a text is, or leads up to; "" where there is none.

    >>> formula_of("Adding both, the area is **2π + 1**."), formula_of("It costs 5 euros.")
    ('2π + 1', '')
    """
    if len(text) > _LONGEST:
        return ""
    return next((one for one in _candidates(text) if _reads(one)), "")


def _candidates(text: str) -> Iterator[str]:
    text = _DERIVED.sub("", text.replace("**", "").strip().strip("`").strip())
    parts = [part.strip() for part in SENTENCE_BREAK.split(text) if part.strip()]
    texts = [text]
    if len(parts) > 1:
        texts += [parts[-1]] + parts[:1] * (not any(map(_HINT.search, parts[1:])))
    for one in (part.rstrip(" .,;") for part in texts):
        yield one
        exact, *rough = _ABOUT.split(one, maxsplit=1)
        yield from filter(None, (exact, *(part.rstrip(")") for part in rough)))
        for whole in filter(None, (one, exact)):
            lead = _LEAD.fullmatch(whole)
            if lead and not _DENIED.search(lead["lead"]):
                yield lead["rest"].strip("* ")


_WORD = re.compile(r"[^\W\d_]{4,}")
_WORDS_OF_FORMULAE = frozenset(
    "sqrt sinh cosh tanh arcsin arccos arctan infinity degree degrees real numbers".split()
)


def _is_prose(text: str) -> bool:
    """Whether a text has a word that no formula has."""
    words = (hit[0].lower() for hit in _WORD.finditer(text))
    return len(text) > _LONGEST or any(word not in _WORDS_OF_FORMULAE for word in words)


def _reads(text: str) -> bool:
    if _is_prose(text):
        return False
    return is_formula(text) or _all_read(alternatives(text))


@lru_cache(maxsize=4096)
def is_formula(text: str) -> bool:
    """Whether a whole text is a formula: more than a number, a quantity or a word."""
    if not _HINT.search(text) or _is_prose(text):
        return False
    if re.fullmatch(r"[-+]?\s*(?:infinity|∞)", text, re.IGNORECASE):
        return True
    if not (is_expression(text) or _intervals(text) is not None or _listed(text)):
        return False
    return not any(one.start == 0 and one.end >= len(text) for one in parse_values(text))


def _listed(text: str) -> bool:
    found = _tuple(text)
    items = found.items if found else ()
    if not items and text.startswith("{"):
        items = alternatives(text)
    return _all_read(tuple(one.rpartition("=")[2] for one in items))


def _all_read(texts: tuple[str, ...]) -> bool:
    return bool(texts) and all(letters_of(one) is not None for one in texts)


def _comparable(text: str, other: str) -> bool:
    """Whether a text is a formula, or a number or angle, or of the letters of the other."""
    if is_formula(text):
        return True
    letters = frozenset[str]().union(*(letters_of(one) or () for one in alternatives(text)))
    if not letters <= (letters_of(other.rpartition("=")[2]) or frozenset()):
        return False
    kinds = [one for one in parse_values(text) if not isinstance(one, Number)]
    return all(isinstance(one, Quantity) and one.unit.name == "°" for one in kinds)


def relate_formulae(wanted: str, given: str, question: str = "") -> Relation:
    """How one formula relates to another.

    >>> relate_formulae("[0, 1)", "0 ≤ x < 1"), relate_formulae("(1, 2)", "(2, 1)")
    ('equal', 'different')
    """
    mine, theirs = _intervals(wanted), _intervals(given)
    tuples = _tuple(wanted), _tuple(given)
    if mine and theirs and not (all(tuples) and not _SUBJECT.search(question)):
        return _same_intervals(mine, theirs)
    if any(tuples):
        return _same_tuples(wanted, given)
    if mine or theirs:
        return "different"
    return relate(wanted, given)


def _same_intervals(mine: list[_Interval], theirs: list[_Interval]) -> Relation:
    if len(mine) != len(theirs):
        return "different"
    same = [[_same_interval(one, two) for two in theirs] for one in mine]
    if all(True in row for row in same):
        return "equal"
    return "unknown" if any(None in row for row in same) else "different"


def _same_interval(one: _Interval, two: _Interval) -> bool | None:
    ends = [equal_expressions(*both) for both in ((one.low, two.low), (one.high, two.high))]
    if None in ends:
        return None
    return all(ends) and one.ends == two.ends


def _same_tuples(wanted: str, given: str) -> Relation:
    mine, theirs = _tuple(wanted), _tuple(given)
    items, others = (
        found.items if found else tuple(one.rpartition("=")[2] for one in alternatives(text))
        for found, text in ((mine, wanted), (theirs, given))
    )
    if len(items) != len(others):
        return "different"
    same = [
        relate_formulae(one, two) == "equal" if _tuple(one) else equal_expressions(one, two)
        for one, two in zip(items, others, strict=True)
    ]
    if None in same:
        return "unknown"
    brackets = {found.bracket for found in (mine, theirs) if found}
    return "different" if not all(same) else "equal" if len(brackets) == 1 else "unknown"


def _tuple(text: str) -> _Tuple | None:
    """What is in one pair of brackets, split at its own commas."""
    text = _MEMBER.sub("", text, count=1)
    if text[:1] not in ("(", "[") or text[-1:] != {"(": ")", "[": "]"}[text[:1]]:
        return None
    depth, begin = 0, 1
    items: list[str] = []
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and place < len(text) - 1:
            return None
        if (sign == "," and depth == 1) or place == len(text) - 1:
            items.append(text[begin:place].strip())
            begin = place + 1
    return _Tuple(tuple(items), text[0]) if len(items) > 1 and all(items) else None


@lru_cache(maxsize=4096)
def _intervals(text: str) -> list[_Interval] | None:
    """The intervals that a text writes with brackets or as inequalities; None where it has none."""
    text = text.strip()
    if _EVERY.fullmatch(text):
        return [_Interval("-infinity", "infinity", "()")]
    if not re.search(r"[<>≤≥]|[(\[].*,.*[)\]]", text):
        return None
    text = _MEMBER.sub("", text)
    parts = _UNION.split(text)
    found = [_interval(part) for part in parts[: _MOST_PARTS + 1]]
    if len(parts) > _MOST_PARTS or None in found:
        return None
    return [one for one in found if one is not None]


def _interval(text: str) -> _Interval | None:
    hit = _INTERVAL.fullmatch(text)
    if hit:
        low, high = hit[2].strip(), hit[3].strip()
        ends = hit[1] + hit[4]
    else:
        sides = [_inequality(part) for part in _BOTH.split(text)]
        if not 1 <= len(sides) <= 2 or None in sides:
            return None
        low, high, ends = "-infinity", "infinity", "()"
        for side in sides:
            assert side is not None
            low, ends = (side.low, side.ends[0] + ends[1]) if "inf" not in side.low else (low, ends)
            high, ends = (
                (side.high, ends[0] + side.ends[1]) if "inf" not in side.high else (high, ends)
            )
    if letters_of(low) is None or letters_of(high) is None:
        return None
    return _Interval(low, high, ends)


def _inequality(text: str) -> _Interval | None:
    """The interval of "0 ≤ x < 1", "x > 3" or "3 < x"."""
    parts = _SIGN.split(text)
    signs, sides = parts[1::2], [part.strip() for part in parts[::2]]
    downwards = [sign[0] in "<≤" for sign in signs]
    if len(signs) not in (1, 2) or len(set(downwards)) > 1:
        return None
    if not downwards[0]:
        signs, sides = signs[::-1], sides[::-1]
    if len(signs) == 1 and _NAME.fullmatch(sides[0]):
        sides, signs = ["-infinity", *sides], ["<", *signs]
    elif len(signs) == 1:
        sides, signs = [*sides, "infinity"], [*signs, "<"]
    if not _NAME.fullmatch(sides[1]):
        return None
    closed = [len(sign) == 2 or sign in "≤≥" for sign in signs]
    return _Interval(sides[0], sides[2], "(["[closed[0]] + ")]"[closed[1]])
