"""The trail of an item is in sentences."""

from __future__ import annotations

from collections.abc import Callable

from annotate_helpers import Place, answers, fields_of

Make = Callable[..., Place]


def test_the_trail_says_in_sentences_who_did_what(project: Make) -> None:
    place = project(answers(1), people=("Ann", "Ben", "Dan"))
    ann, ben, admin = place.worker("Ann"), place.worker("Ben"), place.worker("admin")
    item = int(place.rows("SELECT id FROM items")[0][0])
    assert ann.say("1", note="as <b>the</b> book says").is_success
    ann.html = ann.http.get(f"/mine/{item}", headers={"hx-request": "true"}).text
    assert ann.say("0").is_success
    assert ben.say("skip").is_success
    dan = str(dict(place.rows("SELECT name, id FROM people"))["Dan"])
    csrf = fields_of(admin.http.get("/admin").text)["csrf"]
    admin.post(f"/admin/items/{item}/give", csrf=csrf, person=dan)
    admin.post(f"/admin/items/{item}/settle", csrf=csrf, say="cannot_tell")
    trail = admin.http.get(f"/admin/items/{item}").text.split("<h2>Trail</h2>")[1]
    for said in (
        "Ann labelled it Correct, with the note “as &lt;b&gt;the&lt;/b&gt; book says”",
        "Ann changed Correct to Not correct",
        "Ben skipped it",
        "admin gave it to Dan",
        "admin decided it as cannot tell",
    ):
        assert f"<bdi>{said}" in trail, trail
    assert trail.count("<summary>as stored</summary>") == 5
