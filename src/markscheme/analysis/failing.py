"""What judges reject and why, and what they get wrong: the public `failures`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    Run,
    TableSource,
    judged_and_labels_if_any,
    judged_table,
    labelled_table,
    names_of_judged,
    open_run,
)
from markscheme.analysis.error_categories import CATEGORIES, NEAR, error_rates, judge_errors
from markscheme.analysis.judged_answers import judged_answers
from markscheme.analysis.mode_detection import GROUPS, MODES, failure_modes
from markscheme.analysis.options import FailureOptions
from markscheme.analysis.rejections import (
    REJECTIONS,
    accepted_answers,
    rejected_answers,
    rejection_counts,
)
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.models import Models
from markscheme.results import (
    Column,
    Format,
    Table,
    TableResult,
    columns,
    excerpts,
    out_of,
    refuse_slices,
)
from markscheme.tables import (
    KEYS,
    as_binary,
    join_labels,
    one_judge,
    write_table,
)
from markscheme.text import counted, excerpt

_LONGEST = 60

_LISTED = 200
"""Characters of a text that a listing shows."""


_SHOWN = (
    "answer_id",
    "system",
    "question",
    "references",
    "reference_kind",
    "answer",
    "accepted",
)
_OF_JUDGMENTS = {*KEYS, "judge", "verdict", "score"}
_EXACT = "exact_match"

_ACCEPTED_SHOWN = 20
"""Accepted answers of a judge that are shown where nothing says how many."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FailuresResult(TableResult):
    """With labels, answers that are accepted and fail exact match; without, rejected ones.

    `frame` has a row for each, with its `mode` and the `evidence`.

    Attributes:
        labelled: people's labels were looked at.
        error_rates: how often each judge rejects the answers of each mode; None without judgments.
        judge_errors: each judge's errors by category; None where not requested.
        notes: what was guessed and counted when a file of answers was read.
    """

    labelled: bool = False
    error_rates: pl.DataFrame | None = None
    judge_errors: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()

    def write_details(self, path: str | Path) -> Path:
        """Write every tagged answer to a file: JSONL, JSON, CSV, TSV or Parquet, by its ending.

        Where judges' errors were requested, they go to a second file, whose name has
        `-judge-errors` before its ending, with category and evidence.

        Raises:
            DataError: another ending, or it cannot be written.
        """
        target = Path(path)
        write_table(self.frame.drop("row", strict=False), target)
        if self.judge_errors is not None:
            write_table(self.judge_errors, target.with_stem(f"{target.stem}-judge-errors"))
        return target


def failures(
    judged: JudgmentsSource,
    labels: TableSource | None = None,
    options: FailureOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> FailuresResult:
    """What judges reject, mode by mode; with labels, what they and exact match get wrong.

    Without labels every answer is listed that a judge rejects, is unsure of or gives no verdict
    on, with the reason: the judge's own, and what
    differs from the references (`REJECTIONS`). With labels: why answers that people accept fail
    exact match (Kamalloo et al. 2023, section 5), and which judges fail too.

    Args:
        judged: labelled answers, judgments, a run's folder, or what `markscheme.judge` returned.
        labels: people's labels; None takes those in `judged`.
        options: see `FailureOptions`.
        answers: the judged answers, where judgments lack questions and references.
        keywords: single options, which go before those of `options`.

    Returns:
        With labels, a row per answer that is accepted and fails exact match: the answer, `group`
        and `mode` and the `evidence` of the rule that found it. Without, a row per judge and
        answer: `outcome` (`rejected`, `unsure`, `not judged`), `mode`, `evidence`, the answer,
        `score`, `explanation` and the slices.

    Raises:
        DataError: the files cannot be read, or have no references.
        AgreementError: there are neither labels nor judgments.

    Example:
        >>> import markscheme
        >>> row = {"question": "Who wrote Emma?", "references": ["Jane Austen"],
        ...        "answer": "It was Jane Austen.", "label": 1}
        >>> markscheme.failures([row]).frame.height
        1
    """
    chosen = with_keywords(FailureOptions, options, keywords)
    if chosen.accepted and chosen.rejected:
        raise AgreementError(
            "choose one of --accepted and --rejected (Python: accepted=True, rejected=True)"
        )
    if chosen.trusted is not None and (labels is not None or chosen.label_column):
        raise AgreementError(
            "choose one of --labels, --label-column and --trusted: each says which answers are "
            "right (Python: labels, label_column=... or trusted=...)"
        )
    if chosen.accepted and chosen.by:
        raise AgreementError(
            "--by is of what judges reject or get wrong, not of what they accept (Python: by=...)"
        )
    run = _opened(judged, answers, chosen, labels)
    listed = chosen.accepted or chosen.rejected
    verdicts, known = (None, None) if listed else _read(run, chosen, labels)
    if listed or (known is None and not (chosen.trusted or chosen.label_column)):
        rows = judged_answers(
            run, judges=chosen.judges, threshold=chosen.threshold, slices=chosen.slices
        )
        found = _acceptances(rows, chosen) if chosen.accepted else _rejections(rows, chosen)
        return replace(found, notes=tuple(run.notes))
    if chosen.slices:
        raise AgreementError(
            "--slices counts what judges reject, and there are labels: add --rejected "
            "(Python: rejected=True)"
        )
    # Of a run without exact match, the errors are those of its own judges.
    others = (
        verdicts is not None
        and chosen.trusted is None
        and _EXACT not in verdicts["judge"].unique().to_list()
    )
    if chosen.by and (verdicts is None or not (chosen.judge_errors or others)):
        raise AgreementError(
            "--by is of what judges reject or get wrong, and neither is listed: add --rejected or "
            "--judge-errors (Python: rejected=True or judge_errors=True)"
        )
    examples = 1 if chosen.examples is None else chosen.examples
    table = run.answers.unique("answer_id", maintain_order=True)
    accepted, left_out = _accepted(table, verdicts, known, chosen)
    table = table.with_columns(accepted)
    modes = failure_modes(table, Models())
    accepts = "people accept" if chosen.trusted is None else f"{chosen.trusted} accepts"
    tables = [_modes_table(modes, left_out, examples=examples, accepts=accepts)]
    data: dict[str, Any] = {"command": "failures", "modes": modes.to_dicts()}
    rates = errors = None
    lead: tuple[str, ...] = ()
    if verdicts is not None:
        rates = error_rates(verdicts, modes)
        if not modes.is_empty():
            tables.append(_rates_table(rates))
        data["error_rates"] = rates.to_dicts()
        if others:
            tables.clear()
        if chosen.judge_errors or others:
            said = verdicts.select("answer_id", "judge", "verdict", "score")
            said = said.join(table.select(_SHOWN), on="answer_id")
            errors = judge_errors(said, threshold=chosen.threshold)
            by_system = chosen.by == "system"
            notes: Sequence[str] = left_out if others else ()
            hidden = _without_category(said, errors)
            if errors.is_empty():
                names = ", ".join(verdicts["judge"].unique(maintain_order=True))
                lead = (f"{names}: {hidden or _NO_ERROR}", *notes)
            else:
                notes = (*notes, hidden) if hidden else notes
                tables.append(_errors_table(errors, notes, examples=examples, by_system=by_system))
            data["judge_errors"] = errors.to_dicts()
    return FailuresResult(
        frame=modes,
        tables=tuple(tables),
        data=data,
        lead=lead,
        labelled=True,
        error_rates=rates,
        judge_errors=errors,
        notes=tuple(run.notes),
    )


def _opened(
    judged: JudgmentsSource,
    answers: TableSource | None,
    options: FailureOptions,
    labels: TableSource | None,
) -> Run:
    """What was judged; of a file with labels of its own, their column too."""
    names = dict(options.columns)
    if labels is not None:  # The column of labels is one of their own table.
        names = names_of_judged(names, judged, labels, answers=answers)
    elif options.label_column is not None:
        names["label"] = options.label_column
    slices = tuple(name for name in options.slices if name != "judge")  # Judgments have it.
    reading = options.reading(columns=names, slices=slices)
    run = open_run(judged, reading, answers=answers)
    if run.is_answers and "judge" in run.names:  # A row for each judge: the answer is one.
        return replace(run, reading=replace(run.reading, repeats="drop"))
    return run


def _rejections(rows: pl.DataFrame, options: FailureOptions) -> FailuresResult:
    """What judges reject, doubt or do not judge."""
    refuse_slices(options.slices, ("answers", "judged", "rejected", "not_judged"), "failures")
    found = rejected_answers(rows, slices=options.slices)
    examples = 3 if options.examples is None else options.examples
    counts = rejection_counts(rows)
    tables = [
        counts_table(counts),
        *([] if found.is_empty() else [rejections_table(found, counts)]),
    ]
    data: dict[str, Any] = {"command": "failures", "judges": counts.to_dicts()}
    by_system = ["system"] if options.by == "system" else []
    for name in dict.fromkeys((*by_system, *options.slices)):
        by = rejection_counts(rows, by=name)
        tables.append(counts_table(by, by=name))
        data.setdefault("slices", {})[name] = by.to_dicts()
    if examples and not found.is_empty():
        tables.append(_listing_table(found, _whose(rows), examples=examples))
    data["rejected"] = found.to_dicts()
    return FailuresResult(
        frame=found,
        tables=tuple(tables),
        data=data,
    )


def _acceptances(rows: pl.DataFrame, options: FailureOptions) -> FailuresResult:
    """What judges accept, with their reasons."""
    found = accepted_answers(rows, slices=options.slices)
    most = _ACCEPTED_SHOWN if options.examples is None else options.examples
    return FailuresResult(
        frame=found,
        tables=(_accepted_table(found, _whose(rows), most=most),),
        data={"command": "failures", "accepted": found.to_dicts()},
    )


def _accepted_table(found: pl.DataFrame, whose: Sequence[Column], *, most: int) -> Table:
    shown = found.group_by("judge", maintain_order=True).head(most)
    left = found.height - shown.height
    more = (
        f"{left:,} more not shown: --examples N shows N of each judge, --details FILE writes all."
    )
    return Table.of(
        f"Accepted answers ({found.height:,})",
        (*whose, *_READ, Column("the judge says", "explanation", _EXCERPT)),
        shown,
        (more,) if left else (),
    )


def _modes_table(modes: pl.DataFrame, said: Sequence[str], *, examples: int, accepts: str) -> Table:
    """Counts and shares of groups and modes with the paper's, with examples."""
    total = modes.height
    rows: list[tuple[Any, ...]] = []
    for group, printed in GROUPS.items():
        of_group = modes.filter(pl.col("group") == group)
        if of_group.is_empty() and printed is None:
            continue
        share = of_group.height / total if total else None
        rows.append((group, None, of_group.height, share, printed, None))
        for name, mode in MODES.items():
            found = of_group.filter(pl.col("mode") == name)
            if mode.group == group and found.height and name != group:
                text = _instances(found, examples)
                rows.append((None, name, found.height, found.height / total, mode.paper, text))
    return Table.of(
        f"Why exact match rejects {counted(total, 'answer')} that {accepts}",
        ("group", "mode", *_COUNTED, Column("NQ301 paper", format=1, missing=""), "for instance"),
        rows,
        (
            "Share and paper in percent; the paper's are of 493 answers to NQ301, tagged by hand "
            "(Kamalloo et al. 2023, section 5). Tags are made by rules, each with its evidence: "
            "--details FILE writes them.",
            *said,
        ),
    )


def _instances(found: pl.DataFrame, examples: int) -> str:
    """The first answers, each with a reference, of errors after what the judge does with them."""
    return "; ".join(
        f"{row.get('error', '')} {excerpt(row['answer'] or '', _LONGEST)!r} for "
        f"{excerpt(row['references'][0], _LONGEST)!r}".strip()
        for row in found.head(examples).iter_rows(named=True)
    )


_COUNTED = (Column("answers", format="count"), Column("share", format="share"))


def _rates_table(rates: pl.DataFrame) -> Table:
    """How often each judge rejects accepted answers, by group."""
    groups = rates.group_by("judge", "group", maintain_order=True).agg(
        pl.col("answers").sum(), pl.col("rejected").sum()
    )
    names = [group for group in GROUPS if group in groups["group"].to_list()]
    rows = []
    for (judge,), mine in groups.group_by("judge", maintain_order=True):
        shares = mine.filter(pl.col("answers") > 0).select(
            "group", pl.col("rejected") / pl.col("answers")
        )
        whole = out_of(int(mine["rejected"].sum()), int(mine["answers"].sum()))
        of_groups = dict.fromkeys(names) | dict(shares.iter_rows())
        rows.append({"judge": judge, "rejected": whole} | of_groups)
    return Table.of(
        "Of these answers, what each judge rejects too, in percent of a group",
        (
            "judge",
            Column("rejected", format="right"),
            *columns("share", *((name, name) for name in names)),
        ),
        rows,
    )


_NO_ERROR = (
    "no verdict contradicts a label, so there are no errors; --rejected lists what was rejected"
)


def _without_category(judged: pl.DataFrame, errors: pl.DataFrame) -> str:
    """How many errors have no category, as their references are no texts; empty without any."""
    wrong = judged.filter(pl.col("verdict") != pl.col("accepted")).height - errors.height
    if not wrong:
        return ""
    many = counted(wrong, "verdict contradicts its label", "verdicts contradict their labels")
    return (
        f"{many} where references are patterns or the question has no answer: such errors have no "
        "category; --rejected and --accepted list what was rejected and accepted"
    )


def _errors_table(
    errors: pl.DataFrame, said: Sequence[str], *, examples: int, by_system: bool
) -> Table:
    """Each judge's errors by category, and by system where that is requested."""
    rows = []
    keys = ["judge", "kind", *(["system"] if by_system else [])]
    for group, of_judge in errors.group_by(keys, maintain_order=True):
        for name, (_, meaning) in CATEGORIES.items():
            found = of_judge.filter(pl.col("category") == name)
            if found.height:
                share = found.height / of_judge.height
                text = _instances(found, examples)
                rows.append((*group, name, found.height, share, meaning, text))
    where = " on that system" if by_system else ""
    return Table.of(
        "Errors of judges against people, by Wang et al.'s categories",
        (
            *(Column(key, missing="(no system)") for key in keys),
            "error",
            *_COUNTED,
            "meaning",
            "for instance",
        ),
        rows,
        (f"Share: of the errors of that judge{where}, in percent.", *said),
    )


def counts_table(counts: pl.DataFrame, *, by: str | None = None) -> Table:
    """How many answers each judge rejects, is unsure of or does not judge, in all or by slices."""
    note = (
        "Share: of the answers judged, in percent. Unsure: as the judge reports it; of a judge "
        f"that reports nothing, a score within {NEAR:g} of its threshold."
    )
    return Table.of(
        f"Rejected answers by {by}" if by else "Rejected answers",
        (
            "judge",
            Column(by or "", by, missing="(none)", show=by is not None),
            *columns("count", "answers", "rejected"),
            Column("share", format="share"),
            *columns("count", "unsure", "not judged"),
        ),
        counts.with_columns(
            share=pl.when(pl.col("judged") > 0).then(pl.col("rejected") / pl.col("judged"))
        ),
        () if by else (note,),
    )


def rejections_table(found: pl.DataFrame, counts: pl.DataFrame) -> Table:
    """The modes of what each judge rejects or does not judge, commonest first."""
    rows = []
    for judge in counts["judge"]:
        mine = found.filter(pl.col("judge") == judge, pl.col("outcome") != "unsure")
        for mode, count in mine["mode"].value_counts(sort=True).iter_rows():
            rows.append((judge, mode, count, count / mine.height, REJECTIONS[mode]))
    return Table.of(
        "Why: what the answers say, with their references",
        ("judge", "mode", *_COUNTED, "the answer is or says"),
        rows,
        (
            "Modes are found by comparing texts, without labels: they say where to look, not who "
            "is right.",
        ),
    )


def _listing_table(found: pl.DataFrame, whose: Sequence[Column], *, examples: int) -> Table:
    """The first answers of each mode, with the reasons."""
    shown = found.group_by("judge", "outcome", "mode", maintain_order=True).head(examples)
    left = found.height - shown.height
    more = f"{left:,} more not shown: --examples N shows N of each mode, --details FILE writes all."
    return Table.of(
        "Answers that were rejected, unsure or not judged",
        (
            *whose,
            Column("mode", _mode),
            *_READ,
            Column("evidence", lambda row: row["evidence"] if row["mode"] != "other" else ""),
            Column("the judge says", "explanation", _EXCERPT),
        ),
        shown,
        (more,) if left else (),
    )


def _mode(row: dict[str, Any]) -> str:
    outcome, mode = row["outcome"], row["mode"]
    if outcome == "not judged":
        return "not judged"
    return str(mode) if outcome == "rejected" else f"accepted, but unsure: {mode}"


_SCORE = Format("{:.2f}".format, numeric=False)
_EXCERPT = excerpts(_LISTED)
_READ = (
    Column("question", format=_EXCERPT),
    Column("reference", "references", _EXCERPT),
    Column("answer", format=_EXCERPT),
    Column("score", format=_SCORE, missing=""),
)


def _whose(rows: pl.DataFrame) -> tuple[Column, ...]:
    """Columns for judge and system of a listed answer, where what was judged is of several, and
    for its id, where it has one."""
    several = (
        Column(name, missing="", show=rows[name].n_unique() > 1)
        for name in ("judge", "system")
        if name in rows.columns
    )
    identified = [Column("id", "answer_id", missing="", show=None)]
    return (*several, *(identified if "answer_id" in rows.columns else []))


def _read(
    run: Run, options: FailureOptions, labels: TableSource | None
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Judgments, and labels; None in place of what there is not."""
    if not run.is_answers:
        if labels is None and run.known_answers is None and options.label_column is None:
            return None, None  # Their labels are of answers that nobody knows.
        return judged_and_labels_if_any(run, labels, options, judges=options.judges)
    judged = None
    if options.judges or run.has_judgments:
        theirs = {ours: name for ours, name in run.columns.items() if ours in _OF_JUDGMENTS}
        judged = judged_table(
            run if run.given is not None else replace(run, given=run.source),
            judges=options.judges,
            columns=theirs,
            threshold=options.threshold,
        )
    if labels is not None:
        return judged, labelled_table(
            labels,
            column=options.label_column,
            columns=options.columns,
            positive_from=options.positive_from,
        )
    return judged, run.answers if judged is None or run.answers["label"].count() else None


def _accepted(
    answers: pl.DataFrame,
    judged: pl.DataFrame | None,
    known: pl.DataFrame | None,
    options: FailureOptions,
) -> tuple[pl.Series, list[str]]:
    """Whether each answer is acceptable, by people or the trusted judge; notes on the labels.

    Raises:
        AgreementError: nothing says which answers are right, or labels do not match.
    """
    if options.trusted is not None:
        if judged is None:
            raise AgreementError(f"no judge {options.trusted!r} here: these are answers alone")
        trusted = one_judge(judged, options.trusted).unique("answer_id", keep="first")
        found = answers.join(trusted, on="answer_id", how="left", maintain_order="left")
        return found["verdict"].alias("accepted"), []
    if known is None or not known["label"].count():
        raise AgreementError(
            "nothing says which answers are right: give --labels FILE (Python: labels=...), or "
            "--trusted JUDGE (Python: trusted=...) to take a judge's word; what a judge rejects is "
            "listed without labels: 'markscheme judge FILE', then 'markscheme failures RUN'"
        )
    unjudged = answers.select("answer_id", "question", "answer", "system").with_columns(
        judge=pl.lit("people"), verdict=pl.lit(None, dtype=pl.Boolean)
    )
    joined = join_labels(unjudged, known)
    accepted = as_binary(joined.labels_of(answers), positive_from=options.positive_from)
    return accepted, joined.label_notes()
