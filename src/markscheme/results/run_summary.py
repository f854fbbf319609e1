"""A run's figures as a table and sentences: accuracy, answers not judged, and the judges' scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import polars as pl

from markscheme.engine import ALL_SYSTEMS, verdict_figures
from markscheme.errors import install_line, lacks_extras
from markscheme.results.figures import (
    Figure,
    by_judges,
    interval,
    interval_note,
    percent,
    population,
    share_text,
)
from markscheme.results.table import Column, Table
from markscheme.tables import (
    FOREIGN,
    LEARNED,
    OUTSIDE,
    as_binary,
    holds_labels,
    is_binary,
    scope_kind,
)
from markscheme.text import excerpt, one_line

_NOTE = (
    "Accepted: share of judged answers with verdict true, in percent. Mean score: 0 to 100. "
    "Answers not judged are in neither."
)
_COST = (
    "Cost: of the replies when they were made, also of those that the ledger had; one that many "
    "answers share may count several times."
)


def summary_table(
    records: Sequence[dict[str, Any]],
    *,
    by: str = "system",
    people: Mapping[str, dict[str, Any]] | None = None,
) -> Table:
    """One row per judge and system, from the records of `engine.summary.summarise`.

    Args:
        records: of systems, or of the slices of a column (`slice_records`).
        by: that column.
        people: by system, the figures of people's labels (`people_figures`); a column of its own.
    """
    title = f"Answers accepted, by judge and {by}, in percent"
    labelled = {} if people is None else people
    columns = (
        "judge",
        Column(by, lambda record: record["system"].removeprefix(f"{by}=")),
        Column("accepted", "accuracy", "share", missing="n/a"),
        Column("95% interval", _accuracy_interval, "right"),
        Column(
            "people (labels)",
            lambda record: _share_of_labels(labelled.get(record["system"])),
            "right",
            show=None,
        ),
        Column("mean score", format="share", missing="n/a"),
        Column("judged", format="count"),
        Column("not judged", lambda record: not_judged(record["not_judged"])),
        Column("cost", "cost_usd", "money", show=None),
    )
    signatures = dict.fromkeys(record["signature"] for record in records)
    signed = (f"Signature: `{signature}`" for signature in signatures)
    cost = (_COST,) if any(record["cost_usd"] is not None for record in records) else ()
    return Table.of(title, columns, records, (_NOTE, *cost, *accuracy_note(records), *signed))


def _share_of_labels(figures: Mapping[str, Any] | None) -> str | None:
    """`87.5 (8)`: the share that people accept, and of how many labels."""
    if not figures:
        return None
    return f"{share_text(figures['accuracy'])} ({figures['judged']:,})"


def people_figures(answers: pl.LazyFrame, clusters: pl.LazyFrame) -> dict[str, dict[str, Any]]:
    """Figures of people's labels by system: of `judged` labels the share accepted as `accuracy`.

    Args:
        answers: of a run.
        clusters: their systems, or slices, and questions (`engine.CLUSTERS`).

    Returns:
        Nothing where no answer has a label, or where labels are grades. Where only annotators'
        labels are known, their majority counts.
    """
    if "label" not in answers.collect_schema().names():
        return {}
    labels = labels_of(answers)
    if not labels.count() or not is_binary(labels):
        return {}
    found = verdict_figures(as_binary(labels), clusters.collect(engine="streaming"))
    return {one["system"]: one for one in found if one["accuracy"] is not None}


def labels_of(answers: pl.LazyFrame) -> pl.Series:
    """People's labels of an answers table, as `decided_labels` has them."""
    labels = answers.select("label").collect(engine="streaming").to_series()
    if labels.null_count() and "annotator_labels" in answers.collect_schema().names():
        several = answers.select("annotator_labels").collect(engine="streaming").to_series()
        if holds_labels(several):
            from markscheme.tables import decided_labels

            return decided_labels(labels, several)
    return labels


def _accuracy_interval(record: dict[str, Any]) -> str:
    return interval(record["accuracy_low"], record["accuracy_high"])


def judged_nothing(records: Iterable[dict[str, Any]]) -> list[str]:
    """The judges that judged no answer, so that no script may take it for a run that passed.

    All of them where none judged any. Else those that failed at an answer: a judge that skipped
    all, while others judged some, did what it is for.
    """
    judged, failed = Counter[str](), Counter[str]()
    for record in records:
        judged[record["judge"]] += record["judged"]
        skipped = record["not_judged"].get("skipped", 0)
        failed[record["judge"]] += sum(record["not_judged"].values()) - skipped
    some = judged.total() > 0
    return [name for name, count in judged.items() if not count and (failed[name] or not some)]


def accuracy_figure(record: Mapping[str, Any]) -> Figure:
    """The accuracy of a record as a figure; without a value where nothing has a verdict."""
    if record["accuracy"] is None:
        return Figure(reason="no answer has a verdict")
    return Figure(
        value=record["accuracy"],
        low=record["accuracy_low"],
        high=record["accuracy_high"],
        method=record["interval"],
    )


def accuracy_note(records: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """How the intervals of accuracy were made, and of what they speak (`interval_note`)."""
    figures = (("", accuracy_figure(one)) for one in records)
    return interval_note(figures, records_population(records))


def records_population(records: Sequence[dict[str, Any]]) -> str:
    """Of what the figures of a run speak (`population`)."""
    # Slices have no record of all, and each has questions of its own.
    whole = next((one for one in records if one["system"] == ALL_SYSTEMS), None)
    if whole is None and len({one["system"] for one in records}) == 1:
        whole = records[0]
    size = {} if whole is None else {"questions": whole["questions"], "answers": whole["rows"]}
    return population(by_judges(one["judge"] for one in records), **size)


def not_judged(counts: dict[str, int]) -> str:
    """How many were not judged, and why: `3 (2 failed, 1 skipped)`."""
    if not counts:
        return "0"
    reasons = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    return f"{sum(counts.values()):,} ({reasons})"


_MOST = 3
_LONGEST = 160
"""Characters of a reason that are shown."""


def why_not_judged(judgments: pl.LazyFrame) -> list[str]:
    """Each judge's commonest reasons with how often, as lines; none where all was judged."""
    return [
        f"not judged by {judge}: "
        + (f"{count:,} {status}: {reason}" if status else f"{count:,} more, for {reason}")
        for judge, status, count, reason in reasons_not_judged(judgments)
    ]


_MISSING = r"^(?:a tie: )?\d+ of \d+ samples accept; \d+ of \d+ were not judged \(([\w, ]+):"
"""The statuses of missing samples, as the explanations of prompted judges have them."""


def again_notes(judgments: pl.LazyFrame, judges: Iterable[str]) -> list[str]:
    """What `--again` does for answers that were not judged by language models, as lines.

    Args:
        judgments: of a run.
        judges: those of its judges that call a model.
    """
    status, explanation = pl.col("status"), pl.col("explanation")
    by_budget = explanation.str.contains("--max-c", literal=True)
    # Of several samples of an answer some may be missing although it was judged by the others.
    missing = explanation.str.extract(_MISSING).fill_null("")
    failed = (status == "failed") | missing.str.contains("failed")
    left_out = ((status == "skipped") | missing.str.contains("skipped")) & by_budget
    found = (
        judgments.filter(pl.col("judge").is_in(list(judges)))
        .group_by("judge", maintain_order=True)
        .agg(
            failed=failed.sum(),
            left_out=left_out.sum(),
            unread=(status.is_in(["unparsed", "refused"]) & ~failed & ~left_out).sum(),
        )
        .collect(engine="streaming")
    )
    lines = []
    if count := found["failed"].sum():
        lines.append(f"the same command with --again judges only what failed ({count:,})")
    if count := found["left_out"].sum():
        lines.append(
            "the same command with --again and a higher limit judges only what the budget left "
            f"out ({count:,})"
        )
    for judge, unread in found.filter(pl.col("unread") > 0).select("judge", "unread").iter_rows():
        lines.append(
            f"--again requests no unparsed or refused reply anew ({unread:,}), since the ledger "
            f'has it; -j "cascade(first={judge}, then=JUDGE, send=outside)" sends only these '
            "answers to another judge"
        )
    return lines


def reasons_not_judged(judgments: pl.LazyFrame) -> list[tuple[str, str | None, int, str]]:
    """Judge, status, count and text of each judge's commonest reasons, and the rest without status.

    Args:
        judgments: of a run.
    """
    found = (
        judgments.filter(pl.col("status") != "judged")
        .group_by("judge", pl.col("status").cast(pl.String), "explanation")
        .len()
        .sort(["judge", "len", "explanation"], descending=[False, True, False])
        .collect(engine="streaming")
    )
    rows: list[tuple[str, str | None, int, str]] = []
    for (judge,), reasons in found.group_by("judge", maintain_order=True):
        for _, status, explanation, count in reasons.head(_MOST).iter_rows():
            said = one_line(explanation or "")
            said = f"{said[:_LONGEST]}..." if len(said) > _LONGEST else said
            rows.append((str(judge), status, count, said or "no reason given"))
        if reasons.height > _MOST:
            rows.append((str(judge), None, int(reasons["len"][_MOST:].sum()), "other reasons"))
    return rows


def scope_notes(
    judgments: pl.LazyFrame,
    records: Sequence[dict[str, Any]],
    answers: pl.LazyFrame | None = None,
) -> list[str]:
    """What is to be known of trained judges before their figures are relied on, as lines.

    How many answers lie outside what a judge learned and why, of how many it says that it cannot
    tell, and which questions trained it, with the share it accepts of all and of the others.

    Args:
        judgments: of a run.
        records: its figures, as `engine.summary.summarise` makes them.
        answers: of the run, which have the questions where the judgments have not; None where
            questions need no names.
    """
    lines = []
    # Of a judge's records the one over all systems is the last.
    trained = {one["judge"]: one for one in records if "learned_questions" in one}
    for one in trained.values():
        judge, total = one["judge"], one["judged"]
        if one["outside"]:
            why = _commonest_reason(judgments, judge)
            foreign = FOREIGN in why and lacks_extras("languages")
            better = f"; {install_line('languages')} has an encoder for them" if foreign else ""
            lines.append(
                f"{one['outside']:,} of {one['rows']:,} answers are outside what {judge} was "
                f"trained on ({why}); its verdicts there are less reliable{better}"
            )
        if one["unsure"]:
            lines.append(
                f"{judge} is unsure of {one['unsure']:,} of {total:,} answers (scores near its "
                "threshold); 'markscheme failures' lists them"
            )
        said = lineage_note(
            judge,
            questions=one["questions"],
            trained=one["learned_questions"],
            names=_learned_questions(judgments, judge, answers) if one["learned_answers"] else (),
            figure="accepted",
            whole=percent(one["accuracy"], unit="%"),
            rest=percent(one["rest_accuracy"], unit="%") if one["rest_judged"] else None,
        )
        lines += [said] if said else []
    return lines


_NAMED = 3
"""Questions that trained a judge, which are named."""
_QUESTION = 60
"""Characters of a question that is named."""


def named_questions(names: Iterable[object], count: int) -> str:
    """The first of some questions, in brackets: `('Who wrote Emma?', ... and 4 more)`.

    Args:
        names: of the questions, or of the first of them.
        count: how many there are in all.

    Returns:
        Text with a space in front; empty where no name is known.
    """
    # Tables that hold questions by number have no name of them.
    texts = (name for name in names if isinstance(name, str))
    first = [repr(excerpt(text, _QUESTION)) for text in islice(texts, _NAMED)]
    more = f" and {count - len(first):,} more" if count > len(first) else ""
    return f" ({', '.join(first)}{more})" if first else ""


def _learned_questions(
    judgments: pl.LazyFrame, judge: str, answers: pl.LazyFrame | None
) -> list[str]:
    """The first questions that trained a judge, where judgments or answers have their texts."""
    known = judgments.collect_schema().names()
    learned = judgments.filter(pl.col("judge") == judge, scope_kind() == LEARNED)
    if "question" not in known:
        if answers is None or "answer_id" not in known:
            return []
        ids = learned.select("answer_id").unique()
        learned = answers.join(ids, on="answer_id", how="semi", maintain_order="left")
    texts = learned.select(pl.col("question").drop_nulls().unique(maintain_order=True))
    return texts.head(_NAMED).collect(engine="streaming")["question"].to_list()


def lineage_note(
    judge: str,
    *,
    questions: int,
    trained: int | None,
    figure: str,
    whole: str,
    rest: str | None,
    names: Iterable[object] = (),
) -> str | None:
    """One line on how many questions trained a judge, with a figure on all and on the rest.

    Args:
        judge: its name.
        questions: how many were judged.
        trained: how many of them trained it; None where that is not known.
        figure: what the two numbers are.
        whole, rest: the figure on all questions and on the others; `rest` None where none is left.
        names: of those that trained it, where they are to be named.

    Returns:
        The line; None where no question trained it.
    """
    if trained is None:
        return (
            f"what trained {judge} is not known: its weights do not say, so these questions "
            "may be included"
        )
    if not trained:
        return None
    note = f"{trained:,} of {questions:,} questions trained {judge}"
    note += named_questions(names, trained)
    if rest is None:
        return f"{note}; none is left to judge it by ({figure}: {whole} on all)"
    return f"{note}; on the rest: {rest} {figure} (on all: {whole})"


def _commonest_reason(judgments: pl.LazyFrame, judge: str) -> str:
    found = (
        judgments.filter(pl.col("judge") == judge, scope_kind() == OUTSIDE)
        .group_by("scope")
        .len()
        .sort(["len", "scope"], descending=[True, False])
        .head(1)
        .collect(engine="streaming")
    )
    reason, count = found.row(0)
    return f"{reason.removeprefix(f'{OUTSIDE}: ')}: {count:,}"
