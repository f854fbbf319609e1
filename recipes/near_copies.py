"""Made-up answers that differ from a written one by a harmless word: "starts" for "begins".

In minimal pairs a near copy of the reference is mostly a wrong answer, and a judge that learns from
them alone rejects "It didn't reach the summit" for "It did not reach the summit". A near copy of a
right answer is right, and one of a wrong answer wrong, so that the change itself tells nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

import polars as pl

_ALIKE = """
becomes/gets become/get became/got begins/starts begin/start began/started ends/finishes
big/large bigger/larger biggest/largest buy/purchase buys/purchases bought/purchased
must/has_to need_to/have_to needs_to/has_to is_able_to/can are_able_to/can cannot/can't
is_not/isn't are_not/aren't does_not/doesn't do_not/don't did_not/didn't was_not/wasn't
were_not/weren't will_not/won't it_is/it's they_are/they're you_are/you're that_is/that's
about/around about/roughly approximately/about because/since in_order_to/to help/assist
helps/assists children/kids shows/displays gives/provides give/provide given/provided
gets/receives receive/get receives/gets received/got happens/occurs happen/occur
happened/occurred made/produced keeps/retains keep/retain allows/lets allow/let
consists_of/is_made_of near/close_to next_to/beside also/too however/but whole/entire
entire/whole quickly/fast method/way film/movie firm/company company/firm staff/employees
employees/staff employee/worker client/customer customers/clients customer/client car/vehicle
doctor/physician fee/charge obtain/get choose/pick chosen/picked repair/fix repaired/fixed
error/mistake difficult/hard simple/easy each/every every/each often/frequently
usually/normally always/at_all_times at_once/immediately immediately/at_once afterwards/later
finally/in_the_end per_year/a_year annually/every_year every_year/yearly daily/every_day
14_days/two_weeks two_weeks/14_days one_week/7_days 7_days/a_week 24_hours/one_day
60_minutes/one_hour 12_months/one_year one_year/12_months percent/per_cent until/till
within/inside above/over below/under
"""
_SMALL = (("The ", ""), (" the ", " "), (", and ", " and "), (" and ", " & "), ("; ", ", "))
_EXACT = frozenset(
    """
    code_command formula spelling sign title name_alias abbreviation version_identifier table
    version choice code
    """.split()
) | {"code and commands"}
"""Kinds in which one letter makes another answer."""
_FEWEST, _MOST = 3, 40
"""Words of an answer that is copied."""


@cache
def _pairs() -> tuple[tuple[re.Pattern[str], str], ...]:
    found = []
    for pair in _ALIKE.split():
        one, other = pair.replace("_", " ").split("/")
        found.append((re.compile(rf"(?<![\w-]){re.escape(one)}(?![\w-])"), other))
    return tuple(found)


def near_copies(rows: pl.DataFrame, *, seed: int = 0) -> pl.DataFrame:
    """Near copies of references (right) and of answers (as they are labelled).

    Args:
        rows: question, references, answer, label; `kind`, where there, leaves out those in which
            every letter counts.
        seed: of what is changed.

    Returns:
        Rows with the columns of `rows`, the answer changed, the label 1 or 0.
    """
    found = []
    for (_question, _references), group in rows.group_by(
        "question", "references", maintain_order=True
    ):
        first = group.row(0, named=True)
        if first.get("kind") in _EXACT:
            continue
        chance = random.Random(f"{seed} {first['question']} {first['references']}")
        reference = chance.choice(first["references"])
        for text, label, most in (
            (reference, 1.0, 2),
            (_one(group, 0.0, chance), 0.0, 1),
            (_one(group, 1.0, chance) if chance.random() < 0.4 else None, 1.0, 1),
        ):
            if text is None or not _FEWEST <= len(text.split()) <= _MOST:
                continue
            copies = list(dict.fromkeys(_copies(text, chance)))
            found += [
                {**first, "answer": copy, "label": label}
                for copy in chance.sample(copies, min(most, len(copies)))
            ]
    return pl.DataFrame(found, schema=rows.schema)


def _one(group: pl.DataFrame, label: float, chance: random.Random) -> str | None:
    answers = group.filter((pl.col("label") >= 0.5) == (label >= 0.5))["answer"].to_list()
    return chance.choice(answers) if answers else None


def _copies(text: str, chance: random.Random) -> Iterator[str]:
    """Texts that say the same by one to three harmless changes."""
    fitting = [pair for pair in _pairs() if pair[0].search(text)]
    chance.shuffle(fitting)
    changed = text
    for pattern, other in fitting[: chance.choice((1, 1, 2, 3))]:
        changed = pattern.sub(other, changed, count=1)
    smaller = _smaller(text, chance)
    for copy in (changed, smaller, _smaller(changed, chance)):
        if copy.strip() and copy != text:
            yield copy


def _smaller(text: str, chance: random.Random) -> str:
    one, other = chance.choice(_SMALL)
    changed = text.replace(one, other, 1)
    return changed[:1].upper() + changed[1:] if chance.random() < 0.5 else changed
