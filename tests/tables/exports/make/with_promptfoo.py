"""promptfoo: a results file of its echo provider. Usage: python with_promptfoo.py NODE_MODULES OUT

The echo provider answers with the prompt; the prompt is the answer, so that no model is asked.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rows import ROWS

modules, out = Path(sys.argv[1]), Path(sys.argv[2])
config = {
    "prompts": ["{{said}}"],
    "providers": [{"id": "echo", "label": "system-one"}],
    "tests": [
        {"vars": {"question": q, "said": said}, "assert": [
            {"type": "icontains-any", "value": refs} if n == 0 else
            {"type": "icontains", "value": refs[0]}]}
        for n, (q, refs, said, _) in enumerate(ROWS)
    ],
}  # fmt: skip
work = Path(tempfile.mkdtemp())
(work / "config.json").write_text(json.dumps(config))
for kind in ("json", "jsonl", "csv"):
    subprocess.run(
        [modules / ".bin" / "promptfoo", "eval", "-c", "config.json", "--no-cache", "-o",
         f"promptfoo.{kind}"],
        cwd=work, check=False,
    )  # fmt: skip
    (out / f"promptfoo.{kind}").write_bytes((work / f"promptfoo.{kind}").read_bytes())
