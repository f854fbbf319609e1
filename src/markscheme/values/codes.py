# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Versions, codes, numbered things, verses and command flags: values that must match exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.values.dates import MONTHS
from markscheme.values.kinds import Flag, Identifier, Version
from markscheme.values.numbers import ORDINALS, roman
from markscheme.values.units import read_unit

_FLAG = re.compile(r"(?<![\w-])(?:--[A-Za-z][\w-]*|-[A-Za-z]{1,3}(?![\w'-]))")
_VERSION = re.compile(
    r"(?<![\w.,/:-])(?P<v>[vV]\.?\s?)?(?P<parts>\d+(?:\.\d+){2,})(?P<tail>[-.]?(?:alpha|beta|rc|dev|post|a|b|pre)[.-]?\d*)?(?![\w/:]|[.,]\d)"
    r"|(?<![\w.])[vV]\.?(?P<short>\d+(?:\.\d+)*)(?P<tail2>-?(?:alpha|beta|rc)[.-]?\d*)?(?!\w|\.\d)"
)
_VERSION_WORD = re.compile(
    r"\b(?:version|versions|release|firmware|v\.|ver\.?|build|revision|versión|versione|versão|versie|версия|версии|sürüm|バージョン|版本|버전)\s*(?:no\.?\s*|number\s+)?v?(\d+(?:\.\d+)*[a-z]?)(?!\w|\.\d|[:/,]\d)",
    re.IGNORECASE,
)
_VERSION_BARE = re.compile(
    r"(?<![\w.,/:$€£-])v?(\d+(?:\.\d+)+)(?![\w%]|[.,:/]\d|\s?(?:%|°|kg|km|cm|mm|GB|MB))"
)
_BOOKS = [
    "genesis",
    "exodus",
    "leviticus",
    "numbers",
    "deuteronomy",
    "joshua",
    "judges",
    "ruth",
    "samuel",
    "kings",
    "chronicles",
    "ezra",
    "nehemiah",
    "esther",
    "job",
    "psalm",
    "psalms",
    "proverbs",
    "ecclesiastes",
    "song",
    "isaiah",
    "jeremiah",
    "lamentations",
    "ezekiel",
    "daniel",
    "hosea",
    "joel",
    "amos",
    "obadiah",
    "jonah",
    "micah",
    "nahum",
    "habakkuk",
    "zephaniah",
    "haggai",
    "zechariah",
    "malachi",
    "matthew",
    "mark",
    "luke",
    "john",
    "acts",
    "romans",
    "corinthians",
    "galatians",
    "ephesians",
    "philippians",
    "colossians",
    "thessalonians",
    "timothy",
    "titus",
    "philemon",
    "hebrews",
    "james",
    "peter",
    "jude",
    "revelation",
    "quran",
    "koran",
    "surah",
    "sura",
    "sirach",
    "tobit",
    "wisdom",
    "maccabees",
]
_VERSE = re.compile(
    r"(?:\b(?P<part>[1-3]|I{1,3})\s)?\b(?P<name>"
    + "|".join(_BOOKS)
    + r")\.?(?:\s+chapter)?,?\s+(?P<chapter>\d{1,3})\s*(?::|,?\s*verses?\s+|,)\s*(?P<verse>\d{1,3})",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?<![\w./@-])(?P<letters>[A-Z]{1,6}|[A-Z][a-z]{0,2})(?P<join>-?)(?P<digits>\d{1,6})(?P<more>(?:[-/.]?[A-Z0-9]+)*[a-z]?)(?![\w%]|-\d|,\d{3}|:\d)"
    r"|(?<![\w./@$€£¥₹-])(?P<lead>\d{1,4}[A-Z]{1,2}\d*)(?!\w|-)"
)
_THING = (
    r"section|article|chapter|clause|paragraph|box|line|page|room|gate|platform|form|figure|table|appendix|annex|rule|item|"
    r"question|step|stage|level|grade|class|phase|type|episode|season|volume|part|book|act|scene|route|highway|bus|tram|flight|"
    r"channel|number|no\.|nr\.|§|art\.|sec\.|amendment|week|day|lap|round|game|unit|bay|lot|locker|track|terminal|pier|exit"
)
_NUMBERED = re.compile(
    r"(?:(?P<thing>\b(?:"
    + _THING
    + r"))|(?P<name>\b[A-Z][A-Za-z]+))\s+(?:no\.?\s*|number\s+|#\s?)?"
    r"(?P<code>\d{1,4}[a-zA-Z]?(?:\.\d{1,3})*(?:\s?\([a-z0-9]{1,3}\))*|[IVX]{1,5}\b)(?![\w%]|[.,:/]\d|-\d|\s?(?:%|°))",
    re.IGNORECASE,
)
_REGNAL = re.compile(r"\b(?P<name>[A-Z][a-zà-ÿ]+)\s+the\s+(?P<word>[A-Z]?[a-z]+(?:-[a-z]+)?)\b")
_NO_NAME = frozenset(
    [
        "the",
        "a",
        "an",
        "in",
        "on",
        "at",
        "by",
        "of",
        "for",
        "to",
        "from",
        "about",
        "around",
        "only",
        "just",
        "over",
        "under",
        "between",
        "approximately",
        "roughly",
        "nearly",
        "almost",
        "exactly",
        "some",
        "all",
        "with",
        "within",
        "after",
        "before",
        "until",
        "since",
        "is",
        "was",
        "are",
        "were",
        "has",
        "had",
        "have",
        "it",
        "they",
        "he",
        "she",
        "we",
        "you",
        "i",
        "and",
        "or",
        "but",
        "than",
        "least",
        "most",
        "more",
        "less",
        "up",
        "another",
        "each",
        "every",
        "these",
        "those",
        "that",
        "this",
        "there",
        "then",
        "so",
        "first",
        "last",
        "next",
        "when",
        "while",
        "because",
        "your",
        "my",
        "our",
        "their",
        "its",
        "use",
        "take",
        "add",
        "put",
        "get",
        "give",
        "got",
        "make",
        "made",
        "round",
        "version",
        "total",
        "age",
        "aged",
        "plus",
        "minus",
        "usd",
        "eur",
        "gbp",
        "us",
        "uk",
        "no",
        "not",
        "my",
    ]
)
_UNITS_AFTER = re.compile(
    r"\s*(?:%|°|percent|per cent|million|billion|thousand|hundred|years?|months?|weeks?|days?|hours?|minutes?|seconds?|kg|g|mg|km|m|cm|mm|miles?|times|people|and a half|to \d|–\s?\d)\b",
    re.IGNORECASE,
)


def take(used: bytearray, start: int, end: int) -> bool:
    """Mark a span as read; False where part of it was."""
    if any(used[start:end]):
        return False
    used[start:end] = b"\1" * (end - start)
    return True


def version_parts(raw: str) -> tuple[str, ...]:
    """The parts of a version, without a leading v; text after the figures is a part of its own.

    >>> version_parts("v2.30"), version_parts("2.0-rc1")
    (('2', '30'), ('2', '0', 'rc1'))
    """
    raw = raw.strip().lower().removeprefix("version").strip(" .").removeprefix("v").lstrip(". ")
    return tuple(part for part in re.split(r"[.\-_ ]+|(?<=\d)(?=[a-z])", raw) if part)


def code_of(raw: str) -> str:
    """A code in capitals without spaces, hyphens and brackets.

    >>> code_of("EX-17"), code_of("4.2 (c)")
    ('EX17', '4.2C')
    """
    return re.sub(r"[\s()\-–_]", "", raw).upper()


_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_ADDRESS = re.compile(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.])")
_UNIT_LETTERS = 2
"""Letters of a unit that no code is likely to end with: a room may be 12A or 4B."""
_ARITHMETIC = re.compile(r"[=^±√²³]|\\sqrt|\bsqrt\b")


def read_flags(text: str, used: bytearray) -> Iterator[Flag]:
    """Options of commands (`--hard`, `-rf`)."""
    if "-" not in text or ("--" not in text and _ARITHMETIC.search(text)):
        return
    for hit in _FLAG.finditer(text):
        if take(used, hit.start(), hit.end()):
            yield Flag(start=hit.start(), end=hit.end(), text=hit[0], name=hit[0])


def read_versions(text: str, used: bytearray, *, requested: bool) -> Iterator[Version]:
    """Versions; where the question asks for one, every number with a point is one."""
    if "." in text or "v" in text or "V" in text:
        for hit in _VERSION.finditer(text):
            raw = hit["parts"] or hit["short"]
            if hit["parts"] and _grouped(raw):
                continue
            if take(used, hit.start(), hit.end()):
                parts = version_parts(raw + (hit["tail"] or hit["tail2"] or ""))
                yield Version(start=hit.start(), end=hit.end(), text=hit[0], parts=parts)
    for hit in _VERSION_WORD.finditer(text):
        if take(used, hit.start(), hit.end()):
            yield Version(
                start=hit.start(), end=hit.end(), text=hit[0], parts=version_parts(hit[1])
            )
    if requested:
        for hit in _VERSION_BARE.finditer(text):
            if take(used, hit.start(), hit.end()):
                yield Version(
                    start=hit.start(), end=hit.end(), text=hit[0], parts=version_parts(hit[1])
                )


_OVER = re.compile(
    r"(?<![\w./])(\d{2,3})(?:/| over )(\d{2,3})(?![\w/]|\.\d)(?:\s?(?:mm\s?Hg|kPa))?"
)


def read_ratios(text: str, used: bytearray) -> Iterator[Identifier]:
    """Two figures over each other that are no fraction: a blood pressure (150/90)."""
    for hit in _OVER.finditer(text):
        if int(hit[1]) > int(hit[2]) > 12 and take(used, hit.start(), hit.end()):
            code = f"{hit[1]}/{hit[2]}" + ("kPa" if hit[0].endswith("kPa") else "")
            yield Identifier(start=hit.start(), end=hit.end(), text=hit[0], code=code)


def _grouped(raw: str) -> bool:
    first, *rest = raw.split(".")
    return 0 < len(first) <= 3 and all(len(part) == 3 for part in rest)


def read_verses(text: str, used: bytearray) -> Iterator[Identifier]:
    """Verses of holy books ("Numbers 22:22")."""
    for hit in _VERSE.finditer(text):
        if take(used, hit.start(), hit.end()):
            part = {"I": "1", "II": "2", "III": "3"}.get(hit["part"] or "", hit["part"] or "")
            name = (
                hit["name"].lower().removesuffix("s")
                if hit["name"].lower() == "psalms"
                else hit["name"].lower()
            )
            yield Identifier(
                start=hit.start(),
                end=hit.end(),
                text=hit[0],
                name=f"{part} {name}".strip(),
                code=f"{hit['chapter']}:{hit['verse']}",
            )


def read_codes(text: str, used: bytearray) -> Iterator[Identifier]:
    """Codes of letters and figures, addresses, numbered things and rulers."""
    for hit in _ADDRESS.finditer(text):
        if take(used, hit.start(), hit.end()):
            yield Identifier(start=hit.start(), end=hit.end(), text=hit[0], code=hit[0])
    for hit in _REGNAL.finditer(text):
        tens, _, unit = hit["word"].lower().partition("-")
        value = ORDINALS.get(unit or tens)
        if value is None or hit["name"].lower() in _NO_NAME:
            continue
        if unit:
            value += ORDINALS.get(tens.removesuffix("y") + "ieth", 0)
        if take(used, hit.start(), hit.end()):
            yield Identifier(
                start=hit.start(),
                end=hit.end(),
                text=hit[0],
                name=hit["name"].lower(),
                code=str(value),
            )
    for hit in _NUMBERED.finditer(text):
        found = _numbered(text, hit)
        if found is not None and take(used, found.start, found.end):
            yield found
    for hit in _CODE.finditer(text):
        if _is_code(hit) and take(used, hit.start(), hit.end()):
            yield Identifier(start=hit.start(), end=hit.end(), text=hit[0], code=code_of(hit[0]))


def _is_code(hit: re.Match[str]) -> bool:
    """Whether letters with figures are a code, and no date, version, amount or "mid-1990"."""
    letters = hit["letters"] or ""
    if not letters:
        return not _is_measured(hit["lead"])
    if letters.lower() in MONTHS or letters in ("USD", "EUR", "GBP", "AD", "BC", "V", "v"):
        return False
    prefix = letters.lower() in ("mid", "pre", "top", "sub", "non")
    return not (letters[-1].islower() and hit["join"] and prefix)


def _is_measured(code: str) -> bool:
    """Whether figures and capitals are an amount: 25MB, 400V."""
    figures = re.match(r"\d+", code)
    if figures is None or len(code) - figures.end() < _UNIT_LETTERS:
        return False
    unit = read_unit(code, figures.end())
    return unit is not None and unit[1] == len(code)


def _numbered(text: str, hit: re.Match[str]) -> Identifier | None:
    code = hit["code"]
    name = (hit["thing"] or hit["name"]).lower().rstrip(".")
    value = roman(code)
    if value is not None:
        if (
            code == "I"
            or not (hit["name"] or hit["thing"])
            or (len(code) == 1 and code == "X" and not hit["thing"])
        ):
            return None
        if hit["name"] and not hit["name"][0].isupper():
            return None
        code = str(value)
    elif code[0] in "IVXivx":
        return None
    if hit["name"]:
        raw = hit["name"]
        if not raw[0].isupper() or name in _NO_NAME or name in MONTHS:
            return None
        if value is None:
            whole = hit.start() == 0 and len(text.strip(" .")) <= hit.end() + 1
            inside = hit.start() > 1 and text[hit.start() - 2] not in ".!?\n:"
            if not (whole or inside or (raw.isupper() and len(raw) > 1)):
                return None
            if _UNITS_AFTER.match(text, hit.end()) or (
                len(code) == 4 and code.isdigit() and 1000 <= int(code) <= 2100
            ):
                return None
    elif (
        name
        in (
            "week",
            "day",
            "number",
            "no",
            "nr",
            "lap",
            "round",
            "season",
            "episode",
        )
        and _UNITS_AFTER.match(text, hit.end())
    ) or (
        name
        in (
            "class",
            "part",
            "act",
            "book",
            "level",
            "type",
            "line",
            "unit",
            "lot",
            "game",
            "bus",
            "no",
            "number",
        )
        and _UNITS_AFTER.match(text, hit.end())
    ):
        return None
    if (
        name == "no"
        and text[hit.start() : hit.start() + 3] != "no."
        and not text[hit.start()].isupper()
    ):
        return None
    return Identifier(start=hit.start(), end=hit.end(), text=hit[0], name=name, code=code_of(code))
