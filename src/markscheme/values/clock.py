# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Clock times: 24 hours and 12, "half past three", noon, time zones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.text import NUMBER_UNITS, words_of
from markscheme.values.characters import take
from markscheme.values.kinds import ClockTime
from markscheme.values.numbers import CARDINALS

_ZONES: dict[str, tuple[int, ...]] = {}
for _shift, _names in words_of(__file__, "words")["zones"].items():
    _ZONES |= {zone: (*_ZONES.get(zone, ()), int(_shift)) for zone in _names.split()}
_HALF = r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)"
_FIGURES = re.compile(
    r"(?:(?<![\w.,:/-])|(?<=\dT))(?P<hour>[01]?\d|2[0-4])(?:(?P<colon>[:.h])(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:]|[.,]\d))?(?![\d])"
    + _HALF
    + "?"
    r"(?:\s*(?:(?P<uhr>Uhr|o'clock|heures|часов)|hrs\b))?(?:\s*\(?(?P<zone>UTC|GMT|[A-Z]{1,2}[SD]T|(?-i:[ECMP]T)|BST|CES?T|EES?T|MSK|JST|KST|AE[SD]T|Z)(?P<shift>[+-]\d{1,2})?\b)?",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"\b(?:(?P<to>half|quarter|a quarter|[a-z]+(?:-[a-z]+)?(?:\s+minutes)?|\d{1,2}(?:\s+minutes)?)\s+(?P<side>past|to|after|before)\s+)?"
    rf"(?P<hour>{'|'.join(NUMBER_UNITS[1:13])}|\d{{1,2}}|noon|midnight)(?:\s+o'clock)?"
    r"(?P<part>\s+(?:in the|this|at)\s+(?:early\s+)?(?:morning|afternoon|evening|night)|"
    + _HALF
    + r"|)",
    re.IGNORECASE,
)
_LATE = re.compile(
    r"\s+(?:da (?:tarde|noite)|de la (?:tarde|noche)|du soir|de l'après-midi|abends|nachmittags|di sera|del pomeriggio|'s avonds)",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"\d[:.h]\d|\d\s?[ap]\.?\s?m\b|noon|midnight|o'clock|uhr|past|quarter|half|morning|afternoon|evening|night|before|\bto\b",
    re.IGNORECASE,
)
_CLEAR = re.compile(
    r"noon|midnight|o'clock|past|quarter\s+(?:to|before)|half\s+past|in the (?:morning|afternoon|evening)|at night|minutes (?:to|before)|[ap]\.?\s?m\b",
    re.IGNORECASE,
)


def read_times(text: str, used: bytearray) -> Iterator[ClockTime]:
    """The clock times of a plain text; `used` marks the characters taken."""
    if not _MENTION.search(text):
        return
    for found in (*_figure_times(text), *_spoken_times(text)):
        if take(used, found.start, found.end):
            yield found


def _readings(hour: int, minute: float, half: str | None) -> tuple[float, ...]:
    if half:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
        return (hour * 60 + minute,)
    if hour == 24:
        return (minute,)
    if 1 <= hour <= 12:
        return (hour * 60 + minute, (hour % 12 + (12 if hour != 12 else 0)) * 60 + minute)
    return (hour * 60 + minute,)


def _figure_times(text: str) -> Iterator[ClockTime]:
    for hit in _FIGURES.finditer(text):
        colon, half, uhr = hit["colon"], hit["half"], hit["uhr"]
        if not (half or uhr or (colon and colon != ".")):
            continue
        if half and int(hit["hour"]) > 12:
            half = None
        if colon == "h" and text[hit.end() : hit.end() + 1].isalpha():
            continue
        minute = float(hit["minute"] or 0) + float(hit["second"] or 0) / 60
        hour = int(hit["hour"])
        readings = _readings(hour, minute, half)
        exact = colon == "h" or (len(hit["hour"]) == 2 and hit["hour"].startswith("0") and not half)
        shift = 60 * int(hit["shift"] or 0)
        offsets = [zone + shift for zone in _ZONES.get((hit["zone"] or "").lower(), ())]
        end = hit.end()
        part = re.compile(r"\s+(?:in the|at)\s+(morning|afternoon|evening|night)").match(text, end)
        if not half and (late := _LATE.match(text, end)) and hour < 12:
            readings, end = ((hour + 12) * 60 + minute,), late.end()
        if part and not half:
            readings, end = _part(hour, minute, part[1].lower()), part.end()
        yield ClockTime(
            start=hit.start(),
            end=end,
            text=text[hit.start() : end],
            minutes=readings[:1] if exact else readings,
            offsets=tuple(offsets),
        )


def _part(hour: int, minute: float, part: str) -> tuple[float, ...]:
    if part == "morning":
        return ((hour % 12) * 60 + minute,)
    if part == "night" and (hour < 5 or hour == 12):
        return ((hour % 12) * 60 + minute,)
    return (((hour % 12) + 12) * 60 + minute,)


def _spoken_times(text: str) -> Iterator[ClockTime]:
    if not _CLEAR.search(text):
        return
    for hit in _SPOKEN.finditer(text):
        word, part, half = hit["hour"].lower(), hit["part"].strip().lower(), hit["half"]
        named = {"noon": 12, "midnight": 0}.get(word)
        hour = int(word) if word.isdigit() else CARDINALS[word] if named is None else named
        clear = bool(part) or "o'clock" in hit[0].lower()
        if hour > 12 or not (clear or named is not None or hit["side"]):
            continue
        start, minute = hit.start(), 0.0
        if hit["to"]:
            found = _minutes(hit["to"].lower().removesuffix(" minutes"))
            if not (clear or (found is not None and _is_minutes(hit["to"], hit["side"].lower()))):
                continue
            if found is None:
                start = hit.start("hour")
            elif hit["side"].lower() in ("to", "before"):
                hour, minute = (hour - 1) % 24 or 12, 60 - found
            else:
                minute = found
        if named is not None:
            readings: tuple[float, ...] = (hour * 60 + minute,)
        elif part and not half:
            readings = _part(hour, minute, part.rsplit(maxsplit=1)[-1])
        else:
            readings = _readings(hour, minute, half)
        yield ClockTime(start=start, end=hit.end(), text=text[start : hit.end()], minutes=readings)


def _minutes(words: str) -> float | None:
    """The minutes before or after an hour; None where the words are no number."""
    if "half" in words or "quarter" in words:
        return 30.0 if "half" in words else 15.0
    if words.isdigit():
        return float(words)
    tens, _, unit = words.partition("-")
    if tens not in CARDINALS or (unit and unit not in CARDINALS):
        return None
    return float(CARDINALS[tens] + CARDINALS.get(unit, 0))


def _is_minutes(words: str, side: str) -> bool:
    """Whether words before an hour that nothing else makes a time are minutes: "ten to two"."""
    if side in ("to", "before"):
        return "minutes" in words or "quarter" in words
    return side != "after" and (
        "minutes" in words or re.search("half|quarter", words, re.I) is not None
    )


def in_words(time: ClockTime) -> str:
    """A clock time as 24 hours, or as written where it has a zone or two readings."""
    if len(time.minutes) != 1 or time.offsets:
        return time.text.strip()
    hours, minutes = divmod(time.minutes[0], 60)
    return f"{int(hours):02}:{int(minutes):02}"
