"""The running estimate of a project, which is the one that `estimate` gives."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import polars as pl
import pytest

import markscheme
from annotate_helpers import Place, answers, place, write_rows
from markscheme.agreement import running_estimate
from markscheme.annotate.exports import export
from markscheme.annotate.options import AnnotateOptions
from markscheme.annotate.standing import standing
from markscheme.annotate.trail import begin
from markscheme.errors import MarkschemeError

COUNT = 300


def label_all(
    made: Place, until: int, truth: dict[str, float] | None = None, skipped: Collection[int] = ()
) -> None:
    """Settle the first items but those skipped, as if everybody had said the same."""

    def work(connection):  # type: ignore[no-untyped-def]
        rows = connection.exec_driver_sql(
            "SELECT i.id, s.answer_id, i.place FROM items i JOIN sources s ON s.item_id = i.id "
            "WHERE s.text_place = 0 ORDER BY i.place"
        ).fetchall()
        for item, answer_id, place_ in rows:
            if place_ < until and place_ not in skipped:
                said = truth[answer_id] if truth else float(place_ % 4 != 0)
                connection.exec_driver_sql(
                    f"UPDATE items SET stage = 'settled', final = {said} WHERE id = {item}"
                )
        begin(connection, "made for a test")

    made.store.write(work)


def test_the_admin_sees_the_estimate_with_its_interval_and_what_is_missing(
    project: Callable[..., Place],
) -> None:
    made = project(answers(COUNT), order="shuffled")
    admin = made.worker("admin")
    assert "no labels yet" in admin.http.get("/admin/estimate").text
    label_all(made, 200)
    found = made.store.read(lambda c: standing(c, made.site.project))
    labels = [float(n % 4 != 0) for n in range(200)] + [None] * 100
    assert found.figure == running_estimate(labels).figure
    assert found.figure.value == pytest.approx(0.75)
    assert 0 < (found.more or 0) <= 100
    assert not found.enough
    assert 'hx-get="/admin/estimate"' in admin.http.get("/admin").text
    assert found.about == "these 300 answers alone, according to these annotators"
    label_all(made, COUNT)
    done = made.store.read(lambda c: standing(c, made.site.project))
    assert done.enough
    assert done.more == 0


def test_labels_of_who_works_alone_count_as_in_the_export(project: Callable[..., Place]) -> None:
    made = project(answers(20), order="shuffled")
    ann = made.worker("Ann")
    for _ in range(7):
        ann.say("1")
    found = made.store.read(lambda c: standing(c, made.site.project))
    table = made.store.read(lambda c: export(c, made.site.project, "labels")).table
    assert found.labelled == table["label"].count() == 7
    page = made.worker("admin").http.get("/admin/estimate").text
    assert "Ann alone has labelled so far" in page
    made.worker("Ben").say("1")
    found = made.store.read(lambda c: standing(c, made.site.project))
    assert (found.labelled, found.note) == (1, "")


def test_labels_of_all_answers_are_enough_where_all_are_wrong(
    project: Callable[..., Place],
) -> None:
    rows = answers(20)
    made = project(rows, order="shuffled")
    label_all(made, len(rows), {row["id"]: 0.0 for row in rows})
    found = made.store.read(lambda c: standing(c, made.site.project))
    assert (found.figure.high, found.more, found.enough) == (0, 0, True)
    assert "Enough" in made.worker("admin").http.get("/admin/estimate").text


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
    assert found.figure.value == pytest.approx(101 / 200)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"order": "file"}, "not random"), ({"scale": "grade", "order": "shuffled"}, "not verdicts")],
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


def test_the_estimate_so_far_is_that_of_estimate_anytime_on_the_export(tmp_path: Path) -> None:
    """Skipped items may have either label, and equal answers are one bet."""
    rows = answers(COUNT, systems=2)
    rows += [{**row, "id": f"{row['id']}-again", "system": "system-2"} for row in rows[:100]]
    file = write_rows(tmp_path / "answers.jsonl", rows)
    scores = pl.DataFrame(
        {"answer_id": [row["id"] for row in rows], "judge": "made", "status": "judged",
         "question": [row["question"] for row in rows], "answer": [row["answer"] for row in rows],
         "score": [0.3 if len(row["answer"]) % 2 else 0.9 for row in rows]}
    ).with_columns(verdict=pl.col("score") > 0.5)  # fmt: skip
    scores.write_parquet(tmp_path / "judged.parquet")
    setup = AnnotateOptions(file=file, annotators=("Ann",), scores=str(tmp_path / "judged.parquet"))
    with place(tmp_path / "p.sqlite", setup) as made:
        label_all(made, 120, skipped=range(5, 100, 9))
        found = made.store.read(lambda c: standing(c, made.site.project))
        out = made.store.read(lambda c: export(c, made.site.project, "labels"))
    assert found.pending == 11
    (printed,) = markscheme.estimate(scores, out.table, anytime=True).estimates
    assert printed.figure is not None
    ends = (found.figure.value, found.figure.low, found.figure.high)
    assert (printed.figure.value, printed.figure.low, printed.figure.high) == pytest.approx(ends)


@pytest.mark.parametrize("scored", [False, True])
def test_above_the_watched_labels_it_is_the_figure_of_estimate(
    scored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.annotate.standing.MOST_WATCHED", 100)
    rows = answers(COUNT, systems=2)
    rows += [{**row, "id": f"{row['id']}-again", "system": "system-2"} for row in rows[:50]]
    file = write_rows(tmp_path / "answers.jsonl", rows)
    wrong = {row["id"] for row in rows if len(row["answer"]) % 2}
    scores = pl.DataFrame(
        {"answer_id": [row["id"] for row in rows], "judge": "made", "status": "judged",
         "score": [0.3 if row["id"] in wrong else 0.9 for row in rows]}
    ).with_columns(verdict=pl.col("score") > 0.5)  # fmt: skip
    scores.write_parquet(tmp_path / "judged.parquet")
    setup = AnnotateOptions(file=file, annotators=("Ann",),
                  scores=str(tmp_path / "judged.parquet") if scored else None)  # fmt: skip
    with place(tmp_path / "p.sqlite", setup) as made:
        label_all(made, 100)
        assert made.store.read(lambda c: standing(c, made.site.project)).watched
        label_all(made, 300)
        found = made.store.read(lambda c: standing(c, made.site.project))
        labels = made.store.read(lambda c: export(c, made.site.project, "labels")).table
        questions = pl.DataFrame(rows).select(pl.col("id").alias("answer_id"), "question")
        printed = markscheme.estimate(scores.join(questions, on="answer_id"), labels)
        by_method = {one.method: one.figure for one in printed.estimates[0].estimates}
        assert not found.watched
        assert not found.enough
        assert found.figure == by_method["ppi_tuned" if scored else "labels_only"]
        assert "right for who looks once" in made.worker("admin").http.get("/admin/estimate").text


def test_a_project_made_with_the_informative_order_goes_on_in_the_order_of_its_file(
    tmp_path: Path,
) -> None:
    file = write_rows(tmp_path / "answers.jsonl", answers(20))
    with place(tmp_path / "p.sqlite", AnnotateOptions(file=file, annotators=("Ann",))) as made:
        label_all(made, 5)
        labelled = {row[0] for row in made.rows("SELECT id FROM items WHERE stage = 'settled'")}

        def as_before(connection):  # type: ignore[no-untyped-def]
            connection.exec_driver_sql("UPDATE items SET draw_weight = 0.5, draw_key = 1.0")
            connection.exec_driver_sql(
                "UPDATE settings SET value = '\"informative\"' WHERE name = 'order'"
            )
            begin(connection, "made for a test")

        made.store.write(as_before)
    again = AnnotateOptions(file=file, title="Again", new_links=True)
    with place(tmp_path / "p.sqlite", again) as made:
        assert any("the file's order" in note for note in made.ready.notes)
        assert made.site.project.order == "file"
        ann = made.worker("Ann")
        ann.look()
        assert ann.item == str(
            min({row[0] for row in made.rows("SELECT id FROM items")} - labelled)
        )
        exported = made.store.read(lambda c: export(c, made.site.project, "labels"))
        assert exported.table.height == 5
        assert any("no random sample" in note for note in exported.notes)
    with place(tmp_path / "p.sqlite", AnnotateOptions(file=file)) as made:
        assert not any("the file's order" in note for note in made.ready.notes)


def test_an_order_that_is_none_is_named_with_those_that_are(
    project: Callable[..., Place],
) -> None:
    with pytest.raises(MarkschemeError, match="shuffled, by-question, file"):
        project(answers(5), order="informative")
