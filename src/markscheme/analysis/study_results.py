"""Studies of judges of non-factoid answers: lists, draws, shots, order, cost, as results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from markscheme.agreement import PerQuestion
from markscheme.analysis.list_material import Material, open_material
from markscheme.analysis.list_studies import (
    Marked,
    Plan,
    by_order,
    by_shots,
    correlations,
    finds,
    over_draws,
)
from markscheme.analysis.options import StudyOptions
from markscheme.contract import Judge, judge_name, parse_judge
from markscheme.models import Models
from markscheme.options import with_keywords
from markscheme.results import Table, TableResult


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyResult(TableResult):
    """A study. `frame` has the rows of the table, as it shows them."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a command line asks to be studied.

    Attributes:
        material: candidates and references.
        plan: draws of references, and candidates kept.
        judges: who is studied.
        models: what they may ask.
    """

    material: Material
    plan: Plan
    judges: Sequence[Judge]
    models: Models

    def tables(self, composition: str | None) -> list[pl.DataFrame]:
        """A table of candidates a draw."""
        return self.plan.tables(self.material, composition or self.material.usual)

    def title(self, composition: str | None, about: str) -> str:
        """Above a table: data, list, rule, draws."""
        many = f"{self.plan.seeds} draw{'s' * (self.plan.seeds != 1)}"
        made = composition or self.material.usual
        return f"{self.material.name}, list {made}, {self.plan.protocol}, {many}: {about}"


def open_study(
    data: str,
    judges: Sequence[str | Judge],
    options: StudyOptions | None = None,
    *,
    models: Models,
    **keywords: Any,
) -> Setup:
    """Read what is studied: graded answers, references drawn from them, judges.

    Args:
        data: `antique`, `trec-dl-nf`, `webglm`, or a file with question, answer and a grade.
        judges: who is studied.
        options: see `StudyOptions`.
        models: what the judges may ask.
        keywords: single options, which go before those of `options`.

    Raises:
        DataError: the data cannot be read. JudgeError: a judge's name is wrong.
    """
    chosen = with_keywords(StudyOptions, options, keywords)
    studied = [parse_judge(one) for one in judges]
    return Setup(
        material=open_material(
            data,
            data_dir=None if chosen.data_dir is None else str(chosen.data_dir),
            part=chosen.part,
            columns=dict(chosen.columns),
            questions=chosen.questions,
        ),
        plan=Plan(
            seeds=chosen.draws,
            protocol=chosen.protocol,
            per_question=chosen.per_question,
        ),
        judges=studied,
        models=models,
    )


NAMES = ("kendall", "spearman", "pearson")
NOT_JUDGED = "not judged"
VARIES = (
    "Correlations: mean over questions, without those where all scores or all grades are equal; "
    "n/a: no question is left. Candidates are in random order."
)


def study_lists(
    setup: Setup, compositions: Sequence[str] = (), on_done: Callable[[str], None] | None = None
) -> StudyResult:
    """Compare lengths and make-ups of the list of references, and judges (Yang et al., Table 6).

    Every list is tried on the same candidates: what any of them takes as a reference leaves all.
    """

    made = list(compositions) or [setup.material.usual]
    tables = {one: setup.plan.tables(setup.material, one, apart=made) for one in made}
    rows = []
    for judge in setup.judges:
        for one in made:
            run = over_draws(judge, tables[one], setup.models)
            found = finds(run)
            rows.append(
                (judge_name(judge), one, *_figures(run), *map(_number, found), str(run.not_judged))
            )
            if on_done is not None:
                on_done(f"{judge_name(judge)} {one}")
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


def study_seeds(setup: Setup, composition: str | None = None) -> StudyResult:
    """How much the draw of references matters: Spearman of each, mean, SD (Tables 9 and 10)."""

    rows = []
    for judge in setup.judges:
        run = over_draws(judge, setup.tables(composition), setup.models)
        each = (_spearman(one) for one in run.by_draw())
        found = correlations(run)
        spread = found.spreads.get("spearman") if found else None
        rows.append(
            (judge_name(judge), *each, _spearman(run), _number(spread.value if spread else None),
             str(run.not_judged))
        )  # fmt: skip
    return _table(
        setup.title(composition, "Spearman by draw of references"),
        ("judge", *(f"seed {seed}" for seed in range(setup.plan.seeds)), "mean", "SD", NOT_JUDGED),
        rows,
        VARIES,
    )


def study_shots(
    setup: Setup, composition: str | None = None, shots: Sequence[int] = ()
) -> StudyResult:
    """What solved examples bring (Tables 7 and 8); for judges that take some: listwise.

    Examples come from questions that leave the candidates, and they leave those of 0 shots too.
    """

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


def study_order(setup: Setup, composition: str | None = None) -> StudyResult:
    """Position bias: does an answer keep its score when the list is laid out otherwise?

    listwise and pointwise: order said (best first), kept to itself, reversed, shuffled. pairwise:
    the answer first, then last. Other judges: the columns of references turned round and shuffled.
    """

    rows = []
    for judge in setup.judges:
        for way, shift in by_order(judge, setup.tables(composition), setup.models).items():
            changed = "n/a" if shift.changed is None else f"{100 * shift.changed:.1f}%"
            rows.append(
                (judge_name(judge), way, _spearman(shift.run), _number(shift.mean_score),
                 str(shift.compared), changed, _number(shift.moved),
                 _number(shift.raised, sign=True), str(shift.run.not_judged))
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


def study_cost(setup: Setup, composition: str | None = None) -> StudyResult:
    """Calls, tokens, money and time an answer, of each approach on the same answers.

    Default judges: listwise, pairwise, pointwise with and without the list, listwise_examiner.
    """

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
) -> StudyResult:
    """All columns but the first `words` hold figures."""
    table = Table(
        title=title, header=header, rows=tuple(rows), numeric=frozenset(header[words:]), notes=below
    )
    records = [dict(zip(header, row, strict=True)) for row in rows]
    data = {"command": "study", "title": title, "rows": records, "notes": below}
    return StudyResult(frame=pl.DataFrame(records), tables=(table,), data=data)


def _figures(run: Marked) -> tuple[str, ...]:
    """Questions and three correlations, with the standard deviation over draws."""

    found: PerQuestion | None = correlations(run)
    if found is None:
        return ("0", *("n/a" for _ in NAMES))
    cells = []
    for name in NAMES:
        spread = found.spreads.get(name)
        around = "" if spread is None else f" ±{_number(spread.value)}"
        cells.append(f"{_number(found.means[name].value)}{around}")
    return (f"{found.questions:.0f}", *cells)


def _spearman(run: Marked) -> str:

    found = correlations(run)
    return _number(found.means["spearman"].value if found else None)


def _costs(run: Marked) -> tuple[str, ...]:
    height = run.table.height
    dollars = None if run.cost_usd is None else 1000 * run.cost_usd / height
    return (
        f"{height:,}",
        f"{run.calls:,}",
        f"{run.repairs:,}",
        f"{(run.calls - run.repairs) / height:.2f}",
        f"{(run.tokens_in + run.tokens_out) / height:,.0f}",
        _number(dollars, digits=4),
        f"{1000 * run.seconds / height:,.1f}",
    )


def _number(value: float | None, *, digits: int = 3, sign: bool = False) -> str:
    """A figure, or n/a."""
    return "n/a" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"
