"""`reliability`: how alike repeated runs of one judge are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import (
    InMemory,
    JudgmentsSource,
    LabelOptions,
    columns_of,
    judged_and_labels_if_any,
    judged_table,
    open_run,
)
from markscheme.contract import Judge, ModelSource, parse_judge
from markscheme.engine import run_in_folder, run_in_memory
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.flags import with_keywords
from markscheme.judges.prompted import SamplingOverrides
from markscheme.models import Models
from markscheme.results import Column, Table, TableResult, share_text, summary_table
from markscheme.tables import AnswersReader, Joined, as_binary, join_labels
from markscheme_research.studies.entailment_details import details, statements, tests
from markscheme_research.studies.options import ReliabilityOptions
from markscheme_research.studies.repeats import kappa_matrix, spread, text_repeats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReliabilityResult(TableResult):
    """What `reliability` gives: one row of the frame per two runs and thing compared.

    Columns: `what` (`verdicts`, `relations`, `entailment`), `first`, `second`, `items`, `equal`
    (share, 0 to 1), `kappa` (null where undefined) and `reason`.

    Attributes:
        notes: what was met on the way.
    """

    notes: tuple[str, ...] = ()


def reliability(
    runs: JudgmentsSource | Sequence[JudgmentsSource],
    labels: JudgmentsSource | None = None,
    options: ReliabilityOptions | None = None,
    *,
    judge: str | Judge | None = None,
    folder: str | Path | None = None,
    models: ModelSource | None = None,
    on_progress: Callable[[int], None] | None = None,
    **keywords: Any,
) -> ReliabilityResult:
    """How far runs of one judge agree: runs that are there, or runs made now from answers.

    Cohen's kappa of verdicts and relations for every two runs, the spread of F1 and accuracy where
    there are labels; and of the entailment judge the agreement of statements (BLEU and identical
    ones) and of entailment tests (Yao & Barbosa 2024, appendix A.2, Tables 4 to 7).

    Args:
        runs: two runs or more (folders, files, frames or results); with `judge`, the answers.
        labels: people's labels; None for those of the first run.
        options: how runs are repeated and compared; the defaults if None.
        judge: the judge to repeat, by `seeds` or `samples`.
        folder: where the runs made now are written, each in a folder of its own; an interrupted one
            resumes there. None keeps them in memory.
        models: opens weights and servers for a judge that needs some.
        on_progress: called with the number of judgments just finished.
        keywords: fields of `ReliabilityOptions`, in place of or on top of `options`.

    Raises:
        MarkschemeError: fewer than two runs, or not exactly one of `seeds` and `samples`.
        DataError, AgreementError: the runs cannot be read or compared.
    """
    wanted = with_keywords(ReliabilityOptions, options, keywords)
    if judge is not None and labels is None and wanted.label_column is not None:
        # The answers are read now, and their labels with them.
        named = {**columns_of(wanted.columns), "label": wanted.label_column}
        wanted = dataclasses.replace(wanted, columns=named, label_column=None)
    several = isinstance(runs, list | tuple) and not any(isinstance(one, Mapping) for one in runs)
    given: list[Any] = list(runs) if several else [runs]  # type: ignore[arg-type]
    notes: list[str] = []
    if judge is None:
        if wanted.seeds or wanted.samples:
            raise MarkschemeError("--seeds and --samples require --judge, which is to be repeated")
        made: list[tuple[str, JudgmentsSource]] = [
            (str(one) if isinstance(one, str | Path) else f"run{place}", one)
            for place, one in enumerate(given, start=1)
        ]
    else:
        repeated = parse_judge(judge)
        made = _judged(
            given, repeated, wanted, folder=folder, models=models, on_progress=on_progress
        )
        if _seeded(repeated, 1) == _seeded(repeated, 2):
            notes.append(
                f"{judge} has no seed; its runs differ only where it asks a language model"
            )
    if len(made) < 2:
        raise MarkschemeError(
            "reliability needs two runs or more: name their folders, or a file to judge with "
            "--judge and --seeds 0,1,2,3 (or --samples 4)"
        )
    read = [judged_table(one, judges=wanted.recorded or ()) for _, one in made]
    places = [place for place, _ in made]
    names = [Path(place).name for place in places]
    if len(set(names)) < len(names):
        names = [f"run{place}" for place, _ in enumerate(places, start=1)]
    joined = _labelled(made[0][1], labels, wanted)
    if joined is None:
        notes.append("no labels with the runs, so no spread of F1 and accuracy; see --labels")
    found = repeats_of(read, joined, wanted.positive_from, texts=wanted.texts, names=names)
    return ReliabilityResult(
        frame=pl.concat(
            found[what].select(
                pl.lit(what).alias("what"), "first", "second", "items",
                pl.col("accuracy").alias("equal"), "kappa", "reason",
            )
            for what in KAPPAS
            if what in found
        ),
        tables=tuple(repeat_tables(found)),
        data={"command": "reliability", "runs": places, **found},
        notes=(*notes, *(f"{name}: {place}" for name, place in zip(names, places, strict=True))),
    )  # fmt: skip


KAPPAS = ("verdicts", "relations", "entailment")
"""What kappas of two runs are of."""


def _settings(seeds: str | Sequence[int], samples: int | None) -> list[dict[str, int]]:
    """What differs from run to run.

    Raises:
        MarkschemeError: not exactly one of the two, or seeds that are no whole numbers.
    """
    if bool(seeds) == (samples is not None):
        raise MarkschemeError("name either --seeds 0,1,2,3 or --samples 4, and not both")
    if samples is not None:
        return [{"sample": sample} for sample in range(samples)]
    try:
        return [
            {"seed": int(seed)} for seed in (seeds.split(",") if isinstance(seeds, str) else seeds)
        ]
    except ValueError:
        raise MarkschemeError(
            f"--seeds {seeds!r} must be whole numbers with commas, as in 0,1,2,3"
        ) from None


def _judged(
    answers: Sequence[Any],
    judge: Judge,
    options: ReliabilityOptions,
    *,
    folder: str | Path | None,
    models: ModelSource | None,
    on_progress: Callable[[int], None] | None,
) -> list[tuple[str, JudgmentsSource]]:
    """Judge the answers once for each setting: the names or folders of the runs, and the runs."""
    reading = options.reading(columns=columns_of(options.columns))
    sources = [one if (kept := open_run(one).stored_answers) is None else kept for one in answers]

    made: list[tuple[str, JudgmentsSource]] = []
    for setting in _settings(options.seeds, options.samples):
        seed = setting.get("seed")
        one = judge if seed is None else _seeded(judge, seed)
        word, number = next(iter(setting.items()))
        reader = AnswersReader(sources, reading)
        asked = SamplingOverrides(
            models=Models() if models is None else models,
            seed=seed,
            sample=setting.get("sample", 0),
        )
        if folder is None:
            run = run_in_memory(reader, [one], models=asked, on_progress=on_progress)
            read = pl.concat(list(AnswersReader(sources, reading)))
            made.append((f"{word}-{number}", InMemory(run.judgments.collect(), read)))
            continue
        place = Path(folder) / f"{word}-{number}"
        run_in_folder(
            reader, [one], place, models=asked,
            render=lambda report: summary_table(report.records).markdown(),
            on_progress=on_progress,
        )  # fmt: skip
        made.append((str(place), place))
    return made


def _seeded(judge: Judge, seed: int) -> Judge:
    """The judge with its seeds, and those of judges inside it, set."""
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(judge):  # type: ignore[arg-type]
        value = getattr(judge, field.name)
        if field.name == "seed" or field.name.endswith("_seed"):
            changed[field.name] = seed
        elif isinstance(value, tuple):
            changed[field.name] = tuple(
                _seeded(one, seed) if _is_judge(one) else one for one in value
            )
        elif _is_judge(value):
            changed[field.name] = _seeded(value, seed)
    return dataclasses.replace(judge, **changed)  # type: ignore[type-var]


def _is_judge(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and hasattr(value, "judge")


def _labelled(
    run: JudgmentsSource, labels: JudgmentsSource | None, options: ReliabilityOptions
) -> Joined | None:
    """The first run with labels, None where there are none to be had."""
    # Its columns are those of the answers that were judged.
    reading = LabelOptions(label_column=options.label_column)
    rows, known = judged_and_labels_if_any(
        open_run(run), labels, reading, judges=options.recorded or ()
    )
    return None if known is None else join_labels(rows, known)


def repeats_of(
    runs: Sequence[pl.DataFrame],
    joined: Joined | None,
    positive_from: float | None,
    *,
    texts: str | None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Kappas of every two runs, spread of figures over runs, and likeness of texts.

    Runs of the entailment judge are compared in their statements and tests too.

    Args:
        runs: judgments of each run, by one judge, with `answer_id`.
        joined: the first run with labels; None where there are none.
        positive_from: the grade from which an answer is acceptable.
        texts: a text column to compare.
        names: of the runs; run1, run2, ... if none.

    Raises:
        AgreementError: several judges, no ids, or no such text column.
    """
    if any(run["judge"].n_unique() > 1 for run in runs):
        raise AgreementError(
            "repeated runs are of one judge; choose it with --recorded NAME (Python: recorded=...)"
        )
    if any("answer_id" not in run.columns for run in runs):
        raise AgreementError("repeated runs are matched by 'answer_id', which one of them lacks")
    named = names or [f"run{place}" for place, _ in enumerate(runs, start=1)]

    def side_by_side(tables: Sequence[pl.DataFrame], value: str) -> pl.DataFrame:
        return _matched(dict(zip(named, tables, strict=True)), ["answer_id"], value)

    found: dict[str, Any] = {"verdicts": kappa_matrix(side_by_side(runs, "verdict"))}
    found["not_judged"] = {
        name: dict(run.filter(pl.col("status") != "judged")["status"].value_counts().rows())
        for name, run in zip(named, runs, strict=True)
    }
    if all("relation" in run.columns and run["relation"].count() for run in runs):
        found["relations"] = kappa_matrix(side_by_side(runs, "relation"))
    found |= _stages(dict(zip(named, runs, strict=True)))
    if joined is not None:
        accepted = as_binary(joined.rows["label"], positive_from=positive_from)
        labels = joined.rows.select("answer_id", accepted)
        labelled = [
            labels.join(run, on="answer_id", how="left", maintain_order="left") for run in runs
        ]
        found["spread"] = spread(side_by_side(labelled, "verdict"), accepted)
    if texts is not None:
        if any(texts not in run.columns for run in runs):
            raise AgreementError(f"a run has no texts {texts!r}; there are raw and explanation")
        found["texts"] = text_repeats(side_by_side(runs, texts))
    return found


def _stages(runs: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Statements and tests of runs of the entailment judge (Yao & Barbosa 2024, Tables 4 and 5)."""
    kept = {name: details(run) for name, run in runs.items()}
    if not all(one.height for one in kept.values()):
        return {}
    found: dict[str, Any] = {}
    label = pl.coalesce("label", pl.when("entailed").then(pl.lit("yes")).otherwise(pl.lit("no")))
    labelled = pl.when(pl.col("entailed").is_not_null()).then(label)
    pairs = {name: tests(one).with_columns(value=labelled) for name, one in kept.items()}
    table = _matched(pairs, ["answer_id", "reference", "way"], "value")
    found["entailment"] = kappa_matrix(table)
    said = {
        name: statements(one).with_columns(pl.col("of").fill_null("")) for name, one in kept.items()
    }
    texts = _matched(said, ["answer_id", "of"], "statement")
    found["statements"] = text_repeats(texts)
    return found


def _matched(runs: Mapping[str, pl.DataFrame], key: list[str], value: str) -> pl.DataFrame:
    """One column a run, rows matched on `key`; what a run lacks is null there.

    Rows that repeat a key are equal answers, and count once.
    """
    columns = [
        run.select(*key, pl.col(value).alias(name)).unique(key, keep="first", maintain_order=True)
        for name, run in runs.items()
    ]
    table = columns[0]
    for column in columns[1:]:
        table = table.join(
            column, on=key, how="full", coalesce=True, nulls_equal=True,
            maintain_order="left_right",
        )  # fmt: skip
    return table.drop(key)


def repeat_tables(found: Mapping[str, Any]) -> list[Table]:
    """One row per pair of runs, then one row per statistic."""
    pairs = []
    for what in ("verdicts", "relations", "entailment"):
        for row in found[what].rows(named=True) if what in found else ():
            kappa = f"n/a ({row['reason']})" if row["kappa"] is None else f"{row['kappa']:.3f}"
            share = share_text(row["accuracy"])
            pairs.append((what, row["first"], row["second"], f"{row['items']:,}", share, kappa))
    header = ("what", "first", "second", "pairs", "equal, per cent", "Cohen's kappa")
    tables = [
        Table(
            title="Runs, two by two",
            header=header,
            rows=tuple(pairs),
            numeric=frozenset(header[3:]),
            notes=tuple(
                f"not judged in {name}: {_listed(counts)}"
                for name, counts in found["not_judged"].items()
                if counts
            ),
        )
    ]
    if "spread" in found:
        tables.append(_spread_table(found["spread"]))
    for what in ("statements", "texts"):
        if what in found:
            tables.append(_texts_table(found[what], what))
    return tables


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in counts.items())


def _spread_table(spread: pl.DataFrame) -> Table:
    figures = (Column(name, format=4, missing="n/a") for name in ("mean", "sd", "least", "most"))
    return Table.of(
        "Spread over runs, against labels",
        ("statistic", *figures, Column("runs", format="right")),
        spread,
        ["n/a: undefined in all runs but one, or in all"],
    )


def _texts_table(texts: pl.DataFrame, what: str) -> Table:
    """One row per pair of runs, and their mean with its standard deviation."""
    rows = texts.to_dicts()
    known = texts.drop_nulls(["similarity", "identical"])
    if known.height > 1:
        means = {
            key: f"{scale * float(known[key].mean()):.1f} ± {scale * float(known[key].std()):.1f}"  # type: ignore[arg-type]
            for key, scale in (("similarity", 1), ("identical", 100))
        }
        rows.append({"first": "mean", "second": "± sd", "texts": "", **means})
    return Table.of(
        f"{what.capitalize()} of runs, two by two",
        (
            "first",
            "second",
            Column(what, "texts", "count"),
            Column("BLEU", "similarity", 1, "n/a (no texts)"),
            Column("identical, per cent", "identical", "share"),
        ),
        rows,
    )
