"""Counting steps and marks in explained inferences, and reading nothing where nothing stands."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.judges.entailment.inference_marks import Steps, measure, read_steps
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.text.replies.reply import Reading


@pytest.mark.parametrize(
    ("reply", "counts"),
    [
        ("1. a\n2. b [[INFO]]\n3. c [[ASSUMPTION]]", (3, 1, 1)),
        ("1. a (Assumption)\n2. b [[INFO]]", (2, 1, 1)),  # as the authors' code counts
        ("1) a\n2) b [INFO]\n", (2, 1, 0)),
        ("**Step 1:** a\n**Step 2:** b [[info]] [[assumption]]", (2, 1, 1)),
        ("Here are the steps:\n\n1. a\n   [[INFO]]\n2. b\n", (2, 1, 0)),
        ("1. a [[INFO]] 2. b [[ASSUMPTION]] 3. c", (3, 1, 1)),
        ("1. In 1999. 2 people came.", (1, 0, 0)),
        ("1. a\n2. b\n2. b", (2, 0, 0)),
        ("<think>1. x\n2. y</think>1. a", (1, 0, 0)),
        ("1. 3 plus 4 is 7\n2. 3 plus 5 is 8\n3. 3 plus 6 is 9", (3, 0, 0)),
    ],
)
def test_steps_are_counted(reply: str, counts: tuple[int, int, int]) -> None:
    steps, info, assumptions = counts
    assert read_steps(reply) == Steps(steps=steps, info=info, assumptions=assumptions)


@pytest.mark.parametrize(
    ("reply", "finished", "status", "reason"),
    [
        ("", True, "unparsed", "empty"),
        ("S2 follows from S1.", True, "unparsed", "no numbered step"),
        ("- a\n- b", True, "unparsed", "no numbered step"),
        ("1. a\n2. b", False, "unparsed", "cut off by the token limit after 2 steps"),
        ("1. the same\n" * 9, True, "unparsed", "in circles: 9 times 'the same'"),
        ("1. the same\n" * 9, False, "unparsed", "in circles"),
        ("I'm sorry, but I cannot help with that.", True, "refused", "declined"),
    ],
)
def test_what_cannot_be_counted(reply: str, finished: bool, status: str, reason: str) -> None:
    found = read_steps(reply, finished=finished)
    assert isinstance(found, Reading)
    assert found.status == status
    assert reason in found.reason


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(reply: str) -> None:
    found = read_steps(reply)
    if isinstance(found, Steps):
        assert found.steps >= 1
        assert min(found.info, found.assumptions) >= 0
    else:
        assert found.reason


def test_equal_pairs_are_measured_once_and_rows_keep_their_order() -> None:
    import polars as pl

    def script(text: str) -> Any:
        return "3" if text.startswith("Based") else "1. x and y\n2. z"

    chat = ScriptedChat(replies=script)
    pairs = pl.DataFrame({"s1": ["x", "y", "x"], "s2": ["z", "z", "z"], "row": [0, 1, 2]})
    found = measure(pairs, chat, rate=True)
    assert found["row"].to_list() == [0, 1, 2]
    assert found["difficulty"].to_list() == [3, 3, 3]
    assert len(chat.seen) == 4
    assert measure(pairs.clear(), chat, rate=True).height == 0
