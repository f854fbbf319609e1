"""Every number of the admin's page of agreement is the one that `agree --annotators` gives."""

from __future__ import annotations

import random
from collections.abc import Callable

import polars as pl

import markscheme
from annotate_helpers import Place, answers
from markscheme.annotate.exports import export
from markscheme.reports import table_html
from page_numbers import Page, numbers

COUNT = 40


def test_agreement_of_people_is_that_of_agree(project: Callable[..., Place]) -> None:
    chance = random.Random(5)
    made = project(answers(COUNT, systems=2), people=("Ann", "Ben", "Cem"), per_item=3)
    truth = {row["answer"]: chance.random() < 0.6 for row in answers(COUNT, systems=2)}
    for name, sure in (("Ann", 0.95), ("Ben", 0.8), ("Cem", 0.7)):
        worker = made.worker(name)
        while worker.item:
            good = truth[worker.answer] == (chance.random() < sure)
            worker.say("cannot_tell" if chance.random() < 0.05 else str(int(good)))
    ratings = made.store.read(lambda c: export(c, made.site.project, "ratings")).table
    judged = pl.DataFrame(answers(COUNT, systems=2)).select(
        pl.col("id").alias("answer_id"), "question", "answer", "system", judge=pl.lit("yes"),
        verdict=pl.lit(value=True),
    )  # fmt: skip
    agreed = markscheme.agree(judged, ratings, annotators=True)
    tables = [one for one in agreed.tables if "nnotators" in one.title]
    assert len(tables) == 2

    html = made.worker("admin").http.get("/admin/agreement").text
    assert "".join(table_html(one, f"agreement-{n}") for n, one in enumerate(tables)) in html
    page = Page(html)
    texts = {place: " ".join(parts) for place, parts in page.texts.items()}
    for (name,), mine in ratings.group_by("annotator"):
        given = mine["label"].drop_nulls()
        wanted = {
            "Labels": [str(mine.height)],
            "Says correct": [f"{100 * float(given.sum()) / len(given):.0f}"],
            "Cannot tell": [str(mine.height - len(given))],
        }
        for heading, figures in wanted.items():
            assert numbers(texts["page", str(name), heading]) == figures
