"""OpenAI evals: the log of `oaieval`, one line per event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markscheme.tables.formats.foreign import ForeignFormat, Record
from markscheme.tables.paths import are_messages, message_text

COLUMNS = ({"spec"}, {"sampled", "spec.completion_fns"})

_MODEL = "spec.completion_fns"
_EXPECTED = ("expected", "ideal", "correct_answer")
_SAMPLED = ("sampled", "picked", "completion")


def _matches(record: Record) -> bool:
    return _is_head(record) or ("sampled" in record and _MODEL in record)


def _is_head(record: Record) -> bool:
    spec = record.get("spec")
    return isinstance(spec, Mapping) and ("eval_name" in spec or "completion_fns" in spec)


def _joined(lines: Sequence[Record]) -> Sequence[Record]:
    """One record a sample: its prompt and reply of `sampling`, what was expected of `match`."""
    systems: Any = None
    samples: dict[str, dict[str, Any]] = {}
    for line in lines:
        if _is_head(line):
            systems = line["spec"].get("completion_fns") or [line["spec"].get("model_name")]
        data = line.get("data")
        if line.get("sample_id") is None or not isinstance(data, Mapping):
            continue
        sample = samples.setdefault(
            str(line["sample_id"]), {"sample_id": line["sample_id"], "sampled": None}
        )
        prompt = data.get("prompt")
        if line.get("type") == "sampling" and prompt is not None:
            sample["prompt"] = prompt
        for ours, names in (("expected", _EXPECTED), ("sampled", _SAMPLED)):
            value = next((data[name] for name in names if data.get(name) is not None), None)
            if value is not None:
                sample[ours] = value
        if "correct" in data:
            sample["correct_by_match"] = data["correct"]
    model = systems[0] if isinstance(systems, list) and systems else systems
    return [{_MODEL: model, **sample} for sample in samples.values()]


def _ours(record: Record) -> Record:
    prompt: Any = record.get("prompt")
    sampled = record.get("sampled")
    while isinstance(sampled, list):
        sampled = sampled[0] if sampled else None
    return {
        "question": message_text(prompt, "user") if are_messages(prompt) else prompt,
        "references": record.get("expected"),
        "answer": sampled,
        "system": record.get(_MODEL),
    }


FORMAT = ForeignFormat(
    name="OpenAI evals log",
    matches=_matches,
    ours=_ours,
    joined=_joined,
    places={
        "question": "data.prompt",
        "references": "data.expected",
        "answer": "data.sampled",
        "system": "spec.completion_fns",
    },
)
