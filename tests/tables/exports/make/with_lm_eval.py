"""lm-evaluation-harness: samples of a model that repeats our answers. Usage: ... OUT_FOLDER

Two tasks: one that generates, one that chooses by likelihood.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from rows import ROWS

out, work = Path(sys.argv[1]), Path(tempfile.mkdtemp())
data = work / "rows.jsonl"
data.write_text(
    "".join(
        json.dumps({"question": q, "aliases": refs, "choices": [refs[0], "Jon Asker"], "gold": 0})
        + "\n"
        for q, refs, _, _ in ROWS
    )
)
COMMON = {
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": str(data)}},
    "test_split": "test",
    "doc_to_text": "Question: {{question}}\nAnswer:",
}
GENERATES = COMMON | {
    "task": "made_up",
    "output_type": "generate_until",
    "doc_to_target": "{{aliases}}",
    "generation_kwargs": {"until": ["\n"]},
    "metric_list": [{"metric": "exact_match"}],
}
CHOOSES = COMMON | {
    "task": "made_up_choices",
    "output_type": "multiple_choice",
    "doc_to_target": "gold",
    "doc_to_choice": "choices",
    "metric_list": [{"metric": "acc"}],
}


class Repeats(LM):
    def generate_until(self, requests, disable_tqdm=False):
        return [next(r[2] for r in ROWS if r[0] in one.args[0]) for one in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        said = [next(r[2] for r in ROWS if r[0] in one.args[0]) for one in requests]
        return [
            (-1.0 if one.args[1].strip().lower() in text.lower() else -5.0, False)
            for one, text in zip(requests, said, strict=True)
        ]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


results = simple_evaluate(
    model=Repeats(),
    tasks=[GENERATES, CHOOSES],
    log_samples=True,
    bootstrap_iters=0,
    task_manager=TaskManager(),
)
tracker = EvaluationTracker(output_path=str(work / "out"))
samples = results.pop("samples")
tracker.save_results_aggregated(results=results, samples=samples)
for name in ("made_up", "made_up_choices"):
    tracker.save_results_samples(task_name=name, samples=samples[name])
    newest = max(
        (work / "out").rglob(f"samples_{name}_2*.jsonl"), key=lambda one: one.stat().st_mtime
    )
    shutil.copy(
        newest, out / f"lm-eval-{name.replace('made_up', 'samples').replace('_', '-')}.jsonl"
    )
