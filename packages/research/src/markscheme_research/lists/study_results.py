"""Studies of judges of non-factoid answers: lists, draws, shots, order, cost, as results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import polars as pl

from markscheme.contract import HasLineage, Judge, judge_name, parse_judge
from markscheme.flags import with_keywords
from markscheme.models import Models
from markscheme.results import (
    Column,
    Form,
    Format,
    Table,
    TableResult,
    cell,
    columns,
    flat_frame,
    lineage_note,
)
from markscheme_research.lists.list_material import Material, open_material
from markscheme_research.lists.list_studies import (
    Marked,
    Plan,
    by_order,
    by_shots,
    correlations,
    finds,
    marked_over_draws,
)
from markscheme_research.lists.options import StudyOptions


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyResult(TableResult):
    """A study. `frame` has a row per row of the table, figures as numbers.

    Correlations are means over questions and draws, with the standard deviation over draws in
    columns that end in `_sd`; null where nothing varies. Shares are from 0 to 1.
    """


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is studied, and how.

    Attributes:
        material: candidates and references.
        plan: draws of references, and how many candidates are judged.
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


CORRELATIONS = ("kendall", "spearman", "pearson")
VARIES = (
    "Correlations: mean over questions, without those where all scores or all grades are equal; "
    "n/a: no question is left. Candidates are in random order."
)

Row: TypeAlias = dict[str, Any]


def _number(name: str, heading: str = "", form: Form = 3) -> Column:
    """A column of figures, each with its standard deviation where there is one."""

    def shown(row: Row) -> str:
        around = row.get(f"{name}_sd")
        text = cell(form, row[name], "n/a")
        return text if around is None else f"{text} ±{cell(form, around)}"

    return Column(heading or name, shown, "right")


NOT_JUDGED = Column("not judged", format="count")
FIGURES = (
    Column("questions", format="count"),
    *(_number(name, name.capitalize()) for name in CORRELATIONS),
)


def study_lists(
    setup: Setup, compositions: Sequence[str] = (), on_done: Callable[[str], None] | None = None
) -> StudyResult:
    """Compare lengths and compositions of the reference list, and judges (Yang et al., Table 6).

    Every list is tried on the same candidates: what any of them takes as a reference leaves all.

    Args:
        setup: see `open_study`.
        compositions: of the lists; () for the data's usual one.
        on_done: receives each judge and composition when it is done.
    """
    made = list(compositions) or [setup.material.usual]
    tables = {one: setup.plan.tables(setup.material, one, apart=made) for one in made}
    rows, learned = [], _Learned()
    for judge in setup.judges:
        for one in made:
            run = learned.met(judge, marked_over_draws(judge, tables[one], setup.models))
            best, both = finds(run)
            rows.append(
                {"judge": judge_name(judge), "composition": one, **_figures(run),
                 "best_found": best, "best_and_worst_found": both, "not_judged": run.not_judged}
            )  # fmt: skip
            if on_done is not None:
                on_done(f"{judge_name(judge)} {one}")
    many = f"{tables[made[0]][0].height:,} candidates a draw"
    return _result(
        "lists",
        setup.title(", ".join(made), many),
        ("judge", Column("list", "composition"), *FIGURES, _number("best_found", "Acc(b)"),
         _number("best_and_worst_found", "Acc(b+w)"), NOT_JUDGED),
        rows,
        VARIES,
        "Acc(b), Acc(b+w): share of questions whose best answer, whose best and worst are found.",
        learned=learned,
    )  # fmt: skip


def study_seeds(setup: Setup, composition: str | None = None) -> StudyResult:
    """Measure how much the draw of references matters: Spearman, mean, SD (Tables 9 and 10)."""
    seeds = [f"seed_{seed}" for seed in range(setup.plan.seeds)]
    rows, learned = [], _Learned()
    for judge in setup.judges:
        run = learned.met(judge, marked_over_draws(judge, setup.tables(composition), setup.models))
        each = dict(zip(seeds, map(_spearman, run.by_draw()), strict=True))
        figures = _figures(run)
        rows.append(
            {"judge": judge_name(judge), **each, "mean": figures["spearman"],
             "sd": figures["spearman_sd"], "not_judged": run.not_judged}
        )  # fmt: skip
    return _result(
        "seeds",
        setup.title(composition, "Spearman by draw of references"),
        ("judge", *(_number(name, name.replace("_", " ")) for name in seeds), _number("mean"),
         _number("sd", "SD"), NOT_JUDGED),
        rows,
        VARIES,
        learned=learned,
    )  # fmt: skip


def study_shots(
    setup: Setup, composition: str | None = None, shots: Sequence[int] = ()
) -> StudyResult:
    """Measure the effect of solved examples (Tables 7 and 8), for judges that take some: listwise.

    Examples come from questions that leave the candidates, and they leave those of 0 shots too.
    """
    rows, learned = [], _Learned()
    counts = sorted(set(shots or (0, 1, 3, 5)))
    for judge in setup.judges:
        with TemporaryDirectory() as folder:
            runs = by_shots(
                judge, setup.tables(composition), setup.models, shots=counts, folder=Path(folder)
            )
        learned.met(judge, runs[counts[0]])
        rows += [
            {"judge": judge_name(judge), "shots": count, **_figures(run),
             "tokens_in": run.tokens_in / run.table.height, "not_judged": run.not_judged}
            for count, run in runs.items()
        ]  # fmt: skip
    return _result(
        "shots",
        setup.title(composition, "solved examples"),
        (
            "judge",
            Column("shots", format="count"),
            *FIGURES,
            Column("tokens in", format="count"),
            NOT_JUDGED,
        ),
        rows,
        VARIES,
        "Tokens in: an answer, as the server counted.",
        learned=learned,
    )


def study_order(setup: Setup, composition: str | None = None) -> StudyResult:
    """Measure position bias: whether an answer's score changes with the order of the list.

    listwise and pointwise: order stated (best first), not stated, reversed, shuffled. pairwise:
    the answer first, then last. Other judges: the columns of references turned round and shuffled.
    """
    rows, learned = [], _Learned()
    for judge in setup.judges:
        for way, shift in by_order(judge, setup.tables(composition), setup.models).items():
            learned.met(judge, shift.run)
            rows.append(
                {"judge": judge_name(judge), "layout": way, "spearman": _spearman(shift.run),
                 "mean_score": shift.mean_score, "compared": shift.compared,
                 "changed": shift.changed, "moved": shift.moved, "raised": shift.raised,
                 "not_judged": shift.run.not_judged}
            )  # fmt: skip
    return _result(
        "order",
        setup.title(composition, "order of the list"),
        ("judge", Column("list", "layout"), _number("spearman", "Spearman"),
         _number("mean_score", "mean score"), Column("compared", format="count"),
         _number("changed", form=Format("{:.1%}".format)), _number("moved", "moved by"),
         _number("raised", "raised by", Format("{:+.3f}".format)), NOT_JUDGED),
        rows,
        "Compared with each judge's first layout, over answers judged in both: share whose score "
        "changed, mean absolute change, mean change.",
        VARIES,
        learned=learned,
    )  # fmt: skip


def study_cost(setup: Setup, composition: str | None = None) -> StudyResult:
    """Calls, tokens, money and time an answer, of each approach on the same answers."""
    rows, learned = [], _Learned()
    for judge in setup.judges:
        run = learned.met(judge, marked_over_draws(judge, setup.tables(composition), setup.models))
        rows.append(
            {"judge": judge_name(judge), **_costs(run), "spearman": _spearman(run),
             "not_judged": run.not_judged}
        )  # fmt: skip
    return _result(
        "cost",
        setup.title(composition, "cost"),
        ("judge", *columns("count", "answers", "calls", "repairs"),
         _number("calls_per_answer", "calls an answer", 2),
         Column("tokens an answer", "tokens_per_answer", "count"),
         _number("usd_per_1000", "US dollars per 1,000", 4),
         _number("ms_per_answer", "ms an answer", Format("{:,.1f}".format)),
         _number("spearman", "Spearman"), NOT_JUDGED),
        rows,
        "Calls: requests to a model, those that the ledger answered included; equal ones are one. "
        "Repairs: further requests, after a reply that could not be read. Tokens: in and out, as "
        "the server counted. US dollars: n/a if unknown. Time: of this run; what the ledger "
        "knew took none.",
        VARIES,
        learned=learned,
    )  # fmt: skip


class _Learned:
    """How many of the studied questions trained each judge, with Spearman on all and the rest."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def met(self, judge: Judge, run: Marked) -> Marked:
        """Count a judge's questions in its first run; returns the run."""
        name = judge_name(judge)
        lineage = judge.lineage() if isinstance(judge, HasLineage) else None
        if lineage is not None and name not in self.rows:
            asked = run.table["question"].unique()
            seen = asked.filter(pl.Series(lineage.has(asked.to_list()), dtype=pl.Boolean))
            rest = run.table.filter(~pl.col("question").is_in(seen.implode()))
            self.rows[name] = {
                "judge": name,
                "questions": asked.len(),
                "trained": seen.len() if lineage.known else None,
                "spearman": _spearman(run),
                "spearman_rest": _spearman(replace(run, table=rest)) if rest.height else None,
            }
        return run

    def notes(self) -> list[str]:
        """A line for each judge that some of the questions trained."""
        lines = [
            lineage_note(
                one["judge"], questions=one["questions"], trained=one["trained"], figure="Spearman",
                whole=cell(3, one["spearman"], "n/a"),
                rest=None if one["trained"] == one["questions"]
                else cell(3, one["spearman_rest"], "n/a"),
            )
            for one in self.rows.values()
        ]  # fmt: skip
        return [f"{line}." for line in lines if line]


def _result(
    study: str,
    title: str,
    shown: Sequence[Column | str],
    rows: Sequence[Row],
    *notes: str,
    learned: _Learned,
) -> StudyResult:
    notes = (*notes, *learned.notes())
    table = Table.of(title, shown, rows, notes)
    data = {"command": "study", "study": study, "title": title, "rows": rows, "notes": notes,
            "lineage": list(learned.rows.values())}  # fmt: skip
    return StudyResult(frame=flat_frame(rows), tables=(table,), data=data)


def _figures(run: Marked) -> Row:
    """Questions, three correlations, and their standard deviations over draws."""
    found = correlations(run)
    row: Row = {"questions": 0 if found is None else round(found.questions)}
    for name in CORRELATIONS:
        spread = found.spreads.get(name) if found else None
        row[name] = found.means[name].value if found else None
        row[f"{name}_sd"] = spread.value if spread else None
    return row


def _spearman(run: Marked) -> float | None:
    found = correlations(run)
    return found.means["spearman"].value if found else None


def _costs(run: Marked) -> Row:
    height = run.table.height
    return {
        "answers": height,
        "calls": run.calls,
        "repairs": run.repairs,
        "calls_per_answer": (run.calls - run.repairs) / height,
        "tokens_per_answer": (run.tokens_in + run.tokens_out) / height,
        "usd_per_1000": None if run.cost_usd is None else 1000 * run.cost_usd / height,
        "ms_per_answer": 1000 * run.seconds / height,
    }
