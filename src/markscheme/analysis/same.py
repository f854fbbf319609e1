"""Whether an answer and a reference say the same in another form: names, numbers, dates, words.

Each function gives its evidence in words, or None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from rapidfuzz import fuzz

from markscheme.analysis.wording import Pair, Wording, stands_in, wording
from markscheme.text import asks_list, same_given_name
from markscheme.values import Outcome, compare_values, relate_dates, split_items

_READINGS = re.compile(
    r"\b(?:if you mean|depends? on (?:the|which|whether|who|what|where)|depending on)\b"
    r"|\bthe (?:men|women)'s\b.*\bthe (?:men|women)'s\b",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"\b(?:who|whom|whose)\b|\b(?:what|which) \w*(?: \w+)? ?(?:name|actor|actress|"
    r"president|king|queen|singer|author|player|person|man|woman)\b",
    re.IGNORECASE,
)
_ROUNDED = frozenset(["number", "quantity", "duration", "percent", "range"])
"""Kinds of value that are rounded and given in several units."""


def cue_of_readings(pair: Pair) -> str | None:
    """The answer itself sets several readings of the question apart, and names things for each."""
    found = _READINGS.search(pair.answer.text)
    if found is None:
        return None
    others = pair.answer.capitals - pair.reference.words - wording(pair.question).words
    if len(others) > 1 or (others and pair.answer.dates):
        return f"sets readings of the question apart: {found.group()[:40]!r}"
    return None


def finer_time(pair: Pair) -> str | None:
    """The same time, given more or less finely; not a year in its decade or century."""
    return _nested_dates(pair, spans=False)


def same_value(pair: Pair) -> str | None:
    """The same number, quantity or date, or a rounding of it, written in another way."""
    one, other = pair.reference, pair.answer
    within = stands_in(one.plain, other.plain) or stands_in(other.plain, one.plain)
    compared = compare_values(pair.question, one.read, other.read)
    apart = compared.outcome in (Outcome.CONFLICT, Outcome.MISSING)
    differs = compared.missing or (compared.conflicting and not compared.agreed)
    alike = compared.granularity or not differs
    if compared.kind in _ROUNDED and compared.reason and alike and not apart:
        return compared.reason
    if not within and compared.outcome is Outcome.AGREE and compared.kind != "list":
        return compared.reason or f"the same value as {one.text!r}"
    return None if within else _nested_dates(pair, spans=True)


def same_date(pair: Pair) -> str | None:
    """The same day or month, written in another way, or a year in its century or decade."""
    if stands_in(pair.reference.plain, pair.answer.plain):
        return None
    for wanted, said in product(pair.reference.dates, pair.answer.dates):
        if wanted.month and relate_dates(wanted, said).value == "same":
            return f"the same date as {wanted.text!r}, written in another way"
    return _nested_dates(pair, spans=True)


def _nested_dates(pair: Pair, *, spans: bool) -> str | None:
    """A date within one of the other text; with spans, where one is a decade or a century."""
    for wanted, said in product(pair.reference.dates, pair.answer.dates):
        relation = relate_dates(wanted, said).value
        spanning = not {"decade", "century"}.isdisjoint((wanted.granularity, said.granularity))
        if relation in ("finer", "coarser") and spanning is spans:
            return f"{said.text!r} is {relation} than {wanted.text!r}"
    return None


def one_of_list(pair: Pair) -> str | None:
    """The members of a list, or some of them, in another order or number."""
    reference, answer = pair.reference, pair.answer
    members = [wording(item) for item in split_items(reference.text)]
    listed = asks_list(pair.question)
    if len(members) > 1 and not reference.dates:
        named = [member for member in members if stands_in(member.plain, answer.plain)]
        if len(named) == len(members) > 1 and (listed or len(members) > 2):
            return f"the {len(members)} members of {reference.text!r}, in another order or wording"
        if named and listed:
            return f"names {len(named)} of {len(members)} members of {reference.text!r}"
        initials = "".join(member.pieces[0][0] for member in members if member.pieces)
        if len(initials) > 1 and initials in answer.pieces:
            return f"the first letters of {reference.text!r}"
    if listed and stands_in(reference.plain, answer.plain) and reference.plain != answer.plain:
        return f"{reference.text!r} and more, to a question for several"
    return None


def same_name(pair: Pair) -> str | None:
    """Another form of a name: part of it, initials, a nickname, an acronym, another spelling."""
    one, other = pair.reference, pair.answer
    who = bool(_WHO.search(pair.question))
    named = one.capitals or other.capitals - frozenset(other.content[:1])
    if not one.names or not other.names or one.dates or not named:
        return None
    if _acronym(one, other) or _acronym(other, one):
        return f"short form and full form of {one.text!r}"
    known = frozenset(wording(pair.question).pieces)
    parts = _name_within(one, other, known)
    short, long = sorted((one.names, parts), key=len)
    if short and len(long) > len(short) and (who or len(short) > 1) and _name_forms(short, long):
        return f"the answer gives the name {one.text!r} in a shorter or longer form"
    if len(short) > 1 and len(short) == len(long) and short != long and _name_forms(short, long):
        return f"the name {one.text!r} with other given names, initials or order"
    if len(one.names) <= 3:
        wanted = "".join(one.names)
        for piece in (" ".join(parts).replace(" ", ""), *other.names):
            if piece != wanted and len(wanted) > 3 and _spelled_alike(wanted, piece, 75):
                return f"spelled much like {one.text!r}"
    return None


def _acronym(short: Wording, long: Wording) -> bool:
    for piece in short.names:
        letters = [word[0] for word in long.names]
        if 2 <= len(piece) <= 6 and piece not in long.names and len(letters) >= len(piece):
            joined = "".join(letters)
            inside = len(piece) > 2 and piece in joined and piece.upper() in short.text
            if piece == joined or inside:
                return True
    return False


def _name_within(one: Wording, other: Wording, known: frozenset[str]) -> tuple[str, ...]:
    """The words of the answer that may be the name: capitals, or all where it is short."""
    said = tuple(name for name in other.names if name not in known)
    if len(said) <= 4:
        return said
    capital = [word for word in re.findall(r"[^\W\d_]+", other.text) if word[:1].isupper()]
    wanted = {word.lower() for word in capital} - known
    kept = tuple(name for name in said if name in wanted)
    near = [
        place
        for place, name in enumerate(kept)
        if any(same_given_name(name, part) or _spelled_alike(name, part) for part in one.names)
    ]
    return kept[min(near) : max(near) + 1] if near else ()


def _name_forms(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether every part of the shorter name is a form of one of the longer, one of them whole."""
    rest = list(long)
    whole = False
    for part in short:
        match = next((name for name in rest if _spelled_alike(part, name)), None) or next(
            (name for name in rest if same_given_name(part, name)), None
        )
        if match is None:
            return False
        whole |= len(part) > 2 and _spelled_alike(part, match)
        rest.remove(match)
    return whole


def _spelled_alike(one: str, other: str, least: float = 85) -> bool:
    """Whether words are equal, or alike and without a figure: another figure is another number."""
    if one == other:
        return True
    return not any(map(str.isdigit, one + other)) and fuzz.ratio(one, other) >= least


def words_added(pair: Pair) -> str | None:
    """A word or a few more or fewer, around what both say."""
    one, other = pair.reference, pair.answer
    known = wording(pair.question).words
    added = [word for word in other.content if word not in one.words]
    lacking = [word for word in one.content if word not in other.words]
    shared = one.words & other.words
    if pair.sentence or not shared:
        bare = not [word for word in added if word not in known] and not lacking
        return "a word or a few more, all from the question" if bare and shared else None
    if not lacking and len(added) <= 4:
        return (
            f"adds {quoted(added, other)} to {one.text!r}"
            if added
            else f"{one.text!r} in small words"
        )
    if not added and len(lacking) <= 4:
        return f"leaves {quoted(lacking, one)} of {one.text!r} out"
    if len(added) <= 1 and len(lacking) <= 1 and len(shared) > 1:
        return f"{quoted(added, other)} for {quoted(lacking, one)} in {one.text!r}"
    return None


def other_words(pair: Pair) -> str | None:
    """Words of the same root: "sharecropping" and "sharecroppers"."""
    one, other = pair.reference, pair.answer
    for word in sorted(one.words):
        for said in sorted(other.words):
            stem = min(len(word), len(said)) - 2
            if stem > 3 and word != said and word.isalpha() and word[:stem] == said[:stem]:
                return f"{other.spelled(said)!r} and {one.spelled(word)!r} have one root"
    return None


def quoted(words: Iterable[str], of: Wording | None = None) -> str:
    """The first four words, those of a set in alphabetical order, as evidence shows them.

    Args:
        words: texts, or canonical forms of the words of a text.
        of: that text.
    """
    shown = sorted(words) if isinstance(words, frozenset) else list(words)
    return ", ".join(repr(word if of is None else of.spelled(word)) for word in shown[:4])
