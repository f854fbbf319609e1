"""What a judge says of the items, stored to be shown after a person's own verdict."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import Connection, delete, insert, select

from markscheme.agreement import open_run
from markscheme.annotate import tables as t
from markscheme.annotate.project import Project
from markscheme.annotate.scales import RELATION_OF
from markscheme.errors import DataError
from markscheme.tables import known_ids, load_judgments, one_judge

_VALUE_OF = {name: value for value, name in RELATION_OF.items()}


def save_suggestions(
    connection: Connection, project: Project, run: str, judge: str | None
) -> tuple[str, int, int]:
    """Keep the judgments of a run, in place of earlier ones.

    Returns whose they are, on how many items they have a value of the project's scale, and on how
    many others a score alone.

    Args:
        connection: open on the project's database, in a transaction.
        project: whose items they are for.
        run: folder of a run, or a table of judgments with `answer_id`.
        judge: whose judgments; None if there is only one.

    Raises:
        AgreementError, UnknownNameError: the run has several judges and none is named, or no such.
        DataError: it judges none of the items, or says nothing that can be shown.
    """
    if project.scale == "rank":
        raise DataError("suggestions are for single answers; leave --suggest out with ranks")
    judge, rows = _judged(run, judge)
    sources = pl.DataFrame(
        connection.execute(
            select(t.sources.c.answer_id, t.sources.c.item_id)
            .join(t.items, t.items.c.id == t.sources.c.item_id)
            .where(t.items.c.stage != "gold")
        ).all(),
        schema={"answer_id": pl.String, "item": pl.Int64},
        orient="row",
    )
    ids = known_ids(sources["answer_id"], rows["answer_id"])
    items = dict(zip(ids, sources["item"], strict=True))
    found = {
        items[row["answer_id"]]: said
        for row in rows.rows(named=True)
        if row["answer_id"] in items and (said := _suggestion(row, project))["said"]
    }
    if not found:
        raise DataError(
            f"judge {judge!r} of {run} has judged none of the project's answers with a score or a "
            f"value of the scale {project.scale!r}"
        )
    connection.execute(delete(t.suggestions))
    connection.execute(
        insert(t.suggestions),
        [{"item_id": item, "judge": judge, **said} for item, said in found.items()],
    )
    valued = sum(said["value"] is not None for said in found.values())
    return judge, valued, len(found) - valued


def read_scores(run: str, judge: str | None, ids: pl.Series) -> list[float | None]:
    """The scores of a run's judge, 0 to 1, of answers; its verdicts where it gives no scores.

    Args:
        run: as of `save_suggestions`.
        judge: likewise.
        ids: of the answers.

    Raises:
        DataError: as `save_suggestions`.
    """
    _, rows = _judged(run, judge)
    score = pl.coalesce(pl.col("score", "verdict").cast(pl.Float64)).alias("score")
    known = rows.select("answer_id", score).drop_nulls()
    scores = dict(known.filter(pl.col("score").is_between(0, 1)).iter_rows())
    return [scores.get(one) for one in known_ids(ids, rows["answer_id"])]


def are_scores_of(connection: Connection, run: str, judge: str | None) -> bool:
    """Whether the scores of a project's items are those of a run's judge.

    Args:
        connection: open on the project's database.
        run: as of `save_suggestions`.
        judge: likewise.

    Raises:
        DataError: as `save_suggestions`.
    """
    rows = connection.execute(
        select(t.items.c.id, t.items.c.score, t.sources.c.answer_id)
        .join(t.sources, t.sources.c.item_id == t.items.c.id)
        .where(t.items.c.stage != "gold")
        .order_by(t.sources.c.row_place)
    ).all()
    schema = {"item": pl.Int64, "kept": pl.Float64, "answer_id": pl.String}
    answers = pl.DataFrame(rows, schema=schema, orient="row")
    scores = pl.Series("score", read_scores(run, judge, answers["answer_id"]), pl.Float64)
    first = (pl.col("kept").first(), pl.col("score").drop_nulls().first())
    items = answers.with_columns(scores).group_by("item").agg(first)
    return items["kept"].eq_missing(items["score"]).all()


def _judged(run: str, judge: str | None) -> tuple[str, pl.DataFrame]:
    """Whose judgments of a run are meant, and those rows that are judged."""
    table = load_judgments(open_run(run).table)
    if "answer_id" not in table.columns:
        raise DataError(f"{run} is not a run of 'markscheme judge': it lacks answer_id")
    rows = one_judge(table, judge)
    return judge or str(rows["judge"].first()), rows.filter(pl.col("status") == "judged")


def _suggestion(row: dict[str, Any], project: Project) -> dict[str, Any]:
    """Its value on the project's scale (null if it has none there), and how it is shown."""
    value: float | None = None
    if project.scale == "verdict" and row.get("verdict") is not None:
        value = float(row["verdict"])
    elif project.scale == "relation" and row.get("relation") is not None:
        value = _VALUE_OF[str(row["relation"])]
    score = row.get("score")
    words = [] if value is None else [project.choices.name_of(value)]
    words += [] if score is None else [f"score {score:.2f}"]
    return {"value": value, "said": ", ".join(words), "explanation": row.get("explanation")}
