"""`bench`: judges on public sets that people labelled, against the judges published with them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import kendalltau

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    agreement,
    judged_table,
)
from markscheme.analysis import GROUPS, failure_modes
from markscheme.contract import HasLineage, ModelSource, parse_judge
from markscheme.engine import apply
from markscheme.errors import DataError, UnknownNameError
from markscheme.flags import with_keywords
from markscheme.models import Models
from markscheme.results import Column, Table, TableResult, check_ending, columns, plain
from markscheme.tables import join_labels, read_table, write_table
from markscheme.text import counted
from markscheme.text.replies import read_yes_no
from markscheme_research.datasets import catalog, dataset, load, recorded
from markscheme_research.papers.bench_options import BenchOptions
from markscheme_research.papers.cell import DataDir
from markscheme_research.papers.pedants import PEDANTS, pedants_verdicts
from markscheme_research.papers.wang_2023 import by_threshold, first_questions
from markscheme_research.studies import match_amended, matches_exactly
from markscheme_research.training import parts

EMBEDDED = (
    "exact_match", "contains", "token_f1", "rougeL", "bleu", "char_similarity", "embedding_cosine",
    "entailment", "examiner",
)  # fmt: skip
"""Judges that need no key, no network and no download."""

RECORDED = {"BEM": "bem", "InstructGPT": "text-davinci-003", "GPT-4": "gpt-4", "Vicuna": "vicuna"}
"""Judges whose verdicts on NQ301 were published, and the names they are recorded under."""

REPLY_COLUMNS = ("reply", "raw", "response", "output", "completion", "judgment")
BASELINE = "exact match"
PICTURES = (".svg", ".png", ".pdf")
"""Endings of the files that thresholds are drawn to."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BenchResult(TableResult):
    """What `bench` gives: a row per set and judge.

    Columns: `dataset`, `judge`, `answers` (distinct ones that were judged), `not_judged`, accuracy,
    precision, recall and F1 of the accepted class, kappa, AUROC (each null where undefined), `tau`
    (Kendall's tau-b of the systems' ranking with people's), `cost_usd`, `seconds`.

    Attributes:
        verdicts: a row per distinct answer, with people's verdict and a column per judge.
        curves: F1 at every threshold: `dataset`, `judge`, `system`, `threshold`, `f1_positive`;
            empty where not requested.
    """

    verdicts: pl.DataFrame
    curves: pl.DataFrame

    def write_verdicts(self, path: str | Path) -> Path:
        """Write every distinct answer with people's verdict and each judge's.

        Raises:
            MarkschemeError: an ending that nothing is written with.
        """
        target = Path(path)
        table = self.verdicts
        if target.suffix.lower() in (".csv", ".tsv"):
            table = table.with_columns(pl.col("references").list.join(" || "))
        write_table(table, target)
        return target

    def write_picture(self, path: str | Path) -> Path:
        """Draw F1 by threshold, a panel per set and judge and a line per system: .svg, .png, .pdf.

        Raises:
            MarkschemeError: another ending.
            DataError: the thresholds were not requested, or no judge has scores.
            MissingExtraError: the chart library is not installed.
        """
        from markscheme_research.papers.threshold_pictures import draw_thresholds

        check_ending(path, PICTURES)
        if self.curves.is_empty():
            raise DataError(
                "nothing to draw: --picture requires --thresholds (Python: thresholds=True) and a "
                "judge with three different scores or more"
            )
        return draw_thresholds(self.curves, Path(path))


@dataclass(frozen=True, kw_only=True)
class _Set:
    """A labelled set: every row, and its distinct answers with `place` of each row among them."""

    name: str
    rows: pl.DataFrame
    distinct: pl.DataFrame
    left_out: int


def bench(
    names: str | Sequence[str],
    options: BenchOptions | None = None,
    *,
    judgments: JudgmentsSource | None = None,
    replies: TableSource | None = None,
    data_dir: str | Path | None = None,
    models: ModelSource | None = None,
    **keywords: Any,
) -> BenchResult:
    """Judges on public labelled sets: agreement with people, ranking, failure modes and cost.

    Equal answers to a question are judged once. On NQ301 the judges published with it (BEM,
    InstructGPT, GPT-4 where its replies are available) are shown too, and systems' accuracies are
    exact match against references amended by each judge, as Kamalloo et al. (2023) compute them.
    Questions that shipped weights or a named judge learned from are left out, unless
    `every_question`.

    Args:
        names: `nq301`, `evouna-nq`, `evouna-tq`, or a set of graded answers.
        options: see `BenchOptions`.
        judgments: judgments made elsewhere, joined by `answer_id` or by question and answer.
        replies: raw replies of a model: `question`, `answer`, `reply`, and `judge` where there are
            several; yes or no is read from each.
        data_dir: folder with the data.
        models: where language models come from; only for judges that ask one.
        keywords: fields of `BenchOptions`, on top of `options`.

    Raises:
        UnknownNameError: no such set, or one without labels.
        DataError: the set is not here, or judgments or replies fit none of its answers.
        ModelError: PEDANTS does not run in the interpreter that was named.
    """
    chosen = with_keywords(BenchOptions, options, keywords)
    wanted = (names,) if isinstance(names, str) else tuple(names)
    opened = Models() if models is None else models
    sets = [_labelled(name, chosen, data_dir) for name in wanted]
    # Judgments and replies of the user's are enough: nothing else is judged then unless requested.
    given = judgments is not None or replies is not None or chosen.pedants is not None
    own = chosen.judges or (() if given else EMBEDDED)
    rows: list[dict[str, Any]] = []
    tables: list[Table] = []
    wide: list[pl.DataFrame] = []
    curves: list[pl.DataFrame] = []
    data: list[dict[str, Any]] = []
    for one in sets:
        judged: dict[str, pl.DataFrame] = {}
        _keep(judged, one, BASELINE, _exact(one))
        if one.name == "nq301":
            judged |= _published(one, data_dir)
        for judge in own:
            judged[judge] = _ask(judge, one, opened)
        if chosen.pedants is not None:
            _keep(judged, one, PEDANTS, pedants_verdicts(chosen.pedants, one.distinct))
        if judgments is not None:
            judged |= _imported(judgments, one)
        if replies is not None:
            judged |= _replied(replies, one)
        scores = _by_system(one, judged, data_dir)
        found = [_row(one, judge, outcome, scores) for judge, outcome in judged.items()]
        rows += found
        tables.append(_table(one, found))
        entry: dict[str, Any] = {"dataset": one.name, "judges": found}
        if scores is not None:
            tables.append(_systems_table(one, scores))
            entry["systems"] = scores.to_dicts()
        if chosen.modes:
            shares = _modes(one, judged, opened)
            if shares is not None:
                tables.append(_modes_table(one, shares))
                entry["modes"] = shares.to_dicts()
        if chosen.thresholds:
            swept, found_curves = _thresholds(one, judged)
            tables += [_thresholds_table(one, swept)] if swept else []
            entry["thresholds"] = swept
            curves += found_curves
        data.append(entry)
        wide.append(
            one.distinct.select(
                pl.lit(one.name).alias("dataset"), "question", "references", "answer", "accepted"
            ).with_columns(*(outcome["verdict"].alias(judge) for judge, outcome in judged.items()))
        )
    return BenchResult(
        frame=pl.DataFrame(rows, infer_schema_length=None),
        tables=tuple(tables),
        data={"command": "bench", "sets": plain(data)},
        verdicts=pl.concat(wide, how="diagonal_relaxed"),
        curves=pl.concat(curves) if curves else pl.DataFrame(),
    )


def labelled_sets() -> list[str]:
    """The sets of the catalogue whose answers people labelled as right or wrong."""
    return [
        name
        for name, entry in catalog().items()
        if entry.format in ("nq301", "evouna", "graded-answers")
    ]


def _labelled(name: str, options: BenchOptions, data_dir: DataDir) -> _Set:
    known = labelled_sets()
    if name not in known:
        raise UnknownNameError("labelled set", name, known, f"there are {', '.join(known)}")
    kind = dataset(name).format
    more: dict[str, Any] = {}
    if kind == "nq301":
        more = {"rows": "pairs"}
    elif kind == "graded-answers":
        more = {"decided": True}
    rows = load(name, data_dir=data_dir, **more).drop_nulls(["answer", "label"])
    before = rows["question"].n_unique()
    if not options.every_question:
        if kind == "evouna":
            rows = rows.filter(parts(rows["question"]) == "test")
        rows = rows.filter(~_learned(rows["question"], options.judges))
    left_out = before - rows["question"].n_unique()
    rows = first_questions(rows, options.questions)
    if rows.is_empty():
        raise DataError(f"{name} has no question left; --every-question keeps those learned from")
    key = ["question", "references", "answer"]
    rows = rows.with_columns(accepted=pl.col("label") >= 0.5)
    distinct = rows.unique(key, keep="first", maintain_order=True).with_row_index("place")
    rows = rows.join(distinct.select("place", *key), on=key, how="left", maintain_order="left")
    return _Set(name=name, rows=rows, distinct=distinct, left_out=left_out)


def _learned(questions: pl.Series, judges: Sequence[str]) -> pl.Series:
    """Whether one of the judges, or of those that ship, learned from each question."""
    found = np.zeros(len(questions), bool)
    for name in dict.fromkeys((*EMBEDDED, *judges)):
        judge = parse_judge(name)
        lineage = judge.lineage() if isinstance(judge, HasLineage) else None
        if lineage is not None:
            found |= lineage.has(questions.to_list())
    return pl.Series(found)


OUTCOME = ("status", "verdict", "score")


def _keep(judged: dict[str, pl.DataFrame], one: _Set, judge: str, outcome: pl.DataFrame) -> None:
    """Outcomes of the distinct answers under a judge's name, with the columns that may lack."""
    assert outcome.height == one.distinct.height
    judged[judge] = outcome.with_columns(
        *(pl.lit(None, pl.Float64).alias(name) for name in ("cost_usd", "seconds")
          if name not in outcome.columns)
    )  # fmt: skip


def _exact(one: _Set) -> pl.DataFrame:
    matched = matches_exactly(one.distinct)
    return pl.DataFrame({"score": matched.cast(pl.Float64), "verdict": matched}).with_columns(
        pl.lit("judged").alias("status")
    )


def _ask(judge: str, one: _Set, models: ModelSource) -> pl.DataFrame:
    began = time.perf_counter()
    outcome = apply(parse_judge(judge), one.distinct.drop("place", "accepted", "label"), models)
    seconds = time.perf_counter() - began
    return outcome.select(
        *OUTCOME,
        "cost_usd",
        pl.lit(seconds / max(1, outcome.height)).alias("seconds"),
    )


def _published(one: _Set, data_dir: DataDir) -> dict[str, pl.DataFrame]:
    found: dict[str, pl.DataFrame] = {}
    for name, judge in RECORDED.items():
        try:
            verdicts = recorded("nq301", judge, data_dir=data_dir)
        except DataError:
            continue
        joined = one.distinct.select("answer_id").join(
            verdicts.select("answer_id", *OUTCOME),
            on="answer_id",
            how="left",
            maintain_order="left",
        )
        _keep(found, one, name, joined.with_columns(pl.col("status").fill_null("skipped")))
    return found


def _imported(judgments: JudgmentsSource, one: _Set) -> dict[str, pl.DataFrame]:
    table = judged_table(judgments)
    shared = "answer_id" in table.columns and bool(
        set(table["answer_id"].drop_nulls()) & set(one.rows["answer_id"])
    )
    return _spread(table, one, ["answer_id"] if shared else ["question", "answer"], "judgments")


def _replied(replies: TableSource, one: _Set) -> dict[str, pl.DataFrame]:
    table = read_table(replies) if isinstance(replies, str | Path) else pl.DataFrame(replies)
    column = next((name for name in REPLY_COLUMNS if name in table.columns), None)
    lacking = [name for name in ("question", "answer") if name not in table.columns]
    if column is None or lacking:
        raise DataError(
            "raw replies need the columns question, answer and reply; there are "
            + ", ".join(table.columns)
        )
    if "judge" not in table.columns:
        table = table.with_columns(judge=pl.lit("replies"))
    read = [read_yes_no(str(text or "")) for text in table[column]]
    table = table.with_columns(
        status=pl.Series([found.status for found in read], dtype=pl.String),
        verdict=pl.Series([found.verdict for found in read], dtype=pl.Boolean),
        score=pl.lit(None, pl.Float64),
    )
    return _spread(table, one, ["question", "answer"], "replies")


def _spread(table: pl.DataFrame, one: _Set, key: list[str], what: str) -> dict[str, pl.DataFrame]:
    """A long table of judgments as outcomes of the distinct answers, by judge; those that the table
    lacks are skipped."""
    missing = [name for name in key if name not in table.columns]
    if missing:
        raise DataError(f"{what} have neither answer_id nor {' and '.join(missing)}")
    ids = one.rows.select("place", *key).unique(key, keep="first")
    present = [name for name in (*OUTCOME, "cost_usd", "seconds") if name in table.columns]
    matched = ids.join(table.select("judge", *key, *present), on=key, how="inner")
    if matched.is_empty():
        raise DataError(
            f"none of the {what} is of an answer of {one.name}: they are matched on "
            f"{' and '.join(key)}"
        )
    found: dict[str, pl.DataFrame] = {}
    for (judge,), part in matched.group_by("judge", maintain_order=True):
        own = part.unique("place", keep="first").select("place", *present)
        joined = one.distinct.select("place").join(
            own, on="place", how="left", maintain_order="left"
        )
        for name, kind in (("status", pl.String), ("verdict", pl.Boolean), ("score", pl.Float64)):
            if name not in joined.columns:
                joined = joined.with_columns(pl.lit(None, kind).alias(name))
        joined = joined.with_columns(
            pl.when(pl.col("verdict").is_not_null())
            .then(pl.lit("judged"))
            .otherwise(pl.col("status").cast(pl.String).fill_null("skipped"))
            .alias("status")
        )
        _keep(found, one, str(judge), joined.drop("place"))
    return found


def _by_system(
    one: _Set, judged: Mapping[str, pl.DataFrame], data_dir: DataDir
) -> pl.DataFrame | None:
    """Each system's row: each judge's accuracy of it and people's, 0 to 1; None without systems."""
    if one.name == "nq301":
        answers = load("nq301", data_dir=data_dir)
        selected = one.distinct["question"].unique()
        answers = answers.filter(pl.col("question").is_in(selected.implode()))

        def matched(verdict: pl.Series) -> pl.Series:
            labels = (
                one.distinct.select("question", "answer", label=verdict.cast(pl.Float64))
                .drop_nulls()
                .group_by("question", "answer", maintain_order=True)
                .agg(pl.col("label").min())
            )
            return match_amended(answers, labels)

        columns = {
            judge: matches_exactly(answers) if judge == BASELINE else matched(outcome["verdict"])
            for judge, outcome in judged.items()
            if outcome["verdict"].count()
        }
        columns["people"] = matched(one.distinct["accepted"])
        wide = answers.select("system").with_columns(**columns)
    else:
        if one.rows["system"].n_unique() < 2:
            return None
        places = one.rows["place"]
        wide = one.rows.select("system", people="accepted").with_columns(
            **{judge: outcome["verdict"].gather(places) for judge, outcome in judged.items()}
        )
        wide = wide.drop_nulls("system")
    names = [*judged, "people"]
    return wide.group_by("system", maintain_order=True).agg(
        pl.col(name).cast(pl.Float64).mean() for name in names if name in wide.columns
    )


def _row(
    one: _Set, judge: str, outcome: pl.DataFrame, scores: pl.DataFrame | None
) -> dict[str, Any]:
    table = one.distinct.select("answer_id", "question", "answer").with_columns(
        outcome.select(*OUTCOME), judge=pl.lit(judge)
    )
    labels = one.distinct.select("answer_id", label=pl.col("accepted").cast(pl.Float64))
    (found,) = agreement(join_labels(table, labels))
    figures = {name: figure.value for name, figure in found.left_out.items()}
    tau = None
    if scores is not None and judge in scores.columns and scores[judge].null_count() == 0:
        value = float(kendalltau(scores[judge].round(9), scores["people"].round(9)).statistic)
        tau = None if np.isnan(value) else value
    cost = outcome["cost_usd"].cast(pl.Float64)
    seconds = outcome["seconds"].cast(pl.Float64)
    return {
        "dataset": one.name,
        "judge": judge,
        "answers": one.distinct.height,
        "not_judged": int((outcome["status"] != "judged").sum()),
        "accuracy": figures.get("accuracy"),
        "precision": figures.get("precision"),
        "recall": figures.get("recall"),
        "f1": figures.get("f1_positive"),
        "kappa": figures.get("kappa"),
        "auroc": figures.get("auroc") if outcome["score"].count() else None,
        "tau": tau,
        "cost_usd": float(cost.sum()) if cost.count() else None,
        "seconds": float(seconds.sum()) if seconds.count() else None,
    }


def _modes(
    one: _Set, judged: Mapping[str, pl.DataFrame], models: ModelSource
) -> pl.DataFrame | None:
    """Of the answers that people accept and exact match rejects: the share in each group that each
    judge rejects too, per cent of all of them; None where there is none."""
    own = models if isinstance(models, Models) else Models()
    found = failure_modes(one.distinct.drop("place"), own)
    if found.is_empty():
        return None
    groups = one.distinct.select("place", "answer_id").join(
        found.select("answer_id", "group"), on="answer_id", how="inner"
    )
    rows = []
    for group in (*GROUPS, "all"):
        part = groups if group == "all" else groups.filter(pl.col("group") == group)
        if part.is_empty():
            continue
        row: dict[str, Any] = {"group": group, "answers": part.height}
        for judge, outcome in judged.items():
            if judge != BASELINE:
                verdicts = outcome["verdict"].gather(part["place"])
                row[judge] = 100 * int((verdicts == False).sum()) / groups.height  # noqa: E712
        rows.append(row)
    return pl.DataFrame(rows)


def _thresholds(
    one: _Set, judged: Mapping[str, pl.DataFrame]
) -> tuple[list[dict[str, Any]], list[pl.DataFrame]]:
    """For judges with scores, by system: the best threshold by F1, F1 there, F1 at the threshold
    that is best over all, and the F1 curves."""
    swept: list[dict[str, Any]] = []
    curves: list[pl.DataFrame] = []
    places = one.rows["place"]
    for judge, outcome in judged.items():
        table = one.rows.select("system", "accepted", score=outcome["score"].gather(places))
        table = table.drop_nulls(["score", "accepted"])
        if judge == BASELINE or table["score"].n_unique() < 3:
            continue
        for row, curve in by_threshold(table):
            swept.append({"judge": judge, **row})
            curves.append(
                curve.select(
                    pl.lit(one.name).alias("dataset"), pl.lit(judge).alias("judge"),
                    pl.lit(row["system"]).alias("system"), "threshold", "f1_positive",
                )
            )  # fmt: skip
    return swept, curves


def _table(one: _Set, found: Sequence[Mapping[str, Any]]) -> Table:
    questions = one.distinct["question"].n_unique()
    notes = [
        f"{one.distinct.height:,} distinct answers to {questions:,} questions; each judged once. "
        "Accuracy and F1 (of the accepted class) in per cent; tau: Kendall's tau-b of the systems' "
        "ranking with people's."
    ]
    if one.left_out:
        notes.append(f"{counted(one.left_out, 'question')} that judges learned from are left out.")
    return Table.of(
        f"{one.name}: judges against people",
        (
            "judge",
            *columns("share", "accuracy", ("F1", "f1")),
            *columns(3, "kappa", ("AUROC", "auroc")),
            Column("tau", format=2),
            Column("not judged", format="right"),
            Column("cost $", "cost_usd", 2),
        ),
        found,
        notes,
    )


def _systems_table(one: _Set, scores: pl.DataFrame) -> Table:
    judges = (name for name in scores.columns if name != "system")
    how = (
        "Exact match against references amended by each judge (Kamalloo et al. 2023, section 4.3)."
        if one.name == "nq301"
        else "Share of the answers that each judge accepts."
    )
    return Table.of(
        f"{one.name}: accuracy by system, per cent",
        ("system", *columns("share", *((name, name) for name in judges))),
        scores,
        [how],
    )


def _modes_table(one: _Set, shares: pl.DataFrame) -> Table:
    judges = shares.columns[2:]
    return Table.of(
        f"{one.name}: failures of exact match that each judge shares, per cent",
        (
            "group",
            Column("answers", format="right"),
            *columns(1, *((name, name) for name in judges)),
        ),
        shares,
        [
            "Answers that people accept and exact match rejects, grouped by rules (Kamalloo et al. "
            "2023, section 5)."
        ],
    )


def _thresholds_table(one: _Set, swept: Sequence[Mapping[str, Any]]) -> Table:
    return Table.of(
        f"{one.name}: F1 by threshold",
        (
            "judge",
            "system",
            Column("best threshold", "threshold", 2),
            *columns("share", ("F1 there", "f1"), ("F1 at the common one", "f1_at_common")),
            Column("within a point", "{from:.2f} to {to:.2f}".format_map),
        ),
        swept,
        ["The common threshold is the one with the highest F1 over all systems."],
    )
