"""`--fail-under`: a gate that says what it held against what, and exits accordingly."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

import markscheme
from markscheme.agreement.gate import gates
from markscheme.api import judge
from markscheme.cli import run
from markscheme.engine.summary import CLUSTERS, summarise
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.tables import JUDGMENTS_SCHEMA


def rows(right: int, wrong: int, unclear: int = 0) -> list[dict[str, object]]:
    """Answers that are right, wrong, and such as no lexical judge can judge."""
    said = ["yes"] * right + ["no"] * wrong + ["y"] * unclear
    return [
        {
            "question": f"q{number}",
            "references": ["yes"],
            "answer": answer,
            "reference_kind": "regex" if answer == "y" else "text",
        }
        for number, answer in enumerate(said)
    ]


@given(st.integers(0, 80), st.integers(0, 80), st.floats(0.55, 0.99))
def test_the_bound_of_single_answers_is_the_exact_one(
    right: int, wrong: int, confidence: float
) -> None:
    if not right + wrong:
        return
    records = judge(rows(right, wrong), "exact_match").run.records
    (gate,) = gates(records, 0.5, confidence=confidence)
    low, _ = proportion_confint(right, right + wrong, alpha=2 * (1 - confidence), method="beta")
    assert gate.bound == pytest.approx(low, abs=1e-9)
    assert gate.passed == (gate.bound >= 0.5)
    assert "(one-sided, clopper-pearson)" in str(gate) or gate.bound == gate.accuracy


def test_a_gate_says_which_accuracy_so_many_answers_could_show() -> None:
    near, few, below = (
        gates(judge(rows(*counts), "exact_match").run.records, 0.8, confidence=0.95)[0]
        for counts in ((85, 15), (9, 1), (7, 3))
    )
    assert (near.passed, few.passed, below.passed) == (False, False, False)
    assert near.detectable == pytest.approx(0.895, abs=0.001)
    assert near.outcome.endswith(
        "wanted 80 with 95% confidence. It is not shown to reach the limit: with so many answers "
        "only a share of 89.5 or more is, in 4 of 5 such runs"
    )
    assert few.detectable is None
    assert few.outcome.endswith("with so few answers no share is")
    assert below.outcome.endswith("wanted 80 with 95% confidence")
    records = judge(rows(95, 5), "exact_match").run.records
    (shown,) = gates(records, 0.8, confidence=0.95)
    assert shown.passed
    assert shown.outcome.endswith("wanted 80 with 95% confidence")


def test_what_was_not_judged_cannot_open_the_gate() -> None:
    records = judge(rows(8, 0, unclear=2), "exact_match").run.records
    (gate,) = gates(records, 0.9)
    assert (gate.accuracy, gate.not_judged, gate.passed) == (0.8, 2, False)
    assert "2 not judged" in str(gate)
    (nothing,) = gates(judge(rows(0, 0, unclear=3), "exact_match").run.records, 0.0)
    assert nothing.accuracy == 0.0


def test_limits_out_of_range_are_refused() -> None:
    with pytest.raises(MarkschemeError, match="0 to 1"):
        gates([], 80)
    with pytest.raises(MarkschemeError, match="confidence"):
        gates([], 0.8, confidence=95)


def test_exit_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = '{"question": "q%d", "references": ["yes"], "answer": "%s"}\n'
    said = ["yes"] * 85 + ["no"] * 15
    Path("a.jsonl").write_text("".join(lines % pair for pair in enumerate(said)))
    command = ["judge", "a.jsonl", "-j", "exact_match", "-q", "--fail-under", "0.8"]
    assert run(command) == 0
    assert "gate passed: exact_match, a: accepted 85.0; wanted 80" in capsys.readouterr().err
    assert run([*command, "--confidence", "0.95"]) == 1
    told = capsys.readouterr().err
    assert "gate FAILED" in told
    assert "with 95% confidence" in " ".join(told.split())
    assert "these bounds are for further questions like these" in " ".join(told.split())
    assert "only a share of 89.5 or more is, in 4 of 5 such runs" in " ".join(told.split())
    assert run([*command[:-1], "0.7", "--confidence", "0.95"]) == 0
    assert run([*command[:-1], "80"]) == 2
    assert run(["judge", "a.jsonl", "-q", "--confidence", "0.95"]) == 2


def test_rows_that_could_not_be_read_cannot_open_the_gate(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"question": f"q{n}", "answer": "a", **({"gold": "a"} if n < 2 else {})}
            for n in range(20)]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    typed = ["judge", str(path), "-j", "exact_match", "--on-bad-row", "skip", "--fail-under", "0.9"]
    assert run([*typed, "--out", str(tmp_path / "run")]) == 1


def test_scores_without_a_verdict_cannot_open_the_gate() -> None:
    answers = pl.DataFrame({"system": ["a"] * 10, "question": [f"q{n}" for n in range(10)]})
    judgments = answers.select(
        judge=pl.lit("scorer"),
        signature=pl.lit("s"),
        score=pl.lit(0.7),
        status=pl.lit("judged", dtype=JUDGMENTS_SCHEMA["status"]),
        verdict=pl.Series([True] * 8 + [None] * 2),
        scope=pl.lit(None, dtype=JUDGMENTS_SCHEMA["scope"]),
        cost_usd=pl.lit(None, dtype=pl.Float64),
        tokens_in=pl.lit(None, dtype=pl.Int64),
        tokens_out=pl.lit(None, dtype=pl.Int64),
    )
    records = summarise(judgments.lazy(), answers.select(CLUSTERS))
    assert (records[0]["judged"], records[0]["verdicts"]) == (10, 8)
    (gate,) = gates(records, 0.9)
    assert (gate.accuracy, gate.not_judged, gate.passed) == (0.8, 2, False)
    (bound,) = gates(records, 0.5, confidence=0.95)
    low, _ = proportion_confint(8, 10, alpha=0.1, method="beta")
    assert bound.bound == pytest.approx(low, abs=1e-9)


def test_rows_that_cannot_be_read_count_against_their_own_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    header = "question,gold,answer,system\n"
    good, bad = "q{},a,a,{}\n", "q{},,a,{}\n"
    Path("a.csv").write_text(header + "".join(
        [good.format(n, "A") for n in range(4)] + [bad.format(n, "B") for n in range(3)]
    ))  # fmt: skip
    command = ["judge", "a.csv", "-j", "exact_match", "-q", "--on-bad-row", "skip"]
    assert run([*command, "--fail-under", "0.5"]) == 1
    told = capsys.readouterr().err
    assert "warning: 3 bad rows were skipped (3 of B)" in " ".join(told.split())
    assert "gate passed: exact_match, A: accepted 100.0; wanted 50" in told
    lost = "gate FAILED: exact_match, B: accepted 0.0 (3 not judged, counted as wrong)"
    assert lost in " ".join(told.split())
    assert "exact_match, (all): accepted 57.1 (3 not judged" in told


def test_rows_of_no_known_system_count_against_all() -> None:
    rows = [
        {"question": f"q{n}", "references": ["a"], "answer": "a", "system": "AB"[n % 2]}
        for n in range(8)
    ]
    records = judge(rows, "exact_match").run.records
    shares = {
        gate.system: (gate.accuracy, gate.not_judged)
        for gate in gates(records, 0.5, skipped={"": 2, "B": 1})
    }
    assert shares == {"A": (1.0, 0), "B": (0.8, 1), "(all)": (8 / 11, 3)}


def test_what_judged_nothing_is_named_where_the_gate_is_missed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"question": "q", "references": ["y.*"], "answer": "yes", "reference_kind": "regex"}
    Path("a.jsonl").write_text(json.dumps(row) + "\n")
    assert run(["judge", "a.jsonl", "-j", "token_f1", "-q", "--fail-under", "0.8"]) == 2
    told = capsys.readouterr().err
    assert "gate FAILED" in told
    assert "error: token_f1 judged no answer" in told


def test_a_small_slice_fails_a_build_only_where_slices_are_held_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = [{**row, "topic": "rare" if row["answer"] == "no" else "usual"} for row in rows(9, 1)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    command = ["judge", "a.jsonl", "-j", "exact_match", "-q", "--slices", "topic"]
    assert run([*command, "--fail-under", "0.8"]) == 0
    assert "topic=" not in capsys.readouterr().err
    assert run([*command, "--fail-under", "0.8", "--gate-slices"]) == 1
    said = capsys.readouterr().err
    assert "gate FAILED: exact_match, topic=rare: accepted 0.0; wanted 80" in said
    assert "gate passed: exact_match, topic=usual: accepted 100.0; wanted 80" in said
    assert run([*command, "--gate-slices"]) == 2
    assert "--gate-slices require --fail-under" in capsys.readouterr().err
    assert run([*command[:-2], "--fail-under", "0.8", "--gate-slices"]) == 2
    assert "--gate-slices requires --slices" in capsys.readouterr().err


def test_json_has_what_the_gate_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = {"question": "q", "answer": "yes"}
    Path("a.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in [*rows(6, 0, unclear=2), bad])
    )
    command = ["judge", "a.jsonl", "-j", "exact_match", "-q", "--on-bad-row", "skip"]
    command += ["--format", "json"]
    assert run(command) == 0
    assert "gate" not in json.loads(capsys.readouterr().out)
    assert run([*command, "--fail-under", "0.9"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["figures"][0]["accuracy"] == 1.0
    (held,) = found["gate"].pop("figures")
    assert found["gate"] == {"passed": False, "limit": 0.9, "confidence": None}
    assert held == {
        "judge": "exact_match", "system": "a", "accuracy": pytest.approx(6 / 9),
        "bound": pytest.approx(6 / 9), "answers": 9, "not_judged": 3, "passed": False,
        "method": None, "detectable": None,
    }  # fmt: skip
    assert run([*command, "--fail-under", "0.3", "--confidence", "0.9"]) == 0
    sure = json.loads(capsys.readouterr().out)["gate"]
    assert (sure["passed"], sure["confidence"]) == (True, 0.9)
    assert 0.3 <= sure["figures"][0]["bound"] < 6 / 9
    assert sure["figures"][0]["method"] == "clopper-pearson"


def test_a_gate_on_what_people_accept(example: Path, tmp_path: Path) -> None:
    """It holds the low end of the printed estimate, without the labels' errors, to the limit."""
    folder = tmp_path / "run"
    markscheme.judge(example, judges=["contains"], out=folder)
    found = markscheme.estimate(folder, example, by="system", judge="contains")
    whole, *systems = found.estimates
    assert whole.without_noise is not None
    assert whole.without_noise.low is not None
    least = min(one.without_noise.low for one in systems if one.without_noise)  # type: ignore[type-var]
    for limit, code in ((float(least) - 0.001, 0), (float(least) + 0.001, 1)):
        command = ["estimate", str(folder), "--labels", str(example), "--judge", "contains"]
        assert run([*command, "--by", "system", "--fail-under", str(limit)]) == code
    assert all(found.gates(0.2).values())
    assert list(found.gates(0.5).values()) == [True, True, True, False, False]
    assert next(iter(found.gates(0.99))).startswith("gate FAILED: people would accept 60.6% (")
    with pytest.raises(AgreementError, match=r"from 0 to 1, such as 0\.8, not 80"):
        found.gates(80)


def test_a_gate_is_not_passed_by_what_is_not_known(example: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    markscheme.judge(example, judges=["contains"], out=folder)
    chosen = pl.read_ndjson(example).filter(pl.col("system") == "terse")
    found = markscheme.estimate(folder, chosen, judge="contains", by="system")
    assert found.estimates[0].refusal is not None
    held = found.gates(0.0)
    assert list(held.values()) == [False, True, False, False, False]
    assert next(iter(held)).startswith("gate FAILED: of all answers nothing is known: ")


def test_help_and_report_call_accepted_what_a_judge_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    judge(rows(6, 3), "exact_match", out=out)
    assert run(["report", str(out)]) == 0
    captions = re.findall("<caption>(.*?)</caption>", (out / "report.html").read_text("utf-8"))
    assert captions[0] == "Answers accepted, in percent, with 95% interval"
    capsys.readouterr()
    assert run(["judge", "--help-all"]) == 0
    assert "accuracy" not in capsys.readouterr().out
