"""Data for the agreement tests: NQ301 as released, read once."""

from __future__ import annotations

import csv
import json
import re
import string
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

SYSTEMS = {
    "InstructGPT (zero-shot)": "NQ301_text-davinci-003_zeroshot",
    "InstructGPT (few-shot)": "NQ301_text-davinci-003_fewshot-n64",
    "DPR": "NQ_DPR",
    "FiD": "NQ_FiD",
    "ANCE+ & FiD": "NQ_ANCE-plus_FiD",
    "RocketQAv2 & FiD": "NQ_Rocketv2_FiD",
    "Contriever & FiD": "NQ_Contriever_FiD",
    "FiD-KD": "NQ_FiD-KD",
    "GAR+ & FiD": "NQ_GAR-plus_FiD",
    "EviGen": "NQ_EviGen",
    "EMDR2": "NQ_EMDR2",
    "R2-D2": "NQ_R2D2",
}
YES_NO = {"yes": 1.0, "no": 0.0}
PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad(text: str) -> str:
    bare = text.lower().translate(PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def squad_match(frame: pl.DataFrame) -> pl.Series:
    """SQuAD exact match, the slow and plain way: an independent stand-in for metrics."""
    return pl.Series(
        [
            squad(answer) in {squad(reference) for reference in references}
            for answer, references in zip(frame["answer"], frame["references"], strict=True)
        ],
        dtype=pl.Boolean,
    )


def squad_f1(answer: str, references: list[str]) -> float:
    best = 0.0
    for reference in references:
        gold, said = squad(reference).split(), squad(answer).split()
        common = sum(min(gold.count(w), said.count(w)) for w in set(gold))
        if common:
            best = max(best, 2 * common / (len(gold) + len(said)))
    return best


def _rows(path: Path, *, quoted: bool = False) -> list[dict[str, str]]:
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=quoting))


@pytest.fixture(scope="session")
def nq301_labels(data_dir: Path) -> pl.DataFrame:
    """1,490 rows: question, answer, label, three annotators, and the verdicts of two judges."""
    folder = data_dir / "openqa-eval"
    human = _rows(folder / "NQ301_human.tsv")
    bem = _rows(folder / "NQ301_BEM.tsv", quoted=True)
    davinci = _rows(folder / "NQ301_text-davinci-003.tsv")
    assert len(human) == len(bem) == len(davinci) == 1490
    probabilities = [json.loads(row["BEM probs per gold answer"]) for row in bem]
    return pl.DataFrame(
        {
            "question": [row["Question"] for row in human],
            "answer": [row["Model answer"] for row in human],
            "label": [YES_NO[row["Acceptable?"].lower()] for row in human],
            "bem": [YES_NO[row["Acceptable?"].lower()] for row in bem],
            "bem_score": [max(pair[1] for pair in pairs) for pairs in probabilities],
            "davinci": [YES_NO[row["Acceptable?"].lower()] for row in davinci],
            **{
                name: [YES_NO.get((row[name] or "").strip().lower()) for row in human]
                for name in ("annotator1", "annotator2", "annotator3")
            },
        }
    )


@pytest.fixture(scope="session")
def nq301_answers(data_dir: Path, nq301_labels: pl.DataFrame) -> pl.DataFrame:
    """3,612 rows: twelve systems' answers to the 301 questions, each file's own references."""
    labelled = set(nq301_labels["question"])
    rows = []
    for system, stem in SYSTEMS.items():
        path = data_dir / "openqa-eval" / "model_outputs" / f"{stem}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["question"] in labelled:
                said = row["prediction"]
                rows.append(
                    {
                        "question": row["question"],
                        "system": system,
                        "references": [str(answer) for answer in row["answer"]],
                        "answer": said[0].strip() if isinstance(said, list) else str(said),
                    }
                )
    return pl.DataFrame(rows)


@pytest.fixture(scope="session")
def exact_match() -> Callable[[pl.DataFrame], pl.Series]:
    return squad_match


@pytest.fixture(scope="session")
def nq301_scores(nq301_answers: pl.DataFrame, nq301_labels: pl.DataFrame) -> pl.DataFrame:
    """Table 1 of Kamalloo et al., answer by answer: em, f1, bem, davinci, human."""
    from markscheme_research.studies import match_amended

    pairs = zip(nq301_answers["answer"], nq301_answers["references"], strict=True)
    amended = {
        name: match_amended(
            nq301_answers,
            nq301_labels.select("question", "answer", pl.col(column).alias("label")),
            squad_match,
        ).alias(name)
        for name, column in (("bem", "bem"), ("davinci", "davinci"), ("human", "label"))
    }
    return nq301_answers.with_columns(
        squad_match(nq301_answers).alias("em"),
        pl.Series("f1", [squad_f1(answer, references) for answer, references in pairs]),
        *amended.values(),
    )


@pytest.fixture(scope="session")
def normalise() -> Callable[[pl.Series], pl.Series]:
    return lambda texts: pl.Series([None if text is None else squad(text) for text in texts])
