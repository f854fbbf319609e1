"""Who gets in, what a page may do, and what the app refuses."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from annotate_helpers import ADDRESS, Place, answers, fields_of
from markscheme.annotate import tokens
from markscheme.annotate.app import make_app
from markscheme.annotate.people import new_token, set_active
from markscheme.annotate.security import LARGEST_BODY, Bucket
from markscheme.annotate.server import listen
from markscheme.errors import MarkschemeError, RunError
from markscheme.web import LOCAL

Make = Callable[..., Place]
ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7191*8887 }}"


def test_secrets_are_kept_only_as_hashes(project: Make, tmp_path: Path) -> None:
    place = project()
    ann = place.worker("Ann")
    session = ann.http.cookies[place.site.cookie]
    place.store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("project.sqlite*"))
    for token in (*place.tokens.values(), session):
        assert tokens.split(token)[1].encode() not in kept
    place.store.__init__(tmp_path / "project.sqlite")  # type: ignore[misc]


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(project: Make) -> None:
    place = project()
    signed = place.client().post("/session", data={"token": place.tokens["Ann"]})
    cookie = signed.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert place.tokens["Ann"] not in cookie
    place.site.secure = True
    secure = place.client().post("/session", data={"token": place.tokens["Ann"]})
    assert secure.headers["set-cookie"].startswith("__Host-")
    assert "secure" in secure.headers["set-cookie"].lower()


def test_a_pasted_link_signs_in_too(project: Make) -> None:
    place = project()
    link = f"{ADDRESS}/enter#{place.tokens['Ann']}"
    assert place.client().post("/session", data={"token": link}).status_code == 303


@pytest.mark.parametrize(
    "token", ["", "2", "2.", "2.wrong", ".", "99.x", "²." + "a" * 43, "2." * 200]
)
def test_wrong_tokens_are_refused(project: Make, token: str) -> None:
    assert project().client().post("/session", data={"token": token}).status_code == 401


def test_another_persons_id_with_ones_own_secret_is_refused(project: Make) -> None:
    place = project()
    stolen = place.tokens["admin"].split(".")[0] + "." + place.tokens["Ann"].split(".")[1]
    assert place.client().post("/session", data={"token": stolen}).status_code == 401


def test_a_new_link_ends_the_old_one_and_its_sessions(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    fresh = place.store.write(lambda c: new_token(c, 2))
    assert ann.http.get("/").headers["location"] == "/enter"
    assert place.client().post("/session", data={"token": place.tokens["Ann"]}).status_code == 401
    assert place.client().post("/session", data={"token": fresh}).status_code == 303


def test_who_is_shut_out_is_out_at_once_and_their_items_are_free(project: Make) -> None:
    place = project(answers(1), per_item=1)
    ann, ben = place.worker("Ann"), place.worker("Ben")
    assert ann.item
    assert not ben.item
    place.store.write(lambda c: set_active(c, 2, active=False))
    assert ann.say("1").status_code == 401
    ben.look()
    assert ben.item


@pytest.mark.parametrize("meanwhile", ["undo", "agree"])
def test_a_disagreement_of_who_is_shut_out_goes_to_another(project: Make, meanwhile: str) -> None:
    """Also where it is none at that moment, as a first annotator thinks again."""
    people = ("Ann", "Ben", "Cy", "Dee")
    place = project(answers(1), people=people, per_item=2)
    ann, ben = place.worker("Ann"), place.worker("Ben")
    ann.say("1")
    ben.say("0")
    cy = place.worker("Cy")
    assert cy.item
    item = cy.item
    if meanwhile == "undo":
        ben.undo()
    else:
        ben.html = ben.http.get(f"/mine/{item}", headers={"hx-request": "true"}).text
        ben.say("1")
    ids = dict(place.rows("SELECT name, id FROM people"))
    place.store.write(lambda c: set_active(c, ids["Cy"], active=False))
    if meanwhile == "agree":
        ben.html = ben.http.get(f"/mine/{item}", headers={"hx-request": "true"}).text
    ben.say("0")
    assert place.rows("SELECT stage FROM items") == [("disagreed",)]
    assert place.worker("Dee").item == item


def test_signing_out_ends_the_session(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    session = ann.http.cookies[place.site.cookie]
    ann.post("/leave", csrf=fields_of(ann.html)["csrf"])
    ann.http.cookies.set(place.site.cookie, session)
    assert ann.http.get("/").headers["location"] == "/enter"


def test_two_projects_in_one_browser_sign_nobody_out(project: Make, tmp_path: Path) -> None:
    """A browser sends the cookies of all ports of a machine to each of them."""
    first = project().worker("Ann")
    second = project(location=tmp_path / "other.sqlite")
    client = second.client()
    client.cookies = first.http.cookies
    client.post("/session", data={"token": second.tokens["Ben"]})
    first.http.cookies = client.cookies
    assert client.get("/").status_code == first.http.get("/").status_code == 200


def test_forms_need_their_proof(project: Make) -> None:
    place = project()
    ann, ben = place.worker("Ann"), place.worker("Ben")
    form = fields_of(ann.html) | {"say": "1"}
    for csrf in ("", "x", "é", fields_of(ben.html)["csrf"]):
        assert ann.post("/label", **(form | {"csrf": csrf})).status_code == 403
    assert ann.http.post("/label", json=form).status_code == 415
    assert ann.http.post("/label", files={"a": b"b"}).status_code == 415
    assert place.rows("SELECT count(*) FROM ratings WHERE state = 'labelled'") == [(0,)]


@pytest.mark.parametrize("headers", [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
])  # fmt: skip
def test_forms_of_other_sites_are_refused(project: Make, headers: dict[str, str]) -> None:
    place = project()
    response = place.client().post("/session", data={"token": place.tokens["Ann"]}, headers=headers)
    assert response.status_code == 403


def test_other_names_of_the_server_are_refused(project: Make) -> None:
    client = project().client()
    assert client.get("/enter", headers={"host": "evil.example"}).status_code == 400
    assert client.get("/enter", headers={"host": "localhost:8765"}).status_code == 200
    assert client.get("/enter", headers={"host": "[::1]:80"}).status_code == 200


def test_a_server_on_all_interfaces_answers_under_every_address_and_no_unknown_name(
    project: Make,
) -> None:
    app = make_app(project().site, addresses=True)
    client = TestClient(app, base_url=ADDRESS)
    for host, status in (("192.0.2.7:8765", 200), ("[2001:db8::7]:8765", 200), ("a.example", 400)):
        found = client.get("/enter", headers={"host": host})
        assert found.status_code == status, host
    assert "--public-url" in found.text


def test_every_answer_carries_the_headers(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    for response in (
        ann.http.get("/"),
        ann.http.get("/nowhere"),
        ann.http.get("/static/annotate.js"),
        place.client().get("/"),
        place.client().get("/enter", headers={"host": "evil.example"}),
    ):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        assert "server" not in response.headers
    assert ann.http.get("/").headers["cache-control"] == "no-store"


def test_pages_have_no_script_or_style_of_their_own(project: Make) -> None:
    place = project(adjudicators=("Kim",))
    admin, ann = place.worker("admin"), place.worker("Ann")
    pages = [
        ann.http.get("/").text,
        ann.http.get("/mine").text,
        place.client().get("/enter").text,
        *(
            admin.http.get(f"/admin{path}").text
            for path in ("", "/items", "/items/1", "/agreement")
        ),
    ]
    for page in pages:
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", page)


def test_what_people_write_is_data(project: Make) -> None:
    rows = [{"question": ATTACK, "references": [ATTACK], "answer": ATTACK, "system": ATTACK}]
    place = project(rows, title=ATTACK, guidelines=f"# {ATTACK}\n- {ATTACK}\n\n{ATTACK}")
    ann, admin = place.worker("Ann"), place.worker("admin")
    page = ann.http.get("/").text
    ann.say("1", note=ATTACK)
    place.worker("Ben").say("0")
    fields = fields_of(admin.http.get("/admin").text)
    admin.post("/admin/people", csrf=fields["csrf"], name=ATTACK)
    seen = [page, ann.html, ann.http.get("/mine").text, ann.http.get("/mine/1").text]
    seen += [admin.http.get(f"/admin{path}").text for path in ("", "/items", "/items/1")]
    for text in seen:
        assert "<script>alert" not in text
        assert "<img" not in text
        assert str(7191 * 8887) not in text
    assert "&lt;script&gt;alert(1)" in page


def test_annotators_do_not_reach_the_admin_nor_the_admin_the_work(project: Make) -> None:
    place = project()
    ann, admin = place.worker("Ann"), place.worker("admin")
    csrf = fields_of(ann.html)["csrf"]
    for path in ("/admin", "/admin/items", "/admin/items/1", "/admin/export/labels"):
        assert ann.http.get(path).headers["location"] == "/"
    assert ann.post("/admin/people", csrf=csrf, name="Eve").status_code == 403
    assert ann.post("/admin/people/1/link", csrf=csrf).status_code == 403
    assert admin.http.get("/").headers["location"] == "/admin"
    assert place.client().get("/admin").headers["location"] == "/enter"
    assert place.rows("SELECT count(*) FROM people") == [(3,)]


def test_the_admin_cannot_be_replaced_from_the_page(project: Make) -> None:
    place = project()
    admin = place.worker("admin")
    csrf = fields_of(admin.http.get("/admin").text)["csrf"]
    assert "no such person" in admin.post("/admin/people/1/link", csrf=csrf).text
    admin.post("/admin/people/1/active", csrf=csrf, active="0")
    assert place.rows("SELECT active FROM people WHERE id = 1") == [(1,)]


def test_large_bodies_are_refused_whatever_their_header_says(project: Make) -> None:
    ann = project().worker("Ann")
    form = fields_of(ann.html) | {"say": "1"}
    assert ann.post("/label", **form, note="x" * (LARGEST_BODY + 1)).status_code == 413

    def stream() -> object:
        for _ in range(LARGEST_BODY // 1024 + 2):
            yield b"x" * 1024

    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert ann.http.post("/label", content=stream(), headers=kind).status_code == 413


def test_notes_are_cut_at_their_length(project: Make) -> None:
    place = project()
    place.worker("Ann").say("1", note="x" * 5000)
    assert place.rows("SELECT length(note) FROM ratings WHERE state = 'labelled'") == [(2000,)]


def test_what_others_behind_an_address_try_locks_out_nobody_with_a_valid_link(
    project: Make,
) -> None:
    place = project()
    ann, stranger = place.worker("Ann"), place.client()
    for n in range(30):
        stranger.post("/session", data={"token": f"2.{n}"})
    assert ann.http.get("/").status_code == 200
    assert ann.say("1").status_code == 200
    assert "Question" in place.worker("Ben").look(), "a valid link still lets in"


def test_one_session_cannot_flood(project: Make) -> None:
    place = project()
    place.site.requests.per_second, place.site.requests.most = 0.001, 5
    ann = place.worker("Ann")
    codes = [ann.http.get("/").status_code for _ in range(8)]
    assert 200 in codes
    assert codes[-1] == 429


def test_buckets_fill_again_and_forget_strangers() -> None:
    bucket = Bucket(per_second=1000, most=2, keys=3)
    assert [bucket.spend("a") for _ in range(2)] == [True, True]
    for key in "bcdefg":
        bucket.spend(key)
    assert len(bucket._levels) == 3
    assert bucket.left("never seen") == 2


def test_tokens_reach_no_log(project: Make, caplog: pytest.LogCaptureFixture) -> None:
    place = project()
    with caplog.at_level(logging.DEBUG):
        ann = place.worker("Ann")
        ann.say("1")
    said = caplog.text
    assert place.tokens["Ann"] not in said
    assert ann.http.cookies[place.site.cookie] not in said


def test_a_database_that_fails_is_no_lost_label(project: Make) -> None:
    place = project()
    ann = place.worker("Ann")
    form = fields_of(ann.html) | {"say": "1"}
    place.store.write(lambda c: c.exec_driver_sql("ALTER TABLE events RENAME TO hidden"))
    assert ann.post("/label", **form).status_code == 503
    place.store.write(lambda c: c.exec_driver_sql("ALTER TABLE hidden RENAME TO events"))
    assert ann.post("/label", **form).status_code == 200
    assert place.rows("SELECT count(*) FROM ratings WHERE state = 'labelled'") == [(1,)]


def test_listening_elsewhere_warns() -> None:
    local, everywhere = listen("127.0.0.1", 0, None), listen("0.0.0.0", 0, None)
    behind = listen("127.0.0.1", 0, "https://label.example.org")
    try:
        assert local.warning == ""
        assert "unencrypted" in everywhere.warning
        assert (local.addresses, everywhere.addresses) == (False, True)
        assert behind.secure
        assert behind.address == "https://label.example.org"
        assert behind.hosts == LOCAL | {"label.example.org"}
        with pytest.raises(RunError, match="--port"):
            listen("127.0.0.1", local.socket.getsockname()[1], None).socket.listen()
    finally:
        for found in (local, everywhere, behind):
            found.socket.close()
    with pytest.raises(MarkschemeError, match="not an address"):
        listen("127.0.0.1", 0, "label.example.org")


@pytest.mark.parametrize("item", ["99999999999999999999999", "-1", "9223372036854775808"])
def test_an_item_that_no_database_can_have_is_not_found(project: Make, item: str) -> None:
    assert project().worker("Ann").http.get(f"/mine/{item}").status_code == 404


def test_the_labels_are_for_the_owner_of_the_file_only(project: Make, tmp_path: Path) -> None:
    place = project()
    place.worker("Ann").http.get("/")
    for file in tmp_path.glob("project.sqlite*"):
        assert file.stat().st_mode & 0o077 == 0, file
