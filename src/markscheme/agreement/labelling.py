"""`plan_labels`: how many answers to label, and which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement.difference_plans import (
    chances,
    draw,
    questions_for,
    questions_of_both,
    spreads,
)
from markscheme.agreement.label_plans import (
    LabelNeed,
    choose_labels,
    need_from_accuracy,
    need_from_pilot,
)
from markscheme.agreement.options import PlanOptions
from markscheme.agreement.sources import (
    JudgmentsSource,
    TableSource,
    answers_table,
    judged_table,
    labelled_table,
    open_run,
)
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.flags import with_keywords
from markscheme.results import Column, Table, TableResult, columns, plain
from markscheme.stats import LEAST_FOR_JUDGES
from markscheme.tables import join_labels, load_labels, one_judge, write_table


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlanResult(TableResult):
    """What `plan_labels` gives: the frame is the labelling file.

    Columns: what is known of `question`, `references`, `answer`; a `label` to fill in, empty but
    for a pilot's; `answer_id`, by which the labels are joined again, `inclusion_probability` and,
    if stratified, `stratum`, which `estimate` needs. The judge's verdict and the system are not in
    it, since they could sway the labeller (`with_system` adds the system, which is also there
    where judgments have no id).

    Attributes:
        needs: by system (None: all answers), how many labels the half-width takes; empty where
            only a number of labels was given.
        notes: the same in sentences.
    """

    needs: Mapping[str | None, LabelNeed]
    notes: tuple[str, ...]

    def write(self, path: str | Path) -> Path:
        """Write the labelling file: .csv, .tsv, .jsonl or .parquet.

        Raises:
            AgreementError: the file is there with labels that this plan does not have.
            DataError: another ending, or it cannot be written.
        """
        target = Path(path)
        there = _labels_in(target)
        if there > self.frame["label"].count():
            raise AgreementError(
                f"{target} holds {there:,} labels, which would be lost; choose another --out, or "
                f"go on from them with --pilot {target}"
            )
        write_table(self.frame, target)
        return target


def _labels_in(file: Path) -> int:
    """How many labels a labelling file holds; 0 of none, or of what is no table."""
    if not file.is_file():
        return 0
    try:
        return load_labels(file)["label"].count()
    except MarkschemeError:
        return 0


def plan_labels(
    judgments: JudgmentsSource,
    options: PlanOptions | None = None,
    *,
    pilot: JudgmentsSource | None = None,
    answers: TableSource | None = None,
    **keywords: Any,
) -> PlanResult:
    """Say how many labels a wanted half-width takes, and draw the answers to label.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        options: half-width or number of labels, and the design; one of the two is needed.
        pilot: a few labels that are there already, to plan by. If drawn at random, like the plan,
            they come first in the labelling file and count.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `PlanOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: neither half-width nor number, several judges and none named, or more
            labels than answers.
    """
    wanted = with_keywords(PlanOptions, options, keywords)
    if wanted.half_width is None and wanted.count is None:
        raise AgreementError("a plan requires --half-width, such as 0.03, or --count")
    run = open_run(judgments, answers=answers)
    rows = one_judge(
        judged_table(
            run, judges=wanted.judge or "", columns=wanted.columns, threshold=wanted.threshold
        )
    )
    scored = rows.with_columns(pl.coalesce("score", pl.col("verdict").cast(pl.Float64)))
    if wanted.by and "system" not in scored.columns:
        raise AgreementError("--by system requires --answers: the judgments lack the system")
    if answers is None:
        answers = run.stored_answers
    if wanted.for_difference:
        return _for_difference(scored, wanted, pilot, answers)
    parts = scored.partition_by("system", maintain_order=True) if wanted.by else [scored]
    parts = [part.with_row_index("row") for part in parts]
    drawn: list[pl.DataFrame] = []
    needs: dict[str | None, LabelNeed] = {}
    said: list[str] = []
    for place, part in enumerate(parts):
        name = part["system"][0] if wanted.by else None
        number = wanted.count
        known = _pilot_labels(part, pilot, wanted)
        if wanted.half_width is not None:
            need = _need(part, wanted.half_width, known, wanted)
            needs[name] = need
            said.append(_sentence(need, name, part.height, wanted.half_width))
            number = wanted.count or need.labels or part.height
        goes_on = known is not None and wanted.design == "random" and _equal_chances(known)
        picked = choose_labels(
            part,
            labels=number or 0,
            design=wanted.design,
            strata=wanted.strata,
            seed=wanted.seed + place,
            known=known["row"].to_list() if known is not None and goes_on else (),
        )
        if known is not None:
            labels = known.select("row", pilot="label")
            picked = picked.join(labels, on="row", how="left", maintain_order="left")
        if wanted.by and "stratum" in picked.columns:
            picked = picked.with_columns(
                pl.format("{} {}", pl.lit(name), "stratum").alias("stratum")
            )
        drawn.append(picked)
    plan = pl.concat(drawn)
    each = f" ({wanted.count:,} of each system)" if wanted.by and wanted.count else ""
    said.append(
        f"{plan.height:,} of {rows.height:,} answers drawn{each}, {wanted.design}, seed "
        f"{wanted.seed}"
    )
    if plan.height < LEAST_FOR_JUDGES * len(parts):
        each = " of each system" if wanted.by else ""
        said.append(
            f"from fewer than {LEAST_FOR_JUDGES} labels{each} 'markscheme estimate' gives their "
            f"own wide interval alone: draw {LEAST_FOR_JUDGES} or more{each}, or label all"
        )
    systems = 0 if wanted.by or "system" not in rows else rows["system"].n_unique()
    if systems > 1 and plan.height < LEAST_FOR_JUDGES * systems:
        said.append(
            f"these are of {systems} systems together: to estimate or compare them apart takes "
            f"{LEAST_FOR_JUDGES} labels of each (--by system --count {LEAST_FOR_JUDGES})"
        )
    return PlanResult(
        frame=_labelling_file(plan, answers, wanted),
        tables=(_table(needs, plan.height, rows.height, tuple(said)),),
        data={
            "command": "plan-labels", "answers": rows.height, "drawn": plan.height,
            "design": wanted.design, "seed": wanted.seed, "half_width": wanted.half_width,
            "confidence": wanted.confidence,
            "needs": [{"system": name, **plain(need)} for name, need in needs.items()],
        },
        needs=needs,
        notes=tuple(said),
    )  # fmt: skip


def _for_difference(
    scored: pl.DataFrame,
    options: PlanOptions,
    pilot: JudgmentsSource | None,
    answers: TableSource | None,
) -> PlanResult:
    """Both answers to the questions on which the judge's errors on two systems may differ most."""
    if len(options.for_difference) != 2:
        raise AgreementError("a plan for a difference is of two systems: --for-difference A,B")
    if options.by or pilot is not None or options.design != "random":
        raise AgreementError(
            "--for-difference has a design of its own, by supposed --judge-accuracy; leave out "
            "--pilot, --design and --by"
        )
    lacking = [name for name in ("question", "answer", "system") if name not in scored.columns]
    if lacking:
        raise AgreementError(f"the judgments lack {', '.join(lacking)}; give --answers")
    first, second = options.for_difference
    both = questions_of_both(scored, (first, second))
    spread = spreads(both, options.judge_accuracy)
    said, questions = [], (options.count or 0) // 2
    if options.half_width is not None:
        needed = questions_for(spread, options.half_width, options.confidence)
        points = f"+-{100 * options.half_width:g} points"
        about = f"if the judge is right in {100 * options.judge_accuracy:g}%"
        said.append(
            f"{2 * needed:,} labels for a difference to {points}, {about}"
            if needed is not None
            else f"even all {2 * both.height:,} labels do not give the difference to {points}"
        )
        questions = questions or needed or both.height
    if 0 < questions < LEAST_FOR_JUDGES:
        said.append(
            f"not {2 * questions:,} but {2 * LEAST_FOR_JUDGES} answers are drawn: 'compare "
            f"--systems' takes {LEAST_FOR_JUDGES} labels of each system"
        )
    questions = max(questions, LEAST_FOR_JUDGES)
    if questions > both.height:
        raise AgreementError(
            f"{2 * questions:,} labels are wanted ({2 * LEAST_FOR_JUDGES} at least), and "
            f"{first!r} and {second!r} have {2 * both.height:,} answers to {both.height:,} "
            "questions in common"
        )
    chance = chances(spread, questions)
    rows = draw(chance, np.random.default_rng(options.seed))
    drawn = both.select("question")[rows].with_columns(inclusion_probability=chance[rows])
    plan = drawn.join(
        scored.filter(pl.col("system").is_in([first, second])), on="question", how="left",
        maintain_order="left_right",
    )  # fmt: skip
    said.append(
        f"{plan.height:,} answers of {first} and {second} to {len(rows):,} of {both.height:,} "
        f"questions drawn, more where the judge's errors may differ, seed {options.seed}. Label "
        f"them all, then: markscheme compare RUN --systems --only {first},{second} --labels FILE"
    )
    return PlanResult(
        frame=_labelling_file(plan, answers, options),
        tables=(_table({}, plan.height, scored.height, tuple(said)),),
        data={
            "command": "plan-labels", "answers": scored.height, "drawn": plan.height,
            "design": "difference", "seed": options.seed, "half_width": options.half_width,
            "confidence": options.confidence, "needs": [],
        },
        needs={},
        notes=tuple(said),
    )  # fmt: skip


def _pilot_labels(
    part: pl.DataFrame, pilot: JudgmentsSource | None, options: PlanOptions
) -> pl.DataFrame | None:
    """The answers that the pilot labelled, in its order, with `label` and their `row`."""
    if pilot is None:
        return None
    known = labelled_table(pilot, column=options.label_column, columns=options.columns)
    placed = known.with_row_index("place")
    return join_labels(part, placed).rows.sort("place")


def _equal_chances(known: pl.DataFrame) -> bool:
    chance = "inclusion_probability"
    return "stratum" not in known.columns and (
        chance not in known.columns or known[chance].n_unique() < 2
    )


def _need(
    part: pl.DataFrame, half_width: float, known: pl.DataFrame | None, options: PlanOptions
) -> LabelNeed:
    judged = part["verdict"].drop_nulls()
    if known is None:
        acceptance = float(judged.cast(int).to_numpy().mean()) if len(judged) else 0.5
        return need_from_accuracy(
            acceptance,
            options.judge_accuracy,
            answers=part.height,
            half_width=half_width,
            confidence=options.confidence,
        )
    matched = known.drop_nulls("score")
    return need_from_pilot(
        matched["score"].to_numpy(),
        matched["label"].to_numpy(),
        answers=part.height,
        half_width=half_width,
        confidence=options.confidence,
    )


def _sentence(need: LabelNeed, system: str | None, answers: int, half_width: float) -> str:
    points = f"{100 * half_width:g} points"
    whose = f"{system}: " if system else ""
    alone = "more than there are" if need.labels_alone is None else f"{need.labels_alone:,}"
    if need.labels is None:
        text = (
            f"even all {answers:,} labels give no less than {100 * need.reach:.1f} points, "
            f"so {points} cannot be reached"
        )
    else:
        text = f"{need.labels:,} labels for an interval of +-{points} ({alone} without the judge)"
    said = (
        f"{whose}{text}; from {need.source}: correlation of judge and label {need.correlation:.2f}"
    )
    if need.more is not None:
        said += f". {need.more:,} of them are still to be labelled"
    if need.more_anytime is not None:
        said += (
            f"; about {need.more_anytime:,} if you look after every label ('estimate --anytime')"
        )
    return said


def _table(
    needs: Mapping[str | None, LabelNeed], drawn: int, answers: int, notes: tuple[str, ...]
) -> Table:
    """Labels needed, one row per system; without a half-width, how many are drawn."""
    none = "more than there are"
    if not needs:
        return Table.of(
            "Labels needed", columns("count", "answers", "drawn"), [(answers, drawn)], notes
        )
    shown = (
        Column("system", missing="(all)"),
        Column("labels", format="count", missing=none),
        Column("labels without the judge", "labels_alone", "count", missing=none),
        Column("least half-width", "reach", "share"),
        Column("correlation", format=2),
    )
    rows = [{"system": name, **vars(need)} for name, need in needs.items()]
    return Table.of("Labels needed", shown, rows, notes)


def _labelling_file(
    plan: pl.DataFrame, answers: TableSource | None, options: PlanOptions
) -> pl.DataFrame:
    """What the labeller sees first, then the empty label, then what the estimate needs.

    Whose answer it is could sway the labeller. It stays out where an id finds it again.
    """
    if answers is not None and "answer_id" in plan.columns:
        references = answers_table(answers).select("answer_id", "references")
        plan = plan.join(references, on="answer_id", how="left", maintain_order="left")
    order = ["question", "references", "answer"]
    if options.with_system or "answer_id" not in plan.columns:
        order.append("system")
    shown = [name for name in order if name in plan.columns]
    known = ("answer_id", "inclusion_probability", "stratum")
    design = [name for name in known if name in plan.columns]
    label = pl.col("pilot") if "pilot" in plan.columns else pl.lit(None, dtype=pl.Float64)
    return plan.select(*shown, label.cast(pl.Float64).alias("label"), *design)
