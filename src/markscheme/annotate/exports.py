"""People's labels, as files that the other commands read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import orjson
import polars as pl
from sqlalchemy import Connection, func, select

from markscheme.annotate import tables as t
from markscheme.annotate.options import ExportOptions, Kind
from markscheme.annotate.project import Project
from markscheme.annotate.ratings import answered, labels_so_far
from markscheme.annotate.scales import RELATION_OF, verdicts
from markscheme.annotate.trail import changes, check, known_ratings
from markscheme.errors import AgreementError, MarkschemeError, RunError
from markscheme.tables import FINAL_LABEL, RELATIONS, as_binary, check_exported
from markscheme.text import counted


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A table to write, what to say of it, and the project's last change, of which it holds all."""

    table: pl.DataFrame
    notes: tuple[str, ...] = ()
    trail: Mapping[str, Any] = field(default_factory=dict)


def export(
    connection: Connection, project: Project, kind: str, options: ExportOptions | None = None
) -> Exported:
    """A project's labels in one of the shapes that other commands read.

    Where one person worked in a project that asks for several, their labels are given.

    - `labels`: one row per answer that is resolved (without a label where nobody can tell), has
      several people's word, or was passed over: for `agree`, `estimate`, `rank`, `calibrate`.
      `annotators` names who gave `annotator_labels`, which are those before any suggestion; `item`
      numbers what was labelled once, however many systems gave it.
    - `ratings`: one row per answer and person, with notes and times, and with the label that
      `labels` gives the answer (null while it has none) as `final_label`.
    - `training`: labelled answers with 0 or 1: for `train examiner --data`.
    - `gold`: one row per gold item and person who labelled it, with the right label as `gold`: for
      `--label-errors` of `agree`, `estimate` and `compare`.
    - `audit`: the trail of every change.

    Raises:
        RunError: the project is not what its trail made of it.
        MarkschemeError: no such kind.
        AgreementError: no answer has its label yet, or no gold item, or grades without
            `positive_from`, or ranks where verdicts are needed.
    """
    end = check(connection)
    found = _export(connection, project, kind, options or ExportOptions())
    return replace(found, trail={"kind": kind, "change": end.last, "digest": end.digest})


def check_export(connection: Connection, file: Path, seal: Path) -> str:
    """What to say of an export that is as its seal has it, and follows from the project.

    Raises:
        RunError: it is not.
    """
    last = check(connection).last
    mark = str(check_exported(file, seal).get("digest"))
    then = connection.scalar(select(t.events.c.id).where(t.events.c.digest == mark))
    if then is None:
        raise RunError(f"{file} is from another project, or from changes that this one has not")
    return f"{file} is as this project gave it; changes since: {last - then:,}"


def _export(
    connection: Connection, project: Project, kind: str, options: ExportOptions
) -> Exported:
    if kind not in get_args(Kind):
        raise MarkschemeError(f"exports are {', '.join(get_args(Kind))}; {kind!r} is none of them")
    strange = [name for name in options.accept if name not in RELATIONS]
    if strange:
        raise MarkschemeError(f"{strange[0]!r} is not a relation; they are {', '.join(RELATIONS)}")
    if kind == "audit":
        return Exported(table=audit_trail(connection))
    said = answered(connection, project, options.accept)
    if kind == "gold":
        return _gold(connection, said, project)
    settled, whose = labels_so_far(connection, project, said)
    every = pl.concat([said_before(connection, project, said, settled), said])
    finals = _finals(every.filter(part="first"), project, options, settled)
    answers = _answers(connection)
    if kind == "ratings":
        return Exported(table=_without_empty(_ratings(answers, every, project, finals)))
    labelled = answers.join(finals, on=["item", "text_place"], how="left", maintain_order="left")
    several = pl.col("annotator_labels").list.drop_nulls().list.len() > 1
    place, has_label = pl.int_range(pl.len()), pl.col("label").is_not_null()
    labelled = labelled.with_columns(
        state=pl.when(has_label)
        .then(pl.lit("labelled"))
        .when(pl.col("item").is_in(list(settled)))
        .then(pl.lit("undecidable"))
        .when((pl.col("stage") == "disagreed") | several)
        .then(pl.lit("undecided"))
        # What people put off is no random part: `estimate` must know that its turn has been.
        .when(place < (0 if project.order == "file" else place.filter(has_label).max()))
        .then(pl.lit("passed"))
        .otherwise(pl.lit("open"))
    )
    known = labelled.filter(state="labelled")
    if known.is_empty():
        raise AgreementError(
            f"no answer has its label yet: an item needs {project.per_item} "
            f"{'label' if project.per_item == 1 else 'labels'}, and a third person's word where "
            "they differ; 'markscheme annotate --project PATH --per-item N' changes how many, and "
            "--as ratings exports each person's labels"
        )
    notes = _notes(kind, Counter(labelled["state"]))
    if whose:
        notes += (whose,)
    if kind == "labels":
        known = labelled.filter(pl.col("state") != "open")
        if connection.scalar(select(func.count(t.items.c.draw_weight))):
            notes += (
                "these items came in the order 'informative' at first, unsure answers before "
                "others: no random sample, so 'estimate' needs the labels of all",
            )
        known = known.drop("item", "text_place", "stage", "state").rename({"unit": "item"})
        return Exported(table=_without_empty(known), notes=notes)
    # Nothing is learned from what says nothing.
    empty = int((known["answer"] == "").sum())
    if empty:
        notes += (f"{counted(empty, 'labelled answer')} without a text left out",)
    known = known.filter(pl.col("answer") != "")
    table = known.with_columns(_verdicts(known["label"], project, options))
    kept = ["answer_id", "question", "references", "answer", "system", "label"]
    return Exported(table=_without_empty(table.select(kept)), notes=notes)


def said_before(
    connection: Connection,
    project: Project,
    said: pl.DataFrame,
    settled: Mapping[int, float | None],
) -> pl.DataFrame:
    """The labels of the project's file, as `answered` gives those of people.

    Somebody of the same name is the same person, whose label here takes the place of an earlier
    one; others have numbers below 0. A label of which the file says nobody is of nobody, and of the
    part `known`.
    """
    people: dict[str, int] = dict(connection.execute(select(t.people.c.name, t.people.c.id)).all())
    ratings: list[tuple[int, str | None, float | None, str]] = [
        (item, name, label, "first") for item, name, label in known_ratings(connection)
    ]
    known = select(t.items.c.id).where(t.items.c.place < project.known, t.items.c.stage != "gold")
    rated = {*said["item"], *(item for item, *_ in ratings)}
    for item in connection.scalars(known.order_by(t.items.c.place)):
        if item not in rated:
            ratings.append((item, None, settled[item], "known"))
    rows = [
        {
            "item": item,
            "text_place": 0,
            "person": None if name is None else people.setdefault(name, -1 - len(people)),
            "name": name,
            "part": part,
            "state": "labelled",
            **dict.fromkeys(("value", "own", "grade"), label),
        }
        for item, name, label, part in ratings
    ]
    return pl.DataFrame(rows, schema=said.schema).join(
        said, on=["item", "person"], how="anti", maintain_order="left"
    )


def audit_trail(connection: Connection) -> pl.DataFrame:
    """Every change ever made, oldest first: `at`, `person`, `item`, `action`, `detail` (JSON)."""
    schema = {
        "at": pl.Float64,
        "person": pl.String,
        "item": pl.Int64,
        "action": pl.String,
        "detail": pl.String,
    }
    table = pl.DataFrame([tuple(row) for row in changes(connection)], schema=schema, orient="row")
    return table.with_columns(_moments(table["at"]))


def _gold(connection: Connection, said: pl.DataFrame, project: Project) -> Exported:
    """People's labels of gold items, with the right label; none where a person cannot tell."""
    labels = said.filter(pl.col("part") == "gold").select(
        "item", pl.col("name").alias("annotator"), pl.col("grade").alias("label"), "gold"
    )
    if labels.is_empty():
        raise AgreementError(
            "nobody has labelled a gold item yet"
            if project.gold
            else "the project has no gold items; 'markscheme annotate FILE --gold FILE' mixes "
            "answers with known labels in"
        )
    texts = _answers(connection, gold=True).unique("item", keep="first")
    texts = texts.select("item", "answer_id", "question", "answer")
    table = texts.join(labels, on="item", how="inner", maintain_order="right").drop("item")
    unsure = table["label"].null_count()
    note = f"{table.height:,} labels of {counted(labels['item'].n_unique(), 'gold item')}"
    if unsure:
        note += f"; {unsure:,} of them 'cannot tell', which counts as no label"
    return Exported(table=table, notes=(note,))


def _answers(connection: Connection, *, gold: bool = False) -> pl.DataFrame:
    """Every answer as it came in, with the item it belongs to, in the order of labelling.

    That order is drawn, which a look after every label needs (`estimate --anytime`). Gold items
    are apart. `unit` numbers what is labelled once: an item, or of a ranking one of its texts.
    """
    rows = connection.execute(
        select(
            t.sources.c.item_id,
            t.sources.c.text_place,
            t.sources.c.answer_id,
            t.items.c.question,
            t.sources.c.refs,
            t.items.c.texts,
            t.sources.c.system,
            t.sources.c.inclusion_probability,
            t.sources.c.stratum,
            t.items.c.stage,
        )
        .join(t.items, t.items.c.id == t.sources.c.item_id)
        .where((t.items.c.stage == "gold") if gold else (t.items.c.stage != "gold"))
        .order_by(t.items.c.place, t.sources.c.row_place)
    )
    answers = pl.DataFrame(
        [
            (
                item,
                place,
                answer_id,
                question,
                orjson.loads(refs),
                orjson.loads(texts)[place],
                *rest,
            )
            for item, place, answer_id, question, refs, texts, *rest in rows
        ],
        schema={
            "item": pl.Int64,
            "text_place": pl.Int64,
            "answer_id": pl.String,
            "question": pl.String,
            "references": pl.List(pl.String),
            "answer": pl.String,
            "system": pl.String,
            "inclusion_probability": pl.Float64,
            "stratum": pl.String,
            "stage": pl.String,
        },
        orient="row",
    )
    return answers.with_columns(unit=pl.struct("item", "text_place").rank("dense"))


def _finals(
    firsts: pl.DataFrame,
    project: Project,
    options: ExportOptions,
    settled: Mapping[int, float | None],
) -> pl.DataFrame:
    """Of each text: `label`, `annotator_labels` of the first annotators, maybe `relation`.

    Annotators' labels are as they were before any judge's verdict was seen, for agreement.
    """
    value = pl.col("own").alias("value")
    firsts = firsts.select("item", "text_place", "person", "name", value).drop_nulls("value")
    if project.scale == "rank":
        means = firsts.group_by("item", "text_place").agg(pl.col("value").mean().alias("label"))
        table = means.filter(pl.col("item").is_in(list(settled)))
    else:
        table = pl.DataFrame(
            [(item, 0, final) for item, final in settled.items()],
            schema={"item": pl.Int64, "text_place": pl.Int64, "label": pl.Float64},
            orient="row",
        )
    if project.scale == "relation":
        relation = pl.col("label").replace_strict(RELATION_OF, default=None, return_dtype=pl.String)
        table = table.with_columns(
            relation.alias("relation"), verdicts(table["label"], options.accept)
        )
    return table.join(_side_by_side(firsts), on=["item", "text_place"], how="full", coalesce=True)


def _side_by_side(firsts: pl.DataFrame) -> pl.DataFrame:
    """`annotator_labels`: the n-th place belongs to the n-th person who labelled anything.

    `annotators` has their names.
    """
    keys = ["item", "text_place"]
    if firsts.is_empty():
        return firsts.select(
            *keys,
            annotator_labels=pl.lit([], pl.List(pl.Float64)),
            annotators=pl.lit([], pl.List(pl.String)),
        )
    wide = firsts.pivot(on="person", index=keys, values="value", sort_columns=False)
    people = sorted((name for name in wide.columns if name not in keys), key=int)
    names = dict(firsts.select(pl.col("person").cast(pl.String), "name").iter_rows())
    return wide.select(
        *keys,
        pl.concat_list(people).alias("annotator_labels"),
        pl.lit([names[person] for person in people], pl.List(pl.String)).alias("annotators"),
    )


def _ratings(
    answers: pl.DataFrame,
    said: pl.DataFrame,
    project: Project,
    finals: pl.DataFrame,
) -> pl.DataFrame:
    words = [
        state
        if state == "cannot_tell"
        else f"rank {rank}"
        if rank is not None
        else project.choices.name_of(value)
        for state, rank, value in said.select("state", "rank", "value").iter_rows()
    ]
    key = ["item", "text_place"]
    table = said.select(
        *key,
        pl.col("name").alias("annotator"),
        "part",
        pl.Series("said", words, pl.String),
        pl.col("grade").alias("label"),
        pl.col("own").alias("label_before_suggestion"),
        "note",
        "seconds",
        "at",
    )
    texts = answers.select(*key, "answer_id", "question", "answer", "system", "unit")
    joined = texts.join(table, on=key, how="inner", maintain_order="left")
    finals = finals.select(*key, pl.col("label").alias(FINAL_LABEL))
    joined = joined.join(finals, on=key, how="left", maintain_order="left")
    joined = joined.drop(key).rename({"unit": "item"})
    return joined.with_columns(_moments(joined["at"]))


def _verdicts(labels: pl.Series, project: Project, options: ExportOptions) -> pl.Series:
    if project.scale == "rank":
        raise AgreementError("ranks are not verdicts; only --as labels and --as ratings have them")
    if project.scale == "grade":
        if options.positive_from is None:
            raise AgreementError(
                "grades are not verdicts; say from which grade an answer is acceptable with "
                "--positive-from, such as 4"
            )
        accepted = as_binary(labels, positive_from=options.positive_from)
        return accepted.cast(pl.Float64).alias("label")
    return labels


def _notes(kind: str, answers: Mapping[str, int]) -> tuple[str, ...]:
    """How many answers have their label, and what becomes of the others in this export."""
    said = [f"{answers['labelled']:,} of {sum(answers.values()):,} answers have their label"]
    written = kind == "labels"
    for state, what, how in (
        ("undecidable", "resolved without one", "with an empty label"),
        ("undecided", "undecided", "with each person's word alone"),
        ("passed", "not resolved yet before others that are", "with an empty label"),
        ("open", "not resolved yet", ""),
    ):
        if answers[state]:
            fate = f"written {how}" if written and how else "left out"
            said.append(f"{answers[state]:,} {what}, {fate}")
    return ("; ".join(said),)


def _without_empty(table: pl.DataFrame) -> pl.DataFrame:
    optional = ("inclusion_probability", "stratum", "system")
    return table.drop(
        n for n in optional if n in table.columns and table[n].null_count() == table.height
    )


def _moments(seconds: pl.Series) -> pl.Series:
    """Seconds since 1970 as text in UTC."""
    at = (seconds * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    return at.dt.to_string("%Y-%m-%dT%H:%M:%S%.3f+00:00")
