"""Made-up pairs of strings with values in them: numbers, dates, units, formulae in written forms.

A family has templates for one value. A pair is two of them, filled with the same value or with one
that is close to it, and the second is often in a sentence. The same seeds give the same pairs.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

Made = Mapping[str, Any]
"""What the templates of a family are filled with."""

SENTENCES = (
    *["{one}"] * 8, "{one}.", "It is {one}.", "The answer is **{one}**, as far as I know.",
    "Not {one}.", "It was {one}, not {other}.", "{one} or {other}", "Either way, about {one}",
    "- {one}", "First {other}, and in the end {one}.", '{{"answer": "{one}"}}', "I do not know.",
    "Some say {other}, but it is {one} [1].", "{one} ({other})", "{one}, {other}",
)  # fmt: skip

SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve")  # fmt: skip
ROMAN = ("N", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
GERMAN = ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
          "elf", "zwölf")  # fmt: skip
MONTHS = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
          "Oktober", "November", "Dezember")  # fmt: skip
OFF = (
    0.9,
    0.94,
    0.96,
    0.975,
    0.985,
    0.993,
    0.996,
    0.9985,
    1.0015,
    1.004,
    1.007,
    1.015,
    1.025,
    1.04,
    1.07,
)
"""What a rounded or converted value is off by: around the tolerances of a comparison."""

UNITS = (
    ("km", 1), ("kilometres", 1), ("m", 1000), ("metres", 1000), ("miles", 0.621371), ("cm", 1e5),
    ("feet", 3280.84), ("kg", 1), ("kilograms", 1), ("g", 1000), ("pounds", 2.20462), ("t", 0.001),
    ("litres", 1), ("ml", 1000), ("gallons", 0.264172), ("km/h", 1), ("mph", 0.621371),
    ("m/s", 0.277778), ("MB", 1), ("GB", 0.001), ("MiB", 0.953674), ("W", 1000), ("kW", 1),
    ("°C", 1), ("degrees Celsius", 1), ("°F", 1.8), ("K", 1), ("Pa", 1000), ("bar", 0.01),
    ("hectares", 100), ("km²", 1), ("square miles", 0.386102), ("kWh", 1), ("J", 3.6e6),
)  # fmt: skip
NAMES = ("Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune", "Ann Lee",
         "Oslo", "red", "blue")  # fmt: skip


def ordinal(number: int) -> str:
    """A whole number as `1st`, `12th`, `23rd`."""
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _number(rng: Random) -> Made:
    n = rng.choice((rng.randint(0, 12), rng.randint(13, 999), rng.randint(1000, 9_999_999)))
    small = n % 13
    return {
        "n": n, "f": n + rng.choice((0.5, 0.25, 0.125)), "small": small, "nth": ordinal(n),
        "word": SMALL[small], "roman": ROMAN[small], "german": GERMAN[small], "m": n / 1e6,
        "k": n / 1000, "off": n * rng.choice(OFF), "wide": str(n).translate({48 + d: 0xFF10 + d for d in range(10)}),
        "arabic": str(n).translate({48 + d: 0x660 + d for d in range(10)}),
        "points": f"{n:,}".replace(",", "."), "spaces": f"{n:,}".replace(",", "\u202f"),
    }  # fmt: skip


def _date(rng: Random) -> Made:
    day = datetime.date(rng.randint(1000, 2040), 1, 1) + datetime.timedelta(rng.randint(0, 364))
    return {
        "d": day, "nth": ordinal(day.day), "year": day.year, "yy": day.year % 100,
        "before": day.year - 1, "after": day.year + 1, "decade": day.year // 10 * 10,
        "century": ordinal(day.year // 100 + 1), "quarter": (day.month + 2) // 3,
        "german": f"{day.day}. {MONTHS[day.month - 1]} {day.year}",
    }  # fmt: skip


def _quantity(rng: Random) -> Made:
    size = rng.choice((rng.randint(1, 40), rng.randint(1, 9000) / 10))
    at = rng.randrange(len(UNITS))
    (unit, factor), (other, further) = UNITS[at], UNITS[min(at + rng.randint(0, 3), len(UNITS) - 1)]
    return {"x": size * factor, "u": unit, "y": size * further, "v": other, "word": SMALL[at % 13],
            "off": size * further * rng.choice(OFF)}  # fmt: skip


def _amount(rng: Random) -> Made:
    size = rng.choice((rng.randint(1, 99), rng.randint(100, 9999), rng.randint(1, 9999) / 100))
    return {
        "x": size,
        "cents": size * 100,
        "m": size / 1000,
        "off": size * rng.choice(OFF),
        "yearly": size * 12 * rng.choice(OFF),
        "word": SMALL[int(size) % 13],
    }


def _share(rng: Random) -> Made:
    share = rng.choice((rng.randint(0, 100), rng.randint(1, 999) / 10, 5 * rng.randint(1, 20)))
    return {"p": share, "f": share / 100, "mille": share * 10, "k": max(round(100 / (share or 1)), 1),
            "rest": 100 - share}  # fmt: skip


def _range(rng: Random) -> Made:
    low = rng.choice((rng.randint(1, 30), rng.randint(1900, 2020)))
    return {
        "a": low,
        "b": low + rng.randint(1, 20),
        "d": rng.randint(1, 5),
        "y": rng.choice(UNITS)[0],
    }


def _formula(rng: Random) -> Made:
    return {"a": rng.randint(1, 12), "b": rng.randint(1, 12), "c": rng.randint(1, 12),
            "x": rng.choice("xyt"), "f": rng.choice(("sin", "cos", "log", "exp", "sqrt"))}  # fmt: skip


def _clock(rng: Random) -> Made:
    hour, minute = rng.randint(0, 23), rng.choice((0, 15, 30, rng.randint(1, 59)))
    return {"h": hour, "m": minute, "h12": hour % 12 or 12, "ap": "am" if hour < 12 else "pm",
            "all": 60 * hour + minute, "s": 60 * minute, "word": SMALL[hour % 12 or 12]}  # fmt: skip


def _version(rng: Random) -> Made:
    return {"a": rng.randint(0, 9), "b": rng.randint(0, 12), "c": rng.randint(0, 3),
            "n": rng.randint(100, 9999), "y": rng.randint(1999, 2025),
            "w": rng.choice(("Python", "RFC", "ISO", "Windows", "HTTP", "CVE"))}  # fmt: skip


def _items(rng: Random) -> Made:
    one, two, three, four = rng.sample(NAMES, 4)
    return {"one": one, "two": two, "three": three, "four": four, "n": rng.randint(2, 9)}


def _often(rng: Random) -> Made:
    n = rng.randint(1, 12)
    return {"n": n, "word": SMALL[n], "u": rng.choice(("second", "hour", "day", "week", "month", "year")),
            "nth": ordinal(n)}  # fmt: skip


def _choice(rng: Random) -> Made:
    return {"l": rng.choice("ABCD"), "t": rng.choice(("yes", "no", "true", "false", "correct")),
            "f": rng.choice(("-l", "-a", "-la", "--all", "--force", "-rf")), "o": rng.choice(NAMES)}  # fmt: skip


FAMILIES: dict[str, tuple[Callable[[Random], Made], tuple[str, ...], tuple[str, ...]]] = {
    "numbers": (_number, ("How many are there?", "What number is it?", ""), (
        "{n}", "{n:,}", "{f}", "-{n}", "+{n}", "about {n}", "{n} people", "{word}", "{roman}",
        "{german}", "{m:.1f} million", "{k:g} thousand", "{n:.2e}", "{wide}", "{arabic}", "{points}",
        "{spaces}", "{nth}", "No. {n}", "{n}/{small}", "{word} and a half", "{m:.2f}M", "({n})",
        "a dozen", "{n}.0", "almost {n:,}", "{n} × 10^{small}",
        "{off:.4g}", "about {off:.3g}", "{off:,.0f}", "{off:,.1f}", "nearly {off:.0f}",
    )),
    "dates": (_date, ("When was it?", "In which year was it?", "On what day was it opened?"), (
        "{d:%d %B %Y}", "{d:%B %d, %Y}", "{d:%Y-%m-%d}", "{d:%d/%m/%Y}", "{d:%m/%d/%Y}", "{year}",
        "{d:%d.%m.%Y}", "{d:%B %Y}", "{d:%b. %d}", "the {nth} of {d:%B}", "{d:%b} '{yy:02d}",
        "{year} BC", "{century} century", "the {decade}s", "early {year}", "Q{quarter} {year}",
        "{before}/{yy:02d}", "between {before} and {after}", "{d:%A}, {nth} {d:%B} {year}", "c. {year}",
        "{german}", "{d:%d %b}", "before {year}", "{year}年{d.month}月{d.day}日", "AD {year}",
    )),
    "quantities": (_quantity, ("How far is it?", "How heavy is it?", "What is its size in km?", ""), (
        "{x:g} {u}", "{x:,.1f} {u}", "{y:g} {v}", "{y:.0f} {v}", "{y:,.2f} {v}", "{x:g}{u}",
        "about {x:.0f} {u}", "{x:.3g} {u} ({y:.3g} {v})", "{word} {u}", "over {x:g} {u}", "-{x:g} {u}",
        "{x:.1e} {u}", "{x:g}-{u}", "{x:g} {v}",
        "{off:.4g} {v}", "about {off:.3g} {v}", "{off:.4g} {v}", "roughly {off:.4g} {v}", "{off:.5g} {v}",
    )),
    "money": (_amount, ("How much did it cost?", "What was the price in dollars?"), (
        "${x}", "{x} dollars", "USD {x}", "€{x}", "{x} euros", "£{x}", "{x} pounds", "${x}m", "{x}k",
        "¥{x}", "{x} rupees", "{x} crore rupees", "{cents:g} cents", "US${x:,.2f}", "${m:g} billion",
        "${x} million", "{x} €", "{word} dollars", "${x} per month", "about ${x}", "{x} bucks",
        "-${x}", "CHF {x}", "a loss of ${x}",
        "${off:,.2f}", "about ${off:,.0f}", "€{off:.2f}", "roughly {off:.0f} dollars", "${yearly:.2f} per year", "${yearly:,.0f} a year", "${x} a month",
    )),
    "shares": (_share, ("What share is it?", "By how much did it rise?", "What is the probability?"), (
        "{p}%", "{p} %", "{p} percent", "{p} per cent", "{f:g}", "{mille:g}‰", "one in {k}", "1 in {k}",
        "{p} percentage points", "half", "a quarter", "two thirds", "rose by {p}%", "fell by {p}%",
        "{p} out of 100", "all but {rest:g}%", "1/{k}", "almost {p}%", "{p}% of {k}", "-{p}%",
        "{p:.0f} to {rest:.0f}",
    )),
    "ranges": (_range, ("How many are there?", "When was it?", "How long is it?"), (
        "{a}-{b}", "{a}–{b}", "{a} to {b}", "between {a} and {b}", "from {a} until {b}", "≥ {a}",
        "at least {a}", "up to {b}", "more than {a}", "fewer than {b}", "{a} ± {d}", "{a}..{b}",
        "{a}-{b} {y}", "{a} {y} to {b} {y}", "[{a}, {b}]", "< {b}", "{a} or more", "{a}+", "{a}", "{b} {y}",
        "no more than {b} {y}", "over {a} and under {b}",
    )),
    "formulae": (_formula, ("What is the derivative?", "Solve for x.", "What is the formula?"), (
        "{a}{x} + {b}", "{b} + {a}{x}", "{x} = {a}", "{x} = {a}/{b}", r"\frac{{{a}}}{{{b}}}", "{a}/{b}",
        "{x}^{a}", "{a}π", "2^{a}", "{f}({a}{x})", "sqrt({a})", "({x} - {a})({x} - {b})",
        "{a}{x}^2 - {b}{x} + {c}", "y = {a}{x}**2 - {b}*{x} + {c}", "${a}{x}+{b}$", "{a}e^{{{b}{x}}}",
        "H2O", "C{a}H{b}O{c}", "{a}!", "{a} * ({b} + {c})", "{f} {x} + C", "{a}({x} + {b})", "{a}.{b}",
    )),
    "times": (_clock, ("What time is it?", "How long did it take?", "When does it start?"), (
        "{h}:{m:02d}", "{h12}:{m:02d} {ap}", "{h12} {ap}", "{h:02d}{m:02d} hours", "{h}h{m:02d}",
        "half past {word}", "{word} o'clock", "{h:02d}:{m:02d} UTC", "{h:02d}:{m:02d}:00Z", "noon",
        "{all} minutes", "{h} hours {m} minutes", "{h} h {m} min", "{s} seconds", "{h}:{m:02d}:30",
        "quarter to {word}", "{h12}.{m:02d}{ap}", "{h} days", "{word} hours", "midnight",
    )),
    "versions": (_version, ("Which version was it?", "What is its number?", ""), (
        "{a}.{b}.{c}", "v{a}.{b}", "{w} {a}.{b}", "{w} {a}", "version {a}.{b}.{c}", "{w} {n}", "{n}",
        "{w}-{y}-{n}", "{w} {n}:{y}", "{a}.{b}", "{a}.{b}.{c}-rc{c}", "{w}{n}", "release {a}",
        "{a}.{b}.0", "{y}-{n}", "0x{n:x}", "A{a}", "{w} {a}.{b}.x",
    )),
    "lists": (_items, ("Which are they?", "Name them.", "What are the two names?"), (
        "{one}, {two} and {three}", "{two}, {one}, {three}", "{one}; {two}", "{one} and {two}", "{one}",
        "{one}, {two}, {three}, {four}", "1. {one}\n2. {two}\n3. {three}", "- {two}\n- {one}",
        "{one} / {two}", "[{one}, {two}]", '["{one}", "{two}", "{three}"]', "{one} or {two}", "{n} of them",
        "{one} but not {two}", "both {one} and {two}", "{one} {n}, {two} {n}",
    )),
    "frequencies": (_often, ("How often is it held?", "How many times a week?", ""), (
        "every {n} {u}s", "once a {u}", "{word} times a {u}", "{n}x per {u}", "every {u}", "each {u}",
        "every other {u}", "twice a {u}", "{n} times", "{n} {u}s", "{n} Hz", "{n}/{u}", "hourly", "annually",
        "every {nth} {u}", "at least {n} times a {u}", "biweekly", "monthly", "no more than once a {u}",
    )),
    "choices": (_choice, ("Is it so?", "Which option? A) Mars B) Oslo C) red D) blue", "Which flag?"), (
        "{l}", "({l})", "Option {l}", "{l}) {o}", "The answer is {l}", "{t}", "{t}, it is", "{o}", "ls {f}",
        "`{f}`", "git push {f}", "{l}. {o}", "{t}: {o}", "use {f}", "neither", "both",
    )),
}  # fmt: skip
"""By name: what makes a value, questions, and templates for the value."""


def pairs(family: str, count: int) -> Iterator[tuple[str, str, str]]:
    """Different triples of question, reference and answer of a family."""
    rng = Random(f"yardstick {family}")
    make, questions, templates = FAMILIES[family]
    seen: set[tuple[str, str, str]] = set()
    while len(seen) < count:
        value = make(rng)
        near = value if rng.random() < 0.55 else {**value, **_some(make(rng), rng)}
        forms = [rng.choice(templates).format(**one) for one in (value, near, make(rng))]
        answer = rng.choice(SENTENCES).format(one=forms[1], other=forms[2])
        triple = (rng.choice(questions), forms[0], answer)
        if triple not in seen:
            seen.add(triple)
            yield triple


def _some(value: Made, rng: Random) -> Made:
    """A few of a value's parts, to be put in place of another's."""
    return {name: value[name] for name in value if rng.random() < 0.4}
