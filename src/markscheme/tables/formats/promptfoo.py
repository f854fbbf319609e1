"""promptfoo: `promptfoo eval -o results.json` (or .jsonl, or .csv).

A CSV file has the variables, then one column per provider. Older versions wrap the output in the
verdict and the grader's reason: `[PASS] (1.00)`, the output, `Pass Reason: ...`. Newer ones write
the output alone, with columns of its own for `Status`, `Score` and `Grader Reason` after it. Where
an assertion failed, the reason may be in the output's cell too, apart from it by a line `---`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markscheme.tables.columns import ALIASES, plain_name, value_named
from markscheme.tables.formats.foreign import ForeignFormat, Record

COLUMNS = ({"vars", "response", "provider"},)

_REFERENCES = tuple(
    """
    equals contains icontains contains-any icontains-any factuality similar
    model-graded-factuality answer-relevance levenshtein rouge-n bleu
    """.split()
)
"""Assertions whose value is what the answer should say."""


_OTHER_ASSERTIONS = tuple(
    """
    llm-rubric javascript python regex is-json contains-json starts-with fn eval webhook cost
    latency perplexity grade is-valid-openai-tools-call
    """.split()
)

_BESIDE = frozenset(["Status", "Score", "Named Scores", "Grader Reason", "Comment", "Reasoning"])
"""Columns that follow each output of a CSV file."""

_STATUSES = frozenset(["PASS", "FAIL", "ERROR"])
_ERROR = 2
"""The `failureReason` of a result that is an error, rather than a failed assertion (1)."""

_LABELLED = re.compile(r"\[(?P<provider>[^\[\]]+)\] ?(?P<label>.*)", re.DOTALL)
_SCORES = r"[ \t]*\((?:-?\d[\d.]*|undefined|NaN)(?:,[^\n]*?)?\)(?=\s|$)"
_WRAPPED = re.compile(rf"\s*\[(?P<status>PASS|FAIL|ERROR)\](?:{_SCORES})?")
_REASON = re.compile(r"(?:^|\n)[ \t]*(?:Pass|Fail) Reason:(?P<reason>.*)\Z", re.DOTALL)
_RULE = re.compile(r"\n[ \t]*---[ \t]*(?=\n|\Z)")
_OF_GRADERS = ("Expected ", "Custom function", "Similarity ", "Aggregate score", "No output")
"""How the reasons begin that promptfoo's own assertions give."""

_LOOK = 200
"""Rows of a CSV file that are looked at to tell what its columns hold."""


@dataclass(frozen=True, kw_only=True)
class CsvOutput:
    """A provider's column in a CSV file, and those of its status and its grader's reason."""

    system: str | None
    column: int
    status: int | None
    reason: int | None


EXPECTED = "__expected"
"""The column of a file of tests that holds assertions."""
_ASSERTION = re.compile(r"\s*(?P<kind>[a-z][a-z-]*)(?:\([^()]*\))?:\s*(?P<value>.*)", re.DOTALL)


def expected_reference(cell: Any) -> Any:
    """What an assertion wants the answer to say; None of one that wants something else of it.

    >>> expected_reference("icontains: Lima"), expected_reference("Lima: the capital")
    ('Lima', 'Lima: the capital')
    """
    found = _ASSERTION.fullmatch(cell) if isinstance(cell, str) else None
    if found is None:
        return cell
    kind = found["kind"].removeprefix("not-")
    if found["kind"] in _REFERENCES:
        return found["value"].strip()
    return None if kind in (*_REFERENCES, *_OTHER_ASSERTIONS) else cell


def repeats_of_csv(header: Sequence[str]) -> set[str]:
    """The names that a CSV file of several providers has several times."""
    names = {name for name in header if name in _BESIDE or name.startswith("Metric: ")}
    outputs = {name for name in header if _LABELLED.fullmatch(name)}
    return names | outputs if {"Status", "Score"} <= names else set()


def csv_outputs(header: Sequence[str], columns: Sequence[Sequence[str]]) -> list[CsvOutput]:
    """The outputs of promptfoo in a CSV file; empty where it is no such file."""
    wrapped = {place for place, cells in enumerate(columns) if _all_wrapped(cells)}
    statuses = [
        place
        for place, name in enumerate(header)
        if name == "Status" and set(columns[place][:_LOOK]) <= {*_STATUSES, ""}
    ]
    known = "Grader Reason" in header or "Named Scores" in header
    labelled = {place for place, name in enumerate(header) if _LABELLED.fullmatch(name)}
    followed = {place - 1 - (header[place - 1] == "Reasoning") for place in statuses if known}
    outputs = sorted(wrapped | followed - {-1} | (labelled if wrapped or statuses else set()))
    if not outputs:
        return []
    systems = _systems([header[place] for place in outputs])
    found = []
    for system, place, end in zip(systems, outputs, [*outputs[1:], len(header)], strict=True):
        # One output has its columns wherever they are, several have them after each.
        near = range(len(header)) if len(outputs) == 1 else range(place, end)
        found.append(
            CsvOutput(
                system=system,
                column=place,
                status=next((n for n in near if n in statuses), None),
                reason=next((n for n in near if header[n] == "Grader Reason"), None),
            )
        )
    return found


def _all_wrapped(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells[:_LOOK] if cell.strip()]
    return bool(filled) and all(map(_WRAPPED.match, filled))


def _systems(names: Sequence[str]) -> list[str | None]:
    """A name for each output: its provider's where the prompt is the same, else all of it."""
    if len(names) == 1 and plain_name(names[0]) in ALIASES["answer"]:
        return [None]
    parts = [_LABELLED.fullmatch(name) for name in names]
    providers = [part["provider"] for part in parts if part is not None]
    if len(providers) == len(set(providers)) == len(names):
        return [*providers]
    seen: Counter[str] = Counter()
    systems: list[str | None] = []
    for name in names:
        seen[name] += 1
        systems.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return systems


def csv_records(
    header: Sequence[str], row: Sequence[str], outputs: Sequence[CsvOutput]
) -> list[Record]:
    """A result, as the JSON file has it, for each output of a row."""
    taken = {one.column for one in outputs}
    variables = {
        name: value
        for place, (name, value) in enumerate(zip(header, row, strict=True))
        if place not in taken and name not in _BESIDE and name != "Description"
    }
    records: list[Record] = []
    for one in outputs:
        output, status = _unwrapped(
            row[one.column],
            "" if one.status is None else row[one.status],
            "" if one.reason is None else row[one.reason],
        )
        own = {
            name: f"{value}:{one.system}" if plain_name(name) in ALIASES["answer_id"] else value
            for name, value in variables.items()
        }
        failed = status == "ERROR"
        result = {
            "vars": variables,
            "provider": one.system,
            "response": {"output": None if failed else output},
            "error": output if failed else None,
            "failureReason": _ERROR if failed else 0,
        }
        records.append({**(own if len(outputs) > 1 else variables), **result})
    return records


def _unwrapped(cell: str, status: str, reason: str) -> tuple[str, str]:
    """The output in a cell without what promptfoo writes around it, and its status."""
    match = _WRAPPED.match(cell)
    text = cell
    if match is not None and status in ("", match["status"]):
        status, text = match["status"], cell[match.end() :]
        said = _REASON.search(text)
        if said is not None:
            reason, text = reason or said["reason"], text[: said.start()]
    elif not status:
        return cell, status
    parts = [part.strip() for part in _RULE.split(text) if part.strip()]
    reason = reason.strip()
    if len(parts) > 1:
        if parts[0] == reason or (not reason and parts[0].startswith(_OF_GRADERS)):
            parts = parts[1:]
        elif parts[-1] == reason or not reason:
            parts = parts[:-1]  # Else every line is the output's own.
    return "\n---\n".join(parts), status


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
    references = value_named(variables, "references")
    if references is None:
        references = _asserted(record.get("testCase") or {})
    if references is None:  # The output is the answer, so this is what it should be.
        references = next((v for k, v in variables.items() if plain_name(k) == "answer"), None)
    found = {} if references is None else {"references": references}
    return found | {
        "question": _question(record, variables),
        "answer": output,
        "answer_error": _error(record) if output is None else None,
        "system": provider.get("label") or provider.get("id")
        if isinstance(provider, Mapping)
        else provider,
    }


def _error(record: Record) -> str | None:
    if record.get("failureReason") != _ERROR:
        return None
    return str(record.get("error") or "no reason is given")


def _question(record: Record, variables: Mapping[str, Any]) -> Any:
    named = value_named(variables, "question")
    if named is not None:
        return named
    others = {"answer", *ALIASES["references"]}
    free = [value for name, value in variables.items() if plain_name(name) not in others]
    texts = [value for value in free if isinstance(value, str)]
    prompt = record.get("prompt") or {}
    return texts[0] if len(texts) == 1 else prompt.get("raw")


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


def _notes(records: Sequence[Record]) -> Mapping[str, int]:
    failed = sum(record.get("failureReason") == _ERROR for record in records)
    return {"results are errors of promptfoo, not answers: not judged": failed} if failed else {}


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
    notes=_notes,
)
