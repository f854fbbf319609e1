"""What changed between two sets of answers to the same questions: the public `diff`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement import (
    Comparison,
    InMemory,
    JudgmentsSource,
    Run,
    compare_answers,
    compare_means,
    open_run,
)
from markscheme.analysis.clusters import Cluster, clusters
from markscheme.analysis.diff_reports import comment, junit, sarif
from markscheme.analysis.diff_tables import (
    IN_WORST_CASE,
    WITHOUT_PARTNER,
    change_tables,
    flips_table,
    headline,
    loss,
)
from markscheme.analysis.judged_answers import judged_answers
from markscheme.analysis.options import DiffOptions
from markscheme.analysis.rejections import with_rejections
from markscheme.contract import asks_chat, judge_name, parse_judge
from markscheme.engine import reading_for, run_in_memory
from markscheme.errors import AgreementError, DataError, MarkschemeError, no_such_name
from markscheme.flags import with_keywords
from markscheme.results import TableResult, refuse_slices
from markscheme.tables import AnswersReader, one_judge, plainly_spaced

DEFAULT_JUDGE = "examiner"

CHANGES = ("worse", "better", "same", "not compared")
"""What became of a pair: rejected now, accepted now, the same verdict, or a verdict is missing."""
_OURS = ("question", "references", "system", "reference_kind")
_OF_A_SIDE = ("answer", "verdict", "score", "explanation", "relation", "status")
_ITEM, _PLACE, _ROW = "_item", "_place", "_row"
"""Columns that no slice of the user's is called like."""
_TAKEN = {"change", "references", "reference_kind", _ITEM, _PLACE, _ROW} | {
    f"{side}_{name}" for side in ("base", "new") for name in (*_OF_A_SIDE, "place")
}
"""Columns of pairs that a slice would replace."""
_GONE = "the question is not among the new answers"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DiffResult(TableResult):
    """Pairs of answers to the same question, judged alike. `frame` has a row for each.

    Attributes:
        judge: whose verdicts.
        comparison: new against base: shares accepted, difference (new minus base, -1 to 1) with
            its interval and p, of pairs of answers; where a question has more answers on one side,
            of the mean share of each question's answers.
        worst: the same with each verdict that is missing taken as it is worst for the new answers:
            theirs as rejected, one of the base as accepted. None where none is missing.
        counts: of pairs by `worse`, `better`, `same`, `not compared`, of questions that only one
            side has, for each system that is paired by name, and of answers `without partner`, if
            there are any.
        clusters: groups in which more got worse than better, those that lost most first.
        conclusion: `worse`, `better`, `no change shown`, or `worse in the worst case`, where
            more was lost than the margin, beyond chance, in the worst case alone.
        regression: more was lost than the margin, beyond chance; in the worst case.
        reason: why it is a regression, in a sentence; None where it is none.
        source: the new side's file, or what it is.
        new_rows: how many answers it has.
        options: how they were compared.
        notes: what was guessed and counted when files of answers were read.
    """

    judge: str
    comparison: Comparison
    worst: Comparison | None
    counts: dict[str, int]
    clusters: tuple[Cluster, ...]
    conclusion: str
    regression: bool
    reason: str | None
    source: str
    new_rows: int
    options: DiffOptions
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The change with its interval, whether it is more than chance, and what was missing."""
        return str(self.data["headline"])

    def comment(self, *, flips: int = 20) -> str:
        """A Markdown comment for a pull request, with `flips` of the answers that got worse."""
        return comment(self.headline, self.tables, self.frame, flips=flips)

    def junit(self) -> str:
        """JUnit XML: a test case `gate`, which fails if this is a regression, and one a pair.

        Pairs without a verdict are skipped. Those that got worse fail with the gate; if it passes,
        they pass, and their output says how they changed.
        """
        return junit(self.frame, judge=self.judge, gate=self.headline, failed=self.regression)

    def sarif(self) -> str:
        """SARIF 2.1.0: a result for each answer that got worse, at its row of the new file."""
        return sarif(self.frame, source=self.source, rows=self.new_rows)


def diff(
    base: JudgmentsSource,
    new: JudgmentsSource,
    options: DiffOptions | None = None,
    **keywords: Any,
) -> DiffResult:
    """What changed from the base to the new answers: better, worse, where, and is it chance?

    Each side is a run's folder, a file of judgments, what `markscheme.judge` returned, or answers,
    which are judged first (by a judge that costs nothing). Answers are paired by question. The
    interval of the difference and its test are one score test by question. An answer that was not
    given counts as rejected, and so does a question of the base that the new side lacks, unless
    `subset` is set. Where a system has several answers to a question and one side has more, each
    question counts by its mean. What a judge could not judge on either side is not compared, and
    counted; `regression` takes the worst case for the new answers.

    Args:
        base: what was before.
        new: what is now.
        options: see `DiffOptions`.
        keywords: single options, which go before those of `options`.

    Raises:
        DataError: the files cannot be read, or a slice is called like a column of pairs.
        AgreementError: the sides were judged differently, or have no question in common.

    Example:
        >>> import markscheme
        >>> row = {"question": "Who wrote Emma?", "references": ["Jane Austen"]}
        >>> base, new = ([row | {"answer": said}] for said in ("Jane Austen", "Emily Brontë"))
        >>> found = markscheme.diff(base, new, judge="exact_match")
        >>> found.counts["worse"], found.conclusion
        (1, 'no change shown')
    """
    chosen = with_keywords(DiffOptions, options, keywords)
    refuse_slices(chosen.slices, _TAKEN, "diff")
    if any(isinstance(one, str | Path) and str(one) == "-" for one in (base, new)):
        raise DataError("answers to compare are read from files, not from standard input")
    sides = _judged_sides(base, new, chosen)
    judge = _common_judge(sides, chosen.judge)
    before, now, edited = _with_items(
        *(
            _rows(one, judge, chosen, system=system)
            for one, system in zip(sides, (chosen.base_system, chosen.new_system), strict=True)
        )
    )
    pairs, alone = paired(before, now, slices=chosen.slices, subset=chosen.subset)
    pairs = _with_reasons(pairs)
    compared = pairs.filter(pl.col("change") != "not compared")
    if compared.is_empty():
        raise AgreementError(f"{judge} has no pair of answers with a verdict on both")
    if alone.is_empty():
        comparison = _compared(compared, chosen)
    else:
        comparison = _compared_by_mean(pairs, alone, chosen)
    counts = {change: int((pairs["change"] == change).sum()) for change in CHANGES}
    counts["not compared"] += alone["verdict"].null_count()
    worst = None
    if counts["not compared"]:
        known = _against_new(pairs)
        if alone.is_empty():
            worst = _compared(known, chosen)
        else:
            of_base = pl.col("side") == "base"
            filled = alone.with_columns(pl.col("verdict").fill_null(of_base))
            worst = _compared_by_mean(known, filled, chosen)
    key = [*_systems(before, now), _ITEM]
    for name, one, other in (("only in base", before, now), ("only in new", now, before)):
        counts[name] = one.join(other, on=key, how="anti").select(key).n_unique()
    if alone.height:
        counts[WITHOUT_PARTNER] = alone.height
    found = clusters(pairs, slices=chosen.slices)
    conclusion, regression = _concluded(comparison, chosen)
    hidden = ""
    if worst is not None and not regression and _concluded(worst, chosen)[1]:
        hidden = loss(comparison, worst)
    why = hidden or (loss(comparison, None) if regression else None)
    said = headline(
        comparison,
        conclusion,
        options=chosen,
        counts=counts,
        questions=before.select(key).n_unique(),
        worst=worst,
        hidden=hidden,
        by_name=len(key) > 1,
        changed=_changed_references(before, now),
        edited=edited,
    )
    if hidden:
        conclusion, regression = IN_WORST_CASE, True
    ungrouped = {name: none for name in chosen.slices if (none := compared[name].null_count())}
    shown = change_tables(
        judge, comparison, counts, found, said, options=chosen, ungrouped=ungrouped
    )
    if chosen.flips and (counts["worse"] or counts["better"]):
        shown.append(flips_table(pairs, most=chosen.flips))
    return DiffResult(
        frame=pairs,
        tables=tuple(shown),
        data={
            "command": "diff",
            "judge": judge,
            "headline": said,
            "conclusion": conclusion,
            "regression": regression,
            "reason": why,
            "margin": chosen.margin,
            "looks": chosen.looks,
            "comparison": comparison,
            "worst": worst,
            "counts": counts,
            "clusters": found,
            "pairs": pairs.to_dicts(),
        },
        judge=judge,
        comparison=comparison,
        worst=worst,
        counts=counts,
        clusters=tuple(found),
        conclusion=conclusion,
        regression=regression,
        reason=why,
        source=str(new) if isinstance(new, str | Path) else "answers",
        new_rows=sides[1].answers.height,
        options=chosen,
        notes=tuple(note for side in sides for note in side.notes),
    )


def _judged_sides(base: Any, new: Any, options: DiffOptions) -> list[Run]:
    """Both sides with judgments; answers alone are judged as the other side was."""
    sides = [
        open_run(side, options.reading(slices=slices))
        for side, slices in ((base, ()), (new, options.slices))
    ]
    bare = [_is_bare(side, options) for side in sides]
    name = options.judge
    if name is None and sum(bare) == 1:
        there = list(_judges(sides[bare.index(False)]))
        name = next(iter(one_judge(pl.DataFrame({"judge": there}))["judge"]), None)
    return [
        _judged(side, name or DEFAULT_JUDGE) if alone else side
        for side, alone in zip(sides, bare, strict=True)
    ]


def _is_bare(side: Run, options: DiffOptions) -> bool:
    """Whether these are answers without judgments; scores are some where no judge is named."""
    own = {"verdict", "judge", options.judge or "score"}
    return side.is_answers and not own & set(side.names)


def _judged(side: Run, name: str) -> Run:
    """Answers with a judge's judgments, read and judged as `markscheme judge` does both."""
    judge = parse_judge(name)
    if asks_chat(judge):
        raise AgreementError(
            f"{judge_name(judge)} asks a language model, which may cost money: judge the answers "
            f"first (markscheme judge FILE --judge {name!r} ...), and name the run"
        )
    side = replace(side, reading=reading_for(side.reading, [judge]))
    run = run_in_memory(AnswersReader([side.answers]), [judge])
    judged = replace(side, source=InMemory(run.judgments.collect(), side.answers))
    judged.notes[:] = side.notes
    return judged


def _judges(side: Run) -> dict[str, set[str]]:
    """The judges of a side, each with its signatures as far as they are known."""
    if side.stored_answers is None:
        found = judged_answers(side)["judge"].unique(maintain_order=True)
        return {name: set() for name in found}
    signed = side.table.select("judge", "signature").unique(maintain_order=True)
    known: dict[str, set[str]] = {}
    for name, signature in signed.iter_rows():
        known.setdefault(name, set()).add(signature)
    return known


def _common_judge(sides: Sequence[Any], wanted: str | None) -> str:
    """The judge of both sides.

    Raises:
        AgreementError: there is none, there are several, or its signature is not the same.
    """
    one, two = map(_judges, sides)
    if wanted is not None:
        with suppress(MarkschemeError):  # a column of another tool may be called anything
            wanted = judge_name(parse_judge(wanted))
    common = [name for name in one if name in two and wanted in (None, name)]
    if len(common) != 1:
        asked = (
            f"judge {wanted!r} is not on both sides"
            if wanted
            else (
                "several judges are on both sides; name one with --judge"
                if common
                else "no judge is on both sides"
            )
        )
        raise AgreementError(
            f"{asked}: the base has {', '.join(one)}; the new answers have {', '.join(two)}"
        )
    (judge,) = common
    if one[judge] and two[judge] and one[judge] != two[judge]:
        raise AgreementError(
            f"{judge} judged the two sides differently, so their figures cannot be compared: "
            f"{', '.join(sorted(one[judge]))} and {', '.join(sorted(two[judge]))}. Judge the older "
            "one again: markscheme judge FILE"
        )
    return judge


def _rows(side: Run, judge: str, options: DiffOptions, *, system: str | None) -> pl.DataFrame:
    named = [judge] if options.judge and side.stored_answers is None else ()
    rows = judged_answers(
        side, judges=named, threshold=options.threshold, slices=side.reading.slices
    ).filter(pl.col("judge") == judge)
    rows = rows.with_row_index(_PLACE).with_columns(
        # Who gives no verdict on an answer that was not given accepts none, unless the call failed.
        verdict=pl.coalesce(
            "verdict",
            pl.when(pl.col("answer").is_null() & pl.col("status").ne_missing("skipped")).then(
                pl.lit(value=False)
            ),
        ),
        system=pl.col("system").fill_null("system"),
    )
    if system is None:
        return rows
    mine = rows.filter(pl.col("system") == system)
    if mine.is_empty():
        raise AgreementError(
            no_such_name("system", system, rows["system"].unique(maintain_order=True))
        )
    return mine


def _compared(compared: pl.DataFrame, options: DiffOptions) -> Comparison:
    """New against base on the pairs with both verdicts."""
    verdicts = (compared[f"{side}_verdict"] for side in ("new", "base"))
    return compare_answers(
        ("new", "base"), compared["question"], *verdicts, confidence=options.level
    )


def _compared_by_mean(pairs: pl.DataFrame, alone: pl.DataFrame, options: DiffOptions) -> Comparison:
    """New against base on the questions with verdicts on both, each by the mean of its answers."""
    sides = [
        pl.concat(
            [
                pairs.select("question", verdict=f"{side}_verdict"),
                alone.filter(pl.col("side") == side).select("question", "verdict"),
            ]
        )
        .drop_nulls("verdict")
        .group_by("question", maintain_order=True)
        .agg(pl.col("verdict").sum().cast(pl.Int64).alias("right"), pl.len().cast(pl.Int64))
        for side in ("new", "base")
    ]
    both = sides[0].join(sides[1], on="question", suffix="_base", maintain_order="left")
    counts = both.drop("question").to_numpy().astype(np.int64).reshape(-1, 2, 2)
    return compare_means(("new", "base"), counts, confidence=options.level)


def _against_new(pairs: pl.DataFrame) -> pl.DataFrame:
    """All pairs, with the verdicts that are missing as they would be worst for the new answers."""
    return pairs.with_columns(
        pl.col("base_verdict").fill_null(value=True), pl.col("new_verdict").fill_null(value=False)
    )


def _concluded(comparison: Comparison, options: DiffOptions) -> tuple[str, bool]:
    """The conclusion, and whether more than the margin was lost."""
    change, p = comparison.difference, comparison.p.value
    if change.value is None or p is None or p > 1 - options.level or not change.value:
        return "no change shown", False
    if change.value > 0:
        return "better", False
    beyond = not options.margin or (change.high is not None and change.high < -options.margin)
    return "worse", beyond


def _changed_references(before: pl.DataFrame, now: pl.DataFrame) -> int:
    """Questions of both sides of which no list of references is on both."""
    one, two = (
        side.select(_ITEM, pl.col("references").list.sort()).unique() for side in (before, now)
    )
    both = two.join(one, on=[_ITEM, "references"], how="semi", nulls_equal=True)
    return two.join(one, on=_ITEM, how="semi").join(both, on=_ITEM, how="anti")[_ITEM].n_unique()


def _with_reasons(pairs: pl.DataFrame) -> pl.DataFrame:
    """Mode and evidence of the answer that is rejected, for pairs that flipped."""
    worse = pl.col("change") == "worse"
    flipped = pairs.with_row_index(_ROW).filter(pl.col("change").is_in(["worse", "better"]))
    looked = flipped.select(
        _ROW,
        "question",
        "references",
        "reference_kind",
        *(
            pl.when(worse).then(f"new_{name}").otherwise(f"base_{name}").alias(name)
            for name in ("answer", "relation", "status", "explanation")
        ),
    )
    reasons = with_rejections(looked).select(_ROW, "mode", "evidence")
    gone = pl.col("new_place").is_null() & worse
    return (
        pairs.with_row_index(_ROW)
        .join(reasons, on=_ROW, how="left", maintain_order="left")
        .with_columns(pl.when(gone).then(pl.lit(_GONE)).otherwise("evidence").alias("evidence"))
        .drop(_ROW, "reference_kind")
    )


def _with_items(
    base: pl.DataFrame, new: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, list[tuple[str, str]]]:
    """Both sides with a column `_ITEM`, which is equal where the question is the same.

    It is the question's text, in which lengths of spaces do not count. A question that only one
    side has in these words is the other side's question of the same id, where ids are of one
    question on both sides more often than not: then its text was edited.

    Returns:
        Base and new, and of each edited question the text that the base has and the new one.
    """
    text = plainly_spaced("question").alias(_ITEM)
    base, new = base.with_columns(text), new.with_columns(text)
    if not all("answer_id" in side.columns for side in (base, new)):
        return base, new, []
    key = [*_systems(base, new), "answer_id"]
    ours, theirs = (
        side.select(*key, _ITEM, "question").unique(key, keep="first", maintain_order=True)
        for side in (base, new)
    )
    both = theirs.join(ours, on=key, suffix="_before", maintain_order="left")
    before = f"{_ITEM}_before"
    other = both.filter(pl.col(_ITEM) != pl.col(before))
    if 2 * other.height >= both.height:
        return base, new, []
    edited = other.join(base, on=_ITEM, how="anti", maintain_order="left").join(
        new, left_on=before, right_on=_ITEM, how="anti", maintain_order="left"
    )
    new = new.join(edited.select(*key, before), on=key, how="left", maintain_order="left")
    texts = edited.select("question_before", "question").unique(maintain_order=True)
    return (
        base,
        new.with_columns(pl.coalesce(before, _ITEM).alias(_ITEM)).drop(before),
        texts.rows(),
    )


def paired(
    base: pl.DataFrame, new: pl.DataFrame, *, slices: Sequence[str] = (), subset: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pairs of answers to the same question, one judge's verdicts on both.

    Systems are paired by name where both sides have several, or one of the same name; else each
    side must have one. A question that occurs several times is paired in order, first among rows
    that have the same references too.

    Args:
        base, new: as `judged_answers` gives them, by the same judge, with the row's number in
            `_PLACE` and what is equal for equal questions in `_ITEM`.
        slices: columns of the new side.
        subset: leave out questions that the new side lacks. Otherwise their answers are paired with
            one that was not given, and is rejected: at the end, with a null `new_place`.

    Returns:
        `question`, `references` (of the new side), `system`, the slices; for each side, after
        `base_` and `new_`: `answer`, `verdict`, `score`, `explanation`, `relation`, `status`,
        `place` (the row's number); and `change`, one of `CHANGES`. In the order of the new side.
        And the answers to these questions that have no partner, since the other side has fewer:
        `question`, `side` and `verdict`; none where there is a subset.

    Raises:
        AgreementError: the systems cannot be paired, no question is on both sides, or of several
            systems one has answers without a partner.
    """
    key = _systems(base, new)
    left, right = _prefixed(base, "base", key), _prefixed(new, "new", key)
    exact = _partners(left, right, [*key, _ITEM, "_references"])
    rest = [
        side.join(exact, on=f"{name}_{_PLACE}", how="anti").drop("_references")
        for side, name in ((left, "base"), (right, "new"))
    ]
    loose = _partners(rest[0], rest[1], [*key, _ITEM])
    table = pl.concat([exact, loose], how="diagonal_relaxed").sort(f"new_{_PLACE}")
    if table.is_empty():
        raise AgreementError(
            f"no question of the new answers is among those of the base: {new['question'][0]!r}, "
            f"for instance, where the base has {base['question'][0]!r}"
        )
    alone = pl.DataFrame(schema={"question": pl.String, "side": pl.String, "verdict": pl.Boolean})
    if not subset:
        alone = _without_partner(left, right, table, key)
        gone = left.join(right, on=[*key, _ITEM], how="anti", nulls_equal=True)
        table = pl.concat([table, _unanswered(gone)], how="diagonal_relaxed")
    one, two = pl.col("base_verdict"), pl.col("new_verdict")
    known = [pl.col(f"new_{name}").alias(name) for name in slices if name not in _OURS]
    system = pl.col("system") if key else pl.col("new_system").fill_null(strategy="forward")
    frame = table.select(
        pl.coalesce("new_question", "base_question").alias("question"),
        pl.col("new_references").alias("references"),
        system.alias("system"),
        pl.col("new_reference_kind").alias("reference_kind"),
        *known,
        *(f"{side}_{name}" for side in ("base", "new") for name in (*_OF_A_SIDE, _PLACE)),
        change=pl.when(one.is_null() | two.is_null())
        .then(pl.lit("not compared"))
        .when(one & ~two)
        .then(pl.lit("worse"))
        .when(~one & two)
        .then(pl.lit("better"))
        .otherwise(pl.lit("same")),
    )
    return frame.rename({f"{side}_{_PLACE}": f"{side}_place" for side in ("base", "new")}), alone


def _without_partner(
    base: pl.DataFrame, new: pl.DataFrame, pairs: pl.DataFrame, systems: list[str]
) -> pl.DataFrame:
    """Answers to questions of both sides of which the other side has fewer.

    Raises:
        AgreementError: there are some, and a question's mean would be of several systems, of which
            it would hold more or less than on the other side.
    """
    key, found = [*systems, _ITEM], []
    questions = pairs.select(_ITEM, question=pl.coalesce("new_question", "base_question"))
    questions = questions.unique(_ITEM, keep="first", maintain_order=True)
    for side, name, other in ((new, "new", base), (base, "base", new)):
        left = side.join(pairs, on=f"{name}_{_PLACE}", how="anti").join(other, on=key, how="semi")
        if left.height and systems:
            first = left[f"{name}_question"][0]
            raise AgreementError(
                f"{left.select(_ITEM).n_unique():,} questions, such as {first!r}, have more "
                f"answers of the same system on the {name} side than on the other, so that "
                f"{left.height:,} have no partner: compare one system at a time (--base-system "
                "NAME --new-system NAME), by each question's mean, or leave such answers out with "
                "--subset"
            )
        left = left.join(questions, on=_ITEM, maintain_order="left")
        found.append(left.select("question", side=pl.lit(name), verdict=f"{name}_verdict"))
    return pl.concat(found)


def _unanswered(base: pl.DataFrame) -> pl.DataFrame:
    """Rows of the base that the new side lacks, as pairs whose new answer was not given."""
    return base.with_columns(
        pl.col("base_references").alias("new_references"),
        pl.col("base_reference_kind").alias("new_reference_kind"),
        new_verdict=pl.lit(value=False),
    )


def _systems(base: pl.DataFrame, new: pl.DataFrame) -> list[str]:
    """The columns by which systems are paired: none where each side is one system."""
    one, two = (side["system"].unique(maintain_order=True).to_list() for side in (base, new))
    if len(one) == len(two) == 1:
        return []
    if not set(one) & set(two):
        raise AgreementError(
            f"the base has the systems {', '.join(map(repr, one))}, the new answers "
            f"{', '.join(map(repr, two))}: none is in both. Name one of each with "
            "--base-system and --new-system"
        )
    return ["system"]


def _prefixed(side: pl.DataFrame, name: str, key: list[str]) -> pl.DataFrame:
    """The rows of a side with its name before those columns that pairs do not share."""
    own = [column for column in side.columns if column not in (_ITEM, *key)]
    return side.select(
        *key,
        _ITEM,
        pl.col("references").list.sort().fill_null([]).alias("_references"),
        *(pl.col(column).alias(f"{name}_{column}") for column in own),
    )


def _partners(base: pl.DataFrame, new: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """New rows with those of the base that are equal in the keys, the first with the first."""
    copy = pl.int_range(pl.len()).over(keys).alias("_copy")
    return new.with_columns(copy).join(
        base.with_columns(copy), on=[*keys, "_copy"], nulls_equal=True
    )
