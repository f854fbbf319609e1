"""The listwise examiner, the draws it is trained on, the baselines and the routing."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pytest

from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.features.nonfactoid.features import word_features
from markscheme.features.nonfactoid.meaning import TokenTable, cover, meaning_features
from markscheme.features.nonfactoid.rows import Rows
from markscheme.judges.listwise import listwise_examiner
from markscheme.judges.listwise.listwise_examiner import SHIPPED, ListwiseExaminer, ListwiseWeights
from markscheme.judges.outcomes import MOST_READ, with_nearest_references
from markscheme.models.local.encoder import TokenEncoder, token_encoder
from markscheme.tables.answers import read_answers


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


def test_of_very_many_references_the_nearest_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their number, and by what is read of a long answer for each."""
    monkeypatch.setattr(listwise_examiner, "MOST_GRADED", 40)
    judge = parse_judge("listwise_examiner(encoder=never)")
    texts = [f"Light of wave {number} is scattered" for number in range(90)]
    row = {"question": "Why is it so?", "references": texts}
    grades = [number % 3 for number in range(90)]
    answers = ("Light is scattered.", "Light is scattered in the air. " * 2_000)
    rows = read_answers(
        [row | {"answer": answer, "reference_grades": grades} for answer in answers]
    )
    read = with_nearest_references(rows, 40)
    assert read["references"].list.len().to_list() == [40, MOST_READ // len(rows["answer"][1])]
    assert apply(judge, rows)["score"].to_list() == apply(judge, read)["score"].to_list()
    assert apply(judge, rows)["explanation"].to_list() == [
        f"{said}; the nearest {count} of 90 references were read"
        for said, count in zip(
            apply(judge, read)["explanation"], read["references"].list.len(), strict=True
        )
    ]


def test_rows_with_many_references_are_judged_a_few_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge = parse_judge("listwise_examiner(encoder=never)")
    row = {"question": "Why is it so?", "references": ["It is scattered.", "Why not?", "So."]}
    rows = read_answers([row | {"answer": f"It is scattered {number}"} for number in range(9)])
    whole = apply(judge, rows)
    sizes: list[int] = []
    outcomes = ListwiseExaminer._outcomes

    def counted(self: ListwiseExaminer, part: pl.DataFrame) -> pl.DataFrame:
        sizes.append(part.height)
        return outcomes(self, part)

    monkeypatch.setattr(listwise_examiner, "_REFERENCES_AT_ONCE", 7)
    monkeypatch.setattr(ListwiseExaminer, "_outcomes", counted)
    assert apply(judge, rows).equals(whole)
    assert sum(sizes) == 9
    assert max(sizes) <= 3


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
    opened = ListwiseWeights.open()
    words, _ = word_features(rows, opened.rarity)
    details = token_encoder().details(rows.texts.to_list())
    meaning, _ = meaning_features(rows, details, opened.pieces)
    assert opened.names(encoded=False) == words
    assert opened.names(encoded=True) == words + meaning


def test_token_vectors_depend_on_their_text_alone_and_are_kept_within_bounds() -> None:
    encoder = TokenEncoder()
    texts = ["Why is the sky blue?", "Because light is scattered by the air.", "It is so.", ""]
    together = encoder.details(texts, keep=texts[:1])
    alone = [encoder.details([text])[0] for text in texts]
    assert alone[0] is together[0]
    for one, other in zip(together, alone, strict=True):
        assert np.abs(one.sentence - other.sentence).max() < 1e-6
        assert np.abs(one.middle - other.middle).max() < 1e-5
        assert np.allclose(one.tokens, other.tokens, atol=1e-3)
    assert np.abs(encoder.encode(texts) - [one.sentence for one in together]).max() < 1e-6


def test_cover_is_the_mean_best_likeness_of_tokens() -> None:
    table = TokenTable(
        vectors=np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float16),
        starts=np.array([0, 2, 3]), weights=np.array([1.0, 3.0, 2.0]),
    )  # fmt: skip
    recall, precision = cover(table, np.array([0, 1, 0]), np.array([1, 0, 1]))
    assert recall == pytest.approx([0.8, (0.6 + 3 * 0.8) / 4, 0.8], abs=1e-3)
    assert precision == pytest.approx([(0.6 + 3 * 0.8) / 4, 0.8, (0.6 + 3 * 0.8) / 4], abs=1e-3)
