"""A cascade that sends on what the first judge is unsure of, or what lies outside its field."""

from __future__ import annotations

import polars as pl
import pytest

from markscheme.contract import Judge, parse_judge, run_judge
from markscheme.models import Models

FRENCH = ("Qui a écrit le roman « Les Misérables » ?", "C'est Victor Hugo qui l'a écrit.",
          "Il a été écrit par Victor Hugo.")  # fmt: skip
SURE = ("Who built the Zorvex bridge?", "Ada Quist", "Ada Quist")
UNSURE = ("What does the Zorvex policy cover?", "flood damage to the house and its contents",
          "Flood damage to the house.")  # fmt: skip


def table(*rows: tuple[str, str, str]) -> pl.DataFrame:
    """Rows of (question, reference, answer) as an answers table."""
    return pl.DataFrame(
        [{"question": q, "references": [r], "answer": a, "reference_kind": "text"}
         for q, r, a in rows]
    )  # fmt: skip


def deciders(name: str) -> list[str]:
    """Which judge decides on the French, the sure and the unsure answer."""
    judge: Judge = parse_judge(name)
    found = run_judge(judge, table(FRENCH, SURE, UNSURE), Models())
    return [one.split(":")[0] for one in found["explanation"].to_list()]


def test_exactly_what_the_examiner_calls_unsure_goes_on() -> None:
    alone = run_judge(parse_judge("examiner"), table(FRENCH, SURE, UNSURE), Models())
    unsure = alone["explanation"].str.contains(", unsure)", literal=True).to_list()
    assert unsure[1:] == [False, True], alone["explanation"].to_list()
    sent = deciders("cascade(first=examiner, then=contains, accept=0.7, reject=0.3)")
    assert [one.startswith("decided by contains") for one in sent] == unsure


def test_exactly_what_lies_outside_its_field_goes_on() -> None:
    sent = deciders("cascade(first=examiner, then=contains, send=outside)")
    assert sent[0] == "decided by contains (outside the field of examiner)"
    assert all(one.startswith("decided by examiner, score") for one in sent[1:])


def test_both_go_on() -> None:
    sent = deciders("cascade(first=examiner, then=contains, accept=0.7, reject=0.3, send=both)")
    assert sent[0] == "decided by contains (outside the field of examiner)"
    assert sent[1].startswith("decided by examiner")
    assert sent[2].startswith("decided by contains (examiner unsure, score")


@pytest.mark.parametrize("send", ["unsure", "outside", "both"])
def test_a_judge_without_a_field_sends_nothing_outside(send: str) -> None:
    sent = deciders(f"cascade(first=exact_match, then=contains, send={send})")
    assert all(one.startswith("decided by exact_match") for one in sent)
