"""How alike repeated runs of one judge are: for `markscheme reliability`, `agree --repeat`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markscheme.cli.output import percent
from markscheme.errors import AgreementError

if TYPE_CHECKING:
    import polars as pl

    from markscheme.agreement import Joined
    from markscheme.results import Table


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
    import polars as pl

    from markscheme.agreement import as_binary, kappa_matrix, spread, text_repeats

    if any(run["judge"].n_unique() > 1 for run in runs):
        raise AgreementError("repeated runs are of one judge; choose it with --judges")
    if any("answer_id" not in run.columns for run in runs):
        raise AgreementError("repeated runs are matched by 'answer_id', which one of them lacks")
    named = names or [f"run{place}" for place, _ in enumerate(runs, start=1)]

    def process_pool(tables: Sequence[pl.DataFrame], value: str) -> pl.DataFrame:
        return _matched(dict(zip(named, tables, strict=True)), ["answer_id"], value)

    found: dict[str, Any] = {"verdicts": kappa_matrix(process_pool(runs, "verdict"))}
    found["not_judged"] = {
        name: dict(run.filter(pl.col("status") != "judged")["status"].value_counts().rows())
        for name, run in zip(named, runs, strict=True)
    }
    if all("relation" in run.columns and run["relation"].count() for run in runs):
        found["relations"] = kappa_matrix(process_pool(runs, "relation"))
    found |= _stages(dict(zip(named, runs, strict=True)))
    if joined is not None:
        accepted = pl.Series(
            "accepted", as_binary(joined.rows["label"], positive_from=positive_from)
        )
        labels = joined.rows.select("answer_id", accepted)
        labelled = [
            labels.join(run, on="answer_id", how="left", maintain_order="left") for run in runs
        ]
        found["spread"] = spread(process_pool(labelled, "verdict"), accepted)
    if texts is not None:
        if any(texts not in run.columns for run in runs):
            raise AgreementError(f"a run has no texts {texts!r}; there are raw and explanation")
        found["texts"] = text_repeats(process_pool(runs, texts), similarity=_bleu)
    return found


def _stages(runs: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Statements and tests of runs of the entailment judge (Yao & Barbosa 2024, Tables 4 and 5)."""
    import polars as pl

    from markscheme.agreement import details, kappa_matrix, statements, tests, text_repeats

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
    found["statements"] = text_repeats(texts, similarity=_bleu)
    return found


def _bleu(texts: Sequence[str], others: Sequence[str]) -> float:
    import polars as pl

    from markscheme.metrics import corpus_bleu

    return 100 * corpus_bleu(pl.Series(texts), pl.Series(others))


def _matched(runs: Mapping[str, pl.DataFrame], key: list[str], value: str) -> pl.DataFrame:
    """One column a run, rows matched on `key`; what a run lacks is null there.

    Rows that repeat a key are equal answers, and count once.
    """
    import polars as pl

    columns = [
        run.select(*key, pl.col(value).alias(name)).unique(key, keep="first", maintain_order=True)
        for name, run in runs.items()
    ]
    table = columns[0]
    for column in columns[1:]:
        table = table.join(column, on=key, how="left", maintain_order="left")
    return table.drop(key)


def repeat_tables(found: Mapping[str, Any]) -> list[Table]:
    """A row a pair of runs, then a row a statistic."""
    from markscheme.results import Table

    pairs = []
    for what in ("verdicts", "relations", "entailment"):
        for row in found[what].rows(named=True) if what in found else ():
            kappa = f"n/a ({row['reason']})" if row["kappa"] is None else f"{row['kappa']:.3f}"
            share = percent(row["accuracy"])
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
    from markscheme.results import Table

    rows = [
        (
            row["statistic"],
            *(
                "n/a" if row[name] is None else f"{row[name]:.4f}"
                for name in ("mean", "sd", "least", "most")
            ),
            str(row["runs"]),
        )
        for row in spread.rows(named=True)
    ]
    figures = ("statistic", "mean", "sd", "least", "most", "runs")
    return Table(
        title="Spread over runs, against labels",
        header=figures,
        rows=tuple(rows),
        numeric=frozenset(figures[1:]),
        notes=("n/a: undefined in all runs but one, or in all",),
    )


def _texts_table(texts: pl.DataFrame, what: str) -> Table:
    """A row a pair of runs, and their mean with its standard deviation."""
    from markscheme.results import Table

    names = ("first", "second", what, "BLEU", "identical, per cent")
    rows: list[tuple[str, ...]] = [
        (
            row["first"],
            row["second"],
            f"{row['texts']:,}",
            "n/a (no texts)" if row["similarity"] is None else f"{row['similarity']:.1f}",
            percent(row["identical"]),
        )
        for row in texts.rows(named=True)
    ]
    known = texts.drop_nulls(["similarity", "identical"])
    if known.height > 1:
        means = [
            f"{scale * float(known[name].mean()):.1f} ± {scale * float(known[name].std()):.1f}"  # type: ignore[arg-type]
            for name, scale in (("similarity", 1), ("identical", 100))
        ]
        rows.append(("mean", "± sd", "", *means))
    return Table(
        title=f"{what.capitalize()} of runs, two by two",
        header=names,
        rows=tuple(rows),
        numeric=frozenset(names[2:]),
    )
