"""Answers become items: identical ones once, in an order that tells nothing of their systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
from sqlalchemy import Connection, insert, select

from markscheme.agreement import open_run
from markscheme.annotate import tables as t
from markscheme.annotate.project import Project
from markscheme.engine import plan
from markscheme.errors import BadRowsError, DataError
from markscheme.tables import (
    ANSWERS_SCHEMA,
    ReadOptions,
    column_names,
    inclusion_probabilities,
    is_binary,
    is_blank,
    our_names,
    read_answers,
    read_table,
    system_names,
    with_names,
)

DESIGN = ("inclusion_probability", "stratum")
LARGEST_RANKED = 30


@dataclass(frozen=True, kw_only=True)
class Intake:
    """Items to label, and where each of their answers came from.

    Attributes:
        items: rows of the table `items`, in order.
        sources: rows of the table `sources`.
        answers: rows read.
        without_answer: rows whose answer is empty: labelled like any other, since they were
            judged and drawn like any other; only ranks leave them out.
        alone: rows left out of a ranking, as their question has no different answer.
        known_labels: labels in the file: of answers, or of annotators where an answer has none.
        known: items that have their label by these, and are shown to nobody.
        unused_labels: labels by which no item has its label, where others have.
        undecided: items without a label of which annotators have labels: they are shown.
        reason: why items with such labels are shown all the same; "" where none is.
        known_ratings: the annotators' labels of known and undecided items: number of the item,
            name, label.
    """

    items: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    answers: int
    without_answer: int
    known_labels: int
    alone: int = 0
    known: int = 0
    unused_labels: int = 0
    undecided: int = 0
    reason: str = ""
    known_ratings: tuple[tuple[int, str, float], ...] = ()


def read_file(path: str, options: ReadOptions | None = None) -> pl.DataFrame:
    """Answers of a file, as `plan-labels` writes it or any other, or of a run's folder.

    References may be missing; `inclusion_probability` and `stratum` are stored, and the names of
    `annotators`. `system` is null where no column says it.

    Raises:
        DataError: the file cannot be read, or lacks questions or answers.
    """
    options = options or ReadOptions()
    if path == "-":
        raise DataError("answers to label are read from a file, not from standard input")
    if Path(path).is_dir():
        return open_run(path).answers
    names = column_names(path, options)
    wanted = ("question", "answer", "system")
    # Paths into fields are no columns; `read_answers` follows them, and names what is not there.
    found = {*our_names(names, options.columns, wanted), *options.columns}
    lacking = [name for name in ("question", "answer") if name not in found]
    try:
        # Rows without references are malformed elsewhere; here they only mean: none to show.
        answers = read_answers(path, replace(options, references="optional"))
    except DataError as error:
        if isinstance(error, BadRowsError) or not lacking or "answer_id" not in names:
            raise
        raise DataError(
            f"{path} has no {' and no '.join(lacking)} to show; if 'plan-labels' wrote it, give "
            "that command --answers FILE, so that the texts are in it"
        ) from None
    if "system" not in found and answers["system"].eq(system_names([path])[0]).all():
        answers = answers.with_columns(system=pl.lit(None, pl.String))
    design = [name for name in DESIGN if name in names]
    named = ["annotators"] if {"annotators", "annotator_labels"} <= {*names} else []
    if not design and not named:
        return answers
    raw = read_table(path, options)
    if answers.height != raw.height:
        if not design:
            return answers
        raise DataError(f"{path} is a sample that was drawn, but some of its rows cannot be used")
    drawn = answers.with_columns(raw[name] for name in (*design, *named))
    drawn = with_names(drawn)
    if "inclusion_probability" not in design:
        return drawn
    try:
        return drawn.with_columns(inclusion_probabilities(raw["inclusion_probability"]))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def make_items(
    answers: pl.DataFrame,
    project: Project,
    *,
    gold: bool = False,
    relabel: bool = False,
    scores: Sequence[float | None] | None = None,
) -> Intake:
    """Items of a project: what the engine judges once, or for ranks a question with its answers.

    Args:
        answers: as `read_file` gives them.
        project: its scale, order and seed.
        gold: whether labels are what annotators are checked against.
        relabel: whether items that have a label are shown like others.
        scores: of a judge, of each answer.

    Raises:
        DataError: nothing to label; a gold answer without label, or with two; too many answers to
            rank.
    """
    silent = is_blank("answer")
    said = answers.with_row_index("row_place").with_columns(
        pl.when(silent).then(pl.lit("")).otherwise(pl.col("answer")).alias("answer"),
        pl.Series("score", scores or [None] * answers.height, pl.Float64),
    )
    empty = said.filter(silent).height
    if empty == said.height:
        raise DataError("there is no answer to label")
    ranked = project.scale == "rank"
    if ranked:
        said = said.filter(~silent)
    said = said.with_columns(item=_item_numbers(said, ranked=ranked))
    if gold:
        _check_gold(said, project)
    before = _labels_before(said)
    reason = "" if gold else _why_shown(said, before, project, relabel=relabel)
    groups = said.group_by("item", maintain_order=True)
    rng = np.random.default_rng([project.seed, int(gold)])
    items: list[dict[str, Any]] = []
    sources: list[dict[str, Any]] = []
    ratings: list[tuple[int, str, float]] = []
    unused = undecided = 0
    for number, (_, group) in enumerate(groups):
        different = group["answer"].unique(maintain_order=True).to_list()
        if ranked:
            rng.shuffle(different)
        items.append(_item(number, group, different, gold=gold))
        sources += _sources(number, group, different)
        if gold or reason:
            continue
        label = _known_label(group, project)
        if label is not None:
            items[-1] |= {"stage": "settled", "final": label}
        elif given := group["label"].count():
            unused += given
            continue
        own = _ratings(number, group)
        undecided += label is None and len(own) > 0
        ratings += own
    alone = len(sources)
    if ranked:
        _check_ranked(items)
        kept = {n for n, item in enumerate(items) if item["texts"] > 1}
        items = [item for n, item in enumerate(items) if n in kept]
        sources = [source for source in sources if source["item"] in kept]
    _place(items, project, rng)
    for item in items:
        item["texts"] = orjson.dumps(item.pop("shown")).decode()
    return Intake(
        items=items,
        sources=sources,
        answers=answers.height,
        without_answer=empty,
        alone=alone - len(sources),
        known_labels=len(before),
        known=sum(item["stage"] == "settled" for item in items),
        unused_labels=unused,
        undecided=undecided,
        reason=reason,
        known_ratings=tuple(ratings),
    )


def _item_numbers(said: pl.DataFrame, *, ranked: bool) -> pl.Series:
    """The item of each answer: what judges take as one, people label once.

    Of a ranking each answer may have a passage of its own, as systems find different ones.
    """
    seen = said.select(*ANSWERS_SCHEMA)
    if ranked:
        others = ("answer", "context", "answer_error")
        seen = seen.with_columns(pl.lit("").alias(name) for name in others)
    return plan(seen)[1]


def _labels_before(said: pl.DataFrame) -> pl.Series:
    """The labels of answers, and those of annotators where an answer has none."""
    apart = said.filter(pl.col("label").is_null())["annotator_labels"].explode()
    return pl.concat([said["label"], apart.cast(pl.Float64)]).drop_nulls()


def _why_shown(said: pl.DataFrame, labels: pl.Series, project: Project, *, relabel: bool) -> str:
    """Why items that have a label are shown like others; "" where they are not."""
    if relabel or labels.is_empty():
        return "as --relabel says" if len(labels) else ""
    if not said["label"].null_count():
        return "as there are no others"
    if project.scale in ("verdict", "grade"):
        # Of grades from 1 to 5 none is a verdict, not even the 1.
        values = project.choices.values.values()
        inside = labels.is_between(min(values), max(values)).all()
        if inside and (project.scale == "verdict" or not is_binary(labels)):
            return ""
    return f"as they are not on the scale {project.scale!r}"


def _known_label(group: pl.DataFrame, project: Project) -> float | None:
    """The one label on the project's scale that equal answers have; None for none, or several."""
    labels = group["label"].drop_nulls().unique()
    if len(labels) != 1:
        return None
    choices = project.choices.values.values()
    means = project.choices.near and min(choices) <= labels[0] <= max(choices)
    return float(labels[0]) if means or labels[0] in choices else None


def _ratings(number: int, group: pl.DataFrame) -> list[tuple[int, str, float]]:
    """Who gave an item what label, as far as the file has names."""
    found: dict[str, float] = {}
    for row in group.rows(named=True):
        labels = row["annotator_labels"] or []
        names = row.get("annotators") or []
        if len(names) != len(labels):
            names = [f"annotator{place + 1}" for place in range(len(labels))]
        found |= {n: one for n, one in zip(names, labels, strict=True) if one is not None}
    return [(number, name, label) for name, label in found.items()]


def save_items(
    connection: Connection, intake: Intake, gold: Intake | None, seed: int
) -> list[tuple[int, str, float]]:
    """Write all items and their sources; both get their final ids here.

    Ids are drawn among all items, for people see them: none tells which items are gold.

    Returns the annotators' labels in the file: the item's id, their name, the label.
    """
    intakes = (intake, gold) if gold is not None else (intake,)
    ids = np.random.default_rng([seed, 2]).permutation(sum(len(part.items) for part in intakes))
    drawn = iter((ids + 1).tolist())
    known = []
    for part in intakes:
        number_to_id = {item["item"]: next(drawn) for item in part.items}
        rows = [
            {"id": number_to_id[item["item"]], **{k: v for k, v in item.items() if k != "item"}}
            for item in part.items
        ]
        connection.execute(insert(t.items), rows)
        origins = [
            {
                "item_id": number_to_id[origin["item"]],
                **{k: v for k, v in origin.items() if k != "item"},
            }
            for origin in part.sources
        ]
        connection.execute(insert(t.sources), origins)
        known += [(number_to_id[item], name, label) for item, name, label in part.known_ratings]
    return known


def is_gold_of(connection: Connection, intake: Intake) -> bool:
    """Whether these are the gold items of a project."""
    names = ("question", "texts", "refs", "context", "gold")
    known = select(*(t.items.c[name] for name in names)).where(t.items.c.stage == "gold")
    kept = {tuple(row) for row in connection.execute(known)}
    return kept == {tuple(item[name] for name in names) for item in intake.items}


def _item(number: int, group: pl.DataFrame, texts: list[str], *, gold: bool) -> dict[str, Any]:
    references, contexts = group["references"].to_list()[0], group["context"].unique().to_list()
    return {
        "item": number,
        "place": 0,
        "question": group["question"][0],
        "shown": texts,
        "texts": len(texts),
        "refs": orjson.dumps(list(dict.fromkeys(references or ()))).decode(),
        "context": (contexts[0] or None) if len(contexts) == 1 else None,
        "gold": group["label"][0] if gold else None,
        "stage": "gold" if gold else "open",
        "taken": 0,
        "rated": 0,
        "third_id": None,
        "final": None,
        "score": group["score"].drop_nulls().first(),
    }


def _sources(number: int, group: pl.DataFrame, texts: list[str]) -> list[dict[str, Any]]:
    place = {text: n for n, text in enumerate(texts)}
    return [
        {
            "item": number,
            "text_place": place[row["answer"]],
            "row_place": row["row_place"],
            "answer_id": row["answer_id"],
            "system": row["system"],
            "refs": orjson.dumps(row["references"] or []).decode(),
            "inclusion_probability": row.get("inclusion_probability"),
            "stratum": None if row.get("stratum") is None else str(row["stratum"]),
        }
        for row in group.rows(named=True)
    ]


def _place(items: list[dict[str, Any]], project: Project, rng: np.random.Generator) -> None:
    """Number the items in the order in which people meet them."""
    if project.order == "file":
        order = list(range(len(items)))
    elif project.order == "shuffled":
        order = rng.permutation(len(items)).tolist()
    else:
        questions = list(dict.fromkeys(item["question"] for item in items))
        rank = dict(zip(questions, rng.permutation(len(questions)).tolist(), strict=True))
        within = rng.permutation(len(items)).tolist()
        order = sorted(range(len(items)), key=lambda n: (rank[items[n]["question"]], within[n]))
    order.sort(key=lambda n: items[n]["stage"] != "settled")  # Those were labelled before others.
    for place, number in enumerate(order):
        items[number]["place"] = place


def _check_gold(said: pl.DataFrame, project: Project) -> None:
    if project.scale == "rank":
        raise DataError("ranks have no gold checks; leave --gold out")
    if said["label"].null_count():
        raise DataError("a gold file needs a label in every row; some of its rows have none")
    torn = said.group_by("item").agg(pl.col("label").n_unique().alias("labels"))
    if torn.filter(pl.col("labels") > 1).height:
        raise DataError("a gold answer has two labels; keep one row each")
    allowed = project.choices.values.values()
    strange = sorted(set(said["label"].to_list()).difference(allowed))
    if strange:
        raise DataError(
            f"gold label {strange[0]:g} is not on the scale {project.scale!r}, whose values are "
            f"{', '.join(f'{c.value:g} ({c.name})' for c in project.choices.choices)}"
        )


def _check_ranked(items: list[dict[str, Any]]) -> None:
    most = max(items, key=lambda item: item["texts"])
    if most["texts"] < 2:
        raise DataError("to rank answers, a question needs two or more different ones; none has")
    if most["texts"] > LARGEST_RANKED:
        raise DataError(
            f"{most['texts']} different answers to {most['question']!r} are too many to rank at "
            f"once; {LARGEST_RANKED} is the most. Use --scale grade, or draw fewer systems"
        )
