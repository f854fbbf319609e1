"""Every number of the admin's pages is the one that a command gives, or that exported rows give."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy.stats

import markscheme
from annotate_helpers import Place, answers
from markscheme.annotate.exports import export
from markscheme.annotate.render import duration
from markscheme.reports import table_html
from markscheme.results import share_figure
from page_numbers import Page, numbers

COUNT = 40


def test_agreement_of_people_is_that_of_agree(project: Callable[..., Place]) -> None:
    chance = random.Random(5)
    gold = [
        {"question": f"Gold {n}?", "references": ["yes"], "answer": f"gold {n}", "label": n % 2}
        for n in range(6)
    ]
    names = ("Ann", "Ben", "Cem")
    made = project(answers(COUNT, systems=2), people=names, per_item=3, gold=gold, gold_every=10)
    truth = {row["answer"]: bool(row["label"]) for row in gold}
    truth |= {row["answer"]: chance.random() < 0.6 for row in answers(COUNT, systems=2)}
    for name, sure in (("Ann", 0.95), ("Ben", 0.8), ("Cem", 0.7)):
        worker = made.worker(name)
        while worker.item:
            good = truth[worker.answer] == (chance.random() < sure)
            worker.say("cannot_tell" if chance.random() < 0.05 else str(int(good)))
    ratings, golden = (
        made.store.read(partial(export, project=made.site.project, kind=kind)).table
        for kind in ("ratings", "gold")
    )
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
    wide = ratings.pivot(on="annotator", index="answer_id", values="label")
    for (name,), mine in ratings.group_by("annotator"):
        given = mine["label"].drop_nulls()
        checks = golden.filter(annotator=name)
        told = checks["label"].drop_nulls().len()
        right = int((checks["label"] == checks["gold"]).sum())
        others = pl.mean_horizontal(*({*names} - {str(name)}))
        apart = wide.select(pl.col(str(name)) - others).drop_nulls().to_series().to_numpy()
        seconds = made.rows(
            "SELECT seconds FROM ratings JOIN people ON people.id = person_id "
            f"WHERE people.name = '{name}' AND state IN ('labelled', 'cannot_tell')"
        )
        wanted = {
            "Labels": [str(mine.height)],
            "Says correct": [f"{100 * float(given.sum()) / len(given):.0f}"],
            "Bias": [*bias(apart), str(len(apart))],
            "Gold": [str(right), str(checks.height), *wilson(right, checks.height)],
            "Cannot tell": [str(mine.height - len(given) + checks.height - told)],
            "Median time": numbers(duration(median(each for (each,) in seconds))),
        }
        for heading, figures in wanted.items():
            assert numbers(texts["page", str(name), heading]) == figures, heading
    tiles = " ".join(made.worker("admin").http.get("/admin/live").text.split())
    assert f"<dd>{ratings.height}<small> of {3 * 2 * COUNT}</small>" in tiles


def bias(apart: npt.NDArray[np.float64]) -> list[str]:
    """The mean difference and its 95% interval by Student's t, with half a difference more."""
    count = len(apart)
    error = math.sqrt((float(apart.var(ddof=1)) + 1 / count) / count)
    far = float(scipy.stats.t.ppf(0.975, count - 1)) * error
    ends = (apart.mean(), apart.mean() - far, apart.mean() + far)
    return [f"{number:+.2f}".lstrip("+") for number in ends]


def wilson(right: int, count: int) -> list[str]:
    """The 95% interval of a share in per cent, as `judge` gives it of single answers."""
    share = share_figure(np.arange(count) < right, np.ones(count, dtype=np.int64))
    return [f"{100 * (end or 0.0):.0f}" for end in (share.low, share.high)]
