"""The review desk, answers as they are meant, keys for many answers, and an honest time left."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from annotate_helpers import Place, Worker, answers, fields_of
from markscheme.annotate.exports import export
from markscheme.tables import load_labels

Make = Callable[..., Place]


def csrf(admin: Worker) -> str:
    return fields_of(admin.http.get("/admin").text)["csrf"]


def change(admin: Worker, item: int, what: str, **data: str) -> int:
    return int(admin.post(f"/admin/items/{item}/{what}", csrf=csrf(admin), **data).status_code)


def item_of(place: Place, question: str) -> int:
    return int(place.rows(f"SELECT id FROM items WHERE question = '{question}'")[0][0])


@pytest.fixture
def differing(project: Make) -> Place:
    """Three items: Ann and Ben differ on the first, agree on the second, Ann skips the third."""
    place = project(answers(3), people=("Ann", "Ben"), adjudicators=("Cleo",))
    ann, ben = place.worker("Ann"), place.worker("Ben")
    for worker, said in ((ann, ("1", "1", "skip")), (ben, ("0", "1", "1"))):
        for one in said:
            assert worker.say(one, note="unsure of the date" if worker is ben else "").is_success
    return place


def test_settled_disagreements_are_listed_and_found_by_word_person_and_note(
    differing: Place,
) -> None:
    admin = differing.worker("admin")

    def listed(**query: str) -> str:
        return str(admin.http.get("/admin/items", params=query).text)

    assert "Question 0?" in listed(stage="disagreed")
    assert "Question 0?" not in listed(stage="settled-disagreements")
    cleo = differing.worker("Cleo")
    assert cleo.say("1").is_success
    found = listed(stage="settled-disagreements")
    assert "Question 0?" in found
    assert "Question 1?" not in found
    assert "<b>Ben</b>" in found
    assert "Question 2?" in listed(stage="skipped")
    assert "Question 1?" in listed(stage="all", words="question 1")
    assert "Question 1?" not in listed(stage="all", words="right 2")
    people = dict(differing.rows("SELECT name, id FROM people"))
    assert "Question 0?" not in listed(stage="settled", person=str(people["Cleo"]), words="1?")
    assert "Question 1?" in listed(stage="settled", noted="1")
    assert "None." in listed(stage="open", noted="1", words="100%_")


def test_what_a_person_was_only_shown_is_not_listed_as_rated_by_them(differing: Place) -> None:
    assert "Question 0?" in differing.worker("Cleo").html
    people = dict(differing.rows("SELECT name, id FROM people"))
    admin = differing.worker("admin").http

    def listed(stage: str, name: str) -> str:
        query = {"stage": stage, "person": str(people[name])}
        return str(admin.get("/admin/items", params=query).text)

    assert "None." in listed("all", "Cleo")
    assert "Question 2?" in listed("skipped", "Ann")


def test_no_item_is_lost_between_two_pages_of_the_list(project: Make) -> None:
    """Gold items and others are in one list."""
    rows = answers(30)
    gold = [row | {"question": f"Gold {n}?", "label": 1} for n, row in enumerate(rows)]
    rows[0]["answer"] = "other"
    admin = project(rows, gold=gold).worker("admin").http
    found, address = [], "/admin/items?stage=all&words=answer"
    while address:
        page = admin.get(address).text
        found += re.findall(r"(?:Question|Gold) \d+\?", page)
        more = re.search(r'<a href="([^"]*)">More', page)
        address = more[1].replace("&amp;", "&") if more else ""
    assert len(found) == len(set(found)) == 59


@pytest.mark.parametrize("words", ['"Heroes"', "C:\\new", "100%", "a_b", "É!"])
def test_words_with_marks_are_found_in_answers_and_references(project: Make, words: str) -> None:
    rows = answers(3)
    rows[0]["answer"] = f"It is {words} of 1977"
    rows[1]["references"] = [f"It is {words} of 1977"]
    rows[2]["question"] = f"What is {words} of?"
    admin = project(rows).worker("admin").http
    page = admin.get("/admin/items", params={"stage": "all", "words": words}).text
    assert len(re.findall(r'href="/admin/items/\d+"', page)) == 3


def test_the_admin_sees_the_context_that_annotators_see(project: Make) -> None:
    rows = answers(1)
    rows[0]["context"] = "A passage <of> its own."
    place = project(rows)
    item = item_of(place, "Question 0?")
    page = place.worker("admin").http.get(f"/admin/items/{item}").text
    for html in (page, place.worker("Ann").html):
        assert "A passage &lt;of&gt; its own." in html


def test_the_admins_word_settles_and_stands(differing: Place) -> None:
    admin = differing.worker("admin")
    item = item_of(differing, "Question 0?")
    assert change(admin, item, "settle", say="1") == 303
    assert differing.rows(f"SELECT stage, final FROM items WHERE id = {item}") == [("settled", 1.0)]
    assert change(admin, item, "settle", say="0") == 303
    ann = differing.worker("Ann")
    page = ann.http.get(f"/mine/{item}", headers={"hx-request": "true"}).text
    ann.html = page
    assert ann.say("0").is_success
    assert differing.rows(f"SELECT stage, final FROM items WHERE id = {item}") == [("settled", 0.0)]
    labels = differing.store.read(lambda c: export(c, differing.ready.project, "labels")).table
    assert labels.filter(answer_id="q0-s0")["label"].to_list() == [0.0]
    assert "decided by the admin" in admin.http.get(f"/admin/items/{item}").text
    assert change(admin, item, "settle", say="7") == 200
    assert change(admin, 10**8, "settle", say="1") == 200


@pytest.mark.parametrize("word", ["0", "1", "cannot_tell"])
def test_every_export_has_the_label_that_the_admin_decided(differing: Place, word: str) -> None:
    """Ratings, labels and training rows say the same of each answer; the admin is no annotator."""
    admin = differing.worker("admin")
    assert change(admin, item_of(differing, "Question 1?"), "settle", say=word) == 303
    assert change(admin, item_of(differing, "Question 2?"), "settle", say="0") == 303
    exports = {
        name: differing.store.read(lambda c: export(c, differing.ready.project, name)).table  # noqa: B023
        for name in ("ratings", "labels", "training")
    }
    labels = load_labels(exports["ratings"])
    said = {row["answer_id"]: row["label"] for row in labels.to_dicts() if row["label"] is not None}
    settled = {row["answer_id"]: row["label"] for row in exports["labels"].to_dicts()}
    assert said == {key: value for key, value in settled.items() if value is not None}
    expected = {"q1-s0": None if word == "cannot_tell" else float(word), "q2-s0": 0.0}
    assert {key: said.get(key) for key in expected} == expected
    assert exports["training"].height == len(said)
    assert labels["annotators"].drop_nulls()[0].to_list() == ["Ann", "Ben"]


def test_a_skipped_item_is_put_back_or_given_to_somebody(differing: Place) -> None:
    admin = differing.worker("admin")
    item = item_of(differing, "Question 2?")
    ann = differing.worker("Ann")
    assert "Only what you skipped is left" in ann.html
    assert change(admin, item, "back") == 303
    assert "Question 2?" in ann.look()
    people = dict(differing.rows("SELECT name, id FROM people"))
    assert change(admin, item, "give", person=str(people["Cleo"])) == 303
    cleo = differing.worker("Cleo")
    assert "Question 2?" in cleo.html
    assert cleo.say("1").is_success
    assert differing.rows(f"SELECT stage, final FROM items WHERE id = {item}") == [("settled", 1.0)]
    assert change(admin, item, "give", person=str(people["Ben"])) == 200


def test_what_the_admin_has_decided_is_handed_out_no_more(differing: Place) -> None:
    admin, cleo = differing.worker("admin"), differing.worker("Cleo")
    assert "Question 0?" in cleo.html
    assert change(admin, item_of(differing, "Question 0?"), "settle", say="1") == 303
    assert change(admin, item_of(differing, "Question 2?"), "settle", say="1") == 303
    assert "No disagreement waits" in cleo.look()
    assert "Nothing is left" in differing.worker("Ann").html, "what Ann skipped is decided"


def test_what_is_brought_up_to_date_keeps_the_focus_by_ids(differing: Place) -> None:
    admin = differing.worker("admin").http
    for page, count in (("live", 6), ("agreement", 2)):
        found = re.findall(r"<(?:button|\w+ [^>]*tabindex)[^>]*>", admin.get(f"/admin/{page}").text)
        assert len(found) == count
        assert len({re.search(r'id="([^"]+)"', one)[1] for one in found}) == count  # type: ignore[index]


def test_only_the_admin_reviews(differing: Place) -> None:
    ann = differing.worker("Ann")
    item = item_of(differing, "Question 0?")
    token = fields_of(ann.http.get("/").text)["csrf"]
    refused = ann.post(f"/admin/items/{item}/settle", csrf=token, say="1")
    assert refused.status_code == 403
    assert ann.post(f"/admin/items/{item}/settle", say="1").status_code == 403
    assert differing.rows(f"SELECT stage FROM items WHERE id = {item}") == [("disagreed",)]


def test_twenty_answers_are_ranked_by_keys(project: Make) -> None:
    rows = answers(1, systems=20)
    html = project(rows, scale="rank").worker("Ann").html
    keys = [part.partition('"')[0] for part in html.split('data-key="')[1:]]
    assert len(keys) == len(set(keys)), "a key has one meaning"
    assert sum(f'data-place="{n}" data-key=' in html for n in range(20)) == 20


def test_answers_are_shown_as_their_models_mean_them_with_the_raw_text_beside(
    project: Make,
) -> None:
    rows = answers(1)
    rows[0]["answer"] = "It is **Paris** <script>alert(1)</script>"
    html = project(rows).worker("Ann").html
    assert "<strong>Paris</strong>" in html
    assert "**Paris** &lt;script&gt;" in html
    assert "<script>alert" not in html
    assert 'dir="auto"' in html


def test_time_left_is_foretold_from_ten_items_on(project: Make) -> None:
    worker = project(answers(30), people=("Ann",), per_item=1).worker("Ann")
    for done in range(1, 13):
        worker.say("1")
        assert (" left" in worker.html) == (done >= 10), done
