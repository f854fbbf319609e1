"""lm-evaluation-harness: the samples of `lm_eval --log_samples`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markscheme.tables.columns import value_named
from markscheme.tables.formats.foreign import ForeignFormat, Record

COLUMNS = ({"doc", "target", "filtered_resps"},)


def _ours(record: Record) -> Record:
    doc = record["doc"] if isinstance(record["doc"], Mapping) else {}
    found: dict[str, Any] = {"question": _question(doc, record)}
    if choices := _choices(record):
        # The answer is the likeliest continuation; the only one is the model's where it is greedy,
        # and what else the model would have written is not logged.
        _, likely = max(choices, key=lambda pair: pair[0])
        written = len(choices) > 1 or str(record["filtered_resps"][0][1]) == "True"
        found["answer"] = likely.strip() if written else None
        found["references"] = _chosen(record["target"], [text for _, text in choices])
    else:
        found["answer"] = _first(record["filtered_resps"])
        found["references"] = _references(doc, record["target"])
    # Somebody may have added a column of the system's name.
    model = value_named(record, "system", str)
    return found | ({"system": model} if model else {})


def _choices(record: Record) -> list[tuple[float, str]]:
    """The continuations with their log-likelihoods; none where the model wrote a reply."""
    texts, scores = _continuations(record), _scores(record) or []
    return list(zip(scores, texts, strict=True)) if len(texts) == len(scores) else []


def _filter(record: Record) -> str | None:
    name = record.get("filter")
    return name if isinstance(name, str) and name not in ("", "none") else None


def _notes(records: Sequence[Record]) -> Mapping[str, int]:
    found = {}
    choices = [len(_choices(one)) for one in records]
    if single := choices.count(1):
        found[
            "samples have one continuation: where it is not the one that the model would write, "
            "there is no answer, which is wrong"
        ] = single
    replies = [
        1 if count else _replies(one["filtered_resps"])
        for one, count in zip(records, choices, strict=True)
    ]
    if several := sum(count > 1 for count in replies):
        found["samples have several replies (repeats), and the first is judged"] = several
    filters = [str(name) for name in dict.fromkeys(record.get("filter") for record in records)]
    if len(filters) > 1:
        named = ", ".join(filters)
        said = f"filters of lm-eval are systems of their own, not to be added up: {named}"
        found[said] = len(records)
    return found


def _question(doc: Mapping[str, Any], record: Record) -> Any:
    named = value_named(doc, "question", str)
    if named is not None:
        return named
    arguments = record.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = next(iter(arguments.values()), None)
        return arguments.get("arg_0") if isinstance(arguments, Mapping) else None
    return _first(arguments)


def _references(doc: Mapping[str, Any], target: Any) -> Any:
    """What the document says; else the harness's target, which is often one of several."""
    for name in ("answer", "answers"):
        value = doc.get(name)
        if isinstance(value, Mapping):
            value = value.get("aliases") or value.get("text")
        if isinstance(value, list) and all(isinstance(item, str) for item in value) and value:
            return value
    return target  # Perhaps a list written as text, which is read as one.


def _first(value: Any) -> Any:
    """The first reply, however deep the lists are that hold it."""
    while isinstance(value, list | tuple):
        value = value[0] if value else None
    return value


def _replies(value: Any) -> int:
    """How many replies a sample has: those of the innermost list."""
    while isinstance(value, list | tuple):
        if len(value) != 1:
            return len(value)
        value = value[0]
    return 1


def _continuations(record: Record) -> list[str]:
    """The continuations whose likelihoods were requested, as `arg_1` of each request."""
    arguments = record.get("arguments")
    if isinstance(arguments, Mapping):
        requests = list(arguments.values())
        texts = [one.get("arg_1") for one in requests if isinstance(one, Mapping)]
    else:
        pairs = arguments if isinstance(arguments, list) else []
        texts = [one[1] for one in pairs if isinstance(one, list | tuple) and len(one) > 1]
    found = [text for text in texts if isinstance(text, str)]
    return found if len(found) == len(texts) else []


def _scores(record: Record) -> list[float] | None:
    """Log-likelihoods of the continuations, which are logged as texts: `["-1.5", "False"]`."""
    try:
        return [float(one[0]) for one in record["filtered_resps"]]
    except (TypeError, ValueError, IndexError, KeyError):
        return None


def _chosen(target: Any, choices: list[str]) -> list[str]:
    if str(target).isdigit() and int(target) < len(choices):
        return [choices[int(target)].strip()]
    return [str(target).strip()]


FORMAT = ForeignFormat(
    name="lm-eval samples",
    ours=_ours,
    places={
        "question": "doc, or arguments",
        "references": "doc, or target",
        "answer": "filtered_resps",
        "system": "filter",
    },
    variant=_filter,
    notes=_notes,
)
