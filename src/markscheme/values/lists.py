# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Lists: the items of a text, which of them an answer has, no others, and in order."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from markscheme.text import by_word, words_of
from markscheme.values.numbers import CARDINALS, ORDINALS, roman
from markscheme.values.outcome import Comparison, Outcome, Pair, conflict, undecided
from markscheme.values.requested import Requested

_TABLES = words_of(__file__, "words")
_BULLET = re.compile(r"(?m)^\s*(?:[-*•–]|\d{1,2}[.)]|\([a-z0-9]\))\s+")
_ENUMERATION = re.compile(r"(?:^|\s)\(?\d{1,2}[.)]\s+(?=\S)")
_SEPARATOR = re.compile(
    r"\s*(?:;|→|⇒|=>|->|>|\||\n|,(?!\d{3}\b)(?:\s*(?:and|then|und|et|ve|و|(?-i:y|e))\s)?|(?:,?\s+)(?:and|und|et|plus|as well as|along with|together with|ve|и|then|&|(?-i:y|e|en))(?:\s+(?:then|finally|lastly|last))?\s|\s&\s|、|和|与|と|及び)\s*",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^[^:]{0,80}:\s+")
_OPENERS = re.compile(
    r"^(?:(?:and|or|then|next|first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|finally|lastly|last|after that|afterwards|followed by|both|only|just|also|plus|the|a|an|its|their|his|her|der|die|das|el|la|los|las|le|les|il|lo|gli|o|os|as|de|het|een|ein|eine|un|una|une|um|uma|from|with|in|at|of|to|comes?|is|are|was|were|it's|they are)\s+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s+(?:first|second|third|last|at the end|at last|in that order|please|thanks|respectively|only|as well|too|next|finally|afterwards)$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z])")
_STOP = frozenset(_TABLES["small_words"]["in_items"].split())
_ABBREVIATED = by_word(_TABLES["abbreviated"])
_LONGEST_INITIALS = 5


@lru_cache(maxsize=8192)
def item_key(item: str) -> tuple[str, ...]:
    """The words of an item that count, without accents, in singular.

    >>> item_key("The Rights-holders"), item_key("12 apples")
    (('right', 'holder'), ('12', 'apple'))
    """
    flat = "".join(
        char
        for char in unicodedata.normalize("NFD", item.lower())
        if unicodedata.category(char) != "Mn"
    )
    words = []
    found = re.findall(r"(?<!\w)[-−]\d+(?:\.\d+)?|\w+", flat)
    for raw in found:
        if raw in _STOP and len(found) > 1 and not (raw == "a" and found[0] != "a"):
            continue
        word = _ABBREVIATED.get(raw, raw)
        plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
        words.append(str(CARDINALS[word]) if word in CARDINALS else word[:-1] if plural else word)
    return tuple(word for joined in words for word in joined.split())


@lru_cache(maxsize=8192)
def split_items(text: str) -> tuple[str, ...]:
    """The items of a text that is a list and nothing else; empty where it is not one.

    >>> split_items("First C, next A, and B at the end")
    ('C', 'A', 'B')
    """
    text = text.strip().strip("*").rstrip(".!")
    if not text or len(text) > 1500:
        return ()
    bulleted = len(_BULLET.findall(text)) >= 2
    if bulleted:
        body = text[_BULLET.search(text).start() :]  # type: ignore[union-attr]
        parts = [part for part in _BULLET.split(body) if part.strip()]
    else:
        if len(_ENUMERATION.findall(text)) >= 2:
            text = _ENUMERATION.sub(" ; ", text).strip(" ;")
        if _SENTENCE.search(text):
            return ()
        lead = _LEAD.match(text)
        if lead and ("," in text[lead.end() :] or " and " in text[lead.end() :]):
            text = text[lead.end() :]
        parts = _SEPARATOR.split(re.sub(r"\([^()]*\)", "", text))
    items = []
    for part in parts:
        item = part.strip(" \n\t,;.:–-*\"'")
        item = _TAIL.sub("", _OPENERS.sub("", item)).strip()
        if item:
            items.append(item)
    if len(items) < 2 or any(len(item.split()) > (14 if bulleted else 6) for item in items):
        return ()
    return tuple(items)


def same_item(left: str, right: str) -> bool:
    """Whether two items name the same thing by their words.

    >>> same_item("Karl Marx", "K. Marx"), same_item("France", "the French Republic")
    (True, False)
    """
    one, other = item_key(left), item_key(right)
    if not one or not other:
        return left.strip().lower() == right.strip().lower()
    if one == other or "".join(one) == "".join(other):
        return True
    alike = len(one) == len(other) and all(map(_spelled_alike, one, other))
    if alike or _initials(left, other) or _initials(right, one):
        return True
    if len(one) == 1 and len(other) == 1:
        return _numeric(one[0]) is not None and _numeric(one[0]) == _numeric(other[0])
    first, second = set(one), set(other)
    if first <= second or second <= first:
        small, large = (one, other) if len(one) <= len(other) else (other, one)
        if any(
            char.isdigit() or len(word) == 1 for word in set(large) - set(small) for char in word
        ):
            return False
        return bool(small) and (len(small) * 2 >= len(large) or small[-1] == large[-1])
    return one[-1] == other[-1] and all(
        any(word[0] == two[0] and (len(word) == 1 or len(two) == 1) for two in other[:-1])
        for word in one[:-1]
    )


def _initials(short: str, words: tuple[str, ...]) -> bool:
    """Whether capitals are the first letters of the words: EU, European Union."""
    letters = short.strip().replace(".", "")
    if not (2 <= len(letters) <= _LONGEST_INITIALS and letters.isupper() and letters.isalpha()):
        return False
    return "".join(word[0] for word in words) == letters.lower()


def _spelled_alike(left: str, right: str) -> bool:
    """Whether two words are the same, or long and differ by one letter (Palaeozoic, Paleozoic)."""
    if min(len(left), len(right)) < 7 or not (left + right).isalpha() or left[0] != right[0]:
        return left == right
    return Levenshtein.distance(left, right, score_cutoff=1) <= 1


def _numeric(word: str) -> int | None:
    if word.isdecimal():  # unlike 10²
        return int(word)
    return ORDINALS.get(word, CARDINALS.get(word, roman(word.upper()) if len(word) > 1 else None))


def positions(items: tuple[str, ...], text: str) -> list[int]:
    """Where each item first occurs in a text, -1 where it does not."""
    lower = f" {text.lower()} "
    places = []
    for item in items:
        at = _place(re.escape(item.lower()) + r"(?!\w)", lower)
        if at < 0:
            words = [word for word in re.findall(r"\w+", item.lower()) if word not in _STOP]
            spots = [
                _place(re.escape(word.rstrip("s") if len(word) > 3 else word), lower)
                for word in words or [item.lower()]
            ]
            at = spots[-1] if min(spots) >= 0 else -1
        places.append(at)
    return places


def _place(pattern: str, text: str) -> int:
    """Where a word begins that a pattern matches, -1 where none does."""
    hit = re.search(r"(?<!\w)" + pattern, text)
    return hit.start() if hit else -1


# --- Whether an answer has the items of a list that was asked for, no others, and in order --------


_REVERSING = re.compile(
    r"\b(?:before|preced\w*|after|afterwards|last|ends?|following|follows|prior|reverse|backwards|later|earlier|between|opens|below|above|under|over|outranks?|beats|avant|après|vor|nach|antes|después|prima|dopo)\b",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"^\s*how\b|\b(?:steps?|stages?|process|procedure|phases?|sequence)\b|^\s*1[.)]\s",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:we|our|own|one|another|it|they|this|that|is|are|the)\b", re.IGNORECASE)
_PLAIN_ORDER = re.compile(
    r"\b(?:at the end|last(?:ly)?|after (?:that|this)|afterwards|following)\b", re.IGNORECASE
)

_AND = re.compile(r"\band\b|&", re.IGNORECASE)
_SHORT_ITEM = 4
"""Words of an item that is a name or a thing, and no clause."""


def compare_lists(
    requested: Requested, reference: str, answer: str, *, typed: bool, most: int
) -> Comparison | None:
    """Compare two lists; None where the reference is no requested list.

    Nothing is compared where there would be more than `most` pairs of items.

    A reference of two names may be met in any order, whether or not the question asks for two;
    that one is missing counts only where it does.
    """
    wanted = _wanted(requested, reference, typed=typed)
    if len(wanted) * len(split_items(answer)) > most:
        return Comparison(outcome=Outcome.NONE)
    if wanted:
        return _compare(requested, _in_full(wanted, answer), reference, answer)
    names = _in_full(split_items(reference), answer)
    if len(names) != 2 or not all(map(_plain, names)) or "(" in reference + answer:
        return None
    if sorted(map(item_key, names)) != sorted(map(item_key, split_items(answer))):
        return None
    return _compare(requested, names, reference, answer)


def _compare(  # noqa: PLR0912
    requested: Requested, wanted: tuple[str, ...], reference: str, answer: str
) -> Comparison | None:
    given = split_items(answer)
    ordered = requested.order or (len(wanted) >= 3 and _is_sequence(reference, answer))
    if not given:
        only = _only_item(wanted, answer)
        if only and (requested.items or _AND.search(reference)):
            missing = tuple(item for item in wanted if item != only)
            return _lacking(missing, (Pair(only, answer.strip(), "same"),))
        if any(any(char.isdigit() for char in item) for item in wanted):
            return None
        return _in_prose(wanted, answer, ordered=requested.order)
    matched: dict[int, int] = {}
    open_ = dict(enumerate(wanted))
    for place, item in enumerate(given):
        other = next((at for at, target in open_.items() if same_item(target, item)), None)
        if other is not None:
            matched[place] = other
            del open_[other]
    agreed = tuple(Pair(wanted[other], given[place], "same") for place, other in matched.items())
    missing = tuple(open_.values())
    extra = tuple(
        item
        for place, item in enumerate(given)
        if place not in matched and not any(same_item(target, item) for target in wanted)
    )
    if not missing and not extra:
        ordered = ordered or (
            len(wanted) > 2 and bool(_STEPS.search(requested.text) or _STEPS.search(answer))
        )
        if ordered and list(matched.values()) != sorted(matched.values()):
            if _REVERSING.search(_PLAIN_ORDER.sub("", answer)):
                return undecided("list", "the order is stated in words", agreed=agreed)
            if not requested.order:
                return undecided("list", "the items are in another order", agreed=agreed)
            order = Pair(", ".join(wanted), ", ".join(given), "order")
            reason = f"the order is {order.answer} where the reference has {order.reference}"
            found = conflict("list", order.reference, order.answer, 0.93, reason)
            return replace(found, agreed=agreed, conflicting=(order,))
        return _all_there(agreed, 0.95)
    if not missing:
        decided = requested.items == len(wanted)
        if decided or all(_plain(item) or len(item.split()) <= 3 for item in extra):
            return Comparison(
                outcome=Outcome.CONFLICT,
                confidence=0.85 if decided else 0.7,
                decided=decided,
                kind="list",
                agreed=agreed,
                extra=extra,
                reason=f"the answer adds {extra[0]}, which the reference does not have",
            )
        return undecided("list", f"the answer adds {extra[0]}", agreed=agreed, extra=extra)
    if not extra:
        return _lacking(missing, agreed)
    one_swapped = (
        not requested.order
        and requested.items == len(wanted) == len(given)
        and len(agreed) >= 2
        and len(missing) == len(extra) == 1
        and not _PRONOUN.search(extra[0])
        and len(extra[0].split()) <= 3
    )
    names = bool(agreed) and all(map(_plain, (*missing, *extra)))
    if (one_swapped or names) and not _similar(missing, extra):
        return _others(missing, extra, agreed, 0.75 if one_swapped else 0.8)
    reason = f"{_joined(missing)} {_are(missing)} not found"
    return undecided("list", reason, agreed=agreed, missing=missing, extra=extra)


def _all_there(
    agreed: tuple[Pair, ...], confidence: float, how: str = "", *, decided: bool = True
) -> Comparison:
    """The agreement where an answer has every item."""
    return Comparison(
        outcome=Outcome.AGREE,
        confidence=confidence,
        decided=decided,
        kind="list",
        agreed=agreed,
        reason=f"all {len(agreed)} items are there{how}",
    )


def _others(
    missing: tuple[str, ...], extra: tuple[str, ...], agreed: tuple[Pair, ...], confidence: float
) -> Comparison:
    """The conflict where an answer has other items in the place of some."""
    reason = f"{_joined(extra)} where the reference has {_joined(missing)}"
    return replace(
        conflict("list", missing[0], extra[0], confidence, reason),
        agreed=agreed,
        missing=missing,
        extra=extra,
    )


def _lacking(missing: tuple[str, ...], agreed: tuple[Pair, ...]) -> Comparison:
    return Comparison(
        outcome=Outcome.MISSING,
        confidence=0.93,
        decided=True,
        kind="list",
        agreed=agreed,
        missing=missing,
        reason=f"{_joined(missing)} {_are(missing)} missing",
    )


_TYPED = frozenset("date time duration money percent number".split())
"""Kinds of which a question without a number of items requests one."""


def _wanted(requested: Requested, reference: str, *, typed: bool) -> tuple[str, ...]:
    """The items of a reference that is a list the question asks for; empty where it is none."""
    items = split_items(reference)
    count, asked = len(items), requested.items
    several = requested.order or requested.several
    if (
        not 2 <= count <= 30
        or (asked and asked != count)
        or not (several or asked or count >= 3)
        or (requested.kind in _TYPED and not (asked or several))
        or (not asked and any(len(item.split()) > 5 for item in items))
        or (not asked and typed and requested.kind in ("date", "duration"))
        or any("=" in item for item in items)
        or len({item_key(item) for item in items}) < count
    ):
        return ()
    return items


def _is_sequence(reference: str, answer: str) -> bool:
    return (
        "→" in reference
        or "->" in reference
        or ("first" in answer.lower() and "next" in answer.lower())
    )


def _plain(item: str) -> bool:
    """A name, code or figure, or one plain word: something that has few other names."""
    words = item.split()
    return all(word[:1].isupper() or word[:1].isdigit() for word in words) and len(words) <= 3


def _similar(missing: tuple[str, ...], extra: tuple[str, ...]) -> bool:
    """Whether a missing item may be an extra one under another name."""
    for one in missing:
        for two in extra:
            left, right = set(item_key(one)), set(item_key(two))
            if left & right:
                return True
            if any(
                first[:4] == second[:4]
                for first in left
                for second in right
                if len(first) > 3 and len(second) > 3
            ):
                return True
            short = min(one, two, key=len)
            if short.isupper() and len(short) <= 5:
                return True
    return False


def _joined(items: tuple[str, ...]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _are(items: tuple[str, ...]) -> str:
    return "is" if len(items) == 1 else "are"


def _in_full(wanted: tuple[str, ...], answer: str) -> tuple[str, ...]:
    """The items, with the surname that two people share where the answer gives it to the first.

    >>> _in_full(("Malcolm", "Donald Campbell"), "Malcolm Campbell")
    ('Malcolm Campbell', 'Donald Campbell')
    """
    if len(wanted) != 2 or len(wanted[0].split()) != 1 or len(wanted[1].split()) == 1:
        return wanted
    named = f"{wanted[0]} {wanted[1].split()[-1]}"
    return (named, wanted[1]) if named.lower() in answer.lower() else wanted


def _only_item(wanted: tuple[str, ...], answer: str) -> str:
    """The one item of a list of names or things that a bare answer is; empty where it is none."""
    if any(len(item.split()) > _SHORT_ITEM for item in wanted) or re.search(r"[+/<>]| - ", answer):
        return ""
    answer = re.sub(r"\b(?:only|just|alone)\b", "", answer, flags=re.IGNORECASE).strip(" .!")
    words = item_key(answer)
    if len(words) > max(len(item_key(item)) for item in wanted) + 1:
        return ""  # before long texts are compared with each item
    named = [item for item in wanted if same_item(item, answer)]
    if len(named) != 1 or len(words) > len(item_key(named[0])) + 1:
        return ""
    others = {word for item in wanted if item != named[0] for word in item_key(item)}
    return "" if others & set(words) - set(item_key(named[0])) else named[0]


def _in_prose(wanted: tuple[str, ...], answer: str, *, ordered: bool) -> Comparison:
    places = positions(wanted, answer)
    found = [place for place in places if place >= 0]
    if len(found) < len(wanted):
        missing = tuple(item for item, place in zip(wanted, places, strict=True) if place < 0)
        reason = f"{_joined(missing)} {_are(missing)} not found"
        return undecided("list", reason, missing=missing)
    agreed = tuple(Pair(item, item, "same") for item in wanted)
    if ordered:
        if places != sorted(places) or _REVERSING.search(_PLAIN_ORDER.sub("", answer)):
            reason = "all items are there; their order is described in words"
            return undecided("list", reason, agreed=agreed)
        return _all_there(agreed, 0.75, ", in order")
    if re.search(r"\b(?:not|except|but|only|without|never|instead|n't)\b", answer, re.IGNORECASE):
        reason = "all items are named, one perhaps set aside"
        return undecided("list", reason, agreed=agreed)
    short = len(answer.split()) <= 30
    return _all_there(agreed, 0.8 if short else 0.65, decided=short)
