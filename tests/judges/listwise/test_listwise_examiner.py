"""The listwise examiner, the draws it is trained on, the baselines and the routing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl
import pytest

from markscheme.agreement.list_figures import best_and_worst, over_draws
from markscheme.agreement.reference_lists import Draw, draw_references
from markscheme.contract.grammar import parse_judge
from markscheme.datasets import passages
from markscheme.engine.execute import apply
from markscheme.errors import AgreementError
from markscheme.features.nonfactoid.features import word_features
from markscheme.features.nonfactoid.meaning import meaning_features
from markscheme.features.nonfactoid.rows import Rows
from markscheme.features.nonfactoid.tokens import TokenTable, cover
from markscheme.judges.embedding.reference_overlap import ReferenceOverlap
from markscheme.judges.listwise.listwise_examiner import SHIPPED, ListwiseWeights, open_listwise
from markscheme.judges.listwise.reference_lists import build_lists
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.local.encoder import MiniLM
from markscheme.models.local.token_vectors import TokenEncoder, token_encoder
from markscheme.tables.answers import read_answers
from markscheme.training.listwise import save_listwise, train_mode
from markscheme.training.listwise_draws import draw_all
from markscheme.training.listwise_models import ListwiseOptions

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


def test_the_signature_names_the_weights_that_ship() -> None:
    judge = parse_judge("listwise_examiner")
    digest = hashlib.sha256()
    for name in ListwiseWeights.files:
        digest.update((SHIPPED / name).read_bytes())
    assert judge.identity(None)["trained"] == digest.hexdigest()[:12]
    assert "embeddings" in judge.identity(None)
    assert "embeddings" not in parse_judge("listwise_examiner(encoder=never)").identity(None)
    assert sum((SHIPPED / name).stat().st_size for name in ListwiseWeights.files) < 1_100_000


def test_the_weights_fit_the_features() -> None:
    rows = Rows.of(
        pl.Series(["Why?"]), pl.Series(["Because it is so."]), pl.Series([["It is.", "No."]]),
        pl.Series([[3, 0]]),
    )  # fmt: skip
    opened = open_listwise()
    words, _ = word_features(rows, opened.rarity)
    meaning, _ = meaning_features(rows, token_encoder().encode(rows.texts.to_list()), opened.pieces)
    assert opened.names(encoded=False) == words
    assert opened.names(encoded=True) == words + meaning


def test_token_vectors_depend_on_their_text_alone_and_are_kept_within_bounds() -> None:
    encoder = TokenEncoder()
    texts = ["Why is the sky blue?", "Because light is scattered by the air.", "It is so.", ""]
    together = encoder.encode(texts, keep=texts[:1])
    alone = [encoder.encode([text])[0] for text in texts]
    assert alone[0] is together[0]
    for one, other in zip(together, alone, strict=True):
        assert np.abs(one.sentence - other.sentence).max() < 1e-6
        assert np.abs(one.middle - other.middle).max() < 1e-5
        assert np.allclose(one.tokens, other.tokens, atol=1e-3)
    assert np.abs(MiniLM().encode(texts) - [one.sentence for one in together]).max() < 1e-6


def test_cover_is_the_mean_best_likeness_of_tokens() -> None:
    table = TokenTable(
        vectors=np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float16),
        starts=np.array([0, 2, 3]), weights=np.array([1.0, 3.0, 2.0]),
    )  # fmt: skip
    recall, precision = cover(table, np.array([0, 1, 0]), np.array([1, 0, 1]))
    assert recall == pytest.approx([0.8, (0.6 + 3 * 0.8) / 4, 0.8], abs=1e-3)
    assert precision == pytest.approx([(0.6 + 3 * 0.8) / 4, 0.8, (0.6 + 3 * 0.8) / 4], abs=1e-3)


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


def as_answers(drawn: pl.DataFrame) -> pl.DataFrame:
    return drawn.with_columns(
        answer_id=pl.int_range(pl.len()).cast(pl.String), system=pl.lit("s"),
        reference_kind=pl.lit("text"),
    )  # fmt: skip


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


def test_reference_lists_are_written_by_several_models() -> None:
    chats = [
        ScriptedChat(replies=lambda text, name=name: f"{name} {crc32(text.encode())}", name=name)
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
