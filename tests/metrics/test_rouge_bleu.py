"""ROUGE and BLEU equal rouge-score and sacrebleu to 1e-9, on nasty text and on real answers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import sacrebleu
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz import fuzz
from rouge_score.rouge_scorer import RougeScorer

import squad_formulas as squad
from markscheme.metrics import pairs, rouge_bleu
from markscheme.metrics.rouge_bleu import bleu, rouge1, rouge2, rouge_l
from markscheme.metrics.similarity import char_similarity
from markscheme.text.normalisation import normalise

Metric = Callable[[pl.Series, pl.Series], pl.Series]

SCORER = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def rouge_score(kind: str) -> Callable[[str, str], float]:
    return lambda answer, reference: float(SCORER.score(reference, answer)[kind].fmeasure)


def sentence_bleu(answer: str, reference: str) -> float:
    return float(sacrebleu.sentence_bleu(answer, [reference]).score) / 100


def ratio(answer: str, reference: str) -> float:
    if not normalise(reference):
        answer, reference = answer.lower().strip(), reference.lower().strip()
        return float(fuzz.ratio(answer, reference)) / 100
    return float(fuzz.ratio(normalise(answer), normalise(reference))) / 100


METRICS = [
    (rouge1, rouge_score("rouge1")),
    (rouge2, rouge_score("rouge2")),
    (rouge_l, rouge_score("rougeL")),
    (bleu, sentence_bleu),
    (char_similarity, ratio),
]
NAMES = ["rouge1", "rouge2", "rougeL", "bleu", "char_similarity"]

words = ["the", "cat", "Cat", "sat", "on", "mat", "3.14", "1,000", "2-3", "U.S.", "a_b", "é", "中"]
marks = [".", ",", "-", "'", '"', "[x]", "&amp;lt;", "<skipped>"]
spaces = ["-\n", "\n", "\r", "\xa0", "\x85", "\x1c"]
pieces = st.sampled_from([*words, *marks, *spaces, "İ", "\u212a"])
text = st.one_of(
    st.lists(pieces, max_size=16).map(" ".join),
    st.lists(pieces, max_size=8).map("".join),
    st.text(max_size=10),
)
rows = st.lists(st.tuples(text, st.lists(text, min_size=1, max_size=3)), max_size=10)


@pytest.mark.parametrize(("column", "scalar"), METRICS, ids=NAMES)
@given(table=rows)
@example(table=[("", ["\x1c"]), (" a\x85", ["A"])])
def test_equals_the_library_on_nasty_text(
    column: Metric, scalar: Callable[[str, str], float], table: list[tuple[str, list[str]]]
) -> None:
    answers, references = [row[0] for row in table], [row[1] for row in table]
    got = column(*squad.columns(answers, references))
    assert got.dtype == pl.Float64
    assert got.to_list() == pytest.approx(squad.best(scalar, answers, references), abs=1e-9)


@pytest.fixture(scope="module")
def real_rows(data_dir: Path) -> tuple[list[str], list[list[str]]]:
    """Answers of every length beside their references, and beside each other."""
    questions = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    rows = []
    for question in (each for each in questions if not each["improper"]):
        long = question["answer_gpt4"]
        references = question["golden_answer"].split("/")
        for system in ("fid", "gpt35", "chatgpt", "newbing"):
            answer = question[f"answer_{system}"]
            if answer is not None:
                rows.append((answer, [*references, long] if system == "chatgpt" else references))
    sample = random.Random(2).sample(rows, 3000)
    return [row[0] for row in sample], [row[1] for row in sample]


@pytest.mark.parametrize(("column", "scalar"), METRICS, ids=NAMES)
def test_equals_the_library_on_real_answers(
    column: Metric,
    scalar: Callable[[str, str], float],
    real_rows: tuple[list[str], list[list[str]]],
) -> None:
    answers, references = real_rows
    got = column(*squad.columns(answers, references))
    expected = pl.Series(squad.best(scalar, answers, references), dtype=pl.Float64)
    assert (got - expected).abs().max() < 1e-9
    assert 0.01 < float(expected.mean()) < 0.9


@pytest.mark.parametrize(("column", "scalar"), METRICS, ids=NAMES)
def test_equals_the_library_on_the_bundled_example(
    column: Metric, scalar: Callable[[str, str], float], example: Path
) -> None:
    rows = [json.loads(line) for line in example.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["answer"]]
    answers = [row["answer"] for row in rows]
    # Long answers as references of one another, beside the short references.
    references = [
        [*row["references"], other] for row, other in zip(rows, answers[::-1], strict=True)
    ]
    got = column(*squad.columns(answers, references))
    expected = pl.Series(squad.best(scalar, answers, references), dtype=pl.Float64)
    assert len(answers) > 200
    assert (got - expected).abs().max() < 1e-9
    assert 0.01 < float(expected.mean()) < 0.9


@pytest.mark.parametrize("metric", [row[0] for row in METRICS], ids=NAMES)
def test_missing_things_are_null_and_order_is_kept(metric: Metric) -> None:
    answers = ["w x y z", None, "x", "x", "", "q"]
    references = [["w x y z"], ["x"], [], None, ["z", None], [None]]
    got = metric(*squad.columns(answers, references)).to_list()
    assert got == [pytest.approx(1), None, None, None, 0, None]
    assert metric(*squad.columns([], [])).to_list() == []


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [f"a{n} b{n % 3} c c d" * (n % 5) for n in range(60)]
    references = [[f"b{n % 3} c", f"a{n} b{n % 3}"] for n in range(60)]
    whole = rouge2(*squad.columns(answers, references))
    monkeypatch.setattr(rouge_bleu, "PIECE_BYTES", 40)
    assert rouge2(*squad.columns(answers, references)).equals(whole)


def test_pieces_are_cut_by_bytes() -> None:
    seen: list[int] = []

    def note(left: pl.Series, right: pl.Series) -> pl.Series:
        seen.append(len(left))
        return left + right

    left, right = pl.Series(["aa", "b", "cccc", "", "d"]), pl.Series(["x"] * 5)
    joined = pairs.by_pieces(note, left, right, size=5)
    assert joined.to_list() == ["aax", "bx", "ccccx", "x", "dx"]
    assert sum(seen) == 5
    assert len(seen) > 1


def test_an_answer_with_many_references_is_one_piece_and_counts_once() -> None:
    seen: list[int] = []

    def note(left: pl.Series, right: pl.Series) -> pl.Series:
        seen.append(len(left))
        return left + right

    left, right = pl.Series(["a" * 90] * 50 + ["b"]), pl.Series(["x"] * 51)
    assert pairs.by_pieces(note, left, right, size=150).to_list() == (left + right).to_list()
    assert seen == [51]


def test_many_references_are_as_like_an_answer_as_each_alone() -> None:
    answers = ["Jane Austen wrote Emma", None, "", "Emma was written by Jane Austen 北京"]
    words = ("Jane", "Emma", "é", "by Ann", "北", "*", "")
    references = [
        [f"{words[(n + row) % 7]} {words[n % 5]} {n % 11}" for n in range(70 + row)]
        for row in range(4)
    ]
    found = char_similarity(*squad.columns(answers, references)).to_list()
    for score, answer, listed in zip(found, answers, references, strict=True):
        alone = [char_similarity(*squad.columns([answer], [[one]]))[0] for one in listed]
        assert score == (None if answer is None else max(alone))


def test_shared_counts_repeats() -> None:
    left = pl.Series([["a", "a", "b"], [], ["c"]], dtype=pl.List(pl.String))
    right = pl.Series([["a", "a", "a"], ["c"], ["c", "c"]], dtype=pl.List(pl.String))
    assert pairs.shared(*pairs.token_grams(left, right)).tolist() == [2, 0, 1]
