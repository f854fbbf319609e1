"""TriviaQA: `{"Data": [...]}`, and rows whose answer has aliases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markscheme.tables.formats.foreign import ForeignFormat, Record


def _records(document: Any) -> Sequence[Record] | None:
    rows = document.get("Data") if isinstance(document, Mapping) else None
    if isinstance(rows, list) and rows and isinstance(rows[0], Mapping) and _matches(_low(rows[0])):
        return [_low(row) for row in rows]
    return None


def _low(record: Record) -> Record:
    """A record of the original files, whose names begin with capitals."""
    names = {"Answer": "answer", "Question": "question", "QuestionId": "question_id"}
    found: dict[str, Any] = {names.get(name, name): value for name, value in record.items()}
    if isinstance(found.get("answer"), Mapping):
        found["answer"] = {name.lower(): value for name, value in found["answer"].items()}
    return found


def _matches(record: Record) -> bool:
    answer = record.get("answer")
    return isinstance(answer, Mapping) and {"value", "aliases"} <= set(answer)


def _ours(record: Record) -> Record:
    answer = record["answer"]
    return {"references": list(dict.fromkeys([answer["value"], *answer["aliases"]]))}


FORMAT = ForeignFormat(
    name="TriviaQA",
    matches=_matches,
    ours=_ours,
    records=_records,
    places={"references": "answer.value, answer.aliases"},
    version=lambda document: document.get("Version"),
)
