"""Forms in which models give a rank, a choice or a mark, and what must never be taken for one."""

from __future__ import annotations

import pytest

from markscheme.judges.listwise.replies import read_rank, read_ten
from markscheme.judges.prompted import PAIR


@pytest.mark.parametrize(
    "reply",
    [
        "[[2/5]]", "Rank: two", "[[Reference 2]]", "[[Rank: 2]]", "[[second]]", "[[two]]", "(2)",
        "\\boxed{2}", "【2】", "[[2", "Rank 2/5", "[[2]] out of 5", "[[２]]", "[[2]]\n\n[[2]]",
        "[[2]] (better than 3 of the 4 references)", "The first reference is better, so [[2]]",
        "Rank 1 to 5: 2", "second place", "Its place is second.", "Answer: 2", "# 2",
        "Reference 1 is better than the new answer, the others are worse. Rank: 2",
    ],
)  # fmt: skip
def test_a_rank_is_read_where_models_miss_the_form(reply: str) -> None:
    found = read_rank(reply, references=4)
    assert (found.status, found.score) == ("judged", 0.75)


@pytest.mark.parametrize(
    "reply",
    [
        "It is better than Reference 3", "The first reference is better", "Reference 2",
        "better than the second, worse than the first", "[[3, 1, 2, 4]]", "[[2.5]]",
        "between 2 and 3", "[[2]] [[1]]", "1. ref A\n2. new answer\n3. ref B", "None", "[[last]]",
        "[[6 of 5]]", "[[99]]", "rank 0", "<answer></answer> timed out (attempt 2 of 5)",
        "The answer took too long: attempt 2 of 5", "Error 3: no answer came",
        '{"usage": [\n  null,\n  2\n\n?',
    ],
)  # fmt: skip
def test_other_numbers_are_no_rank(reply: str) -> None:
    found = read_rank(reply, references=4)
    assert (found.status, found.score) == ("unparsed", None)


def test_declining_to_rank_is_a_refusal_and_a_cut_reply_says_so() -> None:
    assert read_rank("I'm sorry, I can't rank this.", references=4).status == "refused"
    cut = read_rank("The new answer explains", references=4, finished=False)
    assert (cut.status, "cut off" in cut.reason) == ("unparsed", True)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Winner: A", 1), ("better: B", 0), ("I choose B", 0), ("\\boxed{A}", 1),
        ("[[Answer B]]", 0),
        ("It's a draw.", 0.5), ("A and B are tied", 0.5), ("[[A", 1), ("[[A is better]]", 1),
        ("A is clearer.\n\nAnswer: A", 1), ("Both are right.\nB", 0),
        ("B is better. A lacks detail.", 0), ("Answer A is better. B lacks detail.", 1),
        ("A is clearly better, B lacks detail.", 1), ("Answer B is the best (A is short)", 0),
        ("Neither is better. A and B are equal", 0.5), ("Which is better? A", 1),
        ("I choose A, although B is better in style.", 1), ("I prefer A to B.", 1),
    ],
)  # fmt: skip
def test_a_choice_is_read_where_models_miss_the_form(reply: str, score: float) -> None:
    assert (PAIR(reply).status, PAIR(reply).score) == ("judged", score)


@pytest.mark.parametrize(
    "reply",
    ["A is better.\n\nB is better.", "Neither A nor B",
     "A is not better than B", "B is worse than A", "Winner: A and B", "I prefer A or B",
     "A good answer.", "Option 1", "", '```json\n{\n  "c\n```', '{\n"a'],
)  # fmt: skip
def test_a_choice_is_not_guessed(reply: str) -> None:
    assert (PAIR(reply).status, PAIR(reply).score) == ("unparsed", None)


@pytest.mark.parametrize(
    ("reply", "mark"),
    [("6/10", 6), ("[[6/10]]", 6), ("8 (out of 10)", 8), ("seven", 7), ("[[ten]]", 10),
     ("Score: 1", 1), ("[[ 6.5 ]]", 6.5), ("8 (out of ten) - good", 8), ("Mark: six", 6)],
)  # fmt: skip
def test_a_mark_is_read(reply: str, mark: float) -> None:
    assert read_ten(reply).score == pytest.approx((mark - 1) / 9)


@pytest.mark.parametrize("reply", ["[[0]]", "11/10", "7-8", "[[1]] to [[10]]", "good", "4/5"])
def test_a_mark_is_not_guessed(reply: str) -> None:
    assert read_ten(reply).status == "unparsed"
