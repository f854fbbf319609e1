"""How fast, how exact and how heavy the shipped sentence encoder is.

    python -m benchmarks.encoder [--texts 4000] [--reference FILE]

Texts are the questions, references and answers of EVOUNA-NQ (`MARKSCHEME_DATA`). `--reference`
names a NumPy archive with `texts` and `vectors` of the unquantised model; then the cosine between
the two and the rank correlation of their likenesses are printed too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import time
from pathlib import Path

import numpy as np

from markscheme.models.local.encoder import MiniLM

DATA = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data")) / "evouna" / "NQ.json"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def evouna_texts() -> tuple[list[str], list[str]]:
    """Distinct short texts (questions, references, both) and distinct answers."""
    short, answers = set(), set()
    for row in json.loads(DATA.read_text(encoding="utf-8")):
        references = (row["golden_answer"] or "").split("/")
        short.update([row["question"], *references])
        short.update(f"{row['question']} {reference}" for reference in references)
        answers.update(row[f"answer_{s}"] for s in SYSTEMS if row[f"answer_{s}"])
    return sorted(short), sorted(answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--reference", type=Path)
    options = parser.parse_args()
    short, answers = evouna_texts()
    rng = random.Random(0)
    short = rng.sample(short, min(options.texts, len(short)))
    answers = rng.sample(answers, min(options.texts // 2, len(answers)))
    encoder = MiniLM()
    began = time.perf_counter()
    encoder.encode([short[0]])
    print(f"load and first text   {time.perf_counter() - began:8.3f} s")
    for name, texts in (("short texts", short), ("answers", answers)):
        for threads in (1, None):
            one = MiniLM(threads=threads)
            began = time.perf_counter()
            one.encode(texts)
            rate = len(texts) / (time.perf_counter() - began)
            label = f"{name}, {'one thread' if threads else 'all cores'}"
            print(f"{label:28}{rate:8.0f} a second")
    together = encoder.encode(short[:500])
    alone = np.concatenate([encoder.encode([text]) for text in short[:500]])
    print(f"largest change with batch mates {np.abs(together - alone).max():.1e}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process      {peak:.0f} MB")
    if options.reference:
        compare(encoder, options.reference)


def compare(encoder: MiniLM, path: Path) -> None:
    """Print how near the shipped vectors are to the unquantised ones in `path`."""
    from scipy.stats import spearmanr

    archive = np.load(path)
    ours, theirs = encoder.encode(archive["texts"].tolist()), archive["vectors"]
    cosine = (ours * theirs).sum(1)
    print(f"cosine to the float model: mean {cosine.mean():.5f}, least {cosine.min():.5f}")
    left, right = np.random.default_rng(0).integers(len(ours), size=(2, 200_000))
    rho = spearmanr((ours[left] * ours[right]).sum(1), (theirs[left] * theirs[right]).sum(1))
    print(f"rank correlation of likenesses, 200,000 random pairs: {rho.statistic:.5f}")


if __name__ == "__main__":
    main()
