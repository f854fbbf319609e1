"""Right answers that hardly differ from the reference are accepted; those that differ are not.

Minimal pairs teach that a near copy is wrong: an examiner that had learned from them accepted 4 of
these 25. No row of these is in the training data.
"""

from __future__ import annotations

import polars as pl
import pytest

import markscheme

RIGHT = [
    (
        "Why did the expedition turn back?",
        "They did not reach the summit before dark.",
        "They didn't get to the summit before dark.",
    ),
    (
        "What is a placebo?",
        "A treatment without an active ingredient",
        "Treatment that has no active ingredient",
    ),
    (
        "What must the tenant do before painting?",
        "The tenant must notify the landlord.",
        "The tenant has to inform the landlord.",
    ),
    (
        "What does it cost to have it installed?",
        "A home visit and a fee of 150 euros",
        "a home visit, plus a fee of 150 euros",
    ),
    ("When is a solution acidic?", "When it has a pH below 7.", "when its pH is below 7"),
    (
        "When is a delivery refused?",
        "If the goods are warmer than 7 °C.",
        "If the goods have a temperature of more than 7 °C",
    ),
    (
        "Who keeps the rights to the invention?",
        "The intern keeps it, and the lab receives a free licence.",
        "The intern keeps them and the lab gets a licence free of charge.",
    ),
    (
        "What did the members decide?",
        "The members agreed to repair the swings before June.",
        "Members agreed that the swings will be repaired before June.",
    ),
    (
        "What does bioavailability mean?",
        "The fraction of the dose that reaches the systemic circulation unchanged",
        "The fraction of a dose reaching the systemic circulation unchanged",
    ),
    (
        "Why does a helium balloon sink?",
        "Helium leaks out through the rubber, so the balloon becomes smaller.",
        "Helium leaks through the rubber and the balloon becomes smaller.",
    ),
    (
        "Why do bridges have expansion joints?",
        "Because the material expands and contracts with temperature.",
        "Because the material expands and contracts when temperature changes",
    ),
    (
        "Which rooms have a balcony?",
        "Only the rooms on the second floor.",
        "Only rooms on the second floor do",
    ),
    (
        "When was he at the front?",
        "from the spring of 1811 until he was wounded in October 1812",
        "from spring 1811 until he was wounded in October 1812",
    ),
    (
        "How many hours may students work?",
        "They may work up to 20 hours a week.",
        "They may work up to 20 hours per week.",
    ),
    (
        "What is inflation?",
        "A sustained rise in the general level of prices",
        "A sustained increase in the general price level",
    ),
    (
        "What does the warranty cover?",
        "It covers defects in material and workmanship for two years.",
        "It covers material and workmanship defects for 2 years.",
    ),
    (
        "How do I reset the router?",
        "Hold the reset button for ten seconds.",
        "Press and hold the reset button for 10 seconds",
    ),
    (
        "Why was the flight cancelled?",
        "Because of heavy fog at the airport.",
        "Due to heavy fog at the airport",
    ),
    (
        "What is photosynthesis?",
        "The process by which plants use sunlight to make food from carbon dioxide and water.",
        "It's the process plants use to make food from carbon dioxide and water using sunlight.",
    ),
    (
        "Who can vote?",
        "Members who have paid their fees can vote.",
        "Members can vote if they have paid their fees.",
    ),
    ("When is the office open?", "Monday to Friday from 9 am to 5 pm", "Mon-Fri, 9 am to 5 pm"),
    (
        "What did the council decide?",
        "It rejected the plan to close the library.",
        "The plan to close the library was rejected.",
    ),
    (
        "How long is the notice period?",
        "Three months to the end of a quarter",
        "3 months to the end of the quarter",
    ),
    (
        "What causes tides?",
        "The gravitational pull of the Moon and the Sun",
        "Gravitational pull from the Moon and Sun",
    ),
    ("Why did the cat refuse its food?", "It had a toothache.", "Because it had toothache"),
]
WRONG = [
    (
        "Why did the expedition turn back?",
        "They did not reach the summit before dark.",
        "They did reach the summit before dark.",
    ),
    (
        "What must the tenant do before painting?",
        "The tenant must notify the landlord.",
        "The landlord must notify the tenant.",
    ),
    (
        "When is a delivery refused?",
        "If the goods are warmer than 7 °C.",
        "If the goods are colder than 7 °C.",
    ),
    (
        "How many hours may students work?",
        "They may work up to 20 hours a week.",
        "They may work up to 20 hours a month.",
    ),
    (
        "Which rooms have a balcony?",
        "Only the rooms on the second floor.",
        "All but the rooms on the second floor.",
    ),
    (
        "What did the council decide?",
        "It rejected the plan to close the library.",
        "It accepted the plan to close the library.",
    ),
    (
        "What is inflation?",
        "A sustained rise in the general level of prices",
        "A sustained fall in the general level of prices",
    ),
    (
        "How long is the notice period?",
        "Three months to the end of a quarter",
        "Three weeks to the end of a quarter",
    ),
    (
        "Who can vote?",
        "Members who have paid their fees can vote.",
        "Members who have not paid their fees can vote.",
    ),
    (
        "Why was the flight cancelled?",
        "Because of heavy fog at the airport.",
        "Because of a heavy strike at the airport.",
    ),
    ("What changed?", "-5%", "5%"),
    ("Which language?", "C++", "C"),
]


def scores(cases: list[tuple[str, str, str]], judge: str) -> list[float]:
    answers = pl.DataFrame(
        {
            "question": [case[0] for case in cases],
            "references": [[case[1]] for case in cases],
            "answer": [case[2] for case in cases],
        }
    )
    return markscheme.judge(answers, judge).judgments["score"].to_list()


@pytest.mark.parametrize(("judge", "least"), [("examiner", 23), ("examiner(depth=fast)", 16)])
def test_near_copies_are_accepted_and_minimal_pairs_are_not(judge: str, least: int) -> None:
    assert sum(score >= 0.5 for score in scores(RIGHT, judge)) >= least
    assert sum(score < 0.5 for score in scores(WRONG, judge)) >= len(WRONG) - 1


def test_a_reference_word_for_word_is_accepted() -> None:
    """Articles, commas, quotes and contractions apart."""
    cases = [
        ("Why?", "They did not reach the summit.", "they didn't reach the summit"),
        ("What is paid?", "A refund, less a 10% fee.", "Refund less 10% fee"),
        ("Where?", "In the “old” mill", "In the 'old' mill."),
        ("How long?", "Three months to the end of a quarter", "three months to the end of quarter"),
    ]
    assert min(scores(cases, "examiner")) > 0.9
