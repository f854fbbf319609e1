"""ragas and deepeval: their own datasets, saved by their own methods. Usage: ... OUT_FOLDER"""

import sys
from pathlib import Path

from deepeval.dataset import EvaluationDataset
from deepeval.test_case import LLMTestCase
from rows import ROWS

out = Path(sys.argv[1])

data = EvaluationDataset()
for question, references, answer, _ in ROWS:
    data.add_test_case(
        LLMTestCase(input=question, actual_output=answer, expected_output=references[0])
    )
for kind in ("json", "csv"):
    data.save_as(file_type=kind, directory=str(out), file_name="deepeval", include_test_cases=True)

from ragas import EvaluationDataset as RagasDataset

made = RagasDataset.from_list(
    [
        {"user_input": q, "response": answer, "reference": refs[0], "retrieved_contexts": ["..."]}
        for q, refs, answer, _ in ROWS
    ]
)
made.to_jsonl(str(out / "ragas.jsonl"))
made.to_csv(str(out / "ragas.csv"))
