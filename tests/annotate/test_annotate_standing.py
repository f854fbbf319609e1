"""The running estimate of a project, and the order in which labels teach most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from annotate_helpers import Place, answers, place, write_rows

import markscheme
from markscheme.annotate.exports import export
from markscheme.annotate.options import AnnotateOptions
from markscheme.annotate.standing import standing
from markscheme.errors import MarkschemeError

COUNT = 300


def label_all(made: Place, until: int, truth: dict[str, float] | None = None) -> None:
    """Settle the first items, as if everybody had said the same."""

    def work(connection):  # type: ignore[no-untyped-def]
        rows = connection.exec_driver_sql(
            "SELECT i.id, s.answer_id, i.place FROM items i JOIN sources s ON s.item_id = i.id "
            "WHERE s.text_place = 0 ORDER BY i.place"
        ).fetchall()
        for item, answer_id, place_ in rows:
            if place_ < until:
                said = truth[answer_id] if truth else float(place_ % 4 != 0)
                connection.exec_driver_sql(
                    f"UPDATE items SET stage = 'settled', final = {said} WHERE id = {item}"
                )

    made.store.write(work)


def test_the_admin_sees_the_estimate_with_its_interval_and_what_is_missing(
    project: Callable[..., Place],
) -> None:
    made = project(answers(COUNT), order="shuffled")
    admin = made.worker("admin")
    assert "no labels yet" in admin.http.get("/admin/estimate").text
    label_all(made, 200)
    found = made.store.read(lambda c: standing(c, made.site.project))
    assert found.so_far is not None
    assert found.so_far.figure.value == pytest.approx(0.75)
    assert found.always is not None
    assert found.always.upper - found.always.lower > 0.05
    assert not found.enough
    assert 'hx-get="/admin/estimate"' in admin.http.get("/admin").text
    label_all(made, COUNT)
    done = made.store.read(lambda c: standing(c, made.site.project))
    assert done.enough
    assert done.more == 0


def test_the_figure_is_of_answers_where_equal_ones_are_one_item(
    project: Callable[..., Place],
) -> None:
    rows = answers(100)
    rows += [{**rows[0], "id": f"again-{n}", "system": f"other-{n}"} for n in range(100)]
    made = project(rows, order="shuffled")
    truth = {row["id"]: float(row["answer"] == rows[0]["answer"]) for row in rows}
    label_all(made, 1000, truth)
    found = made.store.read(lambda c: standing(c, made.site.project))
    assert found.answers == 200
    assert found.so_far is not None
    assert found.so_far.figure.value == pytest.approx(101 / 200)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"order": "file"}, "not random"), ({"scale": "grade", "order": "shuffled"}, "no verdicts")],
)
def test_where_it_would_mislead_there_is_a_reason_instead(
    project: Callable[..., Place], settings: dict[str, str], reason: str
) -> None:
    made = project(answers(20), **settings)
    assert reason in made.store.read(lambda c: standing(c, made.site.project)).reason


def test_answers_drawn_with_different_chances_are_left_to_estimate(
    project: Callable[..., Place],
) -> None:
    rows = [{**row, "inclusion_probability": 0.1 + 0.1 * (n % 2)}
            for n, row in enumerate(answers(20))]  # fmt: skip
    made = project(rows, order="shuffled")
    assert "weighs them" in made.store.read(lambda c: standing(c, made.site.project)).reason


@pytest.mark.parametrize(("chance", "said"), [(0.5, True), (1.0, False)])
def test_an_estimate_of_drawn_answers_says_so(
    chance: float, said: bool, project: Callable[..., Place]
) -> None:
    made = project([{**row, "inclusion_probability": chance} for row in answers(100)],
                   order="shuffled")  # fmt: skip
    label_all(made, 60)
    page = made.worker("admin").http.get("/admin/estimate").text
    assert "Of 100 answers" in page
    assert ("that plan-labels drew" in page) is said


def test_an_informative_order_asks_for_unsure_answers_first_and_exports_chances(
    tmp_path: Path,
) -> None:
    rows = [{**row, "answer": f"right {n}" if n % 3 else f"answer {n}"}
            for n, row in enumerate(answers(COUNT))]  # fmt: skip
    file = write_rows(tmp_path / "answers.jsonl", rows)
    run = tmp_path / "run"
    markscheme.judge(file, ["token_f1"], out=run)
    table = pl.read_parquet(run / "judgments.parquet")
    scores = [0.5 if n % 3 == 0 else 0.99 for n in range(table.height)]
    judged = tmp_path / "judged.parquet"
    table.with_columns(pl.Series("score", scores)).write_parquet(judged)
    setup = AnnotateOptions(
        file=file, order="informative", per_item=1, annotators=("Ann",), scores=str(judged)
    )
    with place(tmp_path / "p.sqlite", setup) as made:
        kept = made.rows("SELECT score, draw_weight, draw_key FROM items ORDER BY place")
        assert [key for *_, key in kept] == sorted(key for *_, key in kept)
        first = np.mean([score for score, *_ in kept[:60]])
        assert first < np.mean(scores) - 0.05
        assert made.worker("Ann").item == str(
            made.rows("SELECT id FROM items ORDER BY place")[0][0]
        )
        truth = {row["id"]: float(row["answer"].startswith("right")) for row in rows}
        label_all(made, 120, truth)
        found = made.store.read(lambda c: standing(c, made.site.project))
        assert found.so_far is not None
        assert found.so_far.helped
        assert found.so_far.figure.low <= np.mean(list(truth.values()))  # type: ignore[operator]
        assert found.so_far.figure.high >= np.mean(list(truth.values()))  # type: ignore[operator]
        labels = made.store.read(lambda c: export(c, made.site.project, "labels")).table
        assert labels.height == 120
        assert labels["inclusion_probability"].is_between(0, 1).all()
        assert labels["inclusion_probability"].n_unique() == 2
    with place(tmp_path / "p.sqlite", AnnotateOptions(file=file)) as again:
        assert again.site.project.order == "informative"
    with pytest.raises(MarkschemeError, match="cannot change"):
        place(tmp_path / "p.sqlite", setup).__enter__()


def test_an_informative_order_without_scores_says_what_to_give(
    project: Callable[..., Place],
) -> None:
    with pytest.raises(MarkschemeError, match="--scores RUN"):
        project(answers(5), order="informative")
