"""Lists of references drawn from graded passages, the listwise judge on them, and its training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.errors import AgreementError
from markscheme.judges.listwise.listwise_examiner import ListwiseWeights
from markscheme.models.local.encoder import token_encoder
from markscheme_research.datasets import passages
from markscheme_research.judges.reference_overlap import ReferenceOverlap
from markscheme_research.lists.graded_lists import draw_lists
from markscheme_research.lists.list_figures import best_and_worst, over_draws
from markscheme_research.lists.reference_lists import Draw, draw_references
from markscheme_research.training.listwise import save_listwise, train_mode
from markscheme_research.training.listwise_draws import draw_all
from markscheme_research.training.listwise_models import ListwiseOptions

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


def test_ids_and_systems_go_with_the_candidates(tmp_path: Path) -> None:
    known = GRADED.with_columns(answer_id=pl.lit("id of ") + pl.col("passage"), system=pl.lit("s"))
    drawn = draw_references(known, Draw(composition="3210"))
    assert (drawn["answer_id"] == "id of " + drawn["answer"]).all()
    names = {f"mine-{place}" for place in range(8)}
    rows = [
        {"id": name, "question": "q", "answer": f"text of {name}", "label": place % 4}
        for place, name in enumerate(sorted(names))
    ]
    file = tmp_path / "graded.jsonl"
    pl.DataFrame(rows).write_ndjson(file)
    assert set(draw_lists(str(file), composition="3210").answers["answer_id"]) < names


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


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    drawn = draw_references(GRADED, Draw(composition="3210"))
    table = as_answers(drawn)
    judge = parse_judge("listwise_examiner")
    together = apply(judge, table)
    assert apply(judge, table.reverse()).reverse().equals(together)
    assert apply(judge, table[3:4]).equals(together[3:4])


@pytest.mark.proof(area="examiner")
@pytest.mark.parametrize("composition", ["33221100", "top", "none"])
def test_better_passages_score_higher_and_both_modes_share_a_scale(
    antique_dev: Path, composition: str
) -> None:
    every = passages("antique", data_dir=antique_dev, part="dev")
    some = every["question"].unique().sort()[:12]
    drawn = draw_references(
        every.filter(pl.col("question").is_in(some.implode())), Draw(composition=composition)
    )
    lowest, highest = every["grade"].min(), every["grade"].max()
    levels = []
    for name in ("listwise_examiner", "listwise_examiner(encoder=never)"):
        scores = apply(parse_judge(name), as_answers(drawn))["score"]
        best, worst = (scores.filter(drawn["label"] == grade).mean() for grade in (highest, lowest))
        assert best > worst + 0.08
        levels.append(scores.mean())
    assert abs(levels[0] - levels[1]) < 0.1


@pytest.mark.proof(area="examiner")
def test_training_gives_the_same_bytes_again(antique_dev: Path, tmp_path: Path) -> None:
    sets = {}
    for name in ("antique", "trec-dl-nf"):
        every = passages(
            name, data_dir=antique_dev, **({"part": "dev"} if name == "antique" else {})
        )
        some = every["question"].unique().sort()[:12]
        sets[name] = (
            every.filter(pl.col("question").is_in(some.implode()))
            .filter(pl.int_range(pl.len()).shuffle(seed=1).over("question") < 8)
        )  # fmt: skip
    options = ListwiseOptions(rounds=5, ranking=1, folds=2)
    for folder in ("one", "two"):
        drawn = draw_all(sets, token_encoder(), draws=3, seed=0)
        modes = [
            train_mode(drawn, options, encoded=encoded, say=lambda _: None)
            for encoded in (True, False)
        ]
        save_listwise(drawn, *modes, tmp_path / folder)
    for name in ListwiseWeights.files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert modes[0].report["references"].to_list() == ["many", "one", "none"] * 2
    answers = as_answers(draw_references(sets["antique"], Draw(composition="3210")))
    for mode, name in ((True, "always"), (False, "never")):
        judge = parse_judge(f"listwise_examiner(encoder={name}, weights='{tmp_path / 'one'}')")
        scores = apply(judge, answers)["score"]
        assert scores.is_between(0, 1).all(), mode
        assert scores.n_unique() > 5


def test_best_and_worst_share_ties() -> None:
    table = pl.DataFrame(
        {"question": ["a"] * 3 + ["b"] * 3, "score": [3.0, 2, 1, 1, 1, 1], "grade": [3, 2, 1] * 2}
    )
    best, both = best_and_worst(table)
    assert best == pytest.approx((1 + 1 / 3) / 2)
    assert both == pytest.approx((1 + 1 / 9) / 2)


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


def as_answers(drawn: pl.DataFrame) -> pl.DataFrame:
    return drawn.with_columns(
        answer_id=pl.int_range(pl.len()).cast(pl.String), system=pl.lit("s"),
        reference_kind=pl.lit("text"),
    )  # fmt: skip
