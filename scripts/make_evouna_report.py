"""Make the report of EVOUNA-NQ that the documentation's front page links to: figures, no texts.

    python scripts/make_evouna_report.py docs/evouna-nq-report.html [--data-dir DIR]

The 7,615 labelled answers to questions of the test part, on which no part of the examiner was
trained. The texts are third parties' and stay out of the page (`report --without-answers`).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import markscheme
from markscheme_research import datasets
from markscheme_research.training.splits import parts

JUDGES = ("exact_match", "contains", "token_f1", "examiner")
TITLE = "EVOUNA-NQ, test part: four judges and people"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--data-dir", type=Path)
    given = parser.parse_args()
    answers = datasets.load("evouna-nq", data_dir=given.data_dir)
    answers = answers.filter(parts(answers["question"]) == "test")
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "evouna-nq"
        markscheme.judge(answers, JUDGES, out=run)
        found = markscheme.report(run, given.out, title=TITLE, without_answers=True)
    print(f"{found.path}: {found.path.stat().st_size / 1e6:.2f} MB, {found.answers:,} answers")


if __name__ == "__main__":
    main()
