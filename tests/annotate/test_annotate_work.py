"""Labelling: what people see, what is saved, what comes next, and what a page sent twice does."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from annotate_helpers import Place, Worker, answers, fields_of
from markscheme.annotate import tables
from markscheme.annotate.assign import LEASE_SECONDS
from markscheme.annotate.database import SCHEMA, Store
from markscheme.annotate.options import AnnotateOptions
from markscheme.annotate.setup import prepare
from markscheme.errors import RunError

Make = Callable[..., Place]


def label_all(worker: Worker, say: Callable[[str], str]) -> int:
    """Label until nothing is left; `say` takes the answer and gives the button."""
    count = 0
    while worker.item:
        response = worker.say(say(worker.answer))
        assert response.status_code == 200
        count += 1
        assert count < 1000
    return count


def test_people_see_question_reference_and_answer_and_nothing_else(project: Make) -> None:
    rows = answers(1)
    rows[0] |= {"label": 1, "system": "the-secret-system", "id": "the-secret-id"}
    place = project(rows)
    seen = place.worker("Ann").html + place.worker("Ann").http.get("/").text
    assert "Question 0?" in seen
    assert "right 0" in seen
    assert "answer 0 of 0" in seen
    assert "secret" not in seen


def test_hidden_references_are_not_in_the_page(project: Make) -> None:
    assert "right 0" not in project(references="hidden").worker("Ann").html


def test_equal_answers_are_labelled_once_and_mapped_back(project: Make) -> None:
    rows = [
        {
            "id": f"s{n}",
            "question": "Q?",
            "references": ["r"],
            "answer": said,
            "system": f"s{n}",
        }
        for n, said in enumerate(["Paris", "Paris", "Rome"])
    ]
    place = project(rows)
    assert place.ready.project.items == 2
    ann = place.worker("Ann")
    assert label_all(ann, lambda said: "1" if said == "Paris" else "0") == 2
    assert place.rows("SELECT answer_id FROM sources ORDER BY row_place") == [
        ("s0",), ("s1",), ("s2",)
    ]  # fmt: skip


def test_agreement_settles_and_disagreement_waits_for_the_adjudicator(project: Make) -> None:
    place = project(adjudicators=("Kim",))
    ann, ben, kim = (place.worker(name) for name in ("Ann", "Ben", "Kim"))
    assert not kim.item
    label_all(ann, lambda _: "1")
    label_all(ben, lambda said: "0" if said.startswith("answer 2") else "1")
    assert place.rows("SELECT stage, count(*) FROM items GROUP BY stage ORDER BY stage") == [
        ("disagreed", 1), ("settled", 3)
    ]  # fmt: skip
    kim.look()
    assert kim.answer == "answer 2 of 0"
    assert "Your label decides" in kim.html
    kim.say("0")
    assert not kim.item
    assert place.rows("SELECT final FROM items ORDER BY place") == [(1,), (1,), (0,), (1,)]


def test_without_an_adjudicator_a_third_annotator_settles_blind(project: Make) -> None:
    place = project(answers(1), people=("Ann", "Ben", "Cid"))
    ann, ben = place.worker("Ann"), place.worker("Ben")
    ann.say("1")
    ben.say("0")
    cid = place.worker("Cid")
    assert cid.answer == "answer 0 of 0"
    assert "differ" not in cid.html
    cid.say("1")
    assert place.rows("SELECT stage, final FROM items") == [("settled", 1)]
    assert place.rows("SELECT part FROM ratings ORDER BY person_id") == [
        ("first",), ("first",), ("third",)
    ]  # fmt: skip


def test_two_people_an_item_and_no_more(project: Make) -> None:
    place = project(answers(6), people=("A", "B", "C", "D"))
    workers = [place.worker(name) for name in "ABCD"]
    busy = True
    while busy:
        busy = False
        for worker in workers:
            if worker.item:
                worker.say("1")
                busy = True
            elif "Nothing is left" in worker.html:
                worker.look()
    counts = place.rows("SELECT count(*) FROM ratings WHERE state = 'labelled' GROUP BY item_id")
    assert counts == [(2,)] * 6


def test_the_same_submission_again_changes_nothing(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    form = fields_of(ann.html) | {"say": "1"}
    first, again = ann.post("/label", **form), ann.post("/label", **form)
    assert first.status_code == again.status_code == 200
    assert fields_of(first.text)["item"] == fields_of(again.text)["item"] != form["item"]
    assert place.rows("SELECT count(*) FROM events WHERE action = 'label'") == [(1,)]
    assert place.rows("SELECT rated FROM people WHERE name = 'Ann'") == [(1,)]


def test_one_submission_id_with_two_choices_is_a_conflict(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    form = fields_of(ann.html)
    ann.post("/label", **form, say="1")
    other = ann.post("/label", **form, say="0")
    assert other.status_code == 409
    assert "was not saved" in other.text
    assert place.rows("SELECT value FROM ratings WHERE state = 'labelled'") == [(1,)]
    assert place.rows("SELECT count(*) FROM events WHERE action = 'conflict'") == [(1,)]


def test_two_tabs_never_overwrite_each_other(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    one, two = fields_of(ann.html), fields_of(ann.look())
    assert one["item"] == two["item"]
    assert one["submission"] != two["submission"]
    assert ann.post("/label", **one, say="1").status_code == 200
    same = ann.post("/label", **two, say="1")
    assert same.status_code == 200
    different = ann.post("/label", **(two | {"submission": "third"}), say="0")
    assert different.status_code == 409
    assert "Correct" in different.text
    changed = ann.post("/label", **fields_of(different.text), say="0")
    assert changed.status_code == 200
    assert place.rows("SELECT value, version FROM ratings WHERE state = 'labelled'") == [(0, 2)]


def test_undo_brings_the_item_back_and_again_the_one_before(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    first, second = ann.answer, ""
    ann.say("1")
    second = ann.answer
    ann.say("0")
    third = ann.answer
    assert "Taken back: Not correct" in ann.undo()
    assert ann.answer == second
    ann.undo()
    assert ann.answer == first
    assert place.rows("SELECT rated, first_rated FROM people WHERE name = 'Ann'") == [(0, 0)]
    for expected in (first, second, third):
        assert ann.answer == expected
        ann.say("1")
    actions = [
        action
        for (action,) in place.rows(
            "SELECT action FROM events JOIN items ON items.id = item_id WHERE place = 0"
        )
    ]
    assert actions == ["label", "undo", "change to label"]


def test_undo_after_settling_opens_the_item_again(project: Make) -> None:
    place = project(answers(1))
    ann, ben = place.worker("Ann"), place.worker("Ben")
    ann.say("1")
    ben.say("1")
    assert place.rows("SELECT stage, final FROM items") == [("settled", 1)]
    ben.undo()
    assert place.rows("SELECT stage, final, rated FROM items") == [("open", None, 1)]
    ben.say("0")
    assert place.rows("SELECT stage, final FROM items") == [("disagreed", None)]


@pytest.mark.parametrize(
    ("scale", "say", "words"),
    [
        ("rank", "ranks", "ranking"),
        ("verdict", "1", "Correct"),
        ("verdict", "cannot_tell", "cannot tell"),
        ("verdict", "skip", "skipped"),
    ],
)
def test_what_is_saved_and_taken_back_is_named_alike(
    project: Make, scale: str, say: str, words: str
) -> None:
    ann = project(answers(1, systems=2), scale=scale).worker("Ann")
    ann.say(say, rank0="1", rank1="2")
    assert f"Saved: {words}." in ann.html
    assert f"Taken back: {words}." in ann.undo()


def test_nothing_to_undo_says_so(project: Make) -> None:
    assert "nothing to take back" in project().worker("Ann").undo()


def test_an_earlier_answer_can_be_opened_and_changed(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    item = ann.item
    ann.say("1", note="first thought")
    assert f"/mine/{item}" in ann.http.get("/mine").text
    page = ann.http.get(f"/mine/{item}").text
    assert "answered this one before" in page
    assert "first thought" in page
    ann.post("/label", **fields_of(page), say="0", note="second thought")
    assert place.rows("SELECT value, note FROM ratings WHERE state = 'labelled'") == [
        (0, "second thought")
    ]
    assert place.rows("SELECT rated FROM people WHERE name = 'Ann'") == [(1,)]


def test_others_items_cannot_be_opened_or_labelled(project: Make) -> None:
    place = project()
    ann, ben = place.worker("Ann"), place.worker("Ben")
    item = ann.item
    ann.say("1")
    fresh = ann.item
    assert ben.http.get(f"/mine/{fresh}").status_code == 404
    stolen = ben.post("/label", **(fields_of(ben.html) | {"item": fresh}), say="1")
    assert stolen.status_code == 404
    assert item != fresh


def test_skip_comes_back_when_asked_for(project: Make) -> None:
    place = project(answers(2))
    ann = place.worker("Ann")
    skipped = ann.answer
    ann.say("skip", note="hard")
    ann.say("1")
    assert not ann.item
    assert "put off 1 item" in ann.html
    response = ann.post("/again", csrf=fields_of(ann.html)["csrf"])
    ann.html = response.text
    assert ann.answer == skipped
    assert "hard" in ann.html
    ann.say("1")
    assert "Nothing is left" in ann.html
    assert place.rows("SELECT skipped, rated FROM people WHERE name = 'Ann'") == [(0, 2)]


def test_what_nobody_can_tell_settles_without_a_label(project: Make) -> None:
    place = project(answers(1))
    for name in ("Ann", "Ben"):
        place.worker(name).say("cannot_tell")
    assert place.rows("SELECT stage, final FROM items") == [("settled", None)]


def test_an_item_left_lying_goes_to_somebody_else_and_its_late_label_is_kept(
    project: Make,
) -> None:
    place = project(answers(1), people=("Ann", "Ben"), per_item=1)
    ann, ben = place.worker("Ann"), place.worker("Ben")
    assert ann.item
    assert not ben.item
    long_ago = time.time() - LEASE_SECONDS - 1
    place.store.write(
        lambda c: c.execute(text("UPDATE ratings SET shown_at = :at"), {"at": long_ago})
    )
    ben.look()
    assert ben.item
    ben.say("1")
    assert ann.say("1").status_code == 200
    assert place.rows("SELECT count(*) FROM ratings WHERE state = 'labelled'") == [(2,)]


def test_an_item_left_lying_that_has_its_label_goes_to_nobody(project: Make) -> None:
    place = project(answers(1), people=("Ann", "Ben", "Cid"), per_item=2, adjudicate=False)
    place.worker("Ann").say("1")
    assert place.worker("Ben").item
    place.store.write(lambda c: c.execute(text("UPDATE ratings SET shown_at = 0")))
    prepare(place.store, AnnotateOptions(file=None, per_item=1))
    assert place.rows("SELECT stage FROM items") == [("settled",)]
    assert not place.worker("Cid").item


def test_gold_items_come_every_so_often_and_are_not_exported(project: Make) -> None:
    gold = [{"question": "Gold?", "references": ["yes"], "answer": "yes", "label": 1}]
    place = project(answers(4), gold=gold, gold_every=2)
    ann = place.worker("Ann")
    seen = []
    while ann.item:
        seen.append(ann.answer)
        ann.say("0")
    assert seen.index("yes") == 2
    assert len(seen) == 5
    assert place.rows("SELECT first_rated, rated FROM people WHERE name = 'Ann'") == [(4, 5)]


def test_no_count_tells_gold_items_from_others(project: Make) -> None:
    gold = [{"question": "Gold?", "references": ["yes"], "answer": "yes", "label": 1}]
    ann = project(answers(4), gold=gold, gold_every=2).worker("Ann")
    seen = []
    while ann.item:
        ann.say("0")
        shown = re.search(
            r"<b>(\d+)</b> of about (\d+) done.*everyone: (.*?)<", ann.html, re.DOTALL
        )
        assert shown
        seen.append(shown.groups())
    assert seen == [(f"{n}", "5", f"{n} of 9") for n in range(1, 6)]


def test_grades_that_are_neighbours_agree(project: Make) -> None:
    place = project(answers(2), scale="grade")
    ann, ben = place.worker("Ann"), place.worker("Ben")
    label_all(ann, lambda _: "4")
    label_all(ben, lambda said: "5" if said.startswith("answer 0") else "1")
    assert place.rows("SELECT stage, final FROM items ORDER BY place") == [
        ("settled", 4.5), ("disagreed", None)
    ]  # fmt: skip


def test_a_ranking_is_saved_whole_or_not_at_all(project: Make) -> None:
    place = project(answers(1, systems=3), scale="rank")
    ann = place.worker("Ann")
    assert ann.say("ranks", rank0="1", rank1="4", rank2="3").status_code == 422
    assert ann.say("ranks", rank0="2", rank1="1").status_code == 422
    assert ann.say("ranks", rank0="2", rank1="1", rank2="3").status_code == 200
    assert place.rows("SELECT ranks FROM ratings WHERE state = 'labelled'") == [("[2,1,3]",)]


@pytest.mark.parametrize("said", ["2", "-1", "", "nan", "1.0", "ranks", "<script>"])
def test_what_is_not_on_the_scale_is_refused(project: Make, said: str) -> None:
    place = project()
    assert place.worker("Ann").say(said).status_code == 422
    assert place.rows("SELECT count(*) FROM ratings WHERE state = 'labelled'") == [(0,)]


def test_pages_work_without_scripts(project: Make) -> None:
    ann = project().worker("Ann")
    response = ann.http.post("/label", data=fields_of(ann.html) | {"say": "1"})
    assert response.status_code == 303
    assert response.headers["location"] == "/"
    assert "<b>1</b> of about 4 done" in ann.http.get("/").text


def test_the_audit_trail_cannot_be_rewritten(project: Make, tmp_path: Path) -> None:
    place = project()
    place.worker("Ann").say("1")
    for change in ("UPDATE events SET action = 'x'", "DELETE FROM events"):
        with pytest.raises(DBAPIError, match="append-only"):
            place.store.write(lambda c, sql=change: c.execute(text(sql)))
    place.store.close()
    with sqlite3.connect(tmp_path / "project.sqlite") as plain, pytest.raises(
        sqlite3.DatabaseError, match="append-only"
    ):  # fmt: skip
        plain.execute("DELETE FROM events")
    place.store = Store(tmp_path / "project.sqlite")


def test_migrations_make_the_tables_that_queries_name(project: Make) -> None:
    place = project()
    for table in tables.metadata.tables.values():
        made = {
            (name, bool(not_null or key))
            for _, name, _, not_null, _, key in place.rows(f"PRAGMA table_info({table.name})")
        }
        assert made == {(one.name, not one.nullable) for one in table.columns}, table.name


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    for dialect in ("sqlite", "postgresql"):
        numbers = list(SCHEMA.migrations(dialect))
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_newer_project_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "p.sqlite")
    store.write(lambda c: c.execute(text("INSERT INTO annotate_migrations VALUES (999)")))
    store.close()
    with pytest.raises(RunError, match="newer markscheme"):
        Store(tmp_path / "p.sqlite")


def test_a_failing_write_does_not_take_its_neighbours_along(project: Make) -> None:
    store = project().store
    futures = [
        store.submit(
            lambda c, n=n: (
                c.execute(
                    text("INSERT INTO settings VALUES (:n, '1')"), {"n": "x" if n % 2 else f"s{n}"}
                ).rowcount
            )
        )
        for n in range(6)
    ]
    results = [future.exception() is None for future in futures]
    assert results == [True, True, True, False, True, False]


def test_pace_and_share_are_shown(project: Make) -> None:
    place = project(answers(10), people=("A", "B", "C", "D"))
    worker = place.worker("A")
    worker.say("1")
    assert re.search(r"<b>1</b> of about 5 done · \d+ s each", worker.html)
    assert "everyone: 1 of 20" in worker.html


def test_enter_saves_a_changed_order_and_leaves_no_other(project: Make) -> None:
    ann = project(answers(1, systems=2), scale="rank", per_item=1).worker("Ann")
    form, mine = fields_of(ann.html), f"/mine/{ann.item}"
    ann.say("ranks", rank0="1", rank1="2")
    edit = ann.http.get(mine, headers={"hx-request": "true"})
    conflict = ann.post("/label", **form, say="ranks", rank0="2", rank1="1")
    assert (edit.status_code, conflict.status_code) == (200, 409)
    for page in (edit.text, conflict.text):
        assert re.findall(r'<(\w+) [^>]*data-key="Enter"', page) == ["button"]


def test_a_running_server_uses_what_another_process_changes(project: Make, tmp_path: Path) -> None:
    made = project(answers(2))
    ann, admin = made.worker("Ann"), made.worker("admin")
    ann.say("1")
    other = Store(tmp_path / "project.sqlite")
    prepare(other, AnnotateOptions(file=None, per_item=1, title="Another title"))
    other.close()
    ann.say("1")
    assert made.rows("SELECT stage, final FROM items") == [("settled", 1)] * 2
    assert "Another title" in admin.http.get("/admin").text


def test_no_id_tells_gold_items_from_others(project: Make) -> None:
    gold = [
        {"question": f"Gold {n}?", "references": ["yes"], "answer": "yes", "label": 1}
        for n in range(4)
    ]
    ann = project(answers(12), gold=gold, gold_every=2).worker("Ann")
    ids = {}
    while ann.item:
        ids[int(ann.item)] = re.search(r"Gold \d", ann.html) is not None
        ann.say("1")
    golden = [n for n, number in enumerate(sorted(ids)) if ids[number]]
    assert len(golden) == 4
    assert golden not in ([0, 1, 2, 3], [*range(len(ids) - 4, len(ids))])
