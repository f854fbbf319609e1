"""Made-up pairs of answers to yes-or-no questions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

_ASKED = (
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
        asked, verb, pronoun, statement = chance.choice(_ASKED)
        a, b, c = chance.sample(list(names), 3)
        question = asked.format(a=a, b=b)
        ways = {}
        for holds in (True, False):
            word = "Yes" if holds else "No"
            said = verb if holds else chance.choice([f"{verb} not", f"{verb}n't"])
            if verb == "can":
                said = verb if holds else chance.choice(["cannot", "can't"])
            whole = statement.format(a=a, b=b, v=said)
            if holds and verb in ("did", "does", "do"):
                whole = statement.format(a=a, b=b, v=f"{verb} indeed")
            ways[holds] = (
                word, f"{word}, {pronoun} {said}.", f"{word}.", f"{pronoun.capitalize()} {said}.",
                f"{whole}.", f"{word}, {whole}.", f"As far as I know, {pronoun} {said}.",
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
