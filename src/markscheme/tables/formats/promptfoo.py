"""promptfoo: `promptfoo eval -o results.json` (or .jsonl)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markscheme.tables.columns import ALIASES, plain_name
from markscheme.tables.formats.foreign import ForeignFormat, Record

_REFERENCES = (
    "equals", "contains", "icontains", "contains-any", "icontains-any", "factuality", "similar",
    "model-graded-factuality", "answer-relevance", "levenshtein", "rouge-n", "bleu",
)  # fmt: skip
"""Assertions whose value is what the answer should say."""


def _records(document: Any) -> Sequence[Record] | None:
    if not isinstance(document, Mapping):
        return None
    results = document.get("results")
    if isinstance(results, Mapping):  # {"results": {"version", "results": [...]}}
        results = results.get("results")
    if isinstance(results, list) and results and isinstance(results[0], Mapping):
        return results if _matches(results[0]) else None
    return None


def _matches(record: Record) -> bool:
    return {"vars", "response", "provider"} <= set(record) and isinstance(record["vars"], Mapping)


def _ours(record: Record) -> Record:
    variables: Mapping[str, Any] = record["vars"]
    response = record.get("response") or {}
    provider = record.get("provider") or {}
    output = response.get("output") if isinstance(response, Mapping) else response
    references = _named(variables, "references")
    if references is None:
        references = _asserted(record.get("testCase") or {})
    return {
        "question": _question(record, variables),
        "references": references,
        "answer": output,
        "system": provider.get("label") or provider.get("id")
        if isinstance(provider, Mapping)
        else provider,
    }


def _question(record: Record, variables: Mapping[str, Any]) -> Any:
    named = _named(variables, "question")
    if named is not None:
        return named
    texts = [value for value in variables.values() if isinstance(value, str)]
    prompt = record.get("prompt") or {}
    return texts[0] if len(texts) == 1 else prompt.get("raw")


def _named(variables: Mapping[str, Any], ours: str) -> Any:
    names = (ours, *ALIASES[ours])
    found = {plain_name(name): value for name, value in variables.items()}
    return next((found[name] for name in names if found.get(name) is not None), None)


def _asserted(test: Mapping[str, Any]) -> list[Any] | None:
    """What the assertions of a test want to read, such as the value of `icontains`."""
    for kind in _REFERENCES:
        values: list[Any] = []
        for one in test.get("assert") or ():
            if isinstance(one, Mapping) and one.get("type") == kind:
                value = one.get("value")
                values += value if isinstance(value, list) else [value]
        if values:
            return values
    return None


def _version(document: Any) -> Any:
    return (document.get("metadata") or {}).get("promptfooVersion")


FORMAT = ForeignFormat(
    name="promptfoo results",
    matches=_matches,
    ours=_ours,
    records=_records,
    places={
        "question": "vars",
        "references": "vars, or testCase.assert",
        "answer": "response.output",
        "system": "provider",
    },
    version=_version,
)
