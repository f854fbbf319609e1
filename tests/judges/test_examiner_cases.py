"""Near misses that earlier examiners accepted, and right answers that they rejected."""

from __future__ import annotations

import pytest

import markscheme

WRONG = {
    "working days": ("What is the return window?", "30 days", "30 business days"),
    "growth with the sign turned": ("What was the growth rate?", "5%", "-5%"),
    "a fall instead of a rise": (
        "By what percentage did revenue grow?",
        "12%",
        "It fell by 12 per cent year over year.",
    ),
    "another frequency": ("How often is the filter replaced?", "weekly", "every month"),
    "a command without its option": (
        "Which command lists all containers, stopped ones included?",
        "docker ps -a",
        "docker ps",
    ),
    "the other of two is larger": (
        "Which is larger, Jupiter or Saturn?",
        "Jupiter",
        "Saturn is larger than Jupiter.",
    ),
    "declines instead of no": ("Is the Sun a planet?", "No", "I do not know."),
    "cannot answer instead of no": ("Is the Sun a planet?", "No", "I cannot answer this."),
    "sign of money": ("What was the balance at the end of May?", "$200", "-$200"),
    "sign of a percentage": ("By how much did sales change in 2020?", "5%", "-5%"),
    "another month": ("When was the contract signed?", "2021-03-14", "April 14, 2021"),
    "another version": ("Which version introduced the flag?", "v2.3", "2.30"),
    "another formula": ("What is the derivative of x^3?", "3x^2", "x^2/3"),
    "one of two solutions": ("Solve x^2 = 9.", "x = 3 or x = -3", "x = 3"),
    "another flag": (
        "Which command undoes the last commit but keeps its changes staged?",
        "git reset --soft HEAD~1",
        "git reset --hard HEAD~1",
    ),
    "another verse": ("In which verse does the donkey speak?", "Numbers 22:28", "Numbers 22:22"),
    "denied in a sentence": (
        "Does the policy cover flood damage?",
        "The policy does not cover flood damage.",
        "The policy covers flood damage.",
    ),
    "not included": (
        "Is SSO included in the Basic plan?",
        "SSO is not included in the Basic plan.",
        "SSO is included in the Basic plan.",
    ),
    "roles swapped": (
        "Who beat whom in the final?",
        "Germany beat England",
        "England beat Germany",
    ),
    "one of two people": (
        "Which father and son held the land speed record?",
        "Malcolm and Donald Campbell",
        "Malcolm Campbell",
    ),
    "another list": (
        "Which three countries of South America does the equator cross?",
        "Brazil, Colombia and Ecuador",
        "Ecuador, Peru, Bolivia",
    ),
    "bits for bytes": ("What is its transfer rate?", "25 MB/s", "25 Mb/s"),
    "a factorial without its sign": ("Which expression gives 120?", "5!", "5"),
    "another language in the same letter": ("Which language is it?", "C++", "C"),
    "order reversed": (
        "List the three stages in order.",
        "planning, building, testing",
        "testing, building, planning",
    ),
}
RIGHT = {
    "the sign of the euro": ("How much is the fee?", "50 EUR", "€50"),
    "a share where a price was asked for": (
        "What is the late fee?",
        "5% of the invoice",
        "five percent of the invoice amount",
    ),
    "the option that the letter names": (
        "Which planet is largest? (A) Mars (B) Jupiter (C) Venus",
        "B",
        "Jupiter",
    ),
    "a price for another period": ("What does the plan cost?", "$29 per month", "$348 per year"),
    "the same comparison the other way": (
        "Which is larger, Jupiter or Saturn?",
        "Jupiter",
        "Saturn is smaller than Jupiter.",
    ),
    "the same date": ("When was the contract signed?", "2021-03-14", "14 March 2021"),
    "the scale that the question states": (
        "What was the revenue in 2018 (in USD millions)?",
        "$5409",
        "$5,409 million",
    ),
    "rounded": ("What is the ratio?", "11.7", "11.67"),
    "percent and fraction": ("What share of the votes did she get?", "16.5%", "0.165"),
    "a unit's other spelling": ("What is the molar mass of glucose?", "180 g/mole", "180 g/mol"),
    "converted beside it": ("How long is the car?", "5.97m", "5.97 m (19 ft 7 in)"),
    "no capitals": ("When was the abacus in use?", "2nd century BC", "2nd century bc"),
    "a thousand times the unit": ("What is the energy?", "20132 MeV", "20.132 GeV"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_near_miss_is_rejected(case: str) -> None:
    question, reference, answer = WRONG[case]
    judgment = markscheme.mark(question, [reference], answer)
    assert judgment.verdict is False, judgment.explanation


@pytest.mark.parametrize("case", RIGHT)
def test_the_same_value_is_accepted(case: str) -> None:
    question, reference, answer = RIGHT[case]
    judgment = markscheme.mark(question, [reference], answer)
    assert judgment.verdict is True, judgment.explanation
