"""Tuning a judge: the best candidate wins, on questions it was not chosen on, within a budget."""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from markscheme.cli import run
from markscheme.contract import ChatReply, parse_judge
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.models import ModelOptions, Models
from markscheme.testing import FaultServer, ScriptedChat, ServerReply
from markscheme_research.studies import tune_judge

QUESTIONS = 60


def rows(questions: int = QUESTIONS) -> list[dict[str, Any]]:
    """Two answers a question, one of them right."""
    return [
        {"question": f"question {number}?", "references": ["Paris"], "label": int(right),
         "answer": f"Surely {'Paris' if right else 'Rome'}, number {number}.", "system": "s"}
        for number in range(questions)
        for right in (True, False)
    ]  # fmt: skip


def reader(share: float, tokens: int = 10) -> Any:
    """A model that says what is right in this share of answers."""

    def reply(text: str) -> ChatReply:
        right = "Surely Paris" in text
        number = re.findall(r"number (\d+)", text)[-1]
        lucky = random.Random(f"{share}{number}{right}").random() < share
        said = "Yes" if right == lucky else "No"
        return ChatReply(status="ok", text=said, finish_reason="stop", tokens_in=tokens,
                         tokens_out=1, cost_usd=tokens * 1e-6)  # fmt: skip

    return reply


def models(**options: Any) -> Models:
    good = ScriptedChat(name="good", replies=reader(0.95, 100))
    poor = ScriptedChat(name="poor", replies=reader(0.6))
    return Models(chat=poor, named={"good": good}, options=ModelOptions(**options))


JUDGES = ("llm_evouna", "llm_kamalloo")


def test_the_best_model_is_found_and_reported_on_other_questions() -> None:
    found = tune_judge(rows(), judges=JUDGES, try_models=("poor", "good"), models=models())
    best, *others = found.trials
    assert "model=good" in found.judge
    assert best.judge == found.judge
    assert parse_judge(found.judge)
    assert best.held_out is not None
    assert best.low is not None
    assert best.high is not None
    assert best.low < 0.95 < best.high
    assert best.held_out > 0.8
    assert best.tuned_on == QUESTIONS  # two answers to each of half the questions
    assert best.cost_usd == pytest.approx(1e-4)
    assert sum(one.held_out is not None for one in found.trials) == 3
    first = next(one for one in others if "llm_evouna" in one.judge and "model=poor" in one.judge)
    assert first.held_out is not None, "the first candidate is there for comparison"
    assert found.frame.height == 4


@pytest.mark.parametrize("apart", [False, True])
def test_answers_are_read_as_judge_reads_them(apart: bool, tmp_path: Path) -> None:
    def table(label: str, labels: list[Any]) -> str:
        cells = (
            f"{one['question']},Oslo;Paris,{one['answer'].split()[1][:-1]},{value}"
            for one, value in zip(rows(30), labels, strict=True)
        )
        return "\n".join([f"frage,key,antwort,{label}", *cells, ""])

    file, labels = tmp_path / "a.csv", tmp_path / "labels.csv"
    labels.write_text(table("urteil", [one["label"] for one in rows(30)]))
    file.write_text(table("mine", ["x"] * 60) if apart else labels.read_text())
    found = tune_judge(
        file,
        labels if apart else None,
        judges=["exact_match", "contains"],
        columns={"question": "frage", "references": "key", "answer": "antwort"},
        label_column="urteil",
        reference_separator=";",
    )
    assert [one.held_out for one in found.trials] == [1.0, 1.0]


def test_answers_without_a_label_are_not_judged() -> None:
    labelled, more = rows(30), rows(120)[60:]
    for row in more:
        row["label"] = None
    mixed = [row for pair in zip(labelled, more[:60], strict=True) for row in pair] + more[60:]
    whole, part = models(), models()
    expected = tune_judge(labelled, judges=JUDGES, models=whole)
    found = tune_judge(mixed, judges=JUDGES, models=part)
    assert part.budget.spending.calls == whole.budget.spending.calls
    assert found.trials == expected.trials, "calls and dollars too are of an answer with a label"
    assert "180 of 240 answers have no label, and are not judged" in found.data["notes"]
    known = [{"question": row["question"], "answer": row["answer"], "label": row["label"]}
             for row in labelled]  # fmt: skip
    unlabelled = [{name: row[name] for name in row if name != "label"} for row in mixed]
    assert tune_judge(unlabelled, known, judges=JUDGES, models=models()).trials == found.trials
    with pytest.raises(AgreementError, match="none of the 180 answers has a label"):
        tune_judge(unlabelled[120:] + unlabelled[1:120:2], known, judges=JUDGES, models=models())


@pytest.mark.proof(area="statistics")
def test_a_search_among_equals_does_not_flatter() -> None:
    """Twelve coins: the best one looks good where it was chosen, and is a coin elsewhere."""
    coins = {f"m{n}": ScriptedChat(name=f"m{n}", replies=reader(0.5 + n * 1e-9)) for n in range(12)}
    asked = Models(chat=coins["m0"], named=coins)
    found = tune_judge(
        rows(40), judges=["llm_evouna"], try_models=tuple(coins), models=asked, first_round=10
    )
    best = found.trials[0]
    assert best.tuned is not None
    assert best.held_out is not None
    assert best.low is not None
    assert best.high is not None
    assert best.tuned > 0.5
    assert best.tuned > best.held_out - 0.02
    assert best.low < 0.5 < best.high
    assert sum(one.rounds == 1 for one in found.trials) >= 6, "the poorer half left early"


def test_a_threshold_is_chosen_where_it_helps(tmp_path: Path) -> None:
    def lenient(text: str) -> str:
        return "5" if "Surely Paris" in text else "4"

    chat = ScriptedChat(
        replies=lambda text: lenient(text) if "score from 1 to 5" in text else "Yes"
    )
    many = rows(40)
    # Three different scores, so that there is something to choose.
    chat.replies = lambda text: (
        "Yes" if "score from 1 to 5" not in text
        else "3" if "number 7." in text else lenient(text)
    )  # fmt: skip
    found = tune_judge(many, judges=["llm_score", "llm_evouna"], models=Models(chat=chat))
    best = found.trials[0]
    assert found.judge == "llm_score"
    assert best.threshold is not None
    assert best.threshold > 0.75
    name = found.save_map(tmp_path / "map.json")
    assert name.startswith("calibrated(base=llm_score, map=")
    assert parse_judge(name)


def test_a_budget_ends_the_search_in_time_for_the_report() -> None:
    asked = models(max_calls=250)
    found = tune_judge(
        rows(), judges=JUDGES, try_models=("poor", "good"), models=asked, first_round=10
    )
    assert asked.budget.spending.calls <= 250
    assert asked.budget.spending.skipped == 0
    assert found.trials[0].held_out is not None
    assert any("keep within budget" in note for note in found.data["notes"])
    with pytest.raises(AgreementError, match="raise it, or try fewer"):
        tune_judge(rows(), judges=JUDGES, models=models(max_calls=20))


def test_a_dry_run_sends_nothing_and_bounds_the_cost(tmp_path: Path) -> None:
    options = ModelOptions(model="gpt-4o-mini", dry_run=True, ledger=str(tmp_path / "l.sqlite"))
    dry = Models(options=options)
    found = tune_judge(rows(), judges=JUDGES, models=dry, samples=(1, 5))
    assert found.judge == ""
    assert len(found.trials) == 4
    assert {one.calls for one in found.trials} == {1.0, 5.0}
    assert found.data["cost_usd"] > 0
    asked = models()
    tune_judge(rows(), judges=JUDGES, models=asked, samples=(1, 5))
    assert asked.budget.spending.calls <= found.data["calls"]


def test_the_same_search_again_pays_for_nothing(tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.sqlite")
    first = models(ledger=ledger)
    found = tune_judge(rows(30), judges=JUDGES, models=first)
    first.close()
    again = models(ledger=ledger)
    same = tune_judge(rows(30), judges=JUDGES, models=again)
    assert again.budget.spending.calls == 0
    assert same.to_json() == found.to_json()
    again.close()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"judges": ["llm_evouna"]}, "nothing to choose from: give several .*--try-samples"),
        ({"answers": rows(10), "judges": JUDGES}, "on 5 of them .*either part needs 10"),
        ({"answers": rows(40), "judges": JUDGES, "share": 0.9}, "on 36 of them"),
    ],
)
def test_what_cannot_be_tuned_is_said(given: dict[str, Any], why: str) -> None:
    with pytest.raises(AgreementError, match=why):
        tune_judge(given.pop("answers", rows()), models=models(), **given)


def test_the_command_draws_and_prints_what_python_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "some-secret-key")
    file = tmp_path / "labelled.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows(30)))

    def reply(body: Any, place: int) -> ServerReply:
        del place
        text = str(body["messages"][-1]["content"])
        return ServerReply(content=reader(0.9 if "gold" in text else 0.7)(text).text)

    with FaultServer(reply) as server:
        arguments = [
            "tune-judge", str(file), "-j", "llm_evouna", "-j", "llm_kamalloo", "--model", "m",
            "--base-url", server.url, "--ledger", str(tmp_path / "l.sqlite"), "--quiet",
        ]  # fmt: skip
        assert run([*arguments, "--chart", str(tmp_path / "price.txt")]) == 2
        assert not server.requests
        assert run([*arguments, "--format", "json", "--chart", str(tmp_path / "price.svg")]) == 0
        printed = json.loads(capsys.readouterr().out)
        # What was found is there, although the chart cannot be drawn.
        monkeypatch.setitem(sys.modules, "altair", None)
        assert run([*arguments, "--format", "json", "--chart", str(tmp_path / "p.svg")]) == 2
    assert json.loads(capsys.readouterr().out)["judge"] == printed["judge"]
    python = tune_judge(rows(30), judges=JUDGES, models=models())
    assert printed.keys() == json.loads(python.to_json()).keys()
    assert printed["judge"].startswith("llm_")
    assert (tmp_path / "price.svg").read_text().startswith("<svg")
    with pytest.raises(MarkschemeError, match="the endings are"):
        tune_judge(rows(), judges=JUDGES, models=models()).save_chart(tmp_path / "price.txt")
