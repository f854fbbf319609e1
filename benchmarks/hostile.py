"""What markscheme withstands, in figures: `python -m benchmarks.hostile`, for docs/robustness.md.

`--damages N`: random damages of a run's folder, finished and unfinished in turn, from fixed seeds,
counted by what became of them; the checks are those of tests/support/run_damage.py, and the
first damage that gives a traceback or a wrong figure ends the script. `--rows`: processor time of
every judge that ships and asks no server, on rows of 2,000 x 2,000 words.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.rows import SEED

ROOT = Path(__file__).parents[1]
WORDS = 2_000
JUDGES = (
    "exact_match", "contains", "regex", "token_f1", "rouge1", "rouge2", "rougeL", "bleu",
    "char_similarity", "embedding_cosine", "entailment", "examiner", "claims",
    "listwise_examiner", "auto",
)  # fmt: skip


def damages(count: int) -> dict[str, Counter[str]]:
    """What became of `count` damages of a run, finished and unfinished in turn.

    Raises:
        AssertionError: one gives a traceback or a wrong figure.
    """
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    import run_damage

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = run_damage.answers(folder / "answers.jsonl")
        right = run_damage.truth(source, folder / "finished")
        kept = {"finished": folder / "finished"}
        kept["unfinished"] = run_damage.stopped(source, folder / "unfinished")
        found: dict[str, Counter[str]] = {state: Counter() for state in kept}
        for seed in range(count):
            state = tuple(kept)[seed % 2]
            became = run_damage.damage_once(seed, kept[state], folder / "work", right)
            found[state][became] += 1
    return found


def texts() -> dict[str, tuple[str, str]]:
    """Reference and answer of WORDS words, of several kinds."""
    lines = (ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    words = [word for line in lines for word in json.loads(line)["question"].split()]
    chance = random.Random(SEED)

    def prose() -> str:
        drawn = chance.choices(words, k=WORDS)
        return " ".join(f"{word}." if n % 12 == 11 else word for n, word in enumerate(drawn))

    numbered = " ".join(f"word{n}" for n in range(WORDS))
    figures = " ".join(f"{n} km" for n in range(WORDS // 2))
    denials = " ".join(f"word{n} is not {n}." for n in range(WORDS // 4))
    return {
        "prose": (prose(), prose()),
        "one sentence": (numbered, f"{numbered} x"),
        "one word": ("cat " * WORDS, "cat " * (WORDS - 1)),
        "quantities": (figures, f"{figures} x"),
        "denials": (denials, f"{denials} x"),
    }


def rows(judges: tuple[str, ...]) -> None:
    """Processor seconds of one such row, judges loaded, by judge and kind of text."""
    import markscheme

    kinds = texts()
    print(f"| judge | {' | '.join(kinds)} |")
    print(f"|---|{'--:|' * len(kinds)}")
    small = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Austen"}
    for name in judges:
        markscheme.judge([small], name)
        cells = []
        for reference, answer in kinds.values():
            row = {"question": "What is it?", "references": [reference], "answer": answer}
            began = time.process_time()
            markscheme.judge([row], name)
            cells.append(f"{time.process_time() - began:.2f}")
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print what was requested."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--damages", type=int, default=0, metavar="N")
    options.add_argument("--rows", action="store_true")
    options.add_argument("--judges", nargs="*", default=JUDGES)
    chosen = options.parse_args()
    if chosen.damages:
        root = " (as root, whom permissions do not stop)" if os.geteuid() == 0 else ""
        for state, found in damages(chosen.damages).items():
            became = ", ".join(f"{number} {what}" for what, number in sorted(found.items()))
            print(f"{state} run, {found.total()} damages{root}: {became}")
    if chosen.rows:
        rows(tuple(chosen.judges))


if __name__ == "__main__":
    main()
