"""Names, marks, scores and bearings that one character turns into another thing."""

import pytest

from markscheme import mark
from markscheme.values import compare_values

SAME = [
    ("C++", "C plus plus"),
    ("C#", "C sharp"),
    ("B+", "a B plus"),
    ("O negative", "O-"),
    ("O-", "type O Rh-negative"),
    ("AB negative", "AB Rh−"),
    ("https://example.com/docs", "example.com/docs/"),
    ("MAX_RETRIES", "max_retries"),
    ("Ctrl+C", "Control-C"),
    ("UTC+2", "GMT+02:00"),
    ("UTC+2", "two hours ahead of UTC"),
    ("/etc/hosts", "edit /etc/hosts"),
    ("config.yaml", "It is config.yaml."),
]
OTHER = [
    ("C++", "C#"),
    ("C++", "C"),
    ("B+", "B-"),
    ("B+", "B"),
    ("A*", "A"),
    ("O negative", "O positive"),
    ("O-", "O"),
    ("AA-", "AA+"),
    ("BBB+", "BBB"),
    ("Ca2+", "Ca+"),
    (r"\d", r"\D"),
    ("config.yaml", "config.yml"),
    ("https://example.com/docs", "https://example.com/doc"),
    ("MAX_RETRIES", "MAX_RETRY"),
    ("Ctrl+Shift+P", "Ctrl+P"),
    ("UTC+2", "UTC-2"),
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


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("a positive result", "A negative result"),
        ("km/h", "km/s"),
        ("and/or", "or"),
        ("24/7", "always"),
        ("rm app.log", "cat app.log"),
        ("C++ or Rust", "C#"),
        ("C++", "not C# but the other one"),
    ],
)
def test_what_is_no_single_name_is_left_to_others(reference: str, answer: str) -> None:
    assert not compare_values("Which is it?", reference, answer).decided


def test_a_name_of_the_question_is_no_answer() -> None:
    asked = "Which file replaces config.yml?"
    assert (
        compare_values(asked, "config.yaml", "config.yaml replaces config.yml").outcome == "agree"
    )


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("three nil", "agree"),
        ("3 to 0", "agree"),
        ("It ended 3:0.", "agree"),
        ("3-1", "conflict"),
        ("two nil", "conflict"),
    ],
)
def test_scores_in_words_and_figures(answer: str, outcome: str) -> None:
    assert compare_values("What was the score?", "3-0", answer).outcome == outcome


def test_a_draw_in_words() -> None:
    found = compare_values("What was the final score?", "2-2", "a two-all draw")
    assert (found.outcome, found.reason) == ("agree", "both have 2-2")


@pytest.mark.parametrize(
    ("reference", "answer", "outcome"),
    [
        ("40.7° N", "40.7 degrees north", "agree"),
        ("40.7° N", "40.7 degrees south", "conflict"),
        ("45° W", "-45°", "agree"),
        ("45° W", "45 degrees east", "conflict"),
    ],
)
def test_bearings_have_a_side(reference: str, answer: str, outcome: str) -> None:
    assert compare_values("What are its coordinates?", reference, answer).outcome == outcome


def test_a_figure_near_one_that_the_reference_calls_rough() -> None:
    assert compare_values("How many?", "about 1,500", "1,487").outcome == "agree"
    assert compare_values("How many?", "about 1,500", "1,700").outcome == "conflict"


@pytest.mark.parametrize(
    ("question", "reference", "answer", "outcome"),
    [
        ("In which decade?", "the 1990s", "the nineties", "agree"),
        ("In which decade?", "the 1980s", "the nineties", "conflict"),
        ("What tolerance?", "±0.5 mm", "plus or minus half a millimetre", "agree"),
        ("What is the ratio?", "3:2", "2:3", "conflict"),
        ("What is the ratio?", "3:2", "three boys for every two girls", "agree"),
        ("What is the ratio?", "3:2", "6 to 4", "agree"),
        ("How tall is she?", "5'7\"", "5 feet 7 inches", "agree"),
        ("How tall is she?", "5′7″", "7'5\"", "conflict"),
        ("How often?", "biannually", "twice yearly", "agree"),
        ("What is the phone number?", "+44 20 7946 0958", "020 7946 0958", "agree"),
        ("What is the phone number?", "+44 20 7946 0958", "020 7946 0985", "conflict"),
        ("What was the blood pressure?", "120/80 mmHg", "120 over 80", "agree"),
        ("What was the blood pressure?", "120/80 mmHg", "130/80", "conflict"),
    ],
)
def test_other_ways_to_write_a_value(
    question: str, reference: str, answer: str, outcome: str
) -> None:
    assert compare_values(question, reference, answer).outcome == outcome
