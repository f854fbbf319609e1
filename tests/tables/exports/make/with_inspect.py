"""inspect_ai: .eval and .json logs of a mock model. Usage: python with_inspect.py OUT_FOLDER"""

import shutil
import sys
import tempfile
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
from rows import ROWS


def said(text: str) -> ModelOutput:
    """A reply with its usage, since inspect_ai would fetch a tokenizer to count."""
    reply = ModelOutput.from_content("mockllm/model", text)
    reply.usage = ModelUsage(input_tokens=8, output_tokens=4, total_tokens=12)
    return reply


out = Path(sys.argv[1])
for kind in ("eval", "json"):
    model = get_model(
        "mockllm/model",
        custom_outputs=[said(row[2]) for row in ROWS],
    )
    data = MemoryDataset(
        [Sample(input=q, target=refs, id=f"q{n}") for n, (q, refs, _, _) in enumerate(ROWS)]
    )
    task = Task(dataset=data, solver=generate(), scorer=includes(), name="made_up")
    log = eval(
        task,
        model=model,
        log_dir=tempfile.mkdtemp(),
        log_format=kind,
        display="none",
        max_samples=1,
    )[0]
    shutil.copy(log.location.removeprefix("file://"), out / f"inspect.{kind}")
