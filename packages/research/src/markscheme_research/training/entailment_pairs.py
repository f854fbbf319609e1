"""Made-up pairs of answers to one question, of which it is known which entails which.

Each is written around a real question's reference: the same in other words, the same with more,
a part of it, a coarser date, number or place, something else, a denial. Names, dates and places
come from the references of other questions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from markscheme.features.entailment import containers, places
from markscheme.text import MONTHS, STOP
from markscheme_research.training.entailment_units import unit_rows
from markscheme_research.training.reference_kinds import kind_of

_QUESTIONS = (
    ("is {a} in {b}", "is", "it", "{a} {v} in {b}"),
    ("was {a} a friend of {b}", "was", "he", "{a} {v} a friend of {b}"),
    ("did {a} ever work with {b}", "did", "she", "{a} {v} work with {b}"),
    ("does {a} have a museum", "does", "it", "{a} {v} have a museum"),
    ("can you see {a} from {b}", "can", "you", "You {v} see {a} from {b}"),
    ("are {a} and {b} the same", "are", "they", "{a} and {b} {v} the same"),
    ("has {a} won a prize", "has", "he", "{a} {v} won a prize"),
    ("do people in {a} eat fish", "do", "they", "People in {a} {v} eat fish"),
    ("is it legal to smoke in {a}", "is", "it", "It {v} legal to smoke in {a}"),
)  # fmt: skip
"""Question, its verb, the pronoun of short answers, and the statement with a place for the verb."""

_MORE = (
    ", since {c} changed the rules in {y}", ", and so is {c}", " - {c} showed that in {y}",
    ", because of {c}", "; it took {k} years to find out",
)  # fmt: skip


def yes_no_pairs(
    names: Sequence[str], chance: random.Random, count: int = 500
) -> Iterator[tuple[str, str, str, str, bool, bool | None]]:
    """Question, kind, two answers, and which entails which: the first the second, and back."""
    if len(names) < 3:
        return
    for _ in range(count):
        pattern, verb, pronoun, statement = chance.choice(_QUESTIONS)
        a, b, c = chance.sample(list(names), 3)
        question = pattern.format(a=a, b=b)
        ways = {}
        for holds in (True, False):
            word = "Yes" if holds else "No"
            sentence = verb if holds else chance.choice([f"{verb} not", f"{verb}n't"])
            if verb == "can":
                sentence = verb if holds else chance.choice(["cannot", "can't"])
            whole = statement.format(a=a, b=b, v=sentence)
            if holds and verb in ("did", "does", "do"):
                whole = statement.format(a=a, b=b, v=f"{verb} indeed")
            ways[holds] = (
                word, f"{word}, {pronoun} {sentence}.", f"{word}.",
                f"{pronoun.capitalize()} {sentence}.",
                f"{whole}.", f"{word}, {whole}.", f"As far as I know, {pronoun} {sentence}.",
            )  # fmt: skip
        holds = chance.random() < 0.5
        short = chance.choice([ways[holds][0], ways[holds][0].lower(), ways[holds][1]])
        same = chance.choice(ways[holds])
        if same != short:
            yield question, "yes or no", same, short, True, True
        yield question, "yes or no wrong", chance.choice(ways[not holds]), short, False, False
        more = chance.choice(_MORE).format(
            c=c, y=chance.randint(1900, 2020), k=chance.randint(3, 30)
        )
        longer = chance.choice(ways[holds][4:6]).rstrip(".") + more + "."
        yield question, "yes or no", longer, short, True, False


Made = tuple[str, str, str, bool, bool | None]
"""Kind, one answer, another; whether the first entails the second, and the second the first (None:
not known)."""

SCHEMA = {
    "question": pl.String, "premise": pl.String, "hypothesis": pl.String, "label": pl.Float64,
    "kind": pl.String, "direction": pl.String,
}  # fmt: skip
"""One directed pair a row; `direction` is `forward` or `back` as the pair was made."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A question, a reference and its kind; wrong answers of that kind, other names and years."""

    question: str
    reference: str
    kind: str
    wrong: Sequence[str]
    names: Sequence[str]
    years: Sequence[str]


FRAMES = (
    "{}", "{}", "{}.", "It was {}.", "It is {}.", "The answer is {}.", "That would be {}.",
    "I believe it was {}.", "I think it was {}.", "As far as I know, it is {}.", "Probably {}.",
    "I am not completely sure, but I would say {}.", "If I remember correctly, {}.", "{}, I guess.",
    "{}, of course.", "That was {}.", "My answer: {}.", "It must be {}.", "Normally {}.",
    "{}, if my memory serves me.", "I'm no expert, but I have read that it is {}.",
    "The correct answer is {}.", "I'd say {}, though I would have to check.",
)  # fmt: skip
"""Ways of saying an answer that add nothing to it."""

QUESTION_FRAMES = (
    "{q}? {r}.", "Q: {q}\nA: {r}", "The answer to the question {q} is {r}.", "{q}: {r}",
)  # fmt: skip

ELABORATIONS = (
    "{r}, who was born in {y}.", "{r}, which opened in {y}.", "{r}, a friend of {n}.",
    "{r}, together with {n}.", "{r}, near {n}.", "{r}, in {n}.", "{r} ({y}).", "{r} in {y}.",
    "It was {r}, as {n} confirmed in {y}.", "{r}. It was first shown in {y}.",
    "{r}, the younger brother of {n}.", "{r}, and it has stayed so since {y}.",
    "{r}. {n} took part as well.", "It was {r}, after a long dispute with {n}.",
    "{r}, mainly because of the cold weather and the lack of money.", "{r}, a small quiet town.",
    "{r}, one of the most successful of all time, with more than {k} million copies sold.",
    "{r}, which took {k} years to complete.", "According to {n}, {r}, against all expectations.",
    "{r}. The decision was taken by {n} and announced in {y}.",
    "{r}, the largest in the world.", "{r}, popular with tourists and artists.",
    "In {y} it was {r}, a record for that time.", "It was {r}, with {n} in second place.",
)  # fmt: skip
"""Ways of saying an answer and more."""

PARTIAL = (
    "{}, and one more that escapes me.", "At the moment I can only think of {}.",
    "{}; I forget the rest.", "{} are among them.", "One of them is {}.", "{}, among others.",
    "{}, I know that much.", "{}. The rest I would rather not guess.",
)  # fmt: skip
"""Ways of giving a part of a list."""

DENIALS = (
    "It was not {r}.", "It was {w}, not {r}.", "Anything but {r}.", "{r} is wrong; it was {w}.",
    "Many believe it was {r}, but it was in fact {w}.", "{w} rather than {r}.",
    "It could be {r}, {w} or {x}.", "{r} or {w}?", "Either {w} or {r}.", "{w}, {r}, {x}",
    "I don't know whether it was {r}.", "It is a myth that it was {r}.",
)  # fmt: skip
"""Ways of naming an answer without claiming it."""

NOTHING = (
    "I do not know.", "It is hard to say.", "I can't say.", "That depends.", "It varies.",
    "There are several possibilities.", "No idea, sorry.", "{q}", "{q}?", "It is unclear.",
    "I have no information about that.", "That is a good question.", "Nobody knows for certain.",
)  # fmt: skip

_MONTH_NAMES = [name.capitalize() for name in MONTHS if len(name) > 3 or name == "may"]
_MONTH_NAMES = [name for name in _MONTH_NAMES if name != "Sept"]
_DATE = re.compile(rf"(?i)^({'|'.join(_MONTH_NAMES)}) (\d{{1,2}}),? ?(\d{{4}})$")
_YEAR = re.compile(r"^(1[1-9]|20)\d\d$")
_SEASONS = ("winter", "spring", "summer", "autumn")


def made_pairs(answers: pl.DataFrame, *, seed: int = 0, each: int = 6) -> pl.DataFrame:
    """Directed pairs around the questions of a table; its labels are not used.

    Args:
        answers: a table with `question` and `references`.
        seed: of the random choices.
        each: made-up pairs for each question, each giving up to two directed rows.

    Returns:
        A table with the columns of `SCHEMA`.
    """
    chance = random.Random(seed)
    rows: list[tuple[str, str, str, float, str, str]] = []
    names: list[str] = []
    for one in _seeds(answers, chance):
        if one.kind in ("person", "name"):
            names.append(one.reference)
        made = [pair for maker in _MAKERS for pair in maker(one, chance)]
        chance.shuffle(made)
        for kind, first, second, forward, back in made[:each]:
            if first.strip() == second.strip():
                continue
            rows.append((one.question, first, second, float(forward), kind, "forward"))
            if back is not None:
                rows.append((one.question, second, first, float(back), kind, "back"))
    for question, kind, first, second, forward, back in yes_no_pairs(names, chance):
        rows.append((question, first, second, float(forward), kind, "forward"))
        if back is not None:
            rows.append((question, second, first, float(back), kind, "back"))
    for question, references, text, label in unit_rows(chance, 400):
        rows.append((question, text, references[0], float(label), "unit", "forward"))
        rows.append((question, references[0], text, float(label), "unit", "back"))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _seeds(answers: pl.DataFrame, chance: random.Random) -> Iterator[Seed]:
    table = answers.unique("question", maintain_order=True).select("question", "references")
    known: list[tuple[str, str, str]] = []
    pools: dict[str, list[str]] = {"person": [], "name": [], "year": []}
    for question, references in table.iter_rows():
        for reference in chance.sample(references, min(2, len(references))):
            if 0 < len(reference.split()) <= 8:
                kind = kind_of(reference, question)
                known.append((question, reference, kind))
                pools.setdefault(kind, []).append(reference)
    every = pools["person"] + pools["name"]
    for question, reference, kind in known:
        words = {word.lower() for word in reference.split()} - STOP
        wrong: list[str] = []
        for other in chance.sample(pools[kind], min(30, len(pools[kind]))):
            if not words & {word.lower() for word in other.split()} and other not in wrong:
                wrong.append(other)
        others = chance.sample(every, min(8, len(every)))
        names = [name for name in others if name.split()[0] not in reference]
        if len(wrong) >= 2 and names:
            years = [str(chance.randint(1500, 2020)) for _ in range(3)]
            yield Seed(question, reference, kind, wrong[:2], names, years)


def framed(text: str, chance: random.Random) -> str:
    """An answer worded in one of many ways that add nothing."""
    return chance.choice(FRAMES).format(text)


def _same(one: Seed, chance: random.Random) -> Iterator[Made]:
    r = one.reference
    for _ in range(2):
        yield "frame", framed(r, chance), framed(r, chance), True, True
    whole = chance.choice(QUESTION_FRAMES).format(q=one.question, r=r)
    yield "frame", whole, framed(r, chance), True, True
    yield "frame", framed(r.lower(), chance), r, True, True


def _more(one: Seed, chance: random.Random) -> Iterator[Made]:
    for template in chance.sample(ELABORATIONS, 3):
        longer = template.format(
            r=one.reference, y=chance.choice(one.years), n=chance.choice(one.names),
            k=chance.randint(2, 60),
        )  # fmt: skip
        yield "elaboration", longer, framed(one.reference, chance), True, False


def _other(one: Seed, chance: random.Random) -> Iterator[Made]:
    r, (w, x) = one.reference, one.wrong
    yield "other", framed(w, chance), framed(r, chance), False, False
    longer = chance.choice(ELABORATIONS).format(
        r=w, y=chance.choice(one.years), n=chance.choice(one.names), k=chance.randint(2, 60)
    )
    yield "other", longer, framed(r, chance), False, False
    denied = chance.choice(DENIALS).format(r=r, w=w, x=x)
    yield "denial", denied, framed(r, chance), False, False
    nothing = chance.choice(NOTHING).format(q=one.question)
    if r.lower() not in nothing.lower():
        yield "nothing", nothing, framed(r, chance), False, False


def _dates(one: Seed, chance: random.Random) -> Iterator[Made]:
    found = _DATE.match(one.reference)
    if found is None and not _YEAR.match(one.reference):
        return
    if found:
        month, day, year = found[1].capitalize(), int(found[2]), int(found[3])
    else:
        month, day = chance.choice(_MONTH_NAMES), chance.randint(1, 28)
        year = int(one.reference)
    full = [f"{month} {day}, {year}", f"{day} {month} {year}"]
    fine = chance.choice(full)
    monthly = f"{month} {year}"
    number = _MONTH_NAMES.index(month)
    season = _SEASONS[((number + 1) % 12) // 3]
    off = year + chance.choice([-1, 1]) * chance.randint(1, 9)
    kind = "date"

    def sentence(text: str) -> str:
        return framed(text, chance)

    yield "frame", sentence(full[0]), sentence(full[1]), True, True
    yield kind, sentence(fine), sentence(monthly), True, False
    yield kind, sentence(fine), sentence(str(year)), True, False
    yield kind, sentence(monthly), sentence(str(year)), True, False
    yield kind, sentence(fine), sentence(f"the {season} of {year}"), True, False
    yield kind, sentence(str(year)), sentence(f"the {year // 10 * 10}s"), True, False
    yield kind, sentence(fine), sentence(f"some time in the {year // 10 * 10}s"), True, False
    yield kind, sentence(str(year)), sentence(f"in the {_century(year)} century"), True, False
    low, high = year - chance.randint(1, 9), year + chance.randint(1, 9)
    yield kind, sentence(str(year)), sentence(f"between {low} and {high}"), True, False
    yield "date wrong", sentence(str(off)), sentence(fine), False, False
    yield "date wrong", sentence(f"{month} {day % 28 + 1}, {year}"), sentence(fine), False, False
    other = chance.choice([name for name in _MONTH_NAMES if name != month])
    yield "date wrong", sentence(f"{other} {year}"), sentence(fine), False, False
    yield "date wrong", sentence(str(year)), sentence(f"the {(year // 10 + 2) * 10}s"), False, False
    wrong = _century(year + 100 * chance.choice([-1, 1]))
    yield "date wrong", sentence(str(year)), sentence(f"in the {wrong} century"), False, False


def _century(year: int) -> str:
    words = {16: "sixteenth", 17: "seventeenth", 18: "eighteenth", 19: "nineteenth",
             20: "twentieth", 21: "twenty-first"}  # fmt: skip
    number = (year - 1) // 100 + 1
    return words.get(number, f"{number}th")


def _persons(one: Seed, chance: random.Random) -> Iterator[Made]:
    parts = one.reference.split()
    if one.kind != "person" or not 2 <= len(parts) <= 4 or not all(p[:1].isupper() for p in parts):
        return
    first, last = parts[0], parts[-1]

    def sentence(text: str) -> str:
        return framed(text, chance)

    yield "surname", sentence(one.reference), sentence(last), True, True
    yield "surname", sentence(f"{first[0]}. {last}"), sentence(one.reference), True, True
    yield "given name", sentence(one.reference), sentence(first), True, False
    unrelated = one.wrong[0].split()
    if len(unrelated) > 1 and unrelated[0][0] != first[0]:
        yield "other", sentence(f"{unrelated[0]} {last}"), sentence(one.reference), False, False
        yield "other", sentence(f"{first} {unrelated[-1]}"), sentence(one.reference), False, False


def _lists(one: Seed, chance: random.Random) -> Iterator[Made]:
    if one.kind not in ("person", "name") or len(one.wrong) < 2:
        return
    items = [one.reference, *one.wrong]
    mixed = chance.sample(items, len(items))
    kind = "list"

    def sentence(chosen: Sequence[str]) -> str:
        return framed(_listed(chosen, chance), chance)

    lacking = chance.choice(PARTIAL).format(_listed(mixed[:2], chance))
    yield kind, sentence(items), lacking, True, False
    yield kind, sentence(items), sentence(mixed[:1]), True, False
    yield kind, sentence(items), sentence(mixed[:2]), True, False
    yield kind, sentence(items[:2]), sentence(items[:1]), True, False
    yield "frame", sentence(items), sentence(mixed), True, True
    unrelated = chance.choice(one.names)
    if unrelated not in items:
        yield "list wrong", sentence([*items[:2], unrelated]), sentence(items), False, False


def _listed(items: Sequence[str], chance: random.Random) -> str:
    if len(items) == 1:
        return items[0]
    if chance.random() < 0.3:
        return ", ".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def _places(one: Seed, chance: random.Random) -> Iterator[Made]:
    head, _, tail = one.reference.partition(", ")
    if not tail or any(char.isdigit() for char in one.reference) or "," in tail:
        return
    other = chance.choice(one.names)
    yield "place", framed(one.reference, chance), framed(tail, chance), True, False
    yield "other", framed(f"{other}, {tail}", chance), framed(one.reference, chance), False, False
    yield "other", framed(f"{head}, {other}", chance), framed(tail, chance), False, False


def _numbers(one: Seed, chance: random.Random) -> Iterator[Made]:
    if one.kind != "number":
        return
    found = re.search(r"\d[\d,]*(?:\.\d+)?", one.reference)
    if found is None:
        return
    value = float(found[0].replace(",", ""))
    if value < 3:
        return

    def sentence(text: str) -> str:
        return framed(one.reference.replace(found[0], text), chance)

    exact = sentence(found[0])
    step = 10 ** max(0, len(str(int(value))) - 2)
    low, high = int(value // step * step), int(value // step * step + step)
    if value >= 1000 and low < value < high:
        kind = "number"
        near = low if value - low < high - value else high
        gap = abs(near - value) / value
        yield kind, exact, sentence(f"about {near:,}"), True, None if gap < 0.02 else False
        close = round(value, 3 - len(str(int(value))))
        if abs(close - value) < 0.005 * value:
            yield "frame", exact, sentence(f"about {close:,.0f}"), True, True
        yield kind, exact, sentence(f"more than {low:,}"), True, False
        yield kind, exact, sentence(f"nearly {high:,}"), True, False
        yield kind, exact, sentence(f"between {low:,} and {high:,}"), True, False
        yield "number wrong", exact, sentence(f"more than {high:,}"), False, False
        yield (
            "number wrong",
            exact,
            sentence(f"between {high:,} and {high + 2 * step:,}"),
            False,
            False,
        )
    elif value >= 10:
        kind = "number"
        yield kind, exact, sentence(f"more than {int(value) - chance.randint(1, 5)}"), True, False
        yield kind, exact, sentence(f"at least {int(value) - chance.randint(1, 5)}"), True, False
        yield kind, exact, sentence(f"fewer than {int(value) + chance.randint(1, 9)}"), True, False
    off = int(value) + chance.choice([-1, 1]) * max(1, int(value) // chance.choice([3, 5, 10]))
    yield "number wrong", sentence(f"{abs(off):,}"), exact, False, False


def _towns(one: Seed, chance: random.Random) -> Iterator[Made]:
    """A town named next to what it lies in, which is not stated."""
    inner = sorted(place for place in places(one.reference) if containers(place))
    if one.kind not in ("name", "phrase") or len(one.reference.split()) > 3 or not inner:
        return
    around = containers(inner[0])
    outer = chance.choice(around).title()
    far = chance.choice(("Peru", "Kenya", "Japan", "Texas", "Norway", "Egypt", "Poland", "Africa"))
    yield "town", framed(one.reference, chance), framed(outer, chance), True, False
    yield "town", framed(one.reference, chance), f"Somewhere in {outer}.", True, False
    longer = f"{one.reference}, {outer}"
    yield "frame", framed(longer, chance), framed(one.reference, chance), True, True
    if far.lower() not in around:
        yield "other", framed(one.reference, chance), framed(far, chance), False, False


def _letters(one: Seed, chance: random.Random) -> Iterator[Made]:
    words = [word for word in one.reference.split() if word.lower() not in STOP]
    if len(words) < 3 or one.kind != "name" or not all(word[:1].isupper() for word in words):
        return
    letters = "".join(word[0] for word in words)
    yield "initials", framed(letters, chance), framed(one.reference, chance), True, True
    if letters[0] != letters[-1]:
        wrong = framed(letters[::-1], chance)
        yield "other", wrong, framed(one.reference, chance), False, False


def _parts(one: Seed, chance: random.Random) -> Iterator[Made]:
    """A phrase with and without what narrows it down."""
    found = re.match(r"^(.{4,}?) (?:in|of|at|on|from|near|by) (.{4,})$", one.reference)
    if found is None or one.kind in ("year", "date", "number"):
        return
    yield "part", framed(one.reference, chance), framed(found[1], chance), True, None


_MAKERS = (
    _same, _more, _other, _dates, _persons, _lists, _places, _towns, _numbers, _letters, _parts,
)  # fmt: skip
