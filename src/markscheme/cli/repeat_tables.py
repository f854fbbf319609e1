"""What `markscheme agree --repeat` shows: how alike repeated runs of one judge are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markscheme.cli.tables import percent
from markscheme.errors import AgreementError

if TYPE_CHECKING:
    import polars as pl

    from markscheme.agreement.join import Joined
    from markscheme.report.table import Table


def repeats_of(
    runs: Sequence[pl.DataFrame], joined: Joined, positive_from: float | None, *, texts: str | None
) -> dict[str, Any]:
    """Kappas of every two runs, spread of figures over runs, and likeness of texts.

    Args:
        runs: judgments of each run, by one judge, with `answer_id`.
        joined: the first run with labels.
        positive_from: the grade from which an answer is acceptable.
        texts: a text column to compare.

    Raises:
        AgreementError: several judges, no ids, or no such text column.
    """
    import polars as pl

    from markscheme.agreement.join import as_binary
    from markscheme.agreement.repeats import kappa_matrix, spread, text_repeats

    if any(run["judge"].n_unique() > 1 for run in runs):
        raise AgreementError("repeated runs are of one judge; choose it with --judges")
    if any("answer_id" not in run.columns for run in runs):
        raise AgreementError("repeated runs are matched by 'answer_id', which one of them lacks")
    found: dict[str, Any] = {"verdicts": kappa_matrix(_side_by_side(runs, "verdict"))}
    if all("relation" in run.columns and run["relation"].count() for run in runs):
        found["relations"] = kappa_matrix(_side_by_side(runs, "relation"))
    accepted = pl.Series("accepted", as_binary(joined.rows["label"], positive_from=positive_from))
    labels = joined.rows.select("answer_id", accepted)
    labelled = [labels.join(run, on="answer_id", how="left", maintain_order="left") for run in runs]
    found["spread"] = spread(_side_by_side(labelled, "verdict"), accepted)
    if texts is not None:
        if any(texts not in run.columns for run in runs):
            raise AgreementError(f"a run has no texts {texts!r}; there are raw and explanation")
        found["texts"] = text_repeats(_side_by_side(runs, texts))
    return found


def _side_by_side(runs: Sequence[pl.DataFrame], value: str) -> pl.DataFrame:
    """One column a run; an answer that a run lacks is null there."""
    table = runs[0].select("answer_id", run1=value)
    for place, run in enumerate(runs[1:], start=2):
        column = run.select("answer_id", **{f"run{place}": value})
        table = table.join(column, on="answer_id", how="left", maintain_order="left")
    return table.drop("answer_id")


def repeat_tables(found: Mapping[str, Any]) -> list[Table]:
    """A row a pair of runs, then a row a statistic."""
    from markscheme.report.table import Table

    pairs = []
    for what in ("verdicts", "relations"):
        for row in found[what].rows(named=True) if what in found else ():
            kappa = f"n/a ({row['reason']})" if row["kappa"] is None else f"{row['kappa']:.3f}"
            share = percent(row["accuracy"])
            pairs.append((what, row["first"], row["second"], f"{row['items']:,}", share, kappa))
    spread = [
        (
            row["statistic"],
            *(
                "n/a" if row[name] is None else f"{row[name]:.4f}"
                for name in ("mean", "sd", "least", "most")
            ),
            str(row["runs"]),
        )
        for row in found["spread"].rows(named=True)
    ]
    header = ("what", "first", "second", "answers", "equal, per cent", "Cohen's kappa")
    figures = ("statistic", "mean", "sd", "least", "most", "runs")
    tables = [
        Table(
            title="Runs, two by two",
            header=header,
            rows=tuple(pairs),
            numeric=frozenset(header[3:]),
        ),
        Table(
            title="Spread over runs, against labels",
            header=figures,
            rows=tuple(spread),
            numeric=frozenset(figures[1:]),
            notes=("n/a: undefined in all runs but one, or in all",),
        ),
    ]
    if "texts" in found:
        names = ("first", "second", "texts", "BLEU", "identical, per cent")
        rows = [
            (
                row["first"],
                row["second"],
                f"{row['texts']:,}",
                "n/a (no texts)" if row["similarity"] is None else f"{row['similarity']:.1f}",
                percent(row["identical"]),
            )
            for row in found["texts"].rows(named=True)
        ]
        tables.append(
            Table(
                title="Texts of runs, two by two",
                header=names,
                rows=tuple(rows),
                numeric=frozenset(names[2:]),
            )
        )
    return tables
