"""The probability of a verdict, wherever its tokens stand, and none of something else."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from markscheme.contract import ChatReply
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.judges.prompted.confidence import confidence_of
from markscheme.judges.prompted.outcomes import READERS, read_reply
from markscheme.judges.prompted.parsers import Choice, Criteria, Criterion, Scale
from markscheme.models.chat import ScriptedChat
from markscheme.models.chat.openai_format import ChatCompletions
from markscheme.models.chat.reading import STORED_TOKENS
from markscheme.models.sources import Models
from markscheme.text.replies import read_entailment

Place = str | dict[str, float]


def said(places: Sequence[Place], text: str | None = None, **more: Any) -> ChatReply:
    """A reply as a server gives it: each place a token, or several with shares, chosen first."""
    content = []
    for place in places:
        shares = {place: 1.0} if isinstance(place, str) else place
        listed = [{"token": t, "logprob": math.log(share)} for t, share in shares.items()]
        ordered = sorted(listed, key=lambda one: -float(one["logprob"]))
        content.append({**listed[0], "top_logprobs": ordered})
    whole = "".join(str(one["token"]) for one in content)
    message = {"content": whole if text is None else text}
    body = {"choices": [{"message": message, "logprobs": {"content": content}, **more}]}
    return ChatCompletions().reply(body)


def score(parser: Any, reply: ChatReply) -> float | None:
    read = READERS[parser] if isinstance(parser, str) else parser
    reading = read(reply.text or "", finished=reply.finished)
    assert reading.status == "judged", reading
    return confidence_of(reply, reading, parser).score


HALF = {"Yes": 0.5, "No": 0.5}


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([{"Yes": 0.6, "No": 0.2}], 0.75),
        ([{"yes": 0.5, "YES": 0.5}], 1.0),
        (["**", {"Yes": 0.9, "No": 0.1}, "**"], 0.9),
        ([{" No": 0.7, " Yes": 0.3}, ".", " The", " candidate", " is", " wrong"], 0.3),
        ([{"是": 0.8, "否": 0.2}], 0.8),
        (["Ver", "dict", ":", {" No": 0.9, " Yes": 0.1}], 0.1),
        (["The", " candidate", " is", {" correct": 0.7, " incorrect": 0.3}, "."], 0.7),
        # One word over several tokens, and a short one against it.
        (["The", " answer", " is", {" in": 0.8, " correct": 0.2}, "correct", "."], 0.2),
        (["The", " answer", " is", {" not": 0.6, " right": 0.4}, " correct"], 0.4),
        (["[[", {"yes": 0.75, "no": 0.25}, "]]"], 0.75),
        # A thought, which says yes many times, before the verdict.
        (["<think>", "Yes", "? yes", " or no?", "</think>", {"No": 0.6, "Yes": 0.4}], 0.4),
    ],
)
def test_the_score_is_the_share_of_yes_where_the_verdict_stands(
    places: list[Place], expected: float
) -> None:
    assert score("yes_no", said(places)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("spaces", ["", " ", "\n  "])
def test_a_verdict_inside_json_is_found(spaces: str) -> None:
    places: list[Place] = [
        '{"', "reason", '":', ' "', "yes, it says no", '",', f'{spaces}"', "verdict", f'"{spaces}:',
        f'{spaces}"', {"yes": 0.8, "no": 0.2}, '"}',
    ]  # fmt: skip
    assert score("yes_no", said(places)) == pytest.approx(0.8)
    glued: list[Place] = ['{"verdict":', {' "no"': 0.6, ' "yes"': 0.4}, "}"]
    assert score("yes_no", said(glued)) == pytest.approx(0.4)
    truth: list[Place] = ['{"correct":', {" false": 0.6, " true": 0.4}, "}"]
    assert score("yes_no", said(truth)) == pytest.approx(0.4)


def test_after_reasons_the_last_verdict_counts() -> None:
    places: list[Place] = [
        "No", " spelling", " differs", ".", "\n", "Verdict", ":", {" Yes": 0.9, " No": 0.1}
    ]  # fmt: skip
    assert score("yes_no_last", said(places)) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("places", "why"),
    [
        ([{"No": 0.02, "Yes": 0.98}], "the other side (0.980)"),
        ([{"Yes": 0.3, "The": 0.6, "No": 0.1}], "not found"),
        ([{"Yes": 0.3, "The": 0.7}, ","], "not found"),
    ],
)
def test_what_lies_on_the_other_side_or_on_other_words_is_refused(
    places: list[Place], why: str
) -> None:
    reply = said(places)
    found = read_reply(reply, parser="yes_no", accept_from=0.5)
    assert found.score == float(bool(found.verdict))
    assert "log-probabilities not used" in found.reason
    assert why in found.reason


def test_tokens_of_something_else_are_no_confidence() -> None:
    """A server with a reasoning parser that gives the tokens of the thought."""
    thought = [{"Let": 0.9, "No": 0.1}, " me", " think", {" No": 0.99, " Yes": 0.01}]
    reply = said(thought, text="Yes")
    assert reply.token_logprobs is None
    odd = ChatReply(status="ok", text="Yes", token_logprobs=({"No": -0.01}, {" way": -0.1}))
    assert read_reply(odd, parser="yes_no", accept_from=0.5).score == 1.0
    empty = ChatReply(status="ok", text="Yes", token_logprobs=({},))
    assert read_reply(empty, parser="yes_no", accept_from=0.5).score == 1.0


def test_the_wrong_order_of_tokens_is_refused() -> None:
    tokens = ({"correct": -0.1}, {" is": -0.1}, {" candidate": -0.1}, {"The": -0.1})
    reply = ChatReply(status="ok", text="The candidate is correct", token_logprobs=tokens)
    found = read_reply(reply, parser="yes_no", accept_from=0.5)
    assert (found.verdict, found.score) == (True, 1.0)
    assert "not used" in found.reason


def test_replies_of_earlier_ledgers_have_the_chosen_token_among_the_others() -> None:
    tokens = ({"Yes": math.log(0.6), "No": math.log(0.4)}, {".": -0.1})
    no = ChatReply(status="ok", text="No.", token_logprobs=tokens)
    assert read_reply(no, parser="yes_no", accept_from=0.5).score == 0.0  # refused: the other side
    yes = ChatReply(status="ok", text="Yes.", token_logprobs=tokens)
    assert read_reply(yes, parser="yes_no", accept_from=0.5).score == pytest.approx(0.6)
    longer = ChatReply(status="ok", text="Yes. And so on, yes.", token_logprobs=tokens)
    assert read_reply(longer, parser="yes_no", accept_from=0.5).score == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("parser", "places", "expected"),
    [
        ("score", [{"4": 0.5, "5": 0.5}], 0.875),
        ("score", ["Score", ":", {" 5": 0.8, " 1": 0.2}], 0.8),
        ("score", [{"5": 0.9, "9": 0.1}], 1.0),
        # 10 over two tokens, and alone.
        (Scale(low=0, high=10), ["[[", {"1": 0.9, "8": 0.1}, {"0": 0.5, "]]": 0.5}, "]]"], None),
        (Scale(low=0, high=10), ["[[", {"10": 0.5, "8": 0.5}, "]]"], 0.9),
        (Scale(low=0, high=10), ["Mark", ": ", "1", {"0": 0.75, "\n": 0.25}], 0.775),
        # A 1 that may have become 10 is no 1.
        (Scale(low=0, high=10), [{"9": 0.6, "1": 0.4}], 0.9),
        (Scale(low=1, high=7), ["I", " give", " it", {" 7": 0.5, " 1": 0.5}], 0.5),
    ],
)
def test_marks_are_their_mean_by_probability(
    parser: Any, places: list[Place], expected: float | None
) -> None:
    reply = said(places)
    if expected is None:  # [[10]]: 0.9 * 0.5 of 10, 0.9 * 0.5 of 1, 0.1 of 8
        expected = 0.45 * 1 + 0.45 * 0.1 + 0.1 * 0.8
    assert score(parser, reply) == pytest.approx(expected)


def test_own_labels_and_criteria() -> None:
    labels = {"faithful": 1.0, "partly faithful": 0.5, "unfaithful": 0.0}
    choice = Choice(labels=labels)
    reply = said(["[[", {"un": 0.6, "part": 0.3, "faith": 0.1}, "faithful", "]]"])
    assert score(choice, reply) == pytest.approx(0.25)
    assert score(choice, said(["It is faithful to it.\n", {"part": 0.8, "faith": 0.2},
                               "ly faithful"])) == pytest.approx(0.6)  # fmt: skip
    both = Criteria(
        criteria={
            "depth": Criterion(low=1, high=5, weight=3),
            "tone": Criterion(labels={"kind": 1, "rude": 0}),
        }
    )
    places: list[Place] = [
        '{"depth": ', {"5": 0.5, "1": 0.5}, ', "tone": "', {"kind": 0.8, "rude": 0.2}, '"}'
    ]  # fmt: skip
    assert score(both, said(places)) == pytest.approx((3 * 0.5 + 0.8) / 4)
    vague: list[Place] = ['{"depth": ', "5", ', "tone": "', {"kind": 0.2, "Kind of": 0.8}, '"}']
    assert score(both, said(vague)) is None


def grade(relation: Place, verdict: Place, marks: str = "1") -> ChatReply:
    return said(
        ['{"reason": "It says yes to both, correct.", "relation": "', relation, '", "verdict": "',
         verdict, f'", "marks": {marks}', "}"]
    )  # fmt: skip


def test_the_grader_has_a_probability_of_acceptance() -> None:
    reply = grade({"equivalent": 0.7, "incorrect": 0.2, "inferior": 0.1}, {"yes": 0.9, "no": 0.1})
    assert score("grade", reply) == pytest.approx(0.7 * 0.9 + 0.05)
    reply = grade({"inc": 0.9, "equ": 0.1}, "no", "0")
    reply = said(['{"relation": "', {"inc": 0.9, "equ": 0.1}, "orrect", '", "verdict": "', "no",
                  '", "marks": 0}'])  # fmt: skip
    assert score("grade", reply) == pytest.approx(0.1)
    wrong = grade({"equivalent": 0.05, "incorrect": 0.95}, "yes")
    found = read_reply(wrong, parser="grade", accept_from=0.5)
    assert (found.verdict, found.score) == (True, 1.0)
    assert "not used" in found.reason


def test_a_long_reply_keeps_its_end() -> None:
    places: list[Place] = [f" w{index}" for index in range(2 * STORED_TOKENS)]
    places += ["\nVerdict:", {" No": 0.8, " Yes": 0.2}]
    reply = said(places)
    assert reply.token_logprobs is not None
    assert len(reply.token_logprobs) == STORED_TOKENS + 1
    assert score("yes_no_last", reply) == pytest.approx(0.2)


def test_labels_of_other_judges() -> None:
    worths = {"entailment": 1.0, "neutral": 0.0, "contradiction": 0.0}
    reply = said(["Answer", ":", {" ent": 0.7, " neutral": 0.3}, "ail", "ment"])
    reading = read_entailment(reply.text or "")
    assert confidence_of(reply, reading, Choice(labels=worths)).score == pytest.approx(0.7)


@pytest.mark.parametrize("text", ["Ja\u0301 … да", "الجواب 🗼: yes", "\u202eyes", "yes" * 3000])
def test_odd_text_gives_a_score_or_none_and_never_an_error(text: str) -> None:
    tokens = tuple({one: -0.1, "\ufffd": -2.0} for one in text[:700])
    for parser in READERS:
        reply = ChatReply(status="ok", text=text, token_logprobs=tokens, finish_reason="stop")
        found = read_reply(reply, parser=parser, accept_from=0.5)
        assert found.score is None or 0 <= found.score <= 1


def test_judges_give_scores_where_some_replies_have_no_probabilities() -> None:
    replies = iter([said([{"Yes": 0.6, "No": 0.4}]), ChatReply(status="ok", text="Yes")])
    rows = pl.DataFrame(
        {"answer_id": ["a", "b"], "question": ["q", "r"], "references": [["x"], ["y"]],
         "answer": ["x", "y"]}
    )  # fmt: skip
    models = Models(chat=ScriptedChat(replies=lambda _: next(replies)))
    found = apply(parse_judge("llm_evouna"), rows, models)
    assert found["score"].to_list() == pytest.approx([0.6, 1.0])


def test_what_is_kept_of_a_reply_is_json() -> None:
    reply = said([{"Yes": 0.6, "No": 0.4}])
    assert reply.token_logprobs is not None
    assert json.loads(json.dumps(reply.token_logprobs[0])) == reply.token_logprobs[0]
