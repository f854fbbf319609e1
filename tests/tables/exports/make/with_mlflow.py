"""MLflow: the table of an evaluation's traces, saved as JSON. Usage: ... OUT_FOLDER"""

import sys
import tempfile
from pathlib import Path

import mlflow
from mlflow.genai.scorers import scorer
from rows import ROWS

out = Path(sys.argv[1])
answers = {question: answer for question, _, answer, _ in ROWS}


@scorer
def words(outputs: str) -> int:
    return len(outputs.split())


with tempfile.TemporaryDirectory() as place:
    mlflow.set_tracking_uri(f"sqlite:///{place}/mlflow.db")
    mlflow.set_experiment(
        experiment_id=mlflow.create_experiment("export", (Path(place) / "artifacts").as_uri())
    )
    found = mlflow.genai.evaluate(
        data=[
            {"inputs": {"question": question}, "expectations": {"expected_response": refs[0]}}
            for question, refs, _, _ in ROWS
        ],
        predict_fn=lambda question: answers[question],
        scorers=[words],
    )
    # The two columns left out name places of the machine.
    table = found.result_df.drop(columns=["trace", "trace_metadata", "tags"])
    table.to_json(out / "mlflow.json", orient="records", indent=1, default_handler=str)
