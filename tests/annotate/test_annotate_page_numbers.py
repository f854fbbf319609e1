"""Every number of the admin's page of agreement is the one that `agree --annotators` gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import polars as pl

import markscheme
from annotate_helpers import Place, answers
from markscheme.annotate.exports import export
from page_numbers import Page, numbers, thirds

COUNT = 40
NO_COMMAND = {
    ("page", "heading"): "names of statistics",
    ("page", "hint"): "how intervals are made, and how many pairs are shown",
    "Bias": "no command has it: `annotate.quality.mean_difference` is tested by itself",
    "Median time": "no command has it",
}
"""Numbers that no command gives, by place or column, and why."""


def figure(found: Mapping[str, Any]) -> list[str]:
    return thirds(found["value"], found.get("low"), found.get("high"))


def whole(part: float, of: int) -> str:
    """A share as a percentage without decimals, as this page has them."""
    return f"{100 * part / of:.0f}"


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
    found = orjson.loads(markscheme.agree(judged, ratings, annotators=True).to_json())["annotators"]

    page = Page(made.worker("admin").http.get("/admin/agreement").text)
    texts = {place: " ".join(parts) for place, parts in page.texts.items()}
    items = int(numbers(texts["page", "Same label"])[1])
    wanted = {
        ("page", "Same label"): [whole(items - found["disagreements"], items), str(items)],
        ("page", "Fleiss' kappa"): figure(found["fleiss_kappa"]),
        ("page", "Gwet's AC1"): figure(found["gwet_ac1"]),
        ("page", "Krippendorff's alpha"): figure(found["krippendorff_alpha"]),
    }
    for pair in found["pairs"]:
        row = f"{pair['first']}, {pair['second']}"
        wanted["page", row, "Items"] = [str(pair["items"])]
        wanted["page", row, "Same"] = [whole(pair["agree"], pair["items"])]
        for heading, name in (("Cohen's kappa", "kappa"), ("Gwet's AC1", "ac1")):
            ends = [pair[name + end] for end in ("", "_low", "_high")]
            wanted["page", row, heading] = thirds(*ends)
    for (name,), mine in ratings.group_by("annotator"):
        given = mine["label"].drop_nulls()
        wanted["page", str(name), "Labels"] = [str(mine.height)]
        wanted["page", str(name), "Says correct"] = [whole(float(given.sum()), len(given))]
        wanted["page", str(name), "Cannot tell"] = [str(mine.height - len(given))]
    different = {
        place: (numbers(texts[place]), figures)
        for place, figures in wanted.items()
        if numbers(texts[place]) != figures
    }
    assert not different
    prevalence = found["prevalence"]
    assert prevalence is None or f"{prevalence}." in page.texts["page", "hint"]
    rest = {place for place, text in texts.items() if numbers(text)} - wanted.keys()
    assert not [place for place in rest if not {place, place[-1]} & NO_COMMAND.keys()]
