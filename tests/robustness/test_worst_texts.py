"""No row of 100 kB takes a judge without a model long, whatever its texts repeat."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import hostile_texts
import polars as pl
import pytest
from hostile_texts import LENGTH, Hostile

from markscheme.contract.grammar import parse_judge
from markscheme.contract.registry import judges
from markscheme.engine.execute import apply
from markscheme.tables.answers import read_answers

OFFLINE = [found.example for _, found in sorted(judges().items()) if found.needs.nothing]
FIRST = os.environ.get("MARKSCHEME_WORST_FIRST", "60")
STEPS = os.environ.get("MARKSCHEME_WORST_STEPS", "30")
WITHIN = float(os.environ.get("MARKSCHEME_WORST_WITHIN", "60"))
SECONDS = 2.0
LONGER = {"claims": 5.0, "entailment": 3.0}
"""Seconds of judges that read each reference and answer in both directions; docs/robustness.md has
the reason."""


@pytest.mark.proof(area="attacks")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("judge", [*OFFLINE, "examiner", "listwise_examiner", "auto"])
def test_the_worst_row_that_is_found_is_judged_in_time(
    judge: str, record_property: Callable[[str, object], None]
) -> None:
    """Records a row of a table of docs/robustness.md."""
    command = [sys.executable, hostile_texts.__file__, judge, FIRST, STEPS, str(WITHIN)]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=2 * WITHIN + 30)
        lines, error = done.stdout, done.stderr[-2000:].decode()
    except subprocess.TimeoutExpired as late:
        lines, error = late.stdout or b"", "one row took too long to be waited for"
    worst = [json.loads(line) for line in lines.splitlines()][-1:]
    print(judge, *worst, error, sep=" | ")
    assert not error
    assert not str(worst[0]["said"]).startswith("too long")
    seconds, row = worst[0]["seconds"], Hostile(**worst[0]["row"])
    record_property("text", f"`{judge}` | {row} | {seconds:.1f}")
    assert seconds < LONGER.get(judge, SECONDS)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("entailment", Hostile("and ")),
        ("entailment", Hostile("12 km ", "12 km ", "x")),
        ("entailment", Hostile("北京", "{n} ", "x", 15_000)),
        ("entailment", Hostile("{n} ", question="{n} ")),
        ("entailment", Hostile("{n} km, ", "{n} km, ", "x", 300, brief=True)),
        ("examiner", Hostile("$\\frac{1}{2}$ ", "$\\frac{1}{2}$ ", "x")),
        ("contains", Hostile("and ", "and ", "x")),
        ("regex", Hostile("a. ", "a. ", "x")),
        ("claims", Hostile("{n} ", question="{n} ", context="{n} ")),
    ],
)
def test_texts_that_took_long_are_judged(name: str, row: Hostile) -> None:
    """These took from 5 to 50 s. The proof measures; here none may fail as too long."""
    judge = parse_judge(judges()[name].example)
    outcome = apply(judge, read_answers([row.row(LENGTH)]), row_seconds=8)
    assert outcome["status"].to_list() == ["judged"]


def test_patterns_that_re2_refuses_end_within_the_limit_of_the_judge() -> None:
    row = Hostile("a", "(?<=a)x", "", 1020, regex=True).row(LENGTH)
    outcome = apply(parse_judge("regex"), read_answers([row]), row_seconds=8)
    assert not outcome["explanation"][0].startswith("too long")
    assert "not a valid" not in outcome["explanation"][0]


def test_long_references_are_found_as_short_ones_are() -> None:
    from markscheme.metrics import contains

    text = "word " * 200
    for reference, wanted in ((text[:600].strip(), 1), (text[:600] + "x", 0), ("* " * 200, 1)):
        answers = pl.Series([f"an {text}" + "* " * 250, None])
        found = contains(answers, pl.Series([[reference]] * 2), empty_reference="verbatim")
        assert found.to_list() == [wanted, None]
