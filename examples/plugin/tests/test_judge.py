"""The judge and the parts of judges keep to the contract, and do what they say."""

from importlib.util import find_spec

import pytest
from markscheme_numbers.entailment import BareAnswer, SharedWords
from markscheme_numbers.judge import SameNumbers

import markscheme
from markscheme.testing import check_judge

JUDGES = [
    "same_numbers",
    "same_numbers(share=0.5)",
    "entailment(test=shared_words, statements=bare_answer)",
]
if find_spec("markscheme_research"):
    JUDGES.append("claims(test=shared_words(share=0.6), statements=bare_answer)")


@pytest.mark.parametrize("judge", JUDGES)
def test_it_keeps_to_the_contract(judge: str) -> None:
    check_judge(judge)


def test_the_names_are_ours() -> None:
    assert markscheme.parse_judge("same_numbers(share=0.5)") == SameNumbers(share=0.5)
    assert SharedWords().share == 0.8
    assert BareAnswer() == BareAnswer()


@pytest.mark.parametrize(
    ("answer", "verdict"), [("In 1815, in June.", True), ("In 1816.", False), ("No idea.", False)]
)
def test_numbers_decide(answer: str, verdict: bool) -> None:
    found = markscheme.mark("When was Emma published?", ["1815"], answer, "same_numbers")
    assert found.verdict is verdict


def test_the_entailment_test_decides() -> None:
    judge = "entailment(test=shared_words, statements=bare_answer)"
    found = markscheme.mark("Who wrote Emma?", ["Jane Austen"], "the great Jane Austen", judge)
    assert found.relation == "superior"
