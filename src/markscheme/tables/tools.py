"""Tools whose exports are known by the names of their columns alone: a name for what was read."""

from __future__ import annotations

from collections.abc import Iterable

_MARKS: dict[str, tuple[frozenset[str], ...]] = {
    "ragas": (
        frozenset({"user_input", "response"}),
        frozenset({"question", "contexts", "ground_truth"}),
    ),
    "deepeval": (frozenset({"actual_output", "expected_output"}),),
    "Langfuse": (frozenset({"input", "output", "expectedOutput"}),),
    "MLflow": (
        frozenset({"inputs", "outputs", "expectations"}),
        frozenset({"inputs/question"}),
        frozenset({"request_id", "trace"}),
    ),
    "LangSmith": (
        frozenset({"inputs", "outputs", "run_type"}),
        frozenset({"inputs", "outputs", "reference_outputs"}),
        frozenset({"inputs.question", "outputs.output"}),
    ),
    "Phoenix": (
        frozenset({"attributes.input.value", "attributes.output.value"}),
        frozenset({"attributes", "span_kind"}),
    ),
    "SimpleQA": (frozenset({"metadata", "problem", "answer"}),),
    "PopQA": (frozenset({"subj", "prop", "obj", "possible_answers"}),),
}  # fmt: skip


def tool_by_columns(names: Iterable[str]) -> str:
    """The tool that writes columns of these names, or "" where none or several do."""
    there = set(names)
    found = [tool for tool, marks in _MARKS.items() if any(mark <= there for mark in marks)]
    return found[0] if len(found) == 1 else ""
