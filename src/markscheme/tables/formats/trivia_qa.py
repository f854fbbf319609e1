"""TriviaQA: `{"Data": [...]}`, and rows whose answer has aliases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markscheme.tables.formats.foreign import ForeignFormat, Record

COLUMNS = ({"answer"}, {"Answer"})


def _records(document: Any) -> Sequence[Record] | None:
    rows = document.get("Data") if isinstance(document, Mapping) else None
    if isinstance(rows, list) and rows and isinstance(rows[0], Mapping) and _answer(rows[0]):
        return rows
    return None


def _answer(record: Record) -> Mapping[str, Any]:
    """The object of the answer and its aliases; names begin with capitals in the original files."""
    answer = record.get("answer", record.get("Answer"))
    return {k.lower(): v for k, v in answer.items()} if isinstance(answer, Mapping) else {}


def _matches(record: Record) -> bool:
    return {"value", "aliases"} <= _answer(record).keys()


def _ours(record: Record) -> Record:
    answer = _answer(record)
    forms = [answer.get("value"), *(answer.get("aliases") or ())]
    return {"references": list(dict.fromkeys(one for one in forms if one is not None)) or None}


FORMAT = ForeignFormat(
    name="TriviaQA",
    matches=_matches,
    ours=_ours,
    records=_records,
    whole=frozenset(["answer", "Answer"]),
    places={"references": "answer.value, answer.aliases"},
)
