"""The listwise examiner, the draws it is trained on, the baselines and the routing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from markscheme.agreement.list_figures import best_and_worst, over_draws
from markscheme.agreement.reference_lists import Draw, draw_references
from markscheme.answers import read_answers
from markscheme.datasets import passages
from markscheme.engine.apply import apply
from markscheme.errors import AgreementError
from markscheme.grammar import parse_judge
from markscheme.judges.listwise_references import build_lists
from markscheme.judges.question_kind import category, classify
from markscheme.judges.reference_overlap import ReferenceOverlap
from markscheme.models.scripted import ScriptedChat

GRADED = pl.DataFrame(
    [("q", f"passage {number}", number % 4) for number in range(20)]
    + [("r", f"other {number}", number % 2) for number in range(6)],
    schema=["question", "passage", "grade"],
    orient="row",
)


def test_drawn_references_leave_the_candidates() -> None:
    drawn = draw_references(GRADED, Draw(composition="33221100", seed=3))
    for row in drawn.iter_rows(named=True):
        assert row["answer"] not in row["references"]
        assert row["reference_grades"] == sorted(row["reference_grades"], reverse=True)
    assert drawn.filter(pl.col("question") == "q")["reference_grades"][0].to_list() == [
        3, 3, 2, 2, 1, 1, 0, 0,
    ]  # fmt: skip
    assert drawn.filter(pl.col("question") == "q").height == 12
    assert drawn.filter(pl.col("question") == "r")["reference_grades"][0].to_list() == [1, 1, 0, 0]


def test_draws_follow_the_seed_and_not_the_order_of_the_file() -> None:
    first, again, other = (
        draw_references(GRADED, Draw(composition="3210", seed=seed)) for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)
    labels = draw_references(GRADED, Draw(composition="none"))["label"].to_list()
    assert labels != sorted(labels)


def test_butref_keeps_the_references_and_bad_compositions_are_refused() -> None:
    kept = draw_references(GRADED, Draw(composition="3210", protocol="butref"))
    assert kept.height == GRADED.height - GRADED["question"].n_unique()
    assert draw_references(GRADED, Draw(composition="top"))["references"].list.len().max() == 1
    with pytest.raises(AgreementError, match="composition"):
        draw_references(GRADED, Draw(composition="best"))


def test_the_examiner_puts_better_answers_higher() -> None:
    row = {
        "question": "Why is the sky blue?",
        "references": [
            "Air molecules scatter the short blue waves of sunlight far more than the red ones, "
            "so blue light reaches us from every direction of the sky.",
            "Because of the way light scatters in the air.",
            "It mirrors the sea.",
            "lol who knows",
        ],
        "reference_grades": [3, 2, 1, 0],
    }
    said = [
        "Sunlight is scattered by the molecules of the air, and short blue waves are scattered "
        "more strongly than long red ones, which is why the sky looks blue to us.",
        "no idea lol",
    ]
    answers = read_answers([{**row, "answer": text} for text in said])
    for name in ("listwise_examiner", "listwise_examiner(encoder=never)"):
        scores = apply(parse_judge(name), answers)["score"].to_list()
        assert scores[0] > scores[1] + 0.15


@pytest.mark.parametrize("references", [[], ["It is because of scattering."], ["a b", "c d", "e"]])
def test_it_works_with_any_number_of_references(references: list[str]) -> None:
    table = pl.concat(
        [
            read_answers(
                [{"question": "Why is it so?", "references": ["x"], "answer": "Because it must."}]
            ).with_columns(references=pl.Series([references], dtype=pl.List(pl.String)))
        ]
    )
    found = apply(parse_judge("listwise_examiner"), table)
    assert found["status"].to_list() == ["judged"]
    assert 0 <= found["score"][0] <= 1


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    drawn = draw_references(GRADED, Draw(composition="3210"))
    table = drawn.with_columns(
        answer_id=pl.int_range(pl.len()).cast(pl.String), system=pl.lit("s"),
        reference_kind=pl.lit("text"),
    )  # fmt: skip
    judge = parse_judge("listwise_examiner")
    together = apply(judge, table)
    assert apply(judge, table.reverse()).reverse().equals(together)
    assert apply(judge, table[3:4]).equals(together[3:4])


def test_best_and_worst_share_ties() -> None:
    table = pl.DataFrame(
        {"question": ["a"] * 3 + ["b"] * 3, "score": [3.0, 2, 1, 1, 1, 1], "grade": [3, 2, 1] * 2}
    )
    best, both = best_and_worst(table)
    assert best == pytest.approx((1 + 1 / 3) / 2)
    assert both == pytest.approx((1 + 1 / 9) / 2)


def test_set_rouge_counts_repeats_once_and_keeps_case() -> None:
    table = read_answers([{"question": "q", "references": ["a a b"], "answer": "a b B"}])
    found = apply(ReferenceOverlap(measure="set_rouge1"), table)["score"][0]
    assert found == pytest.approx(2 * 2 / (3 + 2))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("who wrote the song photograph by ringo starr", "factoid"),
        ("when did the titanic sink", "factoid"),
        ("Why do cats purr?", "reason"),
        ("How do I remove rust from a bicycle chain?", "instruction"),
        ("What is the difference between a virus and a bacterium?", "comparison"),
        ("Do you think that people should pay more tax?", "debate"),
    ],
)
def test_questions_are_told_apart(question: str, kind: str) -> None:
    assert category(question) == kind


def test_auto_sends_rows_to_their_judges() -> None:
    rows = [
        {"question": "who wrote emma", "references": ["Jane Austen"], "answer": "Jane Austen"},
        {"question": "Why do cats purr?", "answer": "They purr when they are content.",
         "references": ["Cats purr when they are content and also to calm themselves down."]},
    ]  # fmt: skip
    found = apply(parse_judge("auto"), read_answers(rows))
    assert [text.split(":")[0] for text in found["explanation"]] == ["factoid", "non-factoid"]
    assert found["verdict"][0] is True


def test_reference_lists_are_written_by_several_models() -> None:
    chats = [
        ScriptedChat(replies=lambda text, name=name: f"{name}: {len(text)}", name=name)
        for name in ("one", "two")
    ]
    answers = read_answers([{"question": "Why?", "references": ["Because."], "answer": "x"}])
    built = build_lists(answers, chats, composition="33221100")
    row = built.row(0, named=True)
    assert row["status"] == "ok"
    assert row["reference_grades"] == [3, 3, 2, 2, 1, 1, 0, 0]
    assert set(row["models"]) == {"one", "two"}
    assert row["version"] == 1
    assert build_lists(answers, chats, composition="33221100").equals(built)
    deaf = [ScriptedChat(replies={})]
    assert build_lists(answers, deaf)["status"].to_list() != ["ok"]


def test_the_data_readmes_floors(data_dir: Path) -> None:
    """Length and the set ROUGE-1 on TREC-DL-NF, K/S/P .068/.086/.071 and .233/.291/.334."""
    trec = passages("trec-dl-nf", data_dir=data_dir)
    length = over_draws(
        trec, lambda rows: rows["answer"].str.split(" ").list.len().cast(pl.Float64),
        composition="3210",
    )  # fmt: skip
    assert length.means["spearman"].value == pytest.approx(0.086, abs=0.01)
    assert length.questions == 53
    rouge = over_draws(
        trec, lambda rows: ReferenceOverlap(measure="set_rouge1").judge(rows, None)["score"],
        composition="3210",
    )  # fmt: skip
    found = [rouge.means[name].value for name in ("kendall", "spearman", "pearson")]
    assert np.allclose(found, [0.233, 0.291, 0.334], atol=0.02)


def test_questions_of_the_real_sets(data_dir: Path) -> None:
    antique = passages("antique", data_dir=data_dir, part="dev")["question"].unique()
    assert (classify(antique)["factoid_chance"] < 0.5).mean() > 0.85
