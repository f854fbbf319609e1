"""Anchors asked again: a changed model is noticed, an unchanged one is not."""

from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from markscheme.agreement import drift
from markscheme.agreement.drift import _MISSING, _test
from markscheme.cli import run as run_command
from markscheme.contract import ChatReply
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.models import ModelOptions, Models
from markscheme.models.chat import ScriptedChat
from markscheme.testing import FaultServer, ServerReply

DAY = datetime(2026, 11, 1, 8, tzinfo=UTC)
JUDGE = "llm_kamalloo"


def anchors(count: int = 40) -> list[dict[str, Any]]:
    return [
        {"id": str(n), "question": f"Number {n}?", "references": ["x"], "answer": f"a {n}",
         "label": n % 3 > 0}
        for n in range(count)
    ]  # fmt: skip


class Provider:
    """A model that may be changed: it judges `wrong` of ten anchors otherwise than people."""

    def __init__(self) -> None:
        self.wrong = 0
        self.served = "gpt-1"
        self.chat = ScriptedChat(replies=self.reply, name="gpt")

    def reply(self, message: str) -> ChatReply:
        number = int(message.split("Number ")[1].split("?")[0])
        yes = (number % 3 > 0) != (number % 10 < self.wrong)
        return ChatReply(
            status="ok", text="Yes" if yes else "No", finish_reason="stop", model=self.served
        )

    def models(self, **options: Any) -> Models:
        return Models(chat=self.chat, options=ModelOptions(**options))


def test_a_changed_model_is_noticed_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    provider, others = Provider(), threading.enumerate()
    for week in range(3):
        found = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                      now=DAY + week * timedelta(days=7))  # fmt: skip
        assert not found.alarm
        assert len(provider.chat.seen) == 40 * (week + 1)  # The ledger is not asked instead.
    # No ledger is left open.
    new = [one for one in threading.enumerate() if one not in others]
    assert not [one for one in new if one.name == "markscheme-ledger"]
    provider.wrong = 3
    provider.served = "gpt-2"
    found = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                  now=DAY + timedelta(days=21))  # fmt: skip
    assert found.alarm
    assert [one.state for one in found.checks] == ["first", "like before", "like before", "DRIFT"]
    last = found.checks[-1]
    assert (last.agreement, last.changed, last.compared) == (0.7, 12, 40)
    assert last.answered_by == ("gpt-2",)
    assert found.frame["state"][-1] == "DRIFT"
    assert "answered by gpt-2, before by gpt-1" in str(found)
    # It stays until the change is accepted, and the checks after it are compared with it then.
    again = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                  now=DAY + timedelta(days=28))  # fmt: skip
    assert again.alarm
    accepted = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                     now=DAY + timedelta(days=35), since="2026-11-22")  # fmt: skip
    assert not accepted.alarm
    assert [one.state for one in accepted.checks] == ["first", "like before", "like before"]


def test_verdicts_that_change_in_both_directions_are_noticed(tmp_path: Path) -> None:
    provider = Provider()
    swapped = False

    def reply(message: str) -> str:
        number = int(message.split("Number ")[1].split("?")[0])
        return "Yes" if (number % 2 == 0) != (swapped and number < 8) else "No"

    provider.chat = ScriptedChat(replies=reply)
    for week in range(4):
        found = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                      now=DAY + week * timedelta(days=7))  # fmt: skip
    swapped = True
    found = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                  now=DAY + timedelta(days=28))  # fmt: skip
    assert found.checks[-1].accepted == found.checks[0].accepted
    assert found.alarm


def test_with_a_recent_check_nothing_is_asked(tmp_path: Path) -> None:
    provider = Provider()
    options: dict[str, Any] = {"judges": [JUDGE], "folder": tmp_path, "every": 7.0}
    drift(anchors(), models=provider.models(), now=DAY, **options)
    found = drift(anchors(), models=provider.models(), now=DAY + timedelta(days=6.9), **options)
    assert not found.asked
    assert len(provider.chat.seen) == 40
    assert "due on 2026-11-08 08:00 UTC" in str(found)
    assert drift(anchors(), models=provider.models(), now=DAY + timedelta(days=7), **options).asked


def test_a_check_of_another_judge_or_model_is_not_recent_for_this_one(tmp_path: Path) -> None:
    provider, other = Provider(), Provider()
    other.chat, other.served = ScriptedChat(replies=other.reply, name="other"), "other-1"
    options: dict[str, Any] = {"folder": tmp_path, "every": 7.0}
    for number, (judges, asked) in enumerate(
        (([JUDGE], True), (["llm_evouna"], True), ([JUDGE], False), (["llm_evouna"], False),
         ([JUDGE, "llm_evouna"], False))
    ):  # fmt: skip
        found = drift(anchors(), judges=judges, models=provider.models(),
                      now=DAY + timedelta(days=number), **options)  # fmt: skip
        assert found.asked == asked, judges
        assert found.checks
    last = DAY + timedelta(days=6)
    assert drift(anchors(), judges=[JUDGE], models=other.models(), now=last, **options).asked


def test_each_judge_has_the_models_that_answered_it(tmp_path: Path) -> None:
    small, large = Provider(), Provider()
    large.chat = ScriptedChat(replies=large.reply, name="large")
    large.served = "large-1"
    judges = [JUDGE, f"{JUDGE}(model=large)"]
    for week in range(2):
        models = Models(chat=small.chat, named={"large": large.chat})
        found = drift(anchors(), judges=judges, models=models, folder=tmp_path,
                      now=DAY + week * timedelta(days=7))  # fmt: skip
        small.served = "gpt-2"
    assert [one.answered_by for one in found.checks] == [
        ("gpt-1",), ("gpt-2",), ("large-1",), ("large-1",)
    ]  # fmt: skip
    assert str(found).count("answered by gpt-2, before by gpt-1") == 1
    assert "large-1, before" not in str(found)


def test_a_check_that_was_stopped_goes_on_and_is_not_compared_before(tmp_path: Path) -> None:
    provider = Provider()
    drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path, now=DAY)
    later = DAY + timedelta(days=7)
    found = drift(anchors(), judges=[JUDGE], models=provider.models(max_calls=15),
                  folder=tmp_path, now=later)  # fmt: skip
    assert (found.asked, found.complete) == (False, False)
    assert "25 anchors were not judged within the budget" in str(found)
    assert len(found.checks) == 1
    found = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                  now=later + timedelta(hours=1))  # fmt: skip
    assert len(provider.chat.seen) == 80
    assert found.complete
    assert [one.at for one in found.checks] == [DAY, later]


def test_anchors_may_be_added_and_judges_too(tmp_path: Path) -> None:
    provider = Provider()
    drift(anchors(30), judges=[JUDGE], models=provider.models(), folder=tmp_path, now=DAY)
    found = drift(anchors(40), judges=[JUDGE, "llm_evouna"], models=provider.models(),
                  folder=tmp_path, now=DAY + timedelta(days=1))  # fmt: skip
    assert [(one.judge, one.compared, one.state) for one in found.checks] == [
        (JUDGE, 0, "first"), (JUDGE, 30, "like before"), ("llm_evouna", 0, "first")
    ]  # fmt: skip
    assert found.checks[0].judged == 30


def test_what_is_not_judged_any_more_is_a_change(tmp_path: Path) -> None:
    provider = Provider()
    for week in range(3):
        drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
              now=DAY + week * timedelta(days=7))  # fmt: skip
    provider.chat.replies = lambda _: "As an AI model I would rather not judge."
    found = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                  now=DAY + timedelta(days=21))  # fmt: skip
    assert found.alarm
    assert found.checks[-1].not_judged == 40


def test_a_server_that_is_away_is_no_drift(tmp_path: Path) -> None:
    provider = Provider()
    for week in range(3):
        drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
              now=DAY + week * timedelta(days=7))  # fmt: skip
    provider.chat.replies = lambda _: ChatReply(status="failed", error="HTTP 500")
    found = drift(anchors(), judges=[JUDGE], models=provider.models(), folder=tmp_path,
                  now=DAY + timedelta(days=21))  # fmt: skip
    assert not found.alarm
    assert "40 anchors had no answer in this check" in str(found)


@pytest.mark.parametrize(
    ("judges", "count", "why"),
    [(["token_f1"], 40, "asks no language model"), ([JUDGE], 9, "too few anchors"),
     ([], 40, "name a judge")],
)  # fmt: skip
def test_what_cannot_be_checked_is_said(
    tmp_path: Path, judges: list[str], count: int, why: str
) -> None:
    with pytest.raises(AgreementError, match=why):
        drift(anchors(count), judges=judges, models=Provider().models(), folder=tmp_path)


@pytest.mark.parametrize(
    ("options", "why"),
    [({}, "are grades.*--positive-from"), ({"positive_from": 1, "since": "soon"}, "is not a date"),
     ({"positive_from": 1, "alpha": 0}, "alpha is 0, and must be 0.0004 or more")],
)  # fmt: skip
def test_what_is_wrong_is_said_before_a_model_is_asked(
    tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    provider = Provider()
    graded = [row | {"label": n % 3 / 2} for n, row in enumerate(anchors())]
    with pytest.raises(MarkschemeError, match=why):
        drift(graded, judges=[JUDGE], models=provider.models(), folder=tmp_path, **options)
    assert not provider.chat.seen
    assert not list(tmp_path.iterdir())


def test_the_command_exits_with_1_on_drift(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    lines = [f'{{"question": "Number {n}?", "references": ["x"], "answer": "a{n}"}}'
             for n in range(20)]  # fmt: skip
    Path("anchors.jsonl").write_text("\n".join(lines))
    command = ["llm", "drift", "anchors.jsonl", "-j", JUDGE, "-m", "m"]
    says = ["Yes"]
    with FaultServer(lambda *_: ServerReply(content=says[0])) as server:
        assert run_command([*command, "--base-url", server.url]) == 0
        (check,) = Path("runs/drift-anchors").glob("*Z.sqlite")
        check.rename(check.with_name("2026-01-01T00-00-00Z.sqlite"))
        cut = [*command, "--base-url", server.url, "--max-calls", "5"]
        assert run_command(cut) == 1
        assert "15 anchors were not judged within the budget" in capsys.readouterr().out
        says[0] = "No"
        assert run_command([*command, "--base-url", server.url]) == 1
    assert "DRIFT" in capsys.readouterr().out


# --- the test ------------------------------------------------------------------------------------


def outcome(kinds: Any) -> pl.DataFrame:
    return pl.DataFrame({"kind": kinds, "score": np.equal(kinds, 2).astype(np.float64)})


def test_between_two_checks_it_is_the_sign_flip_test_of_scipy() -> None:
    rng = np.random.default_rng(3)
    before, last = rng.integers(1, 3, 30), rng.integers(1, 3, 30)
    last[:12] = 2
    p, changed, _ = _test(
        outcome(last), [outcome(before)], np.arange(30), np.ones(30, bool), seed=0
    )
    oracle = stats.permutation_test(
        ((last == 2) * 1.0, (before == 2) * 1.0), lambda a, b: np.mean(a - b),
        permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert p == pytest.approx(oracle.pvalue, abs=0.03)
    assert changed == int((last != before).sum())


@pytest.mark.proof(area="statistics")
def test_false_alarms_are_as_rare_as_the_level_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noisy judges, two answers a question, checks without a reply, every other one labelled."""
    monkeypatch.setattr(sys.modules[_test.__module__], "EXCHANGES", 399)  # Quicker, as exact.
    rng = np.random.default_rng(17)
    alarms = tests = 0
    questions = np.repeat(np.arange(25), 2)
    for number in range(250):
        expected = rng.random(50) < 0.6 if number % 2 else np.ones(50, bool)
        chance = rng.beta(0.4, 0.3, 50)
        checks = []
        for _ in range(4):
            kinds = 1 + (rng.random(50) < chance)
            kinds[rng.random(50) < 0.03] = _MISSING
            kinds[rng.random(50) < 0.05] = 0
            checks.append(outcome(kinds))
        for last in (1, 2, 3):
            p, *_ = _test(checks[last], checks[:last], questions, expected, seed=last)
            assert p is not None
            tests += 1
            alarms += p <= 0.05
    assert stats.binomtest(alarms, tests, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize(
    ("before", "changed", "labelled"), [(4, 4, False), (4, 4, True), (1, 8, False), (1, 9, True)]
)
def test_as_few_changes_are_noticed_as_the_page_says(
    before: int, changed: int, labelled: bool
) -> None:
    steady = np.array([1, 2] * 50)
    expected = np.arange(100) % 4 < 2 if labelled else np.ones(100, bool)
    found = []
    for number in (changed - 1, changed):
        last = steady.copy()
        last[: 2 * number : 2] = 2
        p, *_ = _test(outcome(last), [outcome(steady)] * before, np.arange(100), expected, seed=0)
        found.append(p is not None and p <= 0.01)
    assert found == [False, True]


def test_a_judge_that_now_accepts_nothing_is_noticed_though_its_agreement_is_the_same() -> None:
    """Half of the labels are 1, and every verdict goes from Yes to No."""
    before, last = outcome(np.full(60, 2)), outcome(np.full(60, 1))
    p, changed, _ = _test(last, [before], np.arange(60), np.arange(60) % 2 == 0, seed=0)
    assert changed == 60
    assert p is not None
    assert p < 0.001
