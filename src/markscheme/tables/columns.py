"""Which of a file's columns is the question, the answer, the verdict: names people use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from markscheme.errors import DataError

ALIASES: dict[str, tuple[str, ...]] = {
    "answer_id": ("answer id", "id", "uid", "nr", "no", "#"),
    "question": (
        "question", "query", "q", "input", "prompt", "questions", "inputs", "user input", "problem",
        "request", "user query", "user message", "original question", "user question",
    ),
    "references": (
        "references", "reference", "gold", "golds", "gold answer", "gold answers", "golden answer",
        "golden answers", "reference answer", "reference answers", "ground truth", "ground truths",
        "correct answer", "correct answers", "target", "targets", "expected", "expected answer",
        "expected output", "answers", "aliases", "expected outputs", "expected response",
        "expected answers", "expectations", "reference output", "reference outputs",
        "reference example", "possible answers", "acceptable answers", "ideal", "ideal answer",
    ),
    "answer": (
        "answer", "prediction", "predicted", "pred", "predicted answer", "response", "model answer",
        "system answer", "model output", "output", "generated answer", "generation", "completion",
        "candidate", "candidate answer", "actual output", "outputs", "llm output", "llm response",
        "llm answer", "model response", "final answer", "generated text", "assistant response",
    ),
    "system": ("system", "model", "system name", "model name"),
    "reference_grades": ("reference grades", "grades"),
    "reference_kind": ("reference kind",),
    "label": (
        "label", "human", "human label", "acceptable", "correct", "is correct", "human judgment",
        "judgment", "judgement", "gold label", "grade", "golden judge", "golden judgment",
        "gold judge", "gold judgment",
    ),
    "annotator_labels": ("annotator labels",),
    "context": ("context", "passage", "evidence"),
    "answer_error": ("answer error",),
    "judge": ("judge", "evaluator", "metric", "grader"),
    "verdict": ("verdict", "is correct", "correct", "judgment", "judgement"),
    "score": ("score", "probability", "confidence"),
}  # fmt: skip
"""Our columns and the names under which they are recognised, without regard to case, `_` or `-`."""

MORE_REFERENCES = (
    "answer aliases", "aliases", "gold aliases", "reference aliases", "alternative answers",
    "alternate answers", "other answers", "answers aliases",
)  # fmt: skip
"""Columns that hold other forms of the reference that another column has."""

OF_JUDGMENTS = ("judge", "verdict", "score")
"""Columns of tables of judgments alone; an answers table has all the others."""

OF_ANSWERS = tuple(name for name in ALIASES if name not in OF_JUDGMENTS)
REQUIRED = ("question", "references", "answer")
KEYS = ("answer_id", "question", "answer", "system")
"""What a row is known by: `answer_id`, or `question` and `answer`, with `system` where known."""


def renamed(
    table: pl.DataFrame,
    mapping: Mapping[str, str],
    wanted: Sequence[str],
    keep: Sequence[str] = (),
) -> pl.DataFrame:
    """The table with our column names: by the user's mapping first, then by common names.

    Args:
        table: as it stood in its file.
        mapping: our names to the table's; `none` leaves a column out.
        wanted: our columns to look for, in this order.
        keep: columns of the table that are never taken for one of ours.

    Raises:
        DataError: the mapping names a column that is not there, or two columns could be the same
            one.
    """
    _check_given(mapping, table.columns, "the table")
    table = table.drop(o for o, t in mapping.items() if o in table.columns and o != t)
    table = table.rename({t: o for o, t in mapping.items() if t in table.columns})
    for ours in wanted:
        if ours in table.columns or ours in mapping:
            continue
        found = recognise([n for n in table.columns if n not in keep], ours, "the table")
        if found is not None:
            table = table.rename({found: ours})
    return table


def no_columns(source: str, missing: Sequence[str], names: Sequence[str]) -> DataError:
    """What to say of a table, its columns being `names`, in which none is known for `missing`."""
    wanted = " and ".join([", ".join(missing[:-1]), missing[-1]][len(missing) == 1 :])
    return DataError(
        f"{source} has no column for {wanted}; its columns are: "
        f"{', '.join(names)}. Say which one it is with --columns "
        f"{','.join(f'{ours}=NAME' for ours in missing)}"
    )


def recognise(names: Sequence[str], ours: str, source: str) -> str | None:
    """The one of a source's columns that is ours by its name, or None.

    Raises:
        DataError: none has our name, and two have names that are used for it.
    """
    if ours in names:
        return ours
    matches = [name for name in names if plain_name(name) in ALIASES[ours]]
    if len(matches) > 1:
        raise DataError(
            f"{source}: {' and '.join(map(repr, matches))} could each be the {ours}; say which "
            f"with --columns {ours}={matches[0]}"
        )
    return matches[0] if matches else None


def plain_name(name: str) -> str:
    """A column's name without case, `_`, `-` and `?`, as names are compared; `goldAnswer` too."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.sub(r"[\s_\-?]+", " ", name).strip(" .").lower()


def _check_given(given: Mapping[str, str], names: Sequence[str], source: str) -> None:
    for own, theirs in given.items():
        if theirs != "none" and theirs not in names:
            raise DataError(
                f"{source} has no column {theirs!r}; the columns are "
                f"{', '.join(map(repr, names))} (asked for as {own})"
            )
