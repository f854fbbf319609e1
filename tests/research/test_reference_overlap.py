"""Baselines against a list of graded references."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import polars as pl
import pytest

from markscheme.contract.grammar import parse_judge
from markscheme.contract.registry import needs_of
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError
from markscheme.models import Models
from markscheme.tables.answers import read_answers
from markscheme_research.judges.reference_overlap import ReferenceOverlap

LISTED = read_answers(
    [{"question": "Why?", "answer": "the cat sat", "reference_grades": [0, 3, 3],
      "references": ["the cat sat", "the dog sat", "the cat sat down here"]}]
)  # fmt: skip


@pytest.mark.parametrize(
    ("against", "rouge"), [("first", 4 / 6), ("second", 6 / 8), ("best", 6 / 8), ("all", 1.0)]
)
def test_baselines_count_the_references_that_the_protocol_says(against: str, rouge: float) -> None:
    said = apply(parse_judge(f"reference_overlap(against={against})"), LISTED)
    assert said["score"].to_list() == [pytest.approx(rouge)]


def test_the_second_reference_is_the_first_where_there_is_one() -> None:
    alone = LISTED.with_columns(reference_grades=pl.Series([[0, 3, 1]]))
    for against in ("first", "second"):
        found = apply(parse_judge(f"reference_overlap(against={against})"), alone)["score"]
        assert found.to_list() == [pytest.approx(4 / 6)]


@pytest.mark.parametrize(
    ("answer", "reference", "rouge_l"),
    [  # Scores of the PyPI package rouge 1.0.1, its rouge-l, "f".
        ("tree. fast on dog over the mat then it it dog tree. and. cat it then hill mat cat under "
         "then under dog a Sky", "mat blue Sky the", 0.3157894703601109),
        ("and. cat over under and. then over under and. sat was. tree. tree. ran Sky on sat over",
         "was. it a blue and. dog the Sky under was. Sky was. over ran sky fast over Sky a cat on "
         "hill fast then dog tree. ran", 0.6206896504637337),
        ("a b", "c d", 0.0),
    ],
)  # fmt: skip
def test_the_authors_rouge_l_is_over_sets_of_words_sentence_by_sentence(
    answer: str, reference: str, rouge_l: float
) -> None:
    rows = read_answers([{"question": "Why?", "answer": answer, "references": [reference]}])
    found = apply(parse_judge("reference_overlap(measure=set_rougeL)"), rows)["score"][0]
    assert found == pytest.approx(rouge_l, abs=1e-4)


def test_recall_does_not_fall_as_an_answer_says_more() -> None:
    long = LISTED.with_columns(answer=pl.col("answer") + " and slept for hours on the mat")
    for measure, falls in (("rougeL", True), ("rougeL_recall", False)):
        judge = parse_judge(f"reference_overlap(measure={measure})")
        before, after = (apply(judge, table)["score"][0] for table in (LISTED, long))
        assert (after < before) is falls
    recall = apply(parse_judge("reference_overlap(measure=rougeL_recall)"), LISTED)
    assert recall["score"].to_list() == [pytest.approx(2 / 3)]


def test_bertscore_names_its_encoder_and_nothing_else_does() -> None:
    for measure in ("bertscore", "cls_cosine"):
        with pytest.raises(JudgeError, match="need an encoder"):
            parse_judge(f"reference_overlap(measure={measure})")
    with pytest.raises(JudgeError, match="do not go together"):
        parse_judge("reference_overlap(measure=rouge1, model='x')")


def test_set_rouge_counts_repeats_once_and_keeps_case() -> None:
    table = read_answers([{"question": "q", "references": ["a a b"], "answer": "a b B"}])
    found = apply(ReferenceOverlap(measure="set_rouge1"), table)["score"][0]
    assert found == pytest.approx(2 * 2 / (3 + 2))


def test_it_needs_weights_for_measures_with_an_encoder_alone() -> None:
    assert needs_of(parse_judge("reference_overlap")).nothing
    measured = needs_of(parse_judge("reference_overlap(measure=bertscore, model='x')"))
    assert measured.extras == ("hf",)
    assert not measured.nothing


def test_the_signature_names_the_encoder_that_is_used() -> None:
    @dataclass(frozen=True)
    class Other:
        revision: str = "other"

    class OtherModels(Models):
        def encoder(self) -> Other:  # type: ignore[override]
            return Other()

    judge = ReferenceOverlap(measure="cosine")
    assert judge.identity(OtherModels()) == {"embeddings": "other"}
    assert judge.identity(None) == judge.identity(Models()) != {"embeddings": "other"}


def test_without_the_research_package_its_install_line_is_named() -> None:
    code = (
        "from markscheme.contract import registry\n"
        "from markscheme.errors import MissingExtraError\n"
        "registry.importlib.metadata.entry_points = lambda **wanted: ()\n"
        "try:\n"
        "    registry.entry('reference_overlap')\n"
        "except MissingExtraError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install ./packages/research" in done.stdout
