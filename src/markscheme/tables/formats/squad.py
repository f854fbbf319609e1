"""SQuAD 1.1 and 2.0 as their JSON files: articles, paragraphs, questions with their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markscheme.tables.formats.foreign import ForeignFormat, Record

COLUMNS = ({"squad_id"},)

_MARK = "squad_id"


def _records(document: Any) -> Sequence[Record] | None:
    articles = document.get("data") if isinstance(document, Mapping) else None
    if not isinstance(articles, list) or not articles or not isinstance(articles[0], Mapping):
        return None
    return list(_walk(articles)) if "paragraphs" in articles[0] else None


def _walk(articles: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    for article in articles:
        for paragraph in article["paragraphs"]:
            for one in paragraph["qas"]:
                yield {
                    "title": article.get("title"),
                    "context": paragraph.get("context"),
                    **one,
                    _MARK: str(one.get("id")),
                }


def _ours(record: Record) -> Record:
    texts = dict.fromkeys(one["text"] for one in record.get("answers") or ())
    return {
        "answer_id": record[_MARK],
        "question": record["question"],
        # None of them for a question that the paragraph does not answer (SQuAD 2.0).
        "references": list(texts),
        "context": record["context"],
    }


FORMAT = ForeignFormat(
    name="SQuAD",
    ours=_ours,
    records=_records,
    places={
        "answer_id": "qas.id",
        "question": "qas.question",
        "references": "qas.answers",
        "context": "paragraphs.context",
    },
)
