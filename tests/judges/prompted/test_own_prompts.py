"""Prompts of a user's own: parsers, columns, contexts, optional references, both orders."""

from __future__ import annotations

import pickle
import shlex
from pathlib import Path
from typing import Any

import pytest

import markscheme
from markscheme.cli import run
from markscheme.contract.grammar import parse_judge
from markscheme.contract.registry import judges
from markscheme.errors import DataError, JudgeError
from markscheme.judges.prompted.parsers import Choice, own_parser
from markscheme.judges.prompted.prompt import load_prompt
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models
from with_research import cases

ROW = {"question": "What is the capital of France?", "answer": "Paris"}
CONTEXT = {**ROW, "context": ["Paris is the capital.", "It lies on the Seine."]}
REFERENCES = {"list": ["Paris", "Paname"], "one": ["Paris"], "none": []}


def written(folder: Path, text: str) -> str:
    path = folder / "own.toml"
    path.write_text(f'summary = "Ours."\n{text}')
    return f"llm_prompt(prompt={str(path)!r})"


def judged(judge: str, row: dict[str, Any], reply: Any) -> tuple[dict[str, Any], ScriptedChat]:
    chat = ScriptedChat(replies=reply if callable(reply) else lambda _: reply)
    found = markscheme.judge([row], judge, models=Models(chat=chat))
    return found.judgments.row(0, named=True), chat


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('parser = "ten"\nuser = "{{ answer }}"', "another kind of judge"),
        ('parser = "rank"\nuser = "{{ answer }}"', "another kind of judge"),
        ('parser = "pair"\nuser = "{{ answer }}"', "another kind of judge"),
        ('parser = "tne"\nuser = "{{ answer }}"', "is none of yes_no"),
        ('parser = "scale(5, 1)"\nuser = "{{ answer }}"', "the scale must rise"),
        ('parser = "choice"\nuser = "{{ answer }}"', "labels must give two labels or more"),
        ('parser = "choice"\nlabels = {good = 2, poor = 0}\nuser = "x"', "from 0 to 1"),
        ('parser = "choice"\nlabels = {Good = 1, good = 0}\nuser = "x"', "must differ"),
        ('parser = "json"\nuser = "x"', "needs [criteria]"),
        ('parser = "json"\ncriteria = {a = 3}\nuser = "x"', "criteria.a must be a table"),
        ('parser = "yes_no"\nlabels = {a = 1, b = 0}\nuser = "x"', "belong to parser = 'choice'"),
        # The labels had no effect, nor had criteria of a choice.
        (
            'parser = "scale(1, 7)"\nlabels = {a = 1, b = 0}\nuser = "x"',
            "labels belong to parser = 'choice', not to 'scale(1, 7)'",
        ),
        (
            'parser = "choice"\nlabels = {a = 1, b = 0}\ncriteria = {c = {low = 1, high = 5}}\n'
            'user = "x"',
            "criteria belong to parser = 'json', not to 'choice'",
        ),
        ('parser = "yes_no"\nreferences = "no"\nuser = "x"', "must be one of '', 'required'"),
        ('parser = "yes_no"\nswap = ["answer", "b"]\nuser = "{{ answer }}"', "no template uses"),
        (
            'parser = "yes_no"\nswap = ["answer", "references"]\n'
            'user = "{{ answer }}{{ other }}{{ references }}"',
            "swap names 'references', which no template uses as a text; of texts they use answer, "
            "other",
        ),
    ],
)
def test_a_prompt_is_checked_when_it_is_loaded(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f'summary = "Ours."\n{text}')
    with pytest.raises(JudgeError) as error:
        load_prompt(path)
    assert why in str(error.value)
    assert str(path) in str(error.value)


def test_an_edited_prompt_is_sent_from_the_next_run_on(tmp_path: Path) -> None:
    judge = written(tmp_path, 'parser = "yes_no"\nuser = "{{ answer }}?"')
    before, _ = judged(judge, ROW, "Yes")
    under_way: Any = parse_judge(judge)
    written(tmp_path, 'parser = "yes_no"\nuser = "Is it {{ answer }}?"')
    after, chat = judged(judge, ROW, "Yes")
    assert chat.seen[0].last_user == "Is it Paris?"
    assert after["signature"] != before["signature"]
    # A judge that was made before has one prompt, and its signature names it.
    assert under_way.template.hash in before["signature"]
    assert pickle.loads(pickle.dumps(under_way)).template == under_way.template


def test_a_variable_may_be_called_like_a_column_of_judgments(tmp_path: Path) -> None:
    judge = written(tmp_path, 'parser = "yes_no"\nuser = "{{ mode }} {{ score }} {{ answer }}"')
    row = {**ROW, "references": ["Paris"], "mode": "easy", "score": "0.7"}
    chat = ScriptedChat(replies=lambda _: "no")
    result = markscheme.judge([row, row], judge, out=tmp_path / "run", models=Models(chat=chat))
    assert chat.seen[0].last_user == "easy 0.7 Paris"
    assert result.wrong().select("mode", "score").n_unique() == 1
    assert markscheme.failures(result).frame.height == 2


def test_own_columns_are_variables_and_a_missing_one_is_named(tmp_path: Path) -> None:
    judge = written(tmp_path, 'parser = "yes_no"\nuser = "{{ answer }} in {{ topic }}?"')
    found, chat = judged(judge, {**ROW, "topic": "geography"}, "Yes")
    assert (found["verdict"], chat.seen[0].last_user) == (True, "Paris in geography?")
    with pytest.raises(
        DataError, match="no column 'topic', which --slices or a judge's prompt names"
    ):
        judged(judge, ROW, "Yes")
    rows = [{**ROW, "topic": one} for one in ("history", "geography")]
    chat = ScriptedChat(replies=lambda text: "Yes" if "geography" in text else "No")
    both = markscheme.judge(rows, judge, models=Models(chat=chat)).judgments["verdict"].to_list()
    assert both == [False, True]


def test_a_context_may_be_a_list(tmp_path: Path) -> None:
    user = 'user = "{% for one in passages %}[{{ one }}]{% endfor %}{{ answer }}"'
    judge = written(tmp_path, f'parser = "yes_no"\n{user}')
    _, chat = judged(judge, CONTEXT, "Yes")
    assert chat.seen[0].last_user == "[Paris is the capital.][It lies on the Seine.]Paris"


@pytest.mark.parametrize("context", [None, "", " "])
def test_a_context_that_a_row_lacks_adds_nothing_to_a_prompt(
    tmp_path: Path, context: str | None
) -> None:
    judge = written(tmp_path, 'parser = "yes_no"\nuser = "{{ context }}{{ answer }}"')
    _, chat = judged(judge, {**ROW, "context": context}, "Yes")
    assert chat.seen[0].last_user == "Paris"


CHOICE = {"faithful": 1.0, "partly faithful": 0.5, "unfaithful": 0.0}


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("faithful", 1), ("[[partly faithful]]", 0.5), ("**Unfaithful.**", 0),
        ('{"label": "faithful"}', 1), ("It names no source.\nVerdict: unfaithful", 0),
        ("Partly faithful", 0.5), ("The claim is not unfaithful at all", None),
        ("faithful\nunfaithful", None), ("[[faithful]] or [[unfaithful]]", None),
        ('{"x": "faithful"}', None), ("Error: faithful", None), ("", None),
    ],
)  # fmt: skip
def test_a_choice_reads_its_own_labels(reply: str, score: float | None) -> None:
    found = Choice(labels=CHOICE)(reply)
    assert found.score == score, found.reason
    assert (found.status == "judged") == (score is not None)


def test_a_reply_without_a_label_is_not_the_label_none() -> None:
    read = Choice(labels={"none": 0.0, "partial": 0.5, "full": 1.0})
    assert read('{"coverage": "full", "reason": "all there"}').status == "unparsed"
    assert read('{"reason": "all there"}\n[[full]]').score == 1
    assert read('{"label": "none"}').score == 0


def test_criteria_are_weighed_and_each_must_be_there() -> None:
    read = own_parser(
        "json", None,
        {"depth": {"low": 1, "high": 5, "weight": 2}, "tone": {"labels": {"kind": 1, "rude": 0}}},
    )  # fmt: skip
    assert read is not None
    good = read('{"depth": 5, "tone": "Rude", "reason": "long"}')
    assert good.score == pytest.approx(2 / 3)
    assert good.reason == "depth 1.00; tone 0.00: long"
    whole = '{"depth": 5, "tone": "kind"}'
    assert read(whole.replace("5", '"4/5"')).score == pytest.approx((2 * 0.75 + 1) / 3)
    for bad in (
        '{"depth": 5}',
        whole.replace("5", '"4/10"'),
        whole.replace("5", "6"),
        whole.replace("5", "true"),
        '{"x": 1}',
        whole + whole.replace("5", "1"),
    ):
        assert read(bad).status == "unparsed", bad


def test_a_scale_has_its_own_ends() -> None:
    read = own_parser("scale(low=0, high=100)", None, None)
    assert read is not None
    assert (read("75").score, read("101").status) == (0.75, "unparsed")
    assert (read("85/100").score, read("Score: 8/10").status) == (0.85, "unparsed")


@pytest.mark.parametrize(
    ("scale", "reply", "score"),
    [
        ("scale(-2, 2)", "Rating: -2", 0), ("scale(-2, 2)", "Score: -1", 0.25),
        ("scale(-2, 2)", "Score: \N{MINUS SIGN}1", 0.25), ("scale(-2, 2)", "Score - 1", 0.75),
        ("scale(-2, 2)", "From -2 to 2, I give it -1", 0.25),
        ("scale(1, 7)", "5/7", 4 / 6), ("scale(1, 7)", "I rate it 5 out of 7", 4 / 6),
        ("scale(1, 7)", "Score (1-7): 6", 5 / 6),
        ("scale(1, 7)", "seven", 1), ("scale(1, 7)", "4/5", None),
    ],
)  # fmt: skip
def test_a_mark_keeps_its_sign_and_its_scale(scale: str, reply: str, score: float | None) -> None:
    read = own_parser(scale, None, None)
    assert read is not None
    assert read(reply).score == (score if score is None else pytest.approx(score))


def test_a_preference_is_asked_in_both_orders() -> None:
    row = {**ROW, "other_answer": "Lyon"}

    def prefers_paris(text: str) -> str:
        return "[[A]]" if text.rfind("Paris") < text.rfind("Lyon") else "[[B]]"

    better, chat = judged("preference", row, prefers_paris)
    assert (better["verdict"], better["score"], len(chat.seen)) == (True, 1.0, 2)
    in_words, chat = judged(
        "preference",
        row,
        lambda text: "A is better." if "A" in prefers_paris(text) else "Winner: B",
    )
    assert (in_words["verdict"], in_words["score"], len(chat.seen)) == (True, 1.0, 2)
    by_place, _ = judged("preference", row, "[[A]]")
    assert (by_place["verdict"], by_place["score"]) == (False, 0.5)
    replies = iter(("[[A]]", "N/A", "N/A"))
    half, _ = judged("preference", row, lambda _: next(replies))
    assert (half["status"], half["verdict"], half["score"]) == ("unparsed", None, None)


@pytest.mark.parametrize(
    ("judge", "reply"),
    [
        ("faithfulness", "[[faithful]]"), ("context_relevance", "sufficient"),
        ("answer_relevance", "5"), ("instruction_following", '{"task": 2, "form": 2}'),
        ("pointwise(references=hidden)", "[[9]]"), ("listwise_examiner", ""), ("auto", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("given", REFERENCES)
def test_these_judge_with_a_list_of_references_one_or_none(
    judge: str, reply: str, given: str
) -> None:
    row = CONTEXT | ({"references": REFERENCES[given]} if given != "none" else {})
    found, _ = judged(judge, row, reply)
    assert found["status"] == "judged", found["explanation"]


def test_a_judge_that_needs_references_says_so() -> None:
    with pytest.raises(DataError, match="no column for references"):
        judged("exact_match", ROW, "")
    both = markscheme.judge(
        [ROW], ["exact_match", "listwise_examiner"]
    ).judgments  # one judges, the other says why it cannot
    assert both["status"].to_list() == ["skipped", "judged"]
    assert markscheme.mark("Why?", [], "Because.", "listwise_examiner").status == "judged"


def test_what_a_prompt_needs_and_a_row_lacks_is_skipped_by_name() -> None:
    found, chat = judged("faithfulness", ROW, "faithful")
    assert (found["status"], chat.seen) == ("skipped", [])
    assert "no context" in found["explanation"]


def test_the_grader_orders_answers_by_their_marks() -> None:
    reply = '{"verdict": "yes", "relation": "inferior", "marks": 0.6, "reason": "part"}'
    found, _ = judged("llm_grader", {**ROW, "references": ["Paris in France"]}, reply)
    assert (found["verdict"], found["score"]) == (True, 0.8)


@pytest.mark.parametrize(
    "name", cases(["bem", "bertscore", "cascade", "calibrated"], "bem", "bertscore")
)
def test_printed_examples_parse_when_pasted(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["judges", name])
    line = next(one for one in capsys.readouterr().out.splitlines() if one.startswith("example:"))
    pasted = shlex.split(line.removeprefix("example: "))[-1]
    assert parse_judge(pasted) == parse_judge(judges()[name].example)


CHAT = """
summary = "A conversation."
parser = "yes_no"

[[messages]]
role = "system"
content = "You mark {{ topic }}."

[[messages]]
role = "user"
content = "Is 4 right for 2+2?"

[[messages]]
role = "assistant"
content = "Yes"

[[messages]]
role = "user"
content = "Is {{ answer }} right for {{ question }}? The answer is {{ references[0] }}."
"""


def test_a_prompt_may_be_a_whole_conversation(tmp_path: Path) -> None:
    (tmp_path / "chat.toml").write_text(CHAT)
    chat = ScriptedChat(replies=lambda _: "Yes")
    rows = [{"question": "1+1", "references": ["2"], "answer": "{{ two }}", "topic": "sums"}]
    judge = f"llm_prompt(prompt='{tmp_path / 'chat.toml'}')"
    found = markscheme.judge(rows, judge, models=Models(chat=chat)).judgments
    assert found["verdict"].to_list() == [True]
    (request,) = chat.seen
    assert [(one.role, one.content) for one in request.messages] == [
        ("system", "You mark sums."), ("user", "Is 4 right for 2+2?"), ("assistant", "Yes"),
        ("user", "Is {{ two }} right for 1+1? The answer is 2."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('role = "assistant"', 'role = "tool"'), "message 3: role 'tool' is none of"),
        (('content = "Yes"', "content = 3"), "message 3 must have role and content"),
        (('parser = "yes_no"', 'parser = "yes_no"\nuser = "x"'), "messages and 'user'"),
        (("{{ topic }}", "{{ topic"), "message 1, line 1"),
        (('role = "user"\ncontent = "Is {{', 'role = "assistant"\ncontent = "Is {{'), "the last"),
    ],
)
def test_a_malformed_conversation_is_refused(
    change: tuple[str, str], why: str, tmp_path: Path
) -> None:
    (tmp_path / "chat.toml").write_text(CHAT.replace(*change))
    with pytest.raises(JudgeError, match=why):
        load_prompt(tmp_path / "chat.toml")
