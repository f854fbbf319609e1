"""Reading verdicts, marks, relations and grades out of replies of every kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.judges import prompted as prompts
from markscheme.tables import judgments
from markscheme.text.replies.grades import (
    EXAMPLE_REASON,
    RELATIONS,
    read_grade,
    read_score,
)
from markscheme.text.replies.reply import Reading
from markscheme.text.replies.verdicts import NO_WORDS, YES_WORDS, read_yes_no

YES = [
    "Yes", "yes.", "YES", "  yes\n", "**Yes**", '"Yes"', "- Yes", "> yes", "Yes!", "`yes`",
    "Yes, the candidate is correct.", "Yes the candidate is correct", "Yes - it is.",
    "Yes\n\nIt is.",
    "Yes, because no other city fits.", "Yeah.", "True", "True.", "Correct.", "Correct",
    "The candidate is correct.", "The AI-generated answer is indeed correct.",
    'The candidate "Jicheng" is correct, since it was a name of Beijing.',
    "Answer: Yes", "A: Yes", "Verdict: **Yes**", "**Verdict:** Yes", "Final answer: yes.",
    "My verdict - well: I compared them.\nVerdict: yes", "The two mean the same. [[Yes]]", 
    "[[yes]]",
    '{"verdict": "yes"}', '{"correct": true}', '{"is_correct": 1, "reason": "no doubt"}',
    '```json\n{"Verdict": "YES"}\n```', 'Here it is: {"judgement": "Correct"} as asked.',
    '{"verdict": "yes", "reason": "cut off amid', "{'verdict': 'yes'}",
    "The reference says 1990 and so does the answer.\nSo, yes.",
    "It names the same person. Therefore, the answer is yes.",
    "It names the same person.\n\nYes", "It names the same person. Yes.",
    "<think>No, wait. No.</think>\nYes", "no, hm, no </think>\n\nYes.",
    "It would not do if the candidate is incorrect, but it fits. Yes.",
    "The answer is correct, but the wording differs", "correct, although it is brief",
    "The answer is correct, although it is brief.", "The answer is right, only more precise.",
    "The answer is correct, but the reference is wrong.", "Yes, in part because it is Rome.",
    "The answer is correct, but not as accurate as the reference.",
]  # fmt: skip
NO = [
    "No", "no.", "NO!", "**No**", "No, the candidate is not correct.", "No it is not.",
    "No - wrong.",
    "No, the correct answer is Peking.", "False.", "Incorrect.", "Wrong", "Not correct.",
    "The candidate is incorrect.", "The candidate was not correct.",
    "The system's answer is wrong: it names another city.", "Nope.",
    "No\nThe candidate names others.",
    "Answer: No", "Verdict: no", "[[No]]", '{"verdict": "no"}', '{"correct": false}',
    '{"verdict": "incorrect", "reason": "Yes, it is about Beijing, but"}', "So the answer is no.",
    "The answer names another city.\nTherefore: No", "No, I think it is another city.",
    "No, it is not clear that this is the same city.",
    "No, I'm sorry for the confusion: it is Peking.",
    "No, the candidate is correct about the author, but the year is wrong.",
    "The candidate is incorrect, although the year is right.",
]  # fmt: skip
UNPARSED = {
    "": "empty", "  \n": "empty", "No, the candidate is correct": "contradicts itself",
    "No, the candidate's answer is correct.": "contradicts itself",
    "Yes, the candidate is not correct.": "contradicts itself",
    "Yes. It does not match the reference. No.": "contradicts itself",
    '{"verdict": "yes"} {"verdict": "no"}': "contradicts itself",
    "Verdict: yes\nVerdict: no": "contradicts itself", "[[Yes]] or [[No]]": "contradicts itself",
    "Yes\n\nVerdict: No": "contradicts itself", '{"verdict": "no"}\nYes': "contradicts itself",
    "Verdict: Yes\n\nThe answer is not correct according to the question.": "contradicts itself",
    "No, this answer is correct.": "contradicts itself",
    "Yes and no.": "hedges", "Yes or No": "hedges", "Yes/No": "hedges", "No/Yes": "hedges",
    "Yes, and no.": "hedges", "Partially correct.": "hedges", "Maybe.": "hedges",
    "The candidate is partially correct.": "hedges", "It depends on what is meant.": "hedges",
    "Beijing was known as Peking.": "no yes or no", "No. 5 is the number.": "no yes or no",
    "No evidence is given for it.": "no yes or no", "No-one knows.": "no yes or no",
    "Notable is the spelling.": "no yes or no", "Yesterday it was.": "no yes or no",
    "If the candidate is correct, the reference is odd.": "no yes or no",
    "There is no evidence that the candidate is correct.": "no yes or no",
    "I don't think that the candidate is correct.": "no yes or no",
    "Correct answer is Peking": "no yes or no", "<think>Yes": "nothing but reasoning",
    "<think>Yes</think>": "empty",
    "No. The candidate is correct.": "contradicts itself", "\ufffd\x00": "no yes or no",
    "42": "no yes or no",
    '{"verdict": "perhaps"}': "hedges", "The answer is correct only in part.": "hedges",
    "The candidate is correct about the author but the year is wrong.": "hedges",
    "So, the candidate is correct, but it's not accurate to say Rome.": "hedges",
    "The candidate is correct, except for the year.": "hedges", "Yes, but only partly.": "hedges",
}  # fmt: skip
REFUSED = [
    "I'm sorry, I can't help with that. Yes.", "I cannot assist with this request.\n\nYes.",
    "I'm sorry, but I can't assist with that request.", "I cannot help with this.",
    "Sorry, I am not allowed to judge people.", "As an AI language model, I have no opinions.",
    "No, I can't help with that.", "No, I cannot determine whether it is.",
    "I cannot determine if the candidate is correct, as there is not enough information provided "
    'about the show "Fall" and the character Rose.', "There is not enough information to say.",
    "I am unable to verify this.", "It is impossible to tell which city is meant.",
]  # fmt: skip


@pytest.mark.parametrize("reply", YES)
def test_it_reads_yes(reply: str) -> None:
    found = read_yes_no(reply)
    assert (found.status, found.verdict, found.score) == ("judged", True, 1.0), found.reason


@pytest.mark.parametrize("reply", NO)
def test_it_reads_no(reply: str) -> None:
    found = read_yes_no(reply)
    assert (found.status, found.verdict, found.score) == ("judged", False, 0.0), found.reason


@pytest.mark.parametrize(("reply", "reason"), UNPARSED.items())
def test_what_cannot_be_read_stays_unread(reply: str, reason: str) -> None:
    found = read_yes_no(reply)
    assert (found.status, found.verdict, found.score) == ("unparsed", None, None), found.reason
    assert reason in found.reason


@pytest.mark.parametrize("reply", REFUSED)
def test_refusals_and_abstentions_are_no_verdict(reply: str) -> None:
    found = read_yes_no(reply)
    assert (found.status, found.verdict) == ("refused", None), found.reason


@pytest.mark.parametrize("word", YES_WORDS)
def test_yes_in_other_languages(word: str) -> None:
    for reply in (word, f"{word}.", f"{word}, 42", f"{word}。", word.upper()):
        assert read_yes_no(reply).verdict is True, reply


@pytest.mark.parametrize("word", NO_WORDS)
def test_no_in_other_languages(word: str) -> None:
    for reply in (word, f"{word}.", f"{word}, 42", f"{word}\n42"):
        assert read_yes_no(reply).verdict is False, reply


@pytest.mark.parametrize(
    "reply", ["La réponse est exacte.", "这个答案符合参考答案。", "Ответ совпадает с эталоном."]
)
def test_other_languages_without_a_known_word_are_unread(reply: str) -> None:
    assert read_yes_no(reply).status == "unparsed"


def test_of_a_reply_that_was_cut_off_only_what_came_before_counts() -> None:
    for kept in (
        "Yes, the candi",
        "Yes",
        '{"verdict": "yes", "reason": "the t',
        "Verdict: Yes\nSo",
    ):
        assert read_yes_no(kept, finished=False).verdict is True, kept
    for lost in ("", "The candidate says that", "Let us see. The answer is yes", '{"reason": "The'):
        found = read_yes_no(lost, finished=False)
        assert found.status == "unparsed", lost
        assert "cut off by the token limit" in found.reason
    assert "cut off" in read_yes_no("<think>Yes", finished=False).reason


def test_where_reasons_come_first_the_end_decides() -> None:
    thought = "No mention is made of a year.\nYes, the city is named.\n"
    assert read_yes_no(thought + "Verdict: No", verdict_last=True).verdict is False
    assert read_yes_no(thought + "Therefore, no.", verdict_last=True).verdict is False
    assert read_yes_no("No, not at first sight. But it is.\n\nYes.", verdict_last=True).verdict
    assert read_yes_no("Step 1: equal. So the candidate is correct.", verdict_last=True).verdict
    assert read_yes_no("Yes.", verdict_last=True).verdict is True
    assert read_yes_no(thought + "Verdict: No", verdict_last=True, finished=False).verdict is False
    cut = read_yes_no("No, the year differs, although", verdict_last=True, finished=False)
    assert cut.status == "unparsed"
    one_line = read_yes_no("No, the AI-generated answer is correct.", verdict_last=True)
    assert (one_line.status, "contradicts itself" in one_line.reason) == ("unparsed", True)
    both = read_yes_no("Verdict: Yes\nVerdict: No", verdict_last=True)
    assert "contradicts itself" in both.reason


def test_recorded_replies_of_davinci_give_the_released_labels(data_dir: Path) -> None:
    from markscheme_research.datasets import recorded

    replies = recorded("nq301", "text-davinci-003", data_dir=data_dir)
    read = [read_yes_no(reply).verdict for reply in replies["raw"]]
    assert len(read) == 1490
    assert read == replies["verdict"].to_list()


MARKS = {
    "4": 4, "4.": 4, " 5 \n": 5, "**2**": 2, "Score: 3": 3, "score = 3": 3, "4/5": 4, "[[1]]": 1,
    '{"score": 2}': 2, '{"score": "4/5"}': 4, '{"rating": " 3 / 5.0 "}': 3,
    '{"rating": "5"}': 5, "I would give it 4 out of 5.": 4, "Rating: 5/5": 5,
    "4: The AI-generated answer is mostly right.": 4, "Five": 5, "three.": 3, "Score: 4.5": 4.5,
    "On a scale from 1 to 5, this gets a 2.": 2, "Score (1-5): 4": 4, "The score is **5**.": 5,
    "5 - completely right": 5, "I rate it 1, completely wrong.": 1, "<think>5? 3?</think>4": 4,
    "Score - 4": 4, "**Score: 4**/5": 4, "Score (0-5): 4": 4, "Score: five": 5,
    "Score: 4\n- 2 facts match": 4, "Score: 4 to be generous": 4,
}  # fmt: skip


@pytest.mark.parametrize(("reply", "mark"), MARKS.items())
def test_it_reads_marks(reply: str, mark: float) -> None:
    found = read_score(reply)
    assert found.status == "judged", found.reason
    assert found.score == pytest.approx((mark - 1) / 4)
    assert found.verdict is None


@pytest.mark.parametrize(
    ("reply", "reason"),
    {
        "": "empty", "7": "7 is not from 1 to 5", "0": "0 is not", "-3": "-3 is not",
        "1: The answer is wrong. 2: It is mostly wrong. 3: It is": "several marks: 1, 2, 3",
        "3-4": "several marks: 3, 4", "3 or 4": "several marks", "Score: 5\nScore: 2": "several",
        "The answer gets 3, as 1987 is wrong": "several marks", "great": "no mark",
        "from 1 to 5": "no mark", '{"score": true}': "no mark", '{"score": 9}': "9 is not",
        '{"score": "4/10"}': "no mark",
        "100": "100 is not", '{"x":1}': "no mark", "Error 5": "no mark",
        "rate limit exceeded (attempt 3 of 3)": "no mark", '{"usage": [\n  null,\n  4\n': "no mark",
        "Based on 2 references": "no mark", "5 errors occurred": "no mark",
        "Score: -1": "-1 is not from 1 to 5", "Score: 3-4": "several marks: 3, 4",
        "Score: 3 or 4": "several marks", "Rating: 2 to 3": "several marks: 2, 3",
        "Score: 4/10": "several marks: 4, 10", "**Score:** 4 out of 10": "several marks: 4, 10",
        "Score: 4/5 or 5/5": "several marks: 4, 5",
        "429 Too Many Requests": "no mark", "Request timed out after 3 s": "no mark",
    }.items(),
)  # fmt: skip
def test_it_does_not_read_other_marks(reply: str, reason: str) -> None:
    found = read_score(reply)
    assert (found.status, found.score) == ("unparsed", None)
    assert reason in found.reason


def test_marks_cut_off_and_refused() -> None:
    assert read_score("", finished=False).reason.startswith("cut off")
    assert read_score("The answer is quite", finished=False).reason.startswith("cut off")
    assert read_score("I'm sorry, I can't do that.").status == "refused"


def test_relations_are_those_of_the_judgments_table() -> None:
    assert RELATIONS == judgments.RELATIONS


def grade(**changes: object) -> str:
    whole = {
        "reason": "Same city.", "supported_claims": [], "unattributable_claims": [],
        "relation": "equivalent", "verdict": "yes", "marks": 1.0,
    }  # fmt: skip
    return json.dumps(whole | changes)


def test_it_reads_grades() -> None:
    found = read_grade(grade())
    assert (found.verdict, found.relation, found.marks, found.score) == (True, "equivalent", 1, 1)
    assert found.reason == "Same city."
    assert read_grade(f"Here you are:\n```json\n{grade()}\n```\nGood day.").status == "judged"
    half = read_grade(grade(verdict="no", relation="inferior", marks="0.5"))
    assert (half.verdict, half.relation, half.marks) == (False, "inferior", 0.5)
    assert read_grade(grade(verdict=True, relation="Superior")).relation == "superior"
    assert read_grade(grade() + grade()).status == "judged"


def test_a_reason_copied_from_the_prompts_example_is_no_grade() -> None:
    prompt = Path(prompts.__file__).parent / "prompts" / "llm_grader.toml"
    assert f'"reason": "{EXAMPLE_REASON}"' in prompt.read_text("utf-8")
    found = read_grade(grade(reason="One or two sentences."))
    assert (found.status, found.reason) == (
        "unparsed", "copies the prompt's example in place of a reason",
    )  # fmt: skip
    assert read_grade(grade(reason="One or two sentences say it.")).status == "judged"


def test_unattributable_claims_are_named_and_do_not_raise_an_answer() -> None:
    extra = {"relation": "superior", "unattributable_claims": ["it has 3 gates.", "it is old"]}
    found = read_grade(grade(**extra))
    assert found.relation == "equivalent"
    assert found.reason == "Same city. Cannot be attributed: it has 3 gates; it is old."
    supported = read_grade(grade(**extra, supported_claims=["it is in China"]))
    assert supported.relation == "superior"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"), ("Yes", "no JSON"), (grade()[:-20], "no JSON"), ("[]", "no JSON"),
        (grade(relation="incorrect"), "contradicts itself"),
        (grade(verdict="no"), "contradicts itself"),
        (grade(verdict="no", relation="superior"), "contradicts itself"),
        (grade() + grade(marks=0.5), "several grades"),
        (grade(marks=90), "not from 0 to 1"), (grade(marks=None), "not from 0 to 1"),
        (grade(marks=True), "not from 0 to 1"), (grade(relation="better"), "none of superior"),
        (grade(verdict="perhaps"), "neither yes nor no"), ("{" * 5000, "no JSON"),
        ('{"verdict":' * 5000, "no JSON"),
    ],
)  # fmt: skip
def test_grades_that_do_not_hold_together_are_unread(reply: str, reason: str) -> None:
    found = read_grade(reply)
    assert (found.status, found.verdict, found.marks) == ("unparsed", None, None)
    assert reason in found.reason


def test_a_grade_that_was_cut_off_or_refused() -> None:
    assert read_grade(grade()[:-20], finished=False).reason.startswith("cut off")
    assert read_grade("I'm sorry, I can't.").status == "refused"


READERS = [read_yes_no, read_score, read_grade]


@pytest.mark.parametrize("read", READERS)
@given(reply=st.text(max_size=300), finished=st.booleans())
def test_any_text_is_read_or_named(read, reply: str, finished: bool) -> None:  # type: ignore[no-untyped-def]
    found: Reading = read(reply, finished=finished)
    assert found.status in ("judged", "unparsed", "refused")
    judged = found.status == "judged"
    assert judged == (found.score is not None)
    if not judged:
        assert found.reason
        assert (found.verdict, found.relation, found.marks) == (None, None, None)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "unit", ["no ", "yes ", "{", "[[", '{"a":', "candidate ", "the answer is ", "3 ", "so, ", "* ",
             "<think>", "i cannot ", '{"verdict"', "\n", "candidate \"", "no.", "-"],
)  # fmt: skip
def test_long_replies_take_linear_time(read, unit: str) -> None:  # type: ignore[no-untyped-def]
    read(unit * (200_000 // len(unit)))
