"""The lexical judges: outcomes, thresholds, what they skip, and the published figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from markscheme.contract.grammar import check
from markscheme.errors import JudgeError
from markscheme.judges.lexical.overlap import Bleu, CharSimilarity, Rouge1, Rouge2, RougeL
from markscheme.judges.lexical.words import Contains, ExactMatch, TokenF1
from markscheme.metrics.lexical import contains, exact_match, token_f1
from markscheme.tables.judgments import as_outcomes

SCHEMA = {"answer": pl.String, "references": pl.List(pl.String), "reference_kind": pl.String}
JUDGES = [ExactMatch(), Contains(), TokenF1(), Rouge1(), Rouge2(), RougeL(), Bleu()]
JUDGES_ALL = [*JUDGES, CharSimilarity()]
IDS = [type(judge).__name__ for judge in JUDGES_ALL]


def table(*rows: tuple[str, list[str] | None, str | None]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


@pytest.mark.parametrize("judge", JUDGES_ALL, ids=IDS)
def test_outcomes_keep_rows_and_order(judge: ExactMatch) -> None:
    answers = table(
        ("now and then we meet", ["now and then we meet!", "never"], None),
        ("never", ["always"], "text"),
        ("x", ["x+"], "regex"),
        ("x", [], None),
        ("x", None, None),
        ("", ["z"], None),
        ("now and then we meet 😀", ["qq", "now and then we meet 😀"], None),
    )
    outcomes = as_outcomes(judge.judge(answers, None))
    assert outcomes["status"].to_list() == [
        *["judged"] * 2,
        *["skipped"] * 3,
        *["judged"] * 2,
    ]
    assert outcomes["verdict"].to_list() == [True, False, None, None, None, False, True]
    assert outcomes["score"].null_count() == 3
    assert "regular expressions" in outcomes["explanation"][2]
    assert "no reference" in outcomes["explanation"][3]
    assert outcomes["relation"].null_count() == outcomes.height
    assert as_outcomes(judge.judge(answers.clear(), None)).height == 0
    assert judge.judge(answers.drop("reference_kind"), None)["score"][2] is not None


def test_threshold_decides_and_must_be_a_share() -> None:
    answers = table(("b c", ["b d"], None))
    assert TokenF1().judge(answers, None)["verdict"].to_list() == [True]
    assert TokenF1(threshold=0.51).judge(answers, None)["verdict"].to_list() == [False]
    with pytest.raises(JudgeError, match=r"threshold=1\.5"):
        check(TokenF1(threshold=1.5))


def test_contains_says_when_an_empty_reference_decided() -> None:
    answers = table(
        ("anything", ["A"], None), ("a dog", ["The", "dog"], None), ("a dog", ["dog"], None)
    )
    outcomes = Contains(empty_reference="everywhere").judge(answers, None)
    assert outcomes["verdict"].to_list() == [True, True, True]
    assert "normalises to nothing" in outcomes["explanation"][0]
    assert outcomes["explanation"][2] is None
    assert Contains().judge(answers, None)["verdict"].to_list() == [False, True, True]


@pytest.mark.parametrize(
    ("judge", "equal"),
    [
        (ExactMatch(), {"A", " a "}),
        (Contains(), {"A", "a)", "(A)", " a ", "Answer: A", "A is right."}),
        (TokenF1(), {"A", " a "}),
        (CharSimilarity(), {"A", " a "}),
    ],
)
def test_an_option_letter_is_found_where_it_stands_only(judge: Any, equal: set[str]) -> None:
    texts = [
        "A", " a ", "a)", "(A)", "Answer: A", "A is right.", "B", "", "(B)", "The", "D) neon",
        "The answer is B.", "Paris",
    ]  # fmt: skip
    outcomes = judge.judge(table(*((text, ["A"], None) for text in texts)), None)
    accepted = {text for text, yes in zip(texts, outcomes["verdict"], strict=True) if yes}
    assert accepted == equal


def test_references_with_words_are_judged_as_before() -> None:
    rows = table(("the Danube", ["Danube"], None), ("A", ["the"], None), ("x+", ["*", "X"], None))
    assert ExactMatch().judge(rows, None)["verdict"].to_list() == [True, False, True]
    squad = ExactMatch(empty_reference="everywhere").judge(rows, None)
    assert squad["verdict"].to_list() == [True, True, True]


def test_shared_work_never_mixes_tables() -> None:
    first, second = table(("x", ["x"], None)), table(("y", ["x"], None))
    for _ in range(3):
        assert ExactMatch().judge(first, None)["score"].to_list() == [1]
        assert Contains().judge(second, None)["score"].to_list() == [0]
        assert TokenF1().judge(second.with_columns(answer=pl.lit("x")), None)["score"][0] == 1


@pytest.mark.parametrize(
    ("system", "f1", "accuracy"),
    [
        ("fid", 92.0, 89.7),
        ("gpt35", 86.8, 84.7),
        ("chatgpt", 84.9, 80.3),
        ("gpt4", 87.6, 82.5),
        ("newbing", 87.8, 82.3),
    ],
)
def test_evouna_lexical_matching(data_dir: Path, system: str, f1: float, accuracy: float) -> None:
    questions = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    rows = [
        (q[f"answer_{system}"] or "", q["golden_answer"].split("/"), q[f"judge_{system}"])
        for q in questions
        if not q["improper"] and q[f"judge_{system}"] is not None
    ]
    answers = pl.DataFrame(
        rows,
        schema={"answer": pl.String, "references": pl.List(pl.String), "label": pl.Boolean},
        orient="row",
    )
    assert answers.height == (3019 if system == "newbing" else 3020)
    judge = Contains(empty_reference="everywhere")
    verdict, label = judge.judge(answers, None)["verdict"], answers["label"]
    both = (verdict & label).sum()
    # Within half of the last printed digit.
    assert 200 * both / (verdict.sum() + label.sum()) == pytest.approx(f1, abs=0.0501)
    assert 100 * (verdict == label).mean() == pytest.approx(accuracy, abs=0.0501)


TABLE_1 = {
    "NQ301_text-davinci-003_zeroshot": (None, None, 12.6, 27.5),
    "NQ301_text-davinci-003_fewshot-n64": (None, None, 33.9, 50.5),
    "NQ_DPR": (40.9, 47.8, 45.9, 52.3),
    "NQ_FiD": (46.5, 53.7, 47.8, 55.4),
    "NQ_ANCE-plus_FiD": (47.3, 54.8, 48.2, 55.9),
    "NQ_Rocketv2_FiD": (47.7, 55.6, 49.8, 58.7),
    "NQ_Contriever_FiD": (47.9, 55.4, 46.5, 55.9),
    "NQ_FiD-KD": (49.6, 57.4, 50.8, 61.2),
    "NQ_GAR-plus_FiD": (49.8, 57.4, 50.8, 59.7),
    "NQ_EviGen": (49.8, 57.0, 51.8, 59.5),
    "NQ_EMDR2": (51.5, 59.5, 53.2, 62.6),
    "NQ_R2D2": (52.4, 59.0, 52.8, 61.4),
}
"""Kamalloo et al. 2023, Table 1: EM and F1 on all 3,610 questions, then on the sampled 301."""


def predictions(file: Path) -> pl.DataFrame:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    texts = [
        row["prediction"][0].strip() if isinstance(row["prediction"], list) else row["prediction"]
        for row in rows
    ]
    return pl.DataFrame(
        {
            "question": [row["question"] for row in rows],
            "answer": texts,
            "references": [row["answer"] for row in rows],
        }
    )


def printed(share: float) -> float:
    return round(round(100 * share, 2), 1)


@pytest.mark.parametrize("stem", TABLE_1)
def test_kamalloo_table_1_em_and_f1(data_dir: Path, stem: str) -> None:
    folder = data_dir / "openqa-eval" / "model_outputs"
    sampled = predictions(folder / "NQ301_text-davinci-003_zeroshot.jsonl")["question"]
    every = predictions(folder / f"{stem}.jsonl")
    some = every.filter(pl.col("question").is_in(sampled.implode()))
    assert some.height == 301
    got = [
        printed(float(metric(rows["answer"], rows["references"]).mean() or 0))
        for rows in (every, some)
        for metric in (exact_match, token_f1)
    ]
    for ours, theirs in zip(got, TABLE_1[stem], strict=True):
        assert theirs is None or ours == theirs
    assert contains(some["answer"], some["references"]).null_count() == 0
