"""markscheme marks answers to questions the way a careful examiner does.

    import markscheme

    result = markscheme.judge("answers.jsonl", ["examiner", "exact_match"])
    print(result)

Names are loaded when first used, so that importing costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markscheme.answers import ReadOptions, read_answers, write_answers
    from markscheme.api import Judgment, Result, judge, mark
    from markscheme.errors import MarkschemeError
    from markscheme.grammar import judge_name, parse_judge, signature
    from markscheme.registry import Judge, judges, register

__all__ = [
    "Judge",
    "Judgment",
    "MarkschemeError",
    "ReadOptions",
    "Result",
    "judge",
    "judge_name",
    "judges",
    "mark",
    "parse_judge",
    "read_answers",
    "register",
    "signature",
    "write_answers",
]

_HOME = {
    "Judge": "registry",
    "Judgment": "api",
    "MarkschemeError": "errors",
    "ReadOptions": "answers",
    "Result": "api",
    "judge": "api",
    "judge_name": "grammar",
    "judges": "registry",
    "mark": "api",
    "parse_judge": "grammar",
    "read_answers": "answers",
    "register": "registry",
    "signature": "grammar",
    "write_answers": "answers",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("markscheme.registry").version()
    if name in _HOME:
        return getattr(importlib.import_module(f"markscheme.{_HOME[name]}"), name)
    raise AttributeError(f"module 'markscheme' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
