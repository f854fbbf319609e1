"""The judge claims: what each claim is, and what an answer gets for its claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from markscheme.contract import ChatReply
from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.errors import JudgeError, ModelError, UnknownNameError
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models
from markscheme.tables.answers import read_answers
from markscheme_research.datasets import load
from markscheme_research.judges.claims import Claims
from markscheme_research.training.splits import parts

QUESTION = "when did the old mill burn down"
LONG = (
    "The old mill burned down in 1866. It was owned by Ann. The old mill burned down in May 1901."
)
CHAT = "claims(statements=chat, test=chat)"


def rows(*answers: str, references: tuple[str, ...] = ("1866",), **more: Any) -> pl.DataFrame:
    return read_answers(
        [
            {"question": QUESTION, "references": list(references), "answer": text, **more}
            for text in answers
        ]
    )


def judged(answers: pl.DataFrame, judge: str = "claims", models: Any = None) -> dict[str, Any]:
    return parse_judge(judge).judge(answers, models).row(0, named=True)


def kinds(outcome: dict[str, Any]) -> list[str]:
    return [one["outcome"] for one in json.loads(outcome["raw"])["claims"]]


def scripted(says: dict[tuple[str, str], str], otherwise: str = "neutral") -> Any:
    """A model that entails by what premise and hypothesis contain; statements by the rules' way."""

    def reply(text: str) -> str:
        if "declarative statement" in text:
            return (
                f"It burned down, {text.rsplit('A: ', 1)[1].removesuffix(chr(10) + 'S:')} it was."
            )
        premise, hypothesis = text.split("Premise: ")[1].split("\nHypothesis: ")
        hypothesis = hypothesis.rsplit("\n\nIs it entailment", 1)[0]
        found = [
            label
            for (left, right), label in says.items()
            if left in premise and right in hypothesis
        ]
        return found[0] if found else otherwise

    chat = ScriptedChat(replies=reply)
    return Models(chat=chat), chat


def test_claims_are_supported_contradicted_or_extra() -> None:
    found = judged(rows(LONG))
    assert kinds(found) == ["supported", "extra", "contradicted"]
    assert found["status"] == "judged"
    assert found["verdict"]
    assert found["relation"] == "superior"
    assert found["score"] == found["marks"] > 0.8
    assert found["explanation"].startswith("3 claims: 1 supported, 1 contradicted, 1 extra; ")
    assert 'supported (says "1866"): "The old mill burned down in 1866."' in found["explanation"]


def test_a_claim_says_the_reference_that_it_entails_and_not_one_that_entails_it() -> None:
    said, longer = "in 1866", "The old mill burned down in a great fire in June 1866."
    found = judged(rows("1866", references=(said, longer)))
    assert found["explanation"] == f'supported (says "{said}"): "1866"'


def test_an_answer_without_a_right_claim_is_not_accepted() -> None:
    found = judged(rows("The old mill burned down in 1901. It was owned by Ann."))
    assert found["verdict"] is False
    assert found["relation"] == "incorrect"
    assert "supported" not in kinds(found)


def test_context_supports_what_references_do_not() -> None:
    context = "Ann owned the old mill. It stood by the river."
    plain = judged(rows(LONG))
    helped = judged(rows(LONG, context="It was owned by Ann. It stood by the river."))
    assert kinds(plain)[1] == "extra"
    assert kinds(helped)[1] == "supported"
    assert "(by the context)" in helped["explanation"]
    assert helped["marks"] == plain["marks"]
    for judge in (CHAT, CHAT.replace("test=chat", "test=chat(repair=false)")):
        models, chat = scripted({(context, "owned by Ann"): "entailment"})
        asked = judged(rows(LONG, context=context), judge, models)
        assert kinds(asked)[1] == "supported"
        assert sum(f"Premise: {context}" in one.last_user for one in chat.seen) == 3


def test_sentences_of_a_long_context_that_are_not_read_are_counted() -> None:
    context = "It stood by the river. " * 44 + "It was owned by Ann."
    found = judged(rows(LONG, context=context))
    assert kinds(found)[1] == "extra"
    assert found["explanation"].endswith("; the first 40 of 45 sentences of the context were read")
    assert "sentences of the context" not in judged(rows(LONG, context="By Ann."))["explanation"]


def test_a_chat_model_says_what_contradicts() -> None:
    models, _ = scripted({("in 1866", "1866"): "entailment", ("1901", "1866"): "contradiction"})
    found = judged(rows(LONG), CHAT, models)
    assert kinds(found) == ["supported", "extra", "contradicted"]
    assert found["marks"] == 1.0
    assert found["relation"] == "superior"


def test_marks_follow_the_formula() -> None:
    models, _ = scripted({("down, 1866", "burned down in May"): "entailment"})
    less = rows("The old mill burned down in May.", references=("1866",))
    assert judged(less, CHAT, models)["marks"] == 0.5
    assert judged(less, CHAT, models)["relation"] == "inferior"
    quarter = "claims(statements=chat, test=chat, partial=0.25)"
    assert judged(less, quarter, models)["marks"] == 0.25
    assert judged(less, quarter, models)["verdict"] is False
    models, _ = scripted({("in 1866", "1866"): "entailment", ("1901", "1866"): "contradiction"})
    fined = "claims(statements=chat, test=chat, penalty=0.3)"
    assert judged(rows(LONG), fined, models)["marks"] == pytest.approx(1 - 0.3 / 3)


def test_what_entails_both_ways_is_equivalent() -> None:
    models, _ = scripted({}, otherwise="entailment")
    assert judged(rows("1866"), CHAT, models)["relation"] == "equivalent"


def test_statements_are_made_of_fragments_and_references_only() -> None:
    models, chat = scripted({})
    judged(rows("1866. It was owned by Ann."), CHAT, models)
    asked = [one.last_user for one in chat.seen if "declarative" in one.last_user]
    assert len(asked) == 2
    assert {text.rsplit("A: ", 1)[1] for text in asked} == {"1866.\nS:", "1866\nS:"}


@pytest.mark.parametrize("status", ["unparsed", "refused", "failed", "skipped"])
def test_open_tests_leave_an_answer_unjudged_unless_a_claim_is_supported(status: Any) -> None:
    def broken(text: str) -> ChatReply | str:
        if "declarative" in text:
            return (
                f"The old mill burned down: {text.rsplit('A: ', 1)[1].removesuffix(chr(10) + 'S:')}"
            )
        if status == "unparsed":
            return "whatever"
        return ChatReply(status=status, error="why")

    found = judged(rows(LONG), CHAT, Models(chat=ScriptedChat(replies=broken)))
    assert found["status"] == status
    assert found["score"] is found["verdict"] is found["relation"] is found["marks"] is None
    assert set(kinds(found)) == {"undecided"}

    def half(text: str) -> ChatReply | str:
        return (
            "entailment"
            if "Premise: The old mill burned down in 1866.\nH" in text
            else broken(text)
        )

    found = judged(rows(LONG), CHAT, Models(chat=ScriptedChat(replies=half)))
    assert found["status"] == "judged"
    assert kinds(found) == ["supported", "undecided", "undecided"]


def test_costs_are_added_up() -> None:
    def reply(text: str) -> ChatReply:
        statement = "declarative" in text
        said = "The old mill burned down in 1866." if statement else "neutral"
        return ChatReply(status="ok", text=said, cost_usd=0.01, tokens_in=5, tokens_out=1)

    models = Models(chat=ScriptedChat(replies=reply))
    found = judged(rows("The old mill burned down in 1901."), CHAT, models)
    # A reference's statement and two directions.
    assert found["tokens_in"] == 15
    assert found["cost_usd"] == pytest.approx(0.03)
    assert judged(rows("1901"))["cost_usd"] is None


def test_blank_answers_patterns_and_missing_references() -> None:
    blank = judged(rows("  \n"))
    assert (blank["status"], blank["verdict"], blank["marks"]) == ("judged", False, 0.0)
    assert "empty" in blank["explanation"]
    pattern = judged(rows("1866", reference_kind="regex"))
    assert (pattern["status"], pattern["verdict"]) == ("skipped", None)
    assert "regular expressions" in pattern["explanation"]
    bare = rows("1866").with_columns(references=pl.lit([" "], dtype=pl.List(pl.String)))
    assert judged(bare)["status"] == "skipped"
    strange = judged(rows("((((("))
    assert (strange["status"], strange["verdict"]) == ("judged", False)


def test_any_reference_will_do_and_repeated_ones_cost_nothing() -> None:
    found = judged(rows(LONG, references=("1901 or so", "1866", "1866", "")))
    assert found["verdict"]
    models, chat = scripted({})
    judged(rows("The mill burned down.", references=("1866", "1866")), CHAT, models)
    assert len(chat.seen) == 3


def test_long_lists_of_claims_are_cut_in_the_explanation_only() -> None:
    found = judged(rows(" ".join(f"It fell in {1800 + n}." for n in range(12))))
    assert "and 4 more" in found["explanation"]
    assert len(kinds(found)) == 12


def test_parameters_are_checked_and_names_read_back() -> None:
    judge = parse_judge("claims(test=chat, partial=0.2, model='m')")
    assert judge == Claims(test="chat", partial=0.2, model="m")
    assert parse_judge(judge_name(judge)) == judge
    for wrong in ("test=nix", "statements=nix", "partial=2", "penalty=-1", "threshold=7"):
        name, value = wrong.split("=")
        with pytest.raises((JudgeError, UnknownNameError)):
            parse_judge(f"claims({name}={value})")
    with pytest.raises(ModelError, match="--model"):
        judged(rows("1866"), CHAT)


def test_prompts_weights_and_model_are_in_the_signature() -> None:
    assert "trained" in signature(parse_judge("claims"))
    models, _ = scripted({})
    both = signature(parse_judge(CHAT), models)
    assert "statements.prompt" in both
    assert "test.prompt" in both
    assert "scripted" in both


def test_the_bundled_example_comes_out_well(example: Path) -> None:
    answers = read_answers(str(example)).filter(pl.col("answer").is_not_null())
    found = parse_judge("claims").judge(answers, None)
    assert set(found["status"]) == {"judged"}
    several = [len(kinds(one)) for one in found.iter_rows(named=True) if one["raw"]]
    assert max(several) > 1
    right = answers["label"].filter(found["verdict"]).mean()
    wrong = answers["label"].filter(~found["verdict"]).mean()
    assert right - wrong > 0.3


def test_marks_of_long_answers_agree_with_people(data_dir: Path) -> None:
    from sklearn.metrics import roc_auc_score

    answers = load("evouna-nq", data_dir=data_dir).filter(
        pl.col("system") == "BingChat", pl.all_horizontal(pl.col("label", "answer").is_not_null())
    )
    answers = answers.filter(parts(answers["question"]) == "development")
    found = parse_judge("claims").judge(answers, None)
    ok = found["status"] == "judged"
    assert ok.mean() > 0.99
    assert roc_auc_score(answers["label"].filter(ok), found["marks"].filter(ok)) > 0.92
    by_kind: dict[str, list[float]] = {}
    for raw, label in zip(found["raw"], answers["label"], strict=True):
        for one in json.loads(raw or '{"claims": []}')["claims"]:
            by_kind.setdefault(one["outcome"], []).append(label)
    share = {kind: sum(labels) / len(labels) for kind, labels in by_kind.items()}
    assert share["supported"] > 0.9 > share["extra"] > share["contradicted"]
