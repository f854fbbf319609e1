"""`markscheme study`: how judges by graded lists behave, beside people's grades."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import notes
from markscheme.cli.study_options import Composition, Setup, number, study_command
from markscheme.results import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markscheme.agreement import PerQuestion
    from markscheme.analysis import Marked

NAMES = ("kendall", "spearman", "pearson")
NOT_JUDGED = "not judged"
VARIES = (
    "Correlations: mean over questions, without those where all scores or all grades are equal; "
    "n/a: no question is left. Candidates are in random order."
)


@study_command("lists", usual=("listwise_examiner",), seeds=3)
def lists(
    setup: Setup,
    composition: Annotated[
        list[str] | None,
        typer.Option(
            "--composition",
            "-c",
            help="A digit a reference, its grade above the lowest: 3210, 33221100; or top, none. "
            "May be repeated. [default: the paper's]",
        ),
    ] = None,
) -> Table:
    """Compare lengths and make-ups of the list of references, and judges (Yang et al., Table 6).

    Every list is tried on the same candidates: what any of them takes as a reference leaves all.
    """
    from markscheme.analysis import finds, over_draws
    from markscheme.contract import judge_name

    made = composition or [setup.material.usual]
    tables = {one: setup.plan.tables(setup.material, one, apart=made) for one in made}
    rows = []
    for judge in setup.judges:
        for one in made:
            run = over_draws(judge, tables[one], setup.models)
            found = finds(run)
            rows.append(
                (judge_name(judge), one, *_figures(run), *map(number, found), str(run.not_judged))
            )
            notes.print(f"{judge_name(judge)} {one}: done", markup=False)
    many = f"{tables[made[0]][0].height:,} candidates a draw"
    return _table(
        setup.title(", ".join(made), many),
        ("judge", "list", "questions", "Kendall", "Spearman", "Pearson", "Acc(b)", "Acc(b+w)",
         NOT_JUDGED),
        rows,
        VARIES,
        "Acc(b), Acc(b+w): share of questions whose best answer, whose best and worst are found.",
        words=2,
    )  # fmt: skip


@study_command("seeds", usual=("listwise_examiner",), seeds=3)
def seeds(setup: Setup, composition: Composition = None) -> Table:
    """How much the draw of references matters: Spearman of each, mean, SD (Tables 9 and 10)."""
    from markscheme.analysis import correlations, over_draws
    from markscheme.contract import judge_name

    rows = []
    for judge in setup.judges:
        run = over_draws(judge, setup.tables(composition), setup.models)
        each = (_spearman(one) for one in run.by_draw())
        found = correlations(run)
        spread = found.spreads.get("spearman") if found else None
        rows.append(
            (judge_name(judge), *each, _spearman(run), number(spread.value if spread else None),
             str(run.not_judged))
        )  # fmt: skip
    return _table(
        setup.title(composition, "Spearman by draw of references"),
        ("judge", *(f"seed {seed}" for seed in range(setup.plan.seeds)), "mean", "SD", NOT_JUDGED),
        rows,
        VARIES,
    )


@study_command("shots", usual=("listwise",))
def shots_study(
    setup: Setup,
    shots: Annotated[
        list[int] | None,
        typer.Option("--shots", min=0, help="Solved examples; repeat it. [default: 0 1 3 5]"),
    ] = None,
    composition: Composition = None,
) -> Table:
    """What solved examples bring (Tables 7 and 8); for judges that take some: listwise.

    Examples come from questions that leave the candidates, and they leave those of 0 shots too.
    """
    from tempfile import TemporaryDirectory

    from markscheme.analysis import by_shots
    from markscheme.contract import judge_name

    rows = []
    counts = sorted(set(shots or (0, 1, 3, 5)))
    for judge in setup.judges:
        with TemporaryDirectory() as folder:
            runs = by_shots(
                judge, setup.tables(composition), setup.models, shots=counts, folder=Path(folder)
            )
        rows += [
            (judge_name(judge), str(count), *_figures(run),
             f"{run.tokens_in / run.table.height:,.0f}", str(run.not_judged))
            for count, run in runs.items()
        ]  # fmt: skip
    return _table(
        setup.title(composition, "solved examples"),
        ("judge", "shots", "questions", "Kendall", "Spearman", "Pearson", "tokens in", NOT_JUDGED),
        rows,
        VARIES,
        "Tokens in: an answer, as the server counted.",
    )


@study_command("order", usual=("listwise_examiner",))
def order(setup: Setup, composition: Composition = None) -> Table:
    """Position bias: does an answer keep its score when the list is laid out otherwise?

    listwise and pointwise: order said (best first), kept to itself, reversed, shuffled. pairwise:
    the answer first, then last. Other judges: the columns of references turned round and shuffled.
    """
    from markscheme.analysis import by_order
    from markscheme.contract import judge_name

    rows = []
    for judge in setup.judges:
        for way, shift in by_order(judge, setup.tables(composition), setup.models).items():
            changed = "n/a" if shift.changed is None else f"{100 * shift.changed:.1f}%"
            rows.append(
                (judge_name(judge), way, _spearman(shift.run), number(shift.mean_score),
                 str(shift.compared), changed, number(shift.moved),
                 number(shift.raised, sign=True), str(shift.run.not_judged))
            )  # fmt: skip
    return _table(
        setup.title(composition, "order of the list"),
        ("judge", "list", "Spearman", "mean score", "compared", "changed", "moved by", "raised by",
         NOT_JUDGED),
        rows,
        "Compared with each judge's first layout, over answers judged in both: share whose score "
        "changed, mean absolute change, mean change.",
        VARIES,
        words=2,
    )  # fmt: skip


@study_command(
    "cost",
    usual=(
        "listwise",
        "pairwise",
        "pointwise",
        "pointwise(references=hidden)",
        "listwise_examiner",
    ),
)
def cost(setup: Setup, composition: Composition = None) -> Table:
    """Calls, tokens, money and time an answer, of each approach on the same answers.

    Default judges: listwise, pairwise, pointwise with and without the list, listwise_examiner.
    """
    from markscheme.analysis import over_draws
    from markscheme.contract import judge_name

    rows = []
    for judge in setup.judges:
        run = over_draws(judge, setup.tables(composition), setup.models)
        rows.append((judge_name(judge), *_costs(run), _spearman(run), str(run.not_judged)))
    return _table(
        setup.title(composition, "cost"),
        ("judge", "answers", "calls", "repairs", "calls an answer", "tokens an answer",
         "US dollars per 1,000", "ms an answer", "Spearman", NOT_JUDGED),
        rows,
        "Calls: requests to a model, those that the ledger answered included; equal ones are one. "
        "Repairs: further requests, after a reply that could not be read. Tokens: in and out, as "
        "the server counted. US dollars: n/a without a price. Time: of this run; what the ledger "
        "knew took none.",
        VARIES,
    )  # fmt: skip


def _table(
    title: str,
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    *below: str,
    words: int = 1,
) -> Table:
    """All columns but the first `words` hold figures."""
    return Table(
        title=title, header=header, rows=tuple(rows), numeric=frozenset(header[words:]), notes=below
    )


def _figures(run: Marked) -> tuple[str, ...]:
    """Questions and three correlations, with the standard deviation over draws."""
    from markscheme.analysis import correlations

    found: PerQuestion | None = correlations(run)
    if found is None:
        return ("0", *("n/a" for _ in NAMES))
    cells = []
    for name in NAMES:
        spread = found.spreads.get(name)
        around = "" if spread is None else f" ±{number(spread.value)}"
        cells.append(f"{number(found.means[name].value)}{around}")
    return (f"{found.questions:.0f}", *cells)


def _spearman(run: Marked) -> str:
    from markscheme.analysis import correlations

    found = correlations(run)
    return number(found.means["spearman"].value if found else None)


def _costs(run: Marked) -> tuple[str, ...]:
    height = run.table.height
    dollars = None if run.cost_usd is None else 1000 * run.cost_usd / height
    return (
        f"{height:,}",
        f"{run.calls:,}",
        f"{run.repairs:,}",
        f"{(run.calls - run.repairs) / height:.2f}",
        f"{(run.tokens_in + run.tokens_out) / height:,.0f}",
        number(dollars, digits=4),
        f"{1000 * run.seconds / height:,.1f}",
    )
