"""`hierarchy`: a run's answer hierarchy, tested against people's labels (Yao & Barbosa 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    judged_and_labels_if_any,
    names_of,
    open_run,
)
from markscheme.errors import AgreementError, no_such_name
from markscheme.flags import with_keywords
from markscheme.metrics import gap, token_f1
from markscheme.results import Column, Table, TableResult, columns, share_text
from markscheme.tables import as_binary, join_labels
from markscheme_research.studies.answer_hierarchy import (
    adjacent_sets,
    alternatives,
    marks_test,
    rank_scores,
    relation_tables,
    roc_curve,
    set_counts,
    with_not_given,
)
from markscheme_research.studies.entailment_details import details, gaps, tests
from markscheme_research.studies.options import HierarchyOptions


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HierarchyResult(TableResult):
    """What `hierarchy` gives: one row of the frame per judge and set of answers.

    Columns: `judge`, `rank`, `relation`, `in_superior`, `in_inferior`, `count`, `share` (0 to 1)
    and `accepted` (answers that people accept; null without labels).

    Attributes:
        labelled: whether there were labels to test against.
        found: by judge, every test, policy and count.
    """

    labelled: bool
    found: Mapping[str, Mapping[str, Any]]

    def roc_pictures(self) -> list[str]:
        """The ROC curve of each judge's marks, drawn in letters."""
        return [
            roc_picture(one["roc"], title=f"ROC curve of the marks of {judge}")
            for judge, one in self.found.items()
            if "roc" in one
        ]


def hierarchy(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: HierarchyOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> HierarchyResult:
    """Count answers in each set, and test whether people accept more of the higher sets.

    Counts of the four sets, one-tailed Fisher tests between neighbours, F1 and accuracy under every
    policy of what counts as right, AUROC and Brunner-Munzel test of the marks under every scheme
    that the run knows of, and what was not judged. Without labels, the counts alone.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: which judges and systems; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `HierarchyOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: no judge gives relations, or a system is unknown.
    """
    wanted = with_keywords(HierarchyOptions, options, keywords)
    accepted: pl.Series | None = None
    said: list[str] = []
    run = open_run(judgments, answers=answers)
    rows, known = judged_and_labels_if_any(run, labels, wanted, judges=wanted.judges)
    if known is not None:
        joined = join_labels(rows, known)
        rows, said = joined.rows, joined.notes()
        accepted = as_binary(rows["label"], positive_from=wanted.positive_from)
    if "relation" not in rows.columns or not rows["relation"].count():
        raise AgreementError(
            "no judge here gives relations; 'markscheme judge FILE --judge entailment' does"
        )
    found: dict[str, Any] = {}
    for judge in rows["judge"].unique(maintain_order=True):
        own = rows["judge"] == judge
        part = rows.filter(own)
        if part["relation"].count():
            found[judge] = findings(
                part,
                None if accepted is None else accepted.filter(own),
                without=names_of(wanted.without),
            )
    return HierarchyResult(
        frame=pl.concat(
            one["sets"].select(pl.lit(judge).alias("judge"), pl.all())
            for judge, one in found.items()
        ),
        tables=tuple(tables_of(found, said)),
        data={"command": "hierarchy", "matched": said, "judges": found},
        labelled=accepted is not None,
        found=found,
    )


SCHEMES = {
    "difficulty": "inference, difficulty by the model",
    "CIA": "inference, CIA",
    "IA": "inference, IA",
    "C": "inference, C (steps)",
}
"""Rows of Table 13 that follow from what an explained inference is made of."""
IN_SETS = "llm_score_in_sets"
NAMES = {
    "marks": "marks of the run",
    IN_SETS: "LLM score within the sets",
    "token_f1": "token F1",
    **SCHEMES,
}

_WIDTH, _HEIGHT = 50, 20


def findings(
    rows: pl.DataFrame, accepted: pl.Series | None, *, without: Sequence[str]
) -> dict[str, Any]:
    """Everything about one judge's relations.

    Args:
        rows: its judgments.
        accepted: Boolean, people's labels, or None.
        without: systems to leave out of the tests of order.
    """
    rows = with_not_given(rows)
    relation = rows["relation"]
    kept = gaps(details(rows.with_row_index("place")))
    found: dict[str, Any] = {"sets": set_counts(relation, accepted)}
    found["not_judged"] = _counts(rows.filter(pl.col("status") != "judged")["status"])
    if kept.height:
        found["tests_not_decided"] = _counts(
            tests(kept).filter(pl.col("entailed").is_null())["status"]
        )
        found["gaps"] = _counts(kept["gap_status"].drop_nulls())
    if accepted is None:
        return found
    kept_systems = pl.Series([True] * rows.height)
    if without:
        known = sorted(rows["system"].drop_nulls().unique()) if "system" in rows.columns else []
        unknown = [name for name in without if name not in known]
        if unknown:
            raise AgreementError(no_such_name("system", unknown[0], known))
        kept_systems = ~rows["system"].is_in(list(without)).fill_null(value=False)
    found["order"] = adjacent_sets(relation.filter(kept_systems), accepted.filter(kept_systems))
    systems = rows["system"] if "system" in rows.columns else None
    found["policies"] = alternatives(relation, accepted, systems)
    marks = _marks(rows, kept)
    found["marks"] = {name: marks_test(series, accepted) for name, series in marks.items()}
    inferior = (relation.cast(pl.String) == "inferior").fill_null(value=False)
    found["marks_of_inferior"] = {
        name: marks_test(series.filter(inferior), accepted.filter(inferior))
        for name, series in marks.items()
    }
    own = marks.get("marks")
    if own is not None and accepted.filter(own.is_not_null()).n_unique() == 2:
        found["roc"] = roc_curve(own, accepted)
    return found


def _marks(rows: pl.DataFrame, kept: pl.DataFrame) -> dict[str, pl.Series]:
    """Marks as the run gave them, and under every scheme that can be had from what it saved."""
    found: dict[str, pl.Series] = {}
    if "marks" in rows.columns and rows["marks"].count():
        found["marks"] = rows["marks"]
    if not kept.height:
        return found
    places = pl.DataFrame({"place": pl.arange(rows.height, dtype=pl.UInt32, eager=True)})
    every = places.join(
        kept.select(
            "place", "steps", "info", "assumptions", "difficulty",
            references=pl.col("references").list.eval(pl.element().struct.field("reference")),
        ),
        on="place", how="left", maintain_order="left",
    )  # fmt: skip
    for scheme in SCHEMES:
        known = "difficulty" if scheme == "difficulty" else "steps"
        if every[known].count():
            found[scheme] = rank_scores(rows["relation"], gap(every, scheme))
    if (kept["scheme"] == "llm_score").any() and "marks" in rows.columns:
        # As the authors' code has it: equivalent answers first, incorrect ones last, and between
        # them the score from 1 to 5 counts like a gap.
        found[IN_SETS] = rank_scores(rows["relation"], 1 + 4 * rows["marks"])
    if "answer" in rows.columns:
        found["token_f1"] = token_f1(rows["answer"].fill_null(""), every["references"])
    return found


def _counts(values: pl.Series) -> dict[str, int]:
    counted = values.value_counts(sort=True)
    return {str(name): int(count) for name, count in counted.iter_rows()}


def tables_of(found: Mapping[str, Any], said: Sequence[str]) -> list[Table]:
    """All tables, for every judge in turn."""
    tables = [_sets(found, said)]
    if any("order" in one for one in found.values()):
        order, *marks = _tests(found)
        tables += [order, _policies(found), *marks]
    return tables


def _sets(found: Mapping[str, Any], said: Sequence[str]) -> Table:
    rows, notes_found = [], list(said)
    for judge, one in found.items():
        for row in one["sets"].rows(named=True):
            yes = row["accepted"]
            accepted = "-" if yes is None or not row["count"] else share_text(yes / row["count"])
            members = ("yes" if row[name] else "no" for name in ("in_superior", "in_inferior"))
            rows.append(
                (judge, f"({row['rank']}) {row['relation']}", *members, f"{row['count']:,}",
                 share_text(row["share"]), accepted)
            )  # fmt: skip
        for what, words in (
            ("not_judged", "answers not judged"),
            ("tests_not_decided", "tests of entailment not decided"),
            ("gaps", "inferences explained for marks"),
        ):
            counts = one.get(what) or {}
            if counts:
                notes_found.append(f"{judge}: {words}: {_listed(counts)}")
    header = (
        "judge", "set", "entails a reference", "is entailed", "answers", "per cent",
        "accepted by people, per cent",
    )  # fmt: skip
    return Table(
        title="The answer hierarchy (Tables 9 and 10)",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[4:]),
        notes=tuple(notes_found),
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _policies(found: Mapping[str, Any]) -> Table:
    return Table.of(
        "What may count as right, in per cent (Table 11)",
        (
            "judge",
            Column("accepted", "policy"),
            Column("system", lambda row: row["system"] or None, missing="(all)"),
            Column("answers", format="count"),
            *columns("share", ("F1", "f1"), "accuracy"),
        ),
        [
            {"judge": judge, **vars(alternative)}
            for judge, one in found.items()
            for alternative in one.get("policies", ())
        ],
    )


def _tests(found: Mapping[str, Any]) -> list[Table]:
    """The tests of order and of marks."""
    steps = {judge: {"sets": one["order"]} for judge, one in found.items() if "order" in one}
    tables = [
        dataclasses.replace(table, title=f"{table.title} (Table 12)")
        for table in relation_tables(steps)
    ]
    for key, where in (
        ("marks", "Tables 3 and 13"),
        ("marks_of_inferior", "inferior answers only"),
    ):
        marks = {
            f"{judge}: {NAMES[name]}": {"marks": test}
            for judge, one in found.items()
            for name, test in one.get(key, {}).items()
            if key == "marks" or test.auroc.value is not None
        }
        tables += [
            dataclasses.replace(table, title=f"{table.title} ({where})")
            for table in relation_tables(marks)
        ]
    return tables


def roc_picture(curve: pl.DataFrame, *, title: str) -> str:
    """A ROC curve in letters: share of rejected answers to the right, of accepted ones upwards."""
    x = np.linspace(0, 1, _WIDTH)
    shares = np.interp(x, curve["rejected_share"].to_numpy(), curve["accepted_share"].to_numpy())
    # At the left edge a curve may rise steeply: its value there is that of the last point.
    places = np.round(shares * (_HEIGHT - 1)).astype(int)
    chance = np.round(x * (_HEIGHT - 1)).astype(int)
    lines = [title]
    for level in range(_HEIGHT - 1, -1, -1):
        marks = [
            "*" if places[column] == level else "." if chance[column] == level else " "
            for column in range(_WIDTH)
        ]
        label = {_HEIGHT - 1: "1.0", 0: "0.0"}.get(level, "   ")
        lines.append(f"{label} |{''.join(marks).rstrip()}")
    lines.append("    +" + "-" * _WIDTH)
    lines.append("     0.0" + " " * (_WIDTH - 6) + "1.0")
    lines.append("     accepted answers (upwards) and rejected ones (to the right) whose marks")
    lines.append("     reach a threshold; the dots are chance")
    return "\n".join(lines)
