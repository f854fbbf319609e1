# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Whether an answer has the items of a list that was asked for, no others, and in order."""

from __future__ import annotations

import re

from markscheme.values.lists import item_key, positions, same_item, split_items
from markscheme.values.outcome import Comparison, Outcome, Pair
from markscheme.values.requested import Requested

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
    requested: Requested, reference: str, answer: str, *, typed: bool
) -> Comparison | None:
    """Compare two lists; None where the reference is no list that was asked for.

    A reference of two names may be met in any order, whether or not the question asks for two;
    that one is missing counts only where it does.
    """
    wanted = _wanted(requested, reference, typed=typed)
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
    for place, item in enumerate(given):
        for other, target in enumerate(wanted):
            if other not in matched.values() and same_item(target, item):
                matched[place] = other
                break
    agreed = tuple(Pair(wanted[other], given[place], "same") for place, other in matched.items())
    missing = tuple(item for other, item in enumerate(wanted) if other not in matched.values())
    extra = tuple(item for place, item in enumerate(given) if place not in matched)
    if not missing and not extra:
        ordered = ordered or (
            len(wanted) > 2 and bool(_STEPS.search(requested.text) or _STEPS.search(answer))
        )
        if ordered and list(matched.values()) != sorted(matched.values()):
            if _REVERSING.search(_PLAIN_ORDER.sub("", answer)):
                return Comparison(
                    outcome=Outcome.NONE,
                    kind="list",
                    agreed=agreed,
                    reason="the order is stated in words",
                )
            if not requested.order:
                return Comparison(
                    outcome=Outcome.NONE,
                    kind="list",
                    agreed=agreed,
                    reason="the items are in another order",
                )
            return Comparison(
                outcome=Outcome.CONFLICT, confidence=0.93, decided=True, kind="list", agreed=agreed,
                conflicting=(Pair(", ".join(wanted), ", ".join(given), "order"),), reason=f"the order is {', '.join(given)} where the reference has {', '.join(wanted)}",
            )  # fmt: skip
        return Comparison(
            outcome=Outcome.AGREE,
            confidence=0.95,
            decided=True,
            kind="list",
            agreed=agreed,
            reason=f"all {len(wanted)} items are there",
        )
    if not missing:
        if requested.items == len(wanted) or all(
            _plain(item) or len(item.split()) <= 3 for item in extra
        ):
            return Comparison(
                outcome=Outcome.CONFLICT, confidence=0.85 if requested.items == len(wanted) else 0.7, decided=requested.items == len(wanted), kind="list",
                agreed=agreed, extra=extra, reason=f"the answer adds {extra[0]}, which the reference does not have",
            )  # fmt: skip
        return Comparison(
            outcome=Outcome.NONE,
            kind="list",
            agreed=agreed,
            extra=extra,
            reason=f"the answer adds {extra[0]}",
        )
    if not extra:
        return _lacking(missing, agreed)
    one_swapped = (
        not requested.order
        and requested.items == len(wanted)
        and len(agreed) >= 2
        and len(missing) == len(extra) == 1
        and len(given) == len(wanted)
    )
    if (
        one_swapped
        and not _similar(missing, extra)
        and not _PRONOUN.search(extra[0])
        and len(extra[0].split()) <= 3
    ):
        return Comparison(
            outcome=Outcome.CONFLICT, confidence=0.75, decided=True, kind="list", agreed=agreed, missing=missing, extra=extra,
            conflicting=(Pair(missing[0], extra[0], "different"),), reason=f"{extra[0]} where the reference has {missing[0]}",
        )  # fmt: skip
    if agreed and all(_plain(item) for item in (*missing, *extra)) and not _similar(missing, extra):
        return Comparison(
            outcome=Outcome.CONFLICT, confidence=0.8, decided=True, kind="list", agreed=agreed, missing=missing, extra=extra,
            conflicting=(Pair(missing[0], extra[0], "different"),), reason=f"{_joined(extra)} where the reference has {_joined(missing)}",
        )  # fmt: skip
    return Comparison(
        outcome=Outcome.NONE,
        kind="list",
        agreed=agreed,
        missing=missing,
        extra=extra,
        reason=f"{_joined(missing)} {_are(missing)} not found",
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


def _wanted(requested: Requested, reference: str, *, typed: bool) -> tuple[str, ...]:
    items = split_items(reference)
    if len(items) < 2 or len(items) > 30:
        return ()
    if requested.items and requested.items != len(items):
        return ()
    if not (
        requested.several or requested.order or requested.items == len(items) or len(items) >= 3
    ):
        return ()
    if requested.kind in (
        "date",
        "time",
        "duration",
        "money",
        "percent",
        "number",
        "verse",
    ) and not (requested.items or requested.order or requested.several):
        return ()
    if any(len(item.split()) > 5 for item in items) and not requested.items:
        return ()
    if typed and requested.kind in ("date", "duration") and not requested.items:
        return ()
    if any("=" in item for item in items) or len({item_key(item) for item in items}) < len(items):
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
    named = [item for item in wanted if same_item(item, answer)]
    if len(named) != 1 or len(item_key(answer)) > len(item_key(named[0])) + 1:
        return ""
    others = {word for item in wanted if item != named[0] for word in item_key(item)}
    return "" if others & set(item_key(answer)) - set(item_key(named[0])) else named[0]


def _in_prose(wanted: tuple[str, ...], answer: str, *, ordered: bool) -> Comparison:
    places = positions(wanted, answer)
    found = [place for place in places if place >= 0]
    if len(found) < len(wanted):
        missing = tuple(item for item, place in zip(wanted, places, strict=True) if place < 0)
        return Comparison(
            outcome=Outcome.NONE,
            kind="list",
            missing=missing,
            reason=f"{_joined(missing)} {_are(missing)} not found",
        )
    agreed = tuple(Pair(item, item, "same") for item in wanted)
    words = len(answer.split())
    if ordered:
        if places != sorted(places) or _REVERSING.search(_PLAIN_ORDER.sub("", answer)):
            return Comparison(
                outcome=Outcome.NONE,
                kind="list",
                agreed=agreed,
                reason="all items are there; their order is told in words",
            )
        return Comparison(
            outcome=Outcome.AGREE,
            confidence=0.75,
            decided=True,
            kind="list",
            agreed=agreed,
            reason=f"all {len(wanted)} items are there, in order",
        )
    if re.search(r"\b(?:not|except|but|only|without|never|instead|n't)\b", answer, re.IGNORECASE):
        return Comparison(
            outcome=Outcome.NONE,
            kind="list",
            agreed=agreed,
            reason="all items are named, one perhaps set aside",
        )
    return Comparison(
        outcome=Outcome.AGREE,
        confidence=0.8 if words <= 30 else 0.65,
        decided=words <= 30,
        kind="list",
        agreed=agreed,
        reason=f"all {len(wanted)} items are there",
    )
