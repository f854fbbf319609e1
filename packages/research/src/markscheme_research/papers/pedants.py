"""PEDANTS (Li et al. 2024) among other judges, run in an interpreter of its own.

Its package, qa-metrics, wants its own versions of libraries and loads classifiers that are pickles,
which can run any code: so it is never imported here.
"""

from __future__ import annotations

import json
import subprocess

import polars as pl

from markscheme.errors import ModelError

PEDANTS = "PEDANTS"

_SCRIPT = """
import json, sys
rows = json.load(sys.stdin)
from qa_metrics.pedant import PEDANT
judge = PEDANT()
for row in rows:
    said = judge.evaluate(row["references"], row["answer"], row["question"])
    print("\\nverdict", json.dumps(bool(said)), flush=True)
"""


def pedants_verdicts(python: str, answers: pl.DataFrame) -> pl.DataFrame:
    """PEDANTS' verdict of each answer.

    Args:
        python: an interpreter that has qa-metrics and its four classifiers, which that package
            downloads into its own folder `classifier` when it is first used.
        answers: `question`, `references`, `answer`.

    Returns:
        `status`, `verdict` and `score` (null), in the same order.

    Raises:
        ModelError: it does not run there; with its output.
    """
    rows = answers.select("question", "references", pl.col("answer").fill_null("")).to_dicts()
    try:
        ran = subprocess.run(
            [python, "-c", _SCRIPT], input=json.dumps(rows), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    except OSError as error:
        raise ModelError(f"--pedants {python}: {error.strerror or error}") from None
    said = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("verdict ")]
    if ran.returncode or len(said) != answers.height:
        reason = (ran.stderr.strip().splitlines() or ["no output"])[-1]
        raise ModelError(
            f"PEDANTS did not run in {python} ({reason}); give an interpreter in which 'pip "
            "install qa-metrics' was run, with network at first use: the package downloads "
            "lr_classifier.pkl, tf-idf_vectorizer.pkl, rule_classifier.pkl and type_classifier.pkl "
            "into its folder qa_metrics/classifier, or finds them there"
        )
    return pl.DataFrame({"verdict": [word == "true" for word in said]}).select(
        status=pl.lit("judged"), verdict="verdict", score=pl.lit(None, pl.Float64)
    )
