"""Patterns mean what Python's engine says, and none can hang a run."""

from __future__ import annotations

import csv
import re
import warnings
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from markscheme.errors import JudgeError
from markscheme.judges.lexical.regex import Regex
from markscheme.metrics.patterns import TimedSearch, read_pattern, to_re2

SCHEMA = {"answer": pl.String, "references": pl.List(pl.String), "reference_kind": pl.String}

atoms = ["a", "B", "é", "ß", "k", "s", "i", "7", "\xa0", " ", ".", r"\s", r"\S", r"\d", r"\D"]
classes = [r"\w", r"\W", "[ab]", "[^a-c]", r"[\s-]", r"[]\d]", r"[^]\w]", "[a-zé]", r"[\D]", "[:-]"]
others = [r"\.", r"\°", r"\'", r"\-", r"\x41", r"\t", "^", "$", r"\A", r"\Z", r"\b", r"\B", "[["]
groups = ["(", ")", "(?:", "|", "(?=a)", "(?<!a)", r"\1", "(?i)", "(?s:"]
repeats = ["*", "+", "?", "{2}", "{,2}", "{1,}", "*?", "++"]
patterns = st.lists(
    st.sampled_from([*atoms, *classes, *others, *groups, *repeats]), max_size=8
).map("".join)
plain = list("aAbBkKsSiI7.°'- \t\n\x0b\x1c\xa0\u2003éÉßẞſ_[]:")
letters = st.sampled_from([*plain, "\u212a", "٣", "İ", "ı", "\u0345"])
texts = st.lists(letters, max_size=8).map("".join)


def judge(rows: list[tuple[str, list[str] | None, str | None]], **options: object) -> pl.DataFrame:
    return Regex(**options).judge(pl.DataFrame(rows, schema=SCHEMA, orient="row"), None)  # type: ignore[arg-type]


@given(pattern=patterns, text=texts, ignore_case=st.booleans())
def test_where_re2_decides_python_agrees(pattern: str, text: str, *, ignore_case: bool) -> None:
    read = read_pattern(pattern, ignore_case=ignore_case)
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = re.search(pattern, text, flags) is not None
        except re.error:
            assert read.error
            return
    assert not read.error
    assume(read.decides(text))
    assert read.found_in(text) == expected


@pytest.mark.parametrize("pattern", [r"\s", r"\S", r"\d", r"\D", r"\W", "[a-z]", "[^k]", "s", "K"])
def test_single_characters_mean_the_same(pattern: str) -> None:
    read = read_pattern(pattern, ignore_case=True)
    python = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for code in range(0x3100):
        character = chr(code)
        if read.decides(character):
            assert read.found_in(character) == bool(python.search(character)), hex(code)


def test_what_cannot_be_translated_is_given_up() -> None:
    for pattern in (r"(a)\1", "x{,3}", "[[:alpha:]]", r"a\Z", r"[\S]", "(?-i:a)"):
        assert to_re2(pattern) is None
    for pattern in ("(?=a)", "a++", "a{2000}", "(?x) a"):
        assert read_pattern(pattern, ignore_case=True).fast is None


def test_patterns_match_anywhere_and_ignore_case_unless_told() -> None:
    rows = [
        ("It was in PARIS.", ["paris"], None),
        ("Rome", ["paris", "ro?m"], "regex"),
        ("no", ["yes"], None),
    ]
    outcome = judge(rows)
    assert outcome["verdict"].to_list() == [True, True, False]
    assert outcome["score"].to_list() == [1, 1, 0]
    assert outcome["explanation"][1] == "matches 'ro?m'"
    assert judge(rows, ignore_case=False)["verdict"].to_list() == [False, False, False]


def test_look_around_and_back_references_are_decided() -> None:
    rows = [
        ("abab", [r"(ab)\1"], None),
        ("abac", [r"(ab)\1"], None),
        ("19th", [r"\d+(?!th)$"], None),
        ("1 000\xa0km", [r"(?<=\d)\skm"], None),
        ("été", [r"\bété\b"], None),
        ("İ", ["i"], None),
    ]
    outcome = judge(rows)
    assert outcome["verdict"].to_list() == [True, False, False, True, True, True]
    assert set(outcome["status"]) == {"judged"}


def test_rows_that_cannot_be_judged_say_why() -> None:
    rows = [
        ("x", ["("], None),
        ("x", ["(", "x"], None),
        ("x", [], None),
        ("x", None, None),
        ("x", ["x"], "text"),
        ("x", ["(" * 5000 + "x" + ")" * 5000], None),
    ]
    outcome = judge(rows)
    assert outcome["status"].to_list() == ["failed", "judged", *["skipped"] * 3, "failed"]
    assert outcome["verdict"].to_list() == [None, True, None, None, None, None]
    assert outcome["score"].to_list() == [None, 1, None, None, None, None]
    assert "'('" in outcome["explanation"][0]
    assert "plain text" in outcome["explanation"][4]


def test_a_hostile_pattern_that_re2_refuses_fails_in_bounded_time() -> None:
    rows = [
        ("a" * 40 + "!", [r"(?=a)(a|a|aa)+$"], None),
        ("ok", ["(?=o)ok"], None),
        ("a" * 40 + "!", [r"(?=a)(a|a|aa)+$", "!"], None),
    ]
    outcome = judge(rows, time_limit=0.3)
    assert outcome["status"].to_list() == ["failed", "judged", "judged"]
    assert outcome["verdict"].to_list() == [None, True, True]
    assert "0.3 seconds" in outcome["explanation"][0]


def test_time_limit_must_be_positive() -> None:
    with pytest.raises(JudgeError, match="time_limit"):
        judge([("x", ["x"], None)], time_limit=0)


def test_patterns_of_an_answer_share_the_time() -> None:
    """900 of them once held a process for ten seconds."""
    hostile = [rf"(?<=x)(a+)+{n}?$" for n in range(900)]
    outcome = judge([("x" + "a" * 40 + "b", [*hostile, "(?=b)b"], None)], time_limit=0.1)
    assert outcome["status"].to_list() == ["failed"]
    assert f"{hostile[0]!r} was not decided within 0.1 seconds" in outcome["explanation"][0]


def test_timed_search_starts_again_after_a_kill() -> None:
    def found(*sources: str, text: str) -> list[bool]:
        return search.search([read_pattern(one, ignore_case=False) for one in sources], text)

    with closing(TimedSearch(limit=0.2)) as search:
        assert found("x", "b", "c", text="abc") == [False, True]
        assert found("x", "(a|a)+$", "!", text="a" * 40 + "!") == [False]
        assert found("x", text="abc") == [False]
        assert found("é\n", text="é\n" * 100_000) == [True]


@pytest.fixture(scope="module")
def trec(data_dir: Path) -> list[tuple[str, str]]:
    rows: dict[tuple[str, str], None] = {}
    for path in sorted((data_dir / "curatedtrec").glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                rows[row[0], row[3]] = None
    return list(rows)


def test_curated_trec_loads_and_runs_on_re2(trec: list[tuple[str, str]]) -> None:
    assert len(trec) > 800
    read = [read_pattern(pattern, ignore_case=True) for _, pattern in trec]
    assert not [pattern.source for pattern in read if pattern.error]
    assert not [pattern.source for pattern in read if pattern.fast is None]


def test_curated_trec_on_hostile_answers_ends_quickly(trec: list[tuple[str, str]]) -> None:
    hostile = ["9 " * 200, "C" * 3000, "green " * 500 + "x", "president " * 400, "9-9to" * 300]
    rows = [(text, [pattern], "regex") for _, pattern in trec for text in hostile]
    outcome = judge(rows)
    assert set(outcome["status"]) == {"judged"}


def test_the_exponential_pattern_is_decided_as_python_would(trec: list[tuple[str, str]]) -> None:
    pattern = next(pattern for number, pattern in trec if number == "1737" and "+h" in pattern)
    rows = [("9 " * 5000 + "x", [pattern], None), ("about 10 to 12 hours", [pattern], None)]
    assert judge(rows)["verdict"].to_list() == [False, True]
