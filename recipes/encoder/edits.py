"""Edits of texts: wrappings, replies that answer nothing, a changed fact in a right answer."""

from __future__ import annotations

import difflib
import json
import random
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

WRAPPINGS = Path(__file__).with_name("wrappings.toml")
FRAMES = Path(__file__).parents[1] / "training-data" / "frames.toml"
WHOLE = 0.55
"""Share of English answers that are put into a wrapping of `FRAMES`, made for a whole answer."""
Span = tuple[int, int]
_ORDER = ("inner", "middle", "outer")
_MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]  # fmt: skip
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_FAMILIES = [
    _MONTHS, _DAYS, ["hours", "minutes", "days", "weeks", "months", "years", "seconds"],
    ["hour", "minute", "day", "week", "month", "year"],
    ["km", "miles", "metres", "feet", "cm", "mm", "inches", "kilometres", "meters"],
    ["kg", "g", "mg", "pounds", "ounces", "tonnes", "grams"], ["ml", "litres", "cl", "gallons"],
    ["million", "billion", "thousand", "trillion"], ["euros", "dollars", "pounds", "yen"],
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve"],
    ["first", "second", "third", "fourth", "fifth", "last"],
    ["red", "blue", "green", "yellow", "white", "black", "orange", "purple", "grey"],
    ["spring", "summer", "autumn", "winter"],
    ["copper", "iron", "steel", "silver", "gold", "zinc", "aluminium", "bronze"],
    ["morning", "evening", "afternoon", "night"],
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"],
]  # fmt: skip
_OPPOSITES = [
    ("increase", "decrease"), ("increases", "decreases"), ("increased", "decreased"),
    ("rose", "fell"), ("rises", "falls"), ("rising", "falling"), ("before", "after"),
    ("above", "below"), ("more", "less"), ("higher", "lower"), ("larger", "smaller"),
    ("north", "south"), ("east", "west"), ("northern", "southern"), ("eastern", "western"),
    ("minimum", "maximum"), ("always", "never"), ("all", "some"), ("older", "younger"),
    ("longer", "shorter"), ("earlier", "later"), ("upper", "lower"), ("internal", "external"),
    ("positive", "negative"), ("gain", "loss"),
    ("fast", "slow"), ("faster", "slower"), ("warm", "cold"), ("hot", "cold"), ("wet", "dry"),
    ("mother", "father"), ("son", "daughter"), ("brother", "sister"), ("open", "closed"),
    ("at least", "at most"), ("cannot", "can"), ("must not", "must"), ("does not", "does"),
    ("is not", "is"), ("was not", "was"), ("may not", "may"), ("inside", "outside"),
    ("clockwise", "anticlockwise"), ("buyer", "seller"), ("landlord", "tenant"),
    ("employer", "employee"), ("lender", "borrower"), ("import", "export"),
    ("mandatory", "optional"), ("required", "optional"), ("free", "paid"), ("won", "lost"),
]  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")
DECLINES = re.compile(
    r"\b(no|not|none|never|nothing|nobody|unknown|cannot|isn't|unclear|unspecified|undefined|n/a)\b"
    r"|n't\b|n’t\b|comment",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(great|good|thank|happy|glad|sure|let me|of course|hi\b|hello|here|certainly|absolutely|"
    r"you asked|i'd|i would|i have|i looked|as you|dear|okay|ok\b|this is|below|welcome)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_STOP = frozenset(
    """
    the a an of in on at to for and or is are was were be been it its this that with by from as
    they he she his her their which who what when where how why do does did can will would
    """.split()
)
_YES_NO = frozenset(["yes", "no", "true", "false", "correct", "incorrect"])


def words_of(text: str) -> list[str]:
    """Words and numbers in lower case."""
    return re.findall(r"\w+", text.lower())


def content_words(text: str) -> set[str]:
    """Words that are not function words."""
    return set(words_of(text)) - _STOP


class Wrapper:
    """Draws wrappings for answers, by their language.

    Args:
        path: a TOML file of wrappings in layers, as `wrappings.toml`.
        frames: one of English wrappings around a whole answer, as `training-data/frames.toml`.
    """

    def __init__(self, path: Path = WRAPPINGS, frames: Path = FRAMES) -> None:
        self.wrappings = tomllib.loads(path.read_text(encoding="utf-8"))["wrapping"]
        self.whole = tomllib.loads(frames.read_text(encoding="utf-8"))["wrapping"]

    def wrap(self, question: str, answer: str, language: str, chance: random.Random) -> str:
        """The answer in a wrapping, or in two (26%) or three (6%) around each other."""
        if language == "en" and chance.random() < WHOLE:
            if chance.random() < 0.2:
                inner = [one for one in self.wrappings if one["place"] == "inner"]
                answer = self.fill(chance.choice(inner), question, answer, chance)
            return self.fill_whole(chance.choice(self.whole), question, answer)
        fitting = [
            wrapping
            for wrapping in self.wrappings
            if {"any", language} & set(wrapping.get("languages", ["en"]))
        ]
        count = chance.choices([1, 2, 3], [0.68, 0.26, 0.06])[0]
        first = chance.choice(fitting)
        chosen = {first["place"]: first}
        while len(chosen) < count:
            other = chance.choice(fitting)
            chosen.setdefault(other["place"], other)
        for layer in _ORDER:
            if layer in chosen:
                answer = self.fill(chosen[layer], question, answer, chance)
        return answer

    @staticmethod
    def fill(wrapping: dict[str, Any], question: str, answer: str, chance: random.Random) -> str:
        """The answer in one of the forms of a layer's wrapping, its other places drawn."""
        text: str = chance.choice(wrapping["texts"])
        if wrapping["place"] == "middle":
            if wrapping["name"].startswith("JSON"):
                answer = _in_json(answer)
            if text.endswith("{answer}."):
                answer = answer.rstrip(".")
        return text.format(
            question=question, answer=answer, n=chance.randint(1, 9), m=chance.randint(2, 9),
            page=chance.randint(2, 480), year=chance.randint(1994, 2025),
            percent=chance.randint(60, 99), code="".join(chance.choices("abcdef0123456789", k=7)),
        )  # fmt: skip

    @staticmethod
    def fill_whole(wrapping: dict[str, Any], question: str, answer: str) -> str:
        """The answer in a wrapping of `FRAMES`."""
        text: str = wrapping["text"]
        if wrapping["kind"] == "json":
            question, answer = _in_json(question), _in_json(answer)
        if "{answer}." in text:
            answer = answer.rstrip(".")
        return text.replace("{question}", question).replace("{answer}", answer)


def _in_json(text: str) -> str:
    """A text as it is written in a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


LEADS = (
    "Solution:", "Answer:", "The answer is", "Sure!", "Let's think step by step.",
    "Here is the answer:", "Thought process:", "Let me explain.",
    "I'd be happy to help with that!", "Final answer:",
    "Great question!", "Here's what I found:", "To answer this question, let us look at the facts.",
    "Based on the document, the answer is as follows:",
    "Certainly! Here is a detailed explanation.",
    "As mentioned above.", "See the attached file.", "The reference gives the answer.",
    "It depends.",
    "Same as in the reference.", "The correct answer is the one given.", "Answer in progress...",
)  # fmt: skip
EMPTIES = (
    ".", "-", "...", "n/a", "N/A", "?", "…", "null", '""', "[]", "{}", "<answer></answer>",
    "```\n```", "TBD", "answer", "...?", "*", ",", "\\boxed{}", '{"answer": ""}',
)  # fmt: skip


def junk(
    kind: str, question: str, references: Sequence[str], answer: str, chance: random.Random
) -> str | None:
    """A reply that does not answer the question, or None where that is not certain.

    Args:
        kind: `first sentence`, `lead`, `empty`, `lone word` or `question repeated`.
        question: the question.
        references: its references.
        answer: a right answer.
        chance: what is drawn from.
    """
    expected = content_words(" ".join(references)) - content_words(question)
    text: str | None = None
    if kind == "first sentence":
        sentences = [part for part in _SENTENCE.split(answer.strip()) if part.strip()]
        if len(sentences) < 3 or len(expected) < 3:
            return None
        text = sentences[0].strip()
        shared = content_words(text)
        # Right answers may share no word with the reference: a sentence counts as empty only where
        # it opens a talk, or where one sentence cannot say all that the reference does.
        if not _OPENING.match(text) and len(references[0].split()) < 14:
            return None
        if (
            len(shared & expected) / len(expected) > 0.15
            or shared & _YES_NO
            or re.search(r"\d", text)
        ):
            return None
    elif kind == "lead":
        text = chance.choice(LEADS)
    elif kind == "empty":
        if any(DECLINES.search(reference) for reference in references):
            return None
        text = chance.choice(EMPTIES)
    elif kind == "lone word":
        fitting = [
            word
            for word in re.findall(r"[A-Za-z]{4,}", f"{question} {answer}")
            if word.lower() not in expected | _STOP | _YES_NO
        ]
        if len(expected) < 3 or not fitting:
            return None
        text = chance.choice(fitting)
    elif kind == "question repeated":
        text = chance.choice([question, question.rstrip("?") + ".", f"You asked: {question}"])
        if not expected:
            return None
    if text is None or not text.strip() or "not answer" in text:
        return None
    known = {" ".join(words_of(reference)) for reference in references}
    return None if " ".join(words_of(text)) in known else text


def answer_type(references: Sequence[str]) -> str:
    """A coarse type of the answer that is wanted, by the first reference."""
    text = references[0].strip()
    length = len(text.split())
    if set(words_of(text)[:1]) & _YES_NO:
        return "yes or no"
    if length <= 6:
        if re.search(r"\d", text):
            return "number"
        return "name" if text[:1].isupper() and length <= 4 else "phrase"
    return "sentence" if length <= 25 else "text"


def surely_other(references: Sequence[str], answer: str) -> bool:
    """Whether an answer to another question shares too little with the references to be right."""
    expected, words = content_words(" ".join(references)), content_words(answer)
    if not words or len(words & expected) > 0.25 * min(len(words), len(expected)):
        return False
    return not (len(expected) <= 4 and words & expected)


def _changed_number(text: str, chance: random.Random) -> str:
    """Another number of the same form: a digit changed, or a year some years away."""
    if re.fullmatch(r"(1[5-9]|20)\d\d", text):
        return str(int(text) + chance.choice([-1, 1]) * chance.choice([1, 2, 3, 4, 7, 10, 12, 20]))
    digits = [at for at, character in enumerate(text) if character.isdigit()]
    at = chance.choice([at for at in digits if text[at] != "0"] or digits)
    choices = [d for d in "0123456789" if d != text[at] and not (at == 0 and d == "0")]
    return text[:at] + chance.choice(choices) + text[at + 1 :]


def candidates(
    answer: str, references: Sequence[str], names: Sequence[str], chance: random.Random
) -> list[tuple[str, str, str]]:
    """(kind, word, other word): words of both answer and references, and others for them."""
    joined = " ".join(references)
    options: list[tuple[str, str, str]] = []
    numbers = set(_NUMBER.findall(joined))
    for number in dict.fromkeys(_NUMBER.findall(answer)):
        if number in numbers and number not in ("0", "1"):
            options.append(("number", number, _changed_number(number, chance)))
    known = set(_NAME.findall(joined))
    for name in dict.fromkeys(_NAME.findall(answer)):
        if name in known and name not in _MONTHS and name not in _DAYS:
            other = chance.choice(names)
            if other != name and other not in answer and other not in joined:
                options.append(("name", name, other))
    for family in _FAMILIES:
        for word in family:
            if has_word(answer, word) and has_word(joined, word):
                others = [o for o in family if o != word and not has_word(answer + " " + joined, o)]
                if others:
                    options.append(("word", word, chance.choice(others)))
    for pair in _OPPOSITES:
        for word, other in (pair, pair[::-1]):
            # "is" for "is not" where both say "is not"; the reverse would hit any "is".
            if other.startswith(word + " ") or (word, other) == ("can", "cannot"):
                continue
            if (
                has_word(answer, word)
                and has_word(joined, word)
                and not has_word(joined, other.split()[-1])
            ):
                options.append(("opposite", word, other))
    return list(dict.fromkeys(options))


def has_word(text: str, word: str) -> bool:
    """Whether a text has a word."""
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


def replace_word(text: str, word: str, other: str) -> tuple[str, list[Span]]:
    """The text with every occurrence of a word replaced, and the spans of the new words."""
    out, spans, at = "", [], 0
    for match in re.finditer(rf"(?<![\w.,]){re.escape(word)}(?!\w|[.,]\d)", text):
        out += text[at : match.start()] + other
        spans.append((len(out) - len(other), len(out)))
        at = match.end()
    return out + text[at:], spans


def word_spans(text: str, word: str) -> list[Span]:
    """The spans of the occurrences of a word."""
    return [
        match.span() for match in re.finditer(rf"(?<![\w.,]){re.escape(word)}(?!\w|[.,]\d)", text)
    ]


def differing(right: str, wrong: str, most: int = 5) -> list[Span] | None:
    """Spans of the wrong answer's words that the right one does not have.

    None where more than `most` words differ, or the two are less than .66 similar.
    """
    ours, theirs = (list(re.finditer(r"\w+|[^\w\s]", text)) for text in (right, wrong))
    if not ours or not theirs:
        return None
    matcher = difflib.SequenceMatcher(
        None,
        [match.group().lower() for match in ours],
        [match.group().lower() for match in theirs],
        autojunk=False,
    )
    if matcher.ratio() < 0.66:
        return None
    spans, count = [], 0
    for how, _a, _b, start, end in matcher.get_opcodes():
        if how in ("replace", "insert"):
            spans.append((theirs[start].start(), theirs[end - 1].end()))
            count += sum(match.group()[0].isalnum() for match in theirs[start:end])
    return spans if 0 < count <= most else None


def names_in(texts: Iterable[str]) -> list[str]:
    """Capitalised words inside sentences, without months and days."""
    return sorted({name for text in texts for name in _NAME.findall(text)} - {*_MONTHS, *_DAYS})
