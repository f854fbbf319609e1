"""Integrations run inside the real libraries: inspect_ai, lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.proof(area="harnesses")

ROWS = [
    {"question": "Who wrote Emma?", "references": ["Jane Austen"]},
    {"question": "Where is the Louvre?", "references": ["Paris", "in Paris"]},
]


def test_inspect_ai_scores_samples_by_a_judge(tmp_path: Path) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    from markscheme.integrations.inspect_ai import markscheme_scorer

    samples = [Sample(input=row["question"], target=row["references"]) for row in ROWS]
    said = ["It was written by Jane Austen.", "London"]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in said]
    for output in outputs:  # else it counts tokens with a vocabulary that it fetches
        output.usage = ModelUsage(input_tokens=9, output_tokens=5, total_tokens=14)
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = Task(dataset=samples, solver=generate(), scorer=markscheme_scorer("examiner"))
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "success"
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    assert log.samples is not None
    scores = [next(iter((sample.scores or {}).values())) for sample in log.samples]
    assert [score.value for score in scores] == ["C", "I"]
    assert all(score.metadata and score.metadata["signature"] for score in scores)


def test_the_evaluation_harness_reports_a_judge_s_accuracy() -> None:
    import datasets
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask

    from markscheme.integrations.lm_eval import accuracy, answers_of, mean_marks

    class Answering(LM):
        """Gives a right and a wrong answer."""

        def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
            return ["Jane Austen" if "Emma" in one.args[0] else "London" for one in requests]

        def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
            raise NotImplementedError

        def loglikelihood_rolling(self, requests: list[Any], **_: Any) -> list[float]:
            raise NotImplementedError

    def process(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
        found = answers_of(references="references")(doc, results)["markscheme"]
        return {"markscheme": found, "marks": found}

    task = ConfigurableTask(
        config={
            "task": "tiny_qa",
            "custom_dataset": lambda **_: {"test": datasets.Dataset.from_list(ROWS)},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{question}}",
            "doc_to_target": "{{references[0]}}",
            "process_results": process,
            "metric_list": [
                {"metric": "markscheme", "aggregation": accuracy, "higher_is_better": True},
                {"metric": "marks", "aggregation": mean_marks, "higher_is_better": True},
            ],
        }
    )
    found = simple_evaluate(model=Answering(), tasks=[task], bootstrap_iters=0)
    results = found["results"]["tiny_qa"]
    assert results["markscheme,none"] == 0.5
    assert 0.3 < results["marks,none"] < 0.7
