"""LINKAGE's files (Yang et al. 2024): a question's passages, each with a grade.

They hold no references: the study draws them from the graded passages. Read as answers, each
passage is judged against the best graded others of its question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markscheme.tables.formats.foreign import ForeignFormat, Record

_OTHERS = "best_graded_others"


def _records(document: Any) -> Sequence[Record] | None:
    if not isinstance(document, Mapping) or not document:
        return None
    found: list[Record] = []
    for question, listed in document.items():
        passages = listed.get("doc_list") if isinstance(listed, Mapping) else listed
        if not isinstance(passages, list) or not all(map(_is_passage, passages)):
            return None
        for place, one in enumerate(passages):
            others = passages[:place] + passages[place + 1 :]
            best = max((other["label"] for other in others), default=None)
            texts = [_text(other) for other in others if other["label"] == best]
            # The same passage may be listed twice, and would be its own reference.
            texts = [text for text in dict.fromkeys(texts) if text != _text(one)]
            found.append({**one, "question": question, _OTHERS: texts or None})
    return found


def _is_passage(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("label"), int | float)
        and ("passage" in value or "answer" in value)
    )


def _text(passage: Record) -> Any:
    return passage["passage"] if "passage" in passage else passage["answer"]


def _ours(record: Record) -> Record:
    return {
        "question": record["question"],
        "references": record[_OTHERS],
        "answer": _text(record),
        "label": record["label"],
        "system": "passages",
    }


FORMAT = ForeignFormat(
    name="LINKAGE lists",
    ours=_ours,
    records=_records,
    places={"question": "the keys", "references": "the best graded others", "answer": "passage"},
    notes=lambda records: {
        "the references of a passage are the best graded others of its question; "
        "'markscheme research references draw' draws them as the study does": len(records)
    },
)
