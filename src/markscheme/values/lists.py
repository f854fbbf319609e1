# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Lists: the items of a text, which of them another text has, and in which order."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from markscheme.values.numbers import CARDINALS, ORDINALS, roman

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
_STOP = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "and",
        "in",
        "on",
        "at",
        "for",
        "to",
        "de",
        "la",
        "le",
        "el",
        "der",
        "die",
        "das",
        "is",
        "are",
        "its",
        "their",
        "s",
    ]
)
_ABBREVIATED = {
    "uk": "united kingdom",
    "us": "united states",
    "usa": "united states",
    "britain": "united kingdom",
    "ussr": "soviet union",
    "apac": "asia pacific",
    "emea": "europe middle east africa",
    "latam": "latin america",
    "uae": "united arab emirates",
}
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
    if _misspelt("".join(one), "".join(other)) or _initials(left, other) or _initials(right, one):
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


def _misspelt(left: str, right: str) -> bool:
    """Whether two long words differ by one letter or two (Palaeozoic, Paleozoic)."""
    if min(len(left), len(right)) < 7 or not (left + right).isalpha() or left[0] != right[0]:
        return False
    return Levenshtein.distance(left, right, score_cutoff=2) <= (1 if len(left) < 10 else 2)


def _numeric(word: str) -> int | None:
    if word.isdigit():
        return int(word)
    return ORDINALS.get(word, CARDINALS.get(word, roman(word.upper()) if len(word) > 1 else None))


def positions(items: tuple[str, ...], text: str) -> list[int]:
    """Where each item first occurs in a text, -1 where it does not."""
    lower = f" {text.lower()} "
    places = []
    for item in items:
        words = [word for word in re.findall(r"\w+", item.lower()) if word not in _STOP] or [
            item.lower()
        ]
        at = -1
        hit = re.search(r"(?<!\w)" + re.escape(item.lower()) + r"(?!\w)", lower)
        if hit:
            at = hit.start()
        elif words:
            spots = [
                found.start()
                if (
                    found := re.search(
                        r"(?<!\w)" + re.escape(word.rstrip("s") if len(word) > 3 else word), lower
                    )
                )
                else -1
                for word in words
            ]
            if all(spot >= 0 for spot in spots):
                at = spots[-1] if len(spots) > 1 else spots[0]
        places.append(at)
    return places
