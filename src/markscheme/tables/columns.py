"""Which of a file's columns is the question, the references, the answer: names people use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markscheme.errors import DataError, UnknownNameError
from markscheme.tables.files import RawBatch

ALIASES: dict[str, tuple[str, ...]] = {
    "answer_id": ("answer_id", "id", "uid"),
    "question": ("question", "query", "q", "input", "prompt", "questions"),
    "references": (
        "references", "reference", "gold", "golds", "gold answer", "gold answers", "golden answer",
        "golden answers", "reference answer", "reference answers", "ground truth", "ground truths",
        "correct answer", "correct answers", "target", "targets", "expected", "expected answer",
        "expected output", "answers", "aliases",
    ),
    "answer": (
        "answer", "prediction", "predicted", "pred", "predicted answer", "response", "model answer",
        "system answer", "model output", "output", "generated answer", "generation", "completion",
        "candidate", "candidate answer",
    ),
    "system": ("system", "model", "system name", "model name"),
    "reference_grades": ("reference grades", "grades"),
    "reference_kind": ("reference kind",),
    "label": (
        "label", "human", "human label", "acceptable", "correct", "is correct", "human judgment",
        "judgment", "judgement",
    ),
    "annotator_labels": ("annotator labels",),
    "context": ("context", "passage", "evidence"),
}  # fmt: skip
"""Our columns and the names under which they are recognised, without regard to case, `_` or `-`."""

REQUIRED = ("question", "references", "answer")


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-?]+", " ", name).strip().lower()


def resolve_columns(raw: RawBatch, given: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Our column names to the file's, and the file's named columns that nothing uses.

    Raises:
        UnknownNameError: `given` names a column of ours that does not exist.
        DataError: a required column is missing, two columns could be the same one, or `given`
            names a column that the file lacks.
    """
    names = list(raw.columns)
    mapping: dict[str, str] = {}
    for ours, theirs in given.items():
        if ours not in ALIASES:
            raise UnknownNameError("column", ours, ALIASES, f"ours are {', '.join(ALIASES)}")
        if theirs != "none" and theirs not in raw.columns:
            raise DataError(
                f"{raw.source} has no column {theirs!r} (asked for as {ours}); it has: "
                f"{', '.join(names)}"
            )
        mapping[ours] = theirs
    free = [name for name in names if name not in mapping.values()]
    for ours in ALIASES:
        if ours not in mapping:
            found = _recognise(raw, ours, free)
            if found is not None:
                mapping[ours] = found
                free.remove(found)
    _prefer_prediction(raw, given, mapping, free)
    mapping = {ours: theirs for ours, theirs in mapping.items() if theirs != "none"}
    missing = [ours for ours in REQUIRED if ours not in mapping]
    if missing:
        raise no_columns(raw.source, missing, names)
    return mapping, [name for name in free if name.strip()]


def no_columns(source: str, missing: Sequence[str], names: Sequence[str]) -> DataError:
    """What to say of a table, its columns being `names`, in which none is known for `missing`."""
    return DataError(
        f"{source} has no column for {' and '.join(missing)}; its columns are: "
        f"{', '.join(names)}. Say which one it is with --columns "
        f"{','.join(f'{ours}=NAME' for ours in missing)}"
    )


def _recognise(raw: RawBatch, ours: str, free: list[str]) -> str | None:
    if ours in free:
        return ours
    matches = [name for name in free if _plain(name) in ALIASES[ours]]
    if len(matches) > 1:
        raise DataError(
            f"{raw.source}: {' and '.join(matches)} could each be the {ours}; say which with "
            f"--columns {ours}={matches[0]}"
        )
    return matches[0] if matches else None


def _prefer_prediction(
    raw: RawBatch, given: Mapping[str, str], mapping: dict[str, str], free: list[str]
) -> None:
    """`answer` beside `prediction`, with no other references, holds the references.

    So do NQ-open and many harnesses that follow it.
    """
    if "references" in mapping or mapping.get("answer") != "answer" or "answer" in given:
        return
    other = _recognise(raw, "answer", free)
    if other is not None:
        mapping["references"], mapping["answer"] = "answer", other
        free.remove(other)
