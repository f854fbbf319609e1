"""Other tools' scorers that need no model, on people's labels of the sets of docs/benchmarks.md.

    python -m benchmarks.side_by_side [--harnesses PYTHON] [--tools PYTHON] [--trackers PYTHON]
        [--pedants PYTHON] [--promptfoo COMMAND] [--first N]

Tools whose interpreter is not named are left out. Those of `make proof-harnesses` have inspect_ai
(`.venv/proofs/harnesses/bin/python`), ragas and deepeval (`tools/bin/python` there) and promptfoo
(`tools/node_modules/.bin`); `--trackers` needs `pip install mlflow-skinny arize-phoenix-evals
langfuse autoevals`, `--pedants` `pip install qa-metrics regex nltk` and data of NLTK (punkt_tab,
wordnet, averaged_perceptron_tagger_eng). Each scorer gets the answer and every reference; the best
reference counts, and 0.5 or more is accepted. Patterns are the references, escaped, in either case.
What does not run of PEDANTS is printed with its error: it fetches its classifiers, pickles,
when they are first used; so it runs in an interpreter of its own, never in ours.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from sklearn.metrics import cohen_kappa_score

from markscheme_research import datasets
from markscheme_research.training import parts

INSPECT = """
import asyncio, json, sys
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target, exact, f1, includes, match
from inspect_ai.solver import TaskState
rows, found = json.load(sys.stdin), {}
async def main():
    for name, scorer in dict(exact=exact(), match=match(), includes=includes(), f1=f1()).items():
        scores = []
        for answer, references, _ in rows:
            state = TaskState(model="m", sample_id=1, epoch=1, input="", messages=[],
                              output=ModelOutput.from_content("m", answer))
            value = (await scorer(state, Target(references))).value
            scores.append({"C": 1.0, "I": 0.0}.get(value, value))
        found[f"inspect_ai `{name}`"] = scores
asyncio.run(main())
print("found", json.dumps(found))
"""
TOOLS = """
import asyncio, json, sys, warnings
warnings.simplefilter("ignore")
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics import ExactMatch, NonLLMStringSimilarity, StringPresence
rows, found = json.load(sys.stdin), {}
async def main():
    for metric in (ExactMatch(), StringPresence(), NonLLMStringSimilarity()):
        found[f"ragas `{type(metric).__name__}`"] = [
            max([float(await metric.single_turn_ascore(SingleTurnSample(response=a, reference=r)))
                 for r in references]) for a, references, _ in rows]
asyncio.run(main())
exact = ExactMatchMetric(threshold=1)
found["DeepEval `ExactMatchMetric`"] = [
    max(float(exact.measure(LLMTestCase(input="q", actual_output=a, expected_output=r),
                            _show_indicator=False)) for r in references)
    for a, references, _ in rows]
print("found", json.dumps(found))
"""
TRACKERS = """
import json, re, sys, warnings
warnings.simplefilter("ignore")
from autoevals.string import Levenshtein
from autoevals.value import ExactMatch
from langfuse.experiment import create_evaluator_from_autoevals
from mlflow.genai.scorers import RegexMatch
from phoenix.evals.metrics import MatchesRegex, exact_match
rows = json.load(sys.stdin)
def pattern(reference):
    return re.compile(re.escape(reference), re.IGNORECASE)
def mlflow_regex(answer, reference):
    scorer = RegexMatch(pattern=re.escape(reference), case_insensitive=True)
    return float(scorer(outputs=answer).value == "yes")
def in_langfuse(scorer):
    evaluator = create_evaluator_from_autoevals(scorer)
    return lambda answer, reference: evaluator(
        input="q", output=answer, expected_output=reference, metadata=None).value
scorers = {
    "MLflow `RegexMatch`": mlflow_regex,
    "Phoenix `MatchesRegex`": lambda answer, reference:
        MatchesRegex(pattern=pattern(reference)).evaluate({"output": answer})[0].score,
    "Phoenix `exact_match`": lambda answer, reference:
        exact_match.evaluate({"output": answer, "expected": reference})[0].score,
    "Langfuse, autoevals' `Levenshtein`": in_langfuse(Levenshtein()),
    "Langfuse, autoevals' `ExactMatch`": in_langfuse(ExactMatch()),
}
found = {name: [max(float(scorer(answer, reference)) for reference in references)
                for answer, references, _ in rows] for name, scorer in scorers.items()}
print("found", json.dumps(found))
"""
PEDANTS = """
import json, sys
from importlib.metadata import version
from qa_metrics.em import em_match
from qa_metrics.f1 import f1_match
rows, found = json.load(sys.stdin), {}
def pedant():
    from qa_metrics.pedant import PEDANT
    judge = PEDANT()
    return lambda answer, references, question: judge.evaluate(references, answer, question)
scorers = {
    "em_match": lambda: lambda answer, references, _: em_match(references, answer),
    "f1_match": lambda: lambda answer, references, _: f1_match(references, answer, threshold=0.5),
    "PEDANT": pedant,
}
for name, make in scorers.items():
    try:
        scorer = make()
        scores = [float(scorer(*row)) for row in rows]
    except (OSError, LookupError) as error:
        print(f"not run: {name}: {type(error).__name__}:", " ".join(str(error).split())[:200])
    else:
        found[f"PEDANTS (qa-metrics {version('qa-metrics')}) `{name}`"] = scores
print("found", json.dumps(found))
"""
PROGRAMS = {"harnesses": INSPECT, "tools": TOOLS, "trackers": TRACKERS, "pedants": PEDANTS}
Rows = list[tuple[str, list[str], str]]
"""Answer, references, question."""


def run(python: str, program: str, rows: Sequence[object]) -> dict[str, Any]:
    """What a program finds in another interpreter, of rows that it reads as JSON."""
    done = subprocess.run(
        [python, "-c", program],
        input=json.dumps(rows), capture_output=True, text=True, check=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        | {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true"},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    for one in lines:
        if one.startswith("not run: "):
            print(one)
    (line,) = (one for one in lines if one.startswith("found "))
    found: dict[str, Any] = json.loads(line.removeprefix("found "))
    return found


def promptfoo(command: str, rows: Rows) -> dict[str, list[float]]:
    """The assertion icontains-any, on a provider that repeats the answer."""
    tests = [
        {"vars": {"n": n}, "options": {"transform": "context.vars.said"},
         "assert": [{"type": "icontains-any", "value": references}]}
        for n, (_, references, _) in enumerate(rows)
    ]  # fmt: skip
    for test, (answer, *_) in zip(tests, rows, strict=True):
        test["vars"]["said"] = answer  # type: ignore[index]
    config = {"prompts": ["{{n}}"], "providers": ["echo"], "tests": tests}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        quiet = {f"PROMPTFOO_DISABLE_{one}": "1" for one in ("TELEMETRY", "UPDATE")}
        subprocess.run(
            [command, "eval", "-c", "config.json", "-o", "out.json", "--no-table", "--no-cache",
             "--no-progress-bar"],
            cwd=folder, env=os.environ | quiet | {"PROMPTFOO_CONFIG_DIR": str(folder / "home")},
            capture_output=True, check=False,
        )  # fmt: skip
        results = json.loads((folder / "out.json").read_text("utf-8"))["results"]["results"]
    accepted = {one["testIdx"]: float(one["success"]) for one in results}
    return {"promptfoo `icontains-any`": [accepted[n] for n in range(len(rows))]}


def main() -> None:
    """Score both sets and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in PROGRAMS:
        parser.add_argument(f"--{name}", metavar="PYTHON")
    parser.add_argument("--promptfoo", metavar="COMMAND")
    parser.add_argument("--first", type=int, metavar="N", help="only so many answers of each set")
    options = parser.parse_args()
    every = datasets.load("evouna-nq").drop_nulls(["answer", "label"])
    sets = [every.filter(parts(every["question"]) == "test"), datasets.load("nq301", rows="pairs")]
    cells: dict[str, list[str]] = {}
    for table in (one.head(options.first or one.height) for one in sets):
        answers = table["answer"].str.strip_chars().replace("", "-")
        rows: Rows = list(
            zip(answers, table["references"].to_list(), table["question"], strict=True)
        )
        found: dict[str, list[float]] = {}
        for name, program in PROGRAMS.items():
            if python := getattr(options, name):
                found |= run(python, program, rows)
        if options.promptfoo:
            found |= promptfoo(options.promptfoo, rows)
        people = (table["label"] > 0).to_list()
        for name, scores in found.items():
            verdicts = (pl.Series(scores) >= 0.5).to_list()
            agreed = sum(a == b for a, b in zip(people, verdicts, strict=True)) / len(people)
            kappa = cohen_kappa_score(people, verdicts)
            cells.setdefault(name, []).extend((f"{100 * agreed:.1f}", f"{kappa:.2f}"))
    print(
        "| scorer | EVOUNA-NQ agreement | kappa | NQ301 agreement | kappa |\n|---|--:|--:|--:|--:|"
    )
    for name, figures in cells.items():
        print(f"| {name} | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()
