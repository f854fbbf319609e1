"""What is known of judges without asking them anything."""

from __future__ import annotations

import pytest

from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.contract.registry import asks_chat, parts


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("examiner", False),
        ("claims", False),
        ("claims(test=chat)", True),
        ("claims(statements='chat:other')", True),
        ("entailment", False),
        ("entailment(statements=chat)", True),
        ("llm_kamalloo", True),
        ("cascade(first=examiner, then=llm_kamalloo)", True),
        ("cascade(first=token_f1, then=contains)", False),
        ("panel(judges=(examiner, cascade(first=token_f1, then=pairwise)))", True),
    ],
)
def test_who_asks_a_chat_model_is_known_beforehand(name: str, asks: bool) -> None:
    assert asks_chat(parse_judge(name)) is asks


def test_parts_are_the_judge_and_those_inside_it_at_any_depth() -> None:
    nested = "panel(judges=(exact_match, cascade(first=token_f1, then=contains)))"
    names = [judge_name(part).partition("(")[0] for part in parts(parse_judge(nested))]
    assert names == ["panel", "exact_match", "cascade", "token_f1", "contains"]
