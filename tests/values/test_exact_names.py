"""Names, marks, files, addresses and keys that one character turns into another thing."""

import pytest

from markscheme import mark
from markscheme.values import compare_values

SAME = [
    ("C++", "It is written in C++."),
    ("https://example.com/docs", "http://www.example.com/docs/"),
    ("Ctrl+C", "Control-C"),
    ("/etc/hosts", "edit /etc/hosts"),
    ("config.yaml", "It is config.yaml."),
]
OTHER = [
    ("C++", "C#"),
    ("B+", "B-"),
    ("AA-", "AA+"),
    ("Ca2+", "Ca+"),
    ("config.yaml", "config.yml"),
    ("https://example.com/docs", "https://example.com/doc"),
    ("Ctrl+Shift+P", "Ctrl+P"),
    ("/etc/hosts", "/etc/host.conf"),
    ("info@example.com", "info@example.org"),
]


@pytest.mark.parametrize(("reference", "answer"), SAME)
def test_one_name_in_two_writings_agrees(reference: str, answer: str) -> None:
    assert compare_values("Which is it?", reference, answer).outcome == "agree"


@pytest.mark.parametrize(("reference", "answer"), OTHER)
def test_another_mark_is_another_name(reference: str, answer: str) -> None:
    found = compare_values("Which is it?", reference, answer)
    assert (found.outcome, found.decided) == ("conflict", True)
    assert found.reason.endswith(f"where the reference has {reference}")
    assert mark("Which is it?", [reference], answer).score < 0.5


NUMBER = "What is the office's telephone number?"


@pytest.mark.parametrize(
    ("reference", "answer", "outcome"),
    [
        ("030 1234567", "Call (030) 123-45-67.", "agree"),
        ("AB-1234-C", "AB1234C", "agree"),
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "agree"),
        ("030 1234567", "030 1234576", "conflict"),
        ("DE89370400440532013000", "DE89 3704 0044 0532 0310 00", "conflict"),
        ("030 1234567", "030 1234567 or 030 7654321", "none"),
    ],
)
def test_a_long_number_that_is_asked_for_is_its_figures(
    reference: str, answer: str, outcome: str
) -> None:
    assert compare_values(NUMBER, reference, answer).outcome == outcome


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("Which years did he serve?", "2015-2019", "20152019"),
        ("What number of people live there?", "1 234 567", "12 345 67"),
        (NUMBER, "2024-01-17", "20240117"),
        (NUMBER, "3.1415926", "31415926"),
        (NUMBER, "1 2 3 4 5 6 7", "1234567"),
        ("Which order number is it?", "2019-004817", "order 55210 and invoice 2019-004817"),
    ],
)
def test_dates_amounts_decimals_lists_and_one_of_two_decide_nothing(
    question: str, reference: str, answer: str
) -> None:
    found = compare_values(question, reference, answer)
    assert (found.outcome, found.kind) != ("agree", "identifier")


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("a positive result", "A negative result"),
        ("and/or", "or"),
        ("24/7", "always"),
        ("C++", "not C# but the other one"),
        ("C++", "C++ or C#"),
        ("It ended.Then it rained.", "It ended.When it rained."),
    ],
)
def test_what_is_no_single_name_is_left_to_others(reference: str, answer: str) -> None:
    assert not compare_values("Which is it?", reference, answer).decided


def test_a_name_of_the_question_is_no_answer() -> None:
    asked = "Which file replaces config.yml?"
    assert (
        compare_values(asked, "config.yaml", "config.yaml replaces config.yml").outcome == "agree"
    )
