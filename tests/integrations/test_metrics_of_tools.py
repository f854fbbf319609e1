"""What promptfoo, ragas and deepeval call, and each of them calling it.

They want other versions of what the other tests have, or Node: the slow tests' set-up (Makefile)
puts them into an environment of their own inside this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from markscheme.errors import DataError, NotJudgedError
from markscheme.integrations.promptfoo import get_assert

RIGHT = ("Who wrote Emma?", ["Jane Austen", "Austen"], "It was written by Jane Austen.")
WRONG = ("Where is the Louvre?", ["Paris"], "London")
TOOLS = Path(sys.prefix) / "tools"


@pytest.fixture
def tool() -> Callable[[str], Path]:
    """Find a program of the tools' environment, which `make proof-harnesses` installs."""

    def find(name: str) -> Path:
        program = TOOLS / name
        assert program.exists(), f"{program} is missing: make proof-harnesses installs it"
        return program

    return find


def asserted(row: tuple[str, list[str], str], **config: Any) -> dict[str, Any]:
    question, references, said = row
    given = {"vars": {"question": question, "references": references}, "config": config}
    # What promptfoo passes and takes has gone through JSON.
    found: dict[str, Any] = json.loads(json.dumps(get_assert(said, json.loads(json.dumps(given)))))
    return found


def test_promptfoo_gets_a_grading_result() -> None:
    right, wrong = asserted(RIGHT), asserted(WRONG)
    assert (right["pass"], right["score"]) == (True, 1.0)
    assert (wrong["pass"], wrong["score"]) == (False, 0.0)
    assert "examiner accepts it" in right["reason"]
    assert right["namedScores"]["markscheme_marks"] > wrong["namedScores"]["markscheme_marks"]
    by_score = asserted(RIGHT, judge="token_f1", by="score", threshold=0.9)
    assert (by_score["pass"], 0 < by_score["score"] < 0.9) == (False, True)


def test_promptfoo_is_told_what_is_wrong_with_a_test_or_its_config() -> None:
    context = {"vars": {"query": "?"}, "config": None}
    with pytest.raises(DataError, match="no 'question' in the test's vars, only query; name"):
        get_assert("x", context)
    with pytest.raises(DataError, match="config has judges; it takes judge, by"):
        asserted(RIGHT, judges="examiner")
    with pytest.raises(DataError, match="by='grade'"):
        asserted(RIGHT, by="grade")
    with pytest.raises(NotJudgedError, match="token_f1 gave no marks: judged"):
        asserted(RIGHT, judge="token_f1", by="marks")


@pytest.mark.proof(area="harnesses")
def test_promptfoo_runs_the_assertion(tmp_path: Path, tool: Callable[[str], Path]) -> None:
    program = tool("node_modules/.bin/promptfoo")
    (tmp_path / "markscheme_assert.py").write_text(
        "from markscheme.integrations.promptfoo import get_assert\n"
    )
    rows = [
        {"vars": {"question": q, "references": json.dumps(refs), "said": said}}
        for q, refs, said in (RIGHT, WRONG)
    ]
    config = {
        "prompts": ["{{said}}"],
        "providers": ["echo"],
        "defaultTest": {
            "assert": [{"type": "python", "value": "file://markscheme_assert.py",
                        "config": {"judge": "examiner"}}]
        },
        "tests": rows,
    }  # fmt: skip
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    env = {
        **os.environ, "PROMPTFOO_PYTHON": sys.executable, "PROMPTFOO_CONFIG_DIR": str(tmp_path),
        "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
    }  # fmt: skip
    subprocess.run(
        [program, "eval", "-c", "promptfooconfig.json", "--no-cache", "-o", "out.json"],
        cwd=tmp_path, env=env, check=False, timeout=300,
    )  # fmt: skip
    results = json.loads((tmp_path / "out.json").read_text())["results"]["results"]
    graded = {one["vars"]["said"]: one["gradingResult"] for one in results}
    assert graded[RIGHT[2]]["pass"] is True
    assert graded[WRONG[2]]["pass"] is False
    assert "examiner rejects it" in graded[WRONG[2]]["reason"]


def in_a_process(python: Path, code: str) -> Any:
    """A program's last line, as JSON: these tools set up the process they are in."""
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true"}
    done = subprocess.run(
        [python, "-c", code], env={**os.environ, **quiet}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.proof(area="harnesses")
def test_ragas_has_the_verdicts_in_its_scores(tool: Callable[[str], Path]) -> None:
    found = in_a_process(
        tool("bin/python"),
        """
import json
from ragas import EvaluationDataset, evaluate
from markscheme.integrations.ragas import MarkschemeMetric

rows = [
    {"user_input": "Who wrote Emma?", "response": "Jane Austen did", "reference": "Jane Austen"},
    {"user_input": "Where is it?", "response": "London", "reference": '["Paris", "in Paris"]'},
]
metrics = [MarkschemeMetric(), MarkschemeMetric(name="f1_marks", judge="token_f1", by="marks")]
found = evaluate(EvaluationDataset.from_list(rows), metrics=metrics, show_progress=False)
print(json.dumps([found.scores, str(found)]))
""",
    )
    assert [row["markscheme"] for row in found[0]] == [1.0, 0.0]
    assert all(row["f1_marks"] != row["f1_marks"] for row in found[0])  # token_f1 has no marks: NaN
    assert "'markscheme': 0.5000" in found[1]


@pytest.mark.proof(area="harnesses")
def test_deepeval_passes_and_fails_cases_by_the_verdict(
    tmp_path: Path, tool: Callable[[str], Path]
) -> None:
    found = in_a_process(
        tool("bin/python"),
        f"""
import json, os
os.chdir({str(tmp_path)!r})
from deepeval import assert_test, evaluate
from deepeval.evaluate import DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase
from markscheme.integrations.deepeval import MarkschemeMetric

def case(said):
    return LLMTestCase(input="Who wrote Emma?", actual_output=said, expected_output="Jane Austen")

quiet = DisplayConfig(print_results=False, show_indicator=False)
done = evaluate([case("Jane Austen"), case("Bach")], [MarkschemeMetric()], display_config=quiet)
metrics = [one for result in done.test_results for one in result.metrics_data]
found = {{one.success: [one.score, one.reason] for one in metrics}}
try:
    assert_test(case("Bach"), [MarkschemeMetric("exact_match")])
    failed = "passed"
except AssertionError as error:
    failed = str(error)
unjudged = evaluate(
    [case("Jane Austen")], [MarkschemeMetric("exact_match", by="marks")], display_config=quiet,
    error_config=ErrorConfig(ignore_errors=True),
).test_results[0].metrics_data[0]
print(json.dumps([found[True], found[False], failed, unjudged.score, unjudged.error]))
""",
    )
    right, wrong, failed, score, error = found
    assert right[0] == 1.0
    assert wrong[0] == 0.0
    assert "examiner rejects it" in wrong[1]
    assert "exact_match" in failed
    assert score is None
    assert "exact_match gave no marks" in error
