# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""What a question asks for: the kind of value, its unit, scale, precision, granularity, number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from markscheme.text import NUMBER_UNITS, is_foreign
from markscheme.values.characters import plain
from markscheme.values.kinds import Unit
from markscheme.values.numbers import CARDINALS, SCALES
from markscheme.values.units import read_unit


class Choice(NamedTuple):
    """An option of a question: its letter in upper case, and its text where given."""

    letter: str
    option: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """What a question asks for; empty strings and None where it does not say."""

    text: str = ""
    kind: str = ""
    """`number`, `percent`, `money`, `duration`, `date`, `time`, `version`, `identifier`."""
    granularity: str = ""
    """`day`, `month`, `year`, `decade`, `century` where a question for a date names it."""
    unit: Unit | None = None
    scale: float = 1.0
    """The scale that the question states ("in USD millions")."""
    currency: str = ""
    """The currency that the question names, as an ISO code or `$`."""
    direction: int = 0
    """-1 where the question says that something fell, +1 where it rose, 2 where it asks which."""
    items: int = 0
    """How many items the question wants."""
    several: bool = False
    """The question wants more than one item."""
    order: bool = False
    options: tuple[Choice, ...] = ()
    foreign: bool = False


_COUNT = re.compile(
    r"\bhow many\b|\bnumber of\b|\bhow often\b|\bhow old\b|\bwhat (?:age|number|score)\b|\bhow (?:high|low|large|big|strong|warm|cold|hot) (?:is|was)\b|\bwie viele\b|\bcu[aá]nt[oa]s\b|\bcombien de\b|\bquant[ie]\b"
    r"|\bquant[oa]s\b|\bhoeveel\b|сколько|多少|几|いくつ|何(?:人|個|枚|本|回|歳)|몇|كم عدد|कितन|\bkaç\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"\bpercent(?:age)?\b|\bper cent\b|\bproportion\b|\bshare of\b|\bwhat (?:share|fraction)\b|\bwhich share\b|%|\bprozent|\bporcentaje|\bpourcentage|процент|パーセント|百分之|\binterest rate\b|\brate of\b|\bwhat rate\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\bhow much (?:money|did .* (?:cost|pay|earn))|\bprice\b|\bhow much\b.*\bcosts?\b|\bwhat (?:do|does|did|is the) .*\bcosts?\b|\bsalary\b|\brevenue\b|\bprofit\b|\bfee\b|\bfine\b|\bbudget\b|\bin (?:USD|EUR|GBP|dollars|euros|pounds)\b|\bhow much\b.*\b(?:paid|pay|worth)\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\bhow long\b|\bhow many (?:years|months|weeks|days|hours|minutes|seconds)\b|\b(?:what|which) (?:length of time|duration|(?:[\w-]+ )?period|time ?frame)\b|\bwhat(?:'s| is| was) (?:the |its |their )?(?:[\w-]+ ){0,3}(?:period|(?:response|turnaround|lead|delivery|processing|waiting|travel|cooking|baking) time)\b|\bduration\b|\bwie lange?\b|\bcuánto (?:tiempo|dura)|\bcombien de temps\b|\bquanto tempo\b|\bhoe lang\b|как долго|多久|多长时间|どのくらいの期間|얼마나 오래|\bage (?:limit|of)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:at )?what time\b|\bat which time\b|\bwhat hour\b|\bum wie viel uhr\b|\ba qué hora\b|\bà quelle heure\b|\ba che ora\b|\ba que horas?\b|\bhoe laat\b|во сколько|几点|何時|몇 시|saat kaçta",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:date|day|year|month|century|decade|quarter)\b|\b(?:what|which|on|whose|release|birth|start|end|due)(?: \w+)? date\b|\bwhat (?:is|was) (?:the|its|their|his|her) (?:[\w-]+ ){0,2}(?:year|date|deadline)\b|\bbis wann\b|\bwann\b|\bcuándo\b|\bquand\b|\bquando\b|\bwanneer\b|когда|何年|哪年|哪一年|哪一天|いつ|언제|متى|कब|ne zaman|hangi (?:tarih|yıl)|\bin (?:what|which) (?:year|month|century|decade)\b",
    re.IGNORECASE,
)
_GRANULARITY = tuple(
    (name, re.compile(words, re.IGNORECASE))
    for name, words in (
        (
            "century",
            r"\b(?:what|which) century\b|siècle|secolo|siglo|século|jahrhundert|世紀|世纪|세기",
        ),
        ("decade", r"\b(?:what|which) decade\b"),
        (
            "year",
            r"\b(?:what|which) (?:calendar |fiscal )?years?\b|\byear (?:did|was|is)\b|welchem jahr|qué año|quelle année|che anno|que ano|welk jaar|каком году|何年|哪一?年|hangi yıl|किस (?:साल|वर्ष)",
        ),
        ("month", r"\b(?:what|which) month\b"),
        (
            "day",
            r"\b(?:what|which|exact)(?: \w+)? (?:day|date)\b|\bwhat (?:is|was) the date\b|哪一天|哪一日",
        ),
    )
)
_VERSION = re.compile(
    r"\bversions?\b|\bfirmware\b|\b(?:which|what)(?: \w+)? release\b|\brelease (?:number|of)\b|\bversión\b|\bversione\b|\bversão\b|\bversie\b|верси|版本|バージョン|버전|\bsürüm",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"\b(?:which|what) (?:\w+ ){0,2}(?:code|form|number|id|identifier|section|article|clause|chapter|box|line|room|gate|platform|bus|model|standard|paragraph|page|flight|route|rule|amendment|serial|port)\b|\bcode\b",
    re.IGNORECASE,
)
_KINDS = (
    ("version", _VERSION, (_COUNT, re.compile(r"\bwhen\b|\bwhat year\b", re.IGNORECASE))),
    ("time", _TIME, ()),
    ("duration", _DURATION, ()),
    ("percent", _PERCENT, (re.compile(r"\bwhen\b|\bwho\b|\bhow many\b", re.IGNORECASE),)),
    ("number", _COUNT, ()),
    ("date", _DATE, ()),
    ("identifier", _IDENTIFIER, ()),
    ("money", _MONEY, ()),
)
"""Kinds of value in the order in which they are looked for: what asks for one, unless what follows
is there too."""
_SCALE = re.compile(
    r"\bin (?:(?:USD|EUR|GBP|US\$|\$|€|£|US|millions?|thousands?|billions?|of|dollars|euros|pounds|INR|CNY|JPY) ?)*?(thousand|million|billion|trillion|lakh|crore)s?\b|\((?:[^()]{0,20})\b(thousand|million|billion)s?(?:[^()]{0,20})\)",
    re.IGNORECASE,
)
_FELL = re.compile(
    r"\b(?:fall|fell|drop|dropped|declin\w*|decreas\w*|loss|lose|lost|shr[aiu]nk|reduc\w*|deficit|below|down|cut|cheaper|lower|colder|discount|behind|minus)\b",
    re.IGNORECASE,
)
_ROSE = re.compile(
    r"\b(?:rise|rose|risen|grow|grew|growth|increas\w*|gain\w*|climb\w*|rais\w*|up|higher|above|profit|ahead|surplus)\b",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\bup or down\b|\brise or fall\b|\bchang|\bdiffer|\bincrease or decrease\b|\bgain or lo|\bprofit or loss\b|\btemperature\b|\bwarm\b|\bbalance\b|\bvary\b",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"\b(?:which|what|name|list|give|the|are|were|in which|of the|these)\s+"
    rf"(?:the\s+|any\s+|are the\s+|were the\s+)?({'|'.join(NUMBER_UNITS[2:11])}|twelve|\d{{1,2}})\s+"
    r"([a-z][\w'-]*)",
    re.IGNORECASE,
)
_NO_ITEMS = frozenset("years days hours months weeks minutes percent times inhalers".split())
_ONE_OF = re.compile(
    r"\b(?:name|give|mention|list) (?:one|any|an?)\b|\bone of the\b|\bwhich (?:one )?of\b|\bnaming one\b|\bone is enough\b|\bfor example\b|\bat least one\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:which|what)(?: \w+){0,2} (?:are|were|do|have|make|form|belong)\b|\bwhat are\b|\bwhat were\b|\bname (?:the|all)\b|\blist\b|\bwho are\b|\bwho were\b|\bwhich (?:\w+ )?(?:countries|cities|states|members|items|ingredients|colou?rs|languages|planets|documents|fees|parts)\b|\b(?:which|what) (?:[a-z]+ and [a-z]+|pair|duo|couple|twins|brothers|sisters)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\border\b|\bsequence\b|\brank\b|\bchronological|\balphabetical|\b[a-z]+(?:est) first\b|\bby (?:distance|size|age|height|date|length|weight)\b|\bgoing (?:outward|inward|up|down|from)\b|\bfrom (?:north|south|east|west|left|right|top|bottom|inside|outside|start|beginning)\b.{0,30}\bto\b|\bin which order\b|\barrange\b|\bsort\b|\bfrom (?:the )?(?:highest|lowest|largest|smallest|oldest|youngest|earliest|first|longest|shortest|nearest|fastest|biggest) to\b|\breihenfolge\b|\borden\b|\bordre\b|\bordine\b|\bordem\b|\bvolgorde\b|порядк|顺序|順序|順番|순서|ترتيب|क्रम|\bsıra",
    re.IGNORECASE,
)
_NOT_ORDER = re.compile(
    r"\bin order to\b|\border (?:number|no|value|of magnitude)\b|\b(?:an|my|your|customer's|court|religious) order\b|\border \d",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?:(?<=[\s(\[:;,])|^)(?:\(([a-hA-H])\)|([A-Ha-h])(?:\)|[.:](?=\s))|([A-H]) ?[-–](?= ))\s*"
)
_IN_UNIT = re.compile(
    r"\b(?:in|how many|expressed in|measured in|number of)\s+(?=[^\W\d_°])", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def read_question(question: str) -> Requested:
    """What a question asks for.

    >>> read_question("How many metres are in a kilometre?").unit.name
    'm'
    """
    text = plain(question[:1500])
    foreign = is_foreign(text)
    options = read_options(text)
    granularity = ""
    kind = next(
        (
            name
            for name, asks, unless in _KINDS
            if asks.search(text) and not any(one.search(text) for one in unless)
        ),
        "",
    )
    if kind in ("date", "", "number"):
        granularity = next((name for name, pattern in _GRANULARITY if pattern.search(text)), "")
        if granularity and kind != "number":
            kind = "date"
    unit = None
    for hit in _IN_UNIT.finditer(text):
        found = read_unit(text, hit.end())
        if found is not None and len(text[hit.end() : found[1]]) > 1:
            unit = found[0]
    scale = SCALES[(stated[1] or stated[2]).lower()] if (stated := _SCALE.search(text)) else 1.0
    wanted = _WANTED.search(text)
    items = 0
    if wanted and not _ONE_OF.search(text) and wanted[2].lower() not in _NO_ITEMS:
        items = int(wanted[1]) if wanted[1].isdigit() else CARDINALS.get(wanted[1].lower(), 0)
    fell, rose = bool(_FELL.search(text)), bool(_ROSE.search(text))
    either = bool(_EITHER.search(text))
    return Requested(
        text=text,
        kind=kind,
        granularity=granularity,
        unit=unit,
        scale=scale,
        currency=_currency(text),
        direction=2 if either or (fell and rose) else -1 if fell else 1 if rose else 0,
        items=items if items <= 20 else 0,
        several=bool(items > 1 or _SEVERAL.search(text)) and not _ONE_OF.search(text),
        order=bool(_ORDER.search(text)) and not _NOT_ORDER.search(text),
        options=options,
        foreign=foreign,
    )


_CURRENCIES = (
    ("EUR", re.compile(r"\beuros?\b|\bEUR\b|€")),
    ("$", re.compile(r"\bdollars?\b|\bUSD\b|\$")),
    ("pound", re.compile(r"\bpounds? sterling\b|\bGBP\b|£")),
    ("JPY", re.compile(r"\byen\b|\bJPY\b")),
)


def _currency(text: str) -> str:
    """The one currency that a question names, '' for none or several."""
    found = [code for code, pattern in _CURRENCIES if pattern.search(text)]
    return found[0] if len(found) == 1 else ""


def read_options(text: str) -> tuple[Choice, ...]:
    """The options of a multiple-choice question, lettered one after another from A."""
    hits = list(_OPTION.finditer(text))
    options: list[Choice] = []
    for place, hit in enumerate(hits):
        letter = (hit[1] or hit[2] or hit[3]).upper()
        if letter != chr(ord("A") + len(options)):
            continue
        following = next(
            (
                one
                for one in hits[place + 1 :]
                if (one[1] or one[2] or one[3]).upper() == chr(ord(letter) + 1)
            ),
            None,
        )
        end = following.start() if following else len(text)
        option = text[hit.end() : end]
        if not following:
            option = re.split(r"[\n?]|\s[–-]\s|\.\s", option)[0]
        options.append(Choice(letter, option.strip(" \n,;.?/|")))
    return tuple(options) if len(options) >= 2 else ()
