"""Which judges there are, and what one takes, as results."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

from markscheme.contract import (
    RESEARCH_JUDGES,
    Entry,
    broken_plugins,
    entry,
    judges,
    type_in_words,
)
from markscheme.results import Column, Table, TableResult, flat_frame


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgeList(TableResult):
    """Every registered judge, a row each: name, summary, paper, needs, example.

    Attributes:
        broken: plugins that did not load, with the reason.
    """

    broken: Mapping[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgeDescription(TableResult):
    """One judge in full. `frame` has a row per parameter: name, type, required, default.

    Attributes:
        name: as users write it.
        documentation: the docstring of its class.
        paper: where the method comes from; empty for our own.
        needs: what must be there.
        example: a name with parameters that works.
    """

    name: str
    documentation: str
    paper: str
    needs: str
    example: str

    @property
    def parameters(self) -> list[str]:
        """A line per parameter: name, type, and the default or that it is required."""
        return [
            f"{name}: {kind}, {'required' if required else f'default {default}'}"
            for name, kind, required, default in self.frame.iter_rows()
        ]


def list_judges() -> JudgeList:
    """Every registered judge, those of plugins included, and the plugins that did not load."""
    known = list(judges().values())
    broken = broken_plugins()
    absent = ", ".join(name for name in RESEARCH_JUDGES if name not in judges())
    records = [_about(one) | {"summary": one.summary} for one in known]
    table = Table.of(
        "Judges",
        ("name", Column("what it does", "summary")),
        records,
        (f"pip install 'markscheme[research]' adds {absent}",) if absent else (),
    )
    data = {"command": "judges", "judges": records, "broken_plugins": broken}
    return JudgeList(frame=flat_frame(records), tables=(table,), data=data, broken=broken)


def describe_judge(name: str) -> JudgeDescription:
    """One judge: documentation, parameters with types and defaults, paper, needs, an example.

    Args:
        name: as `list_judges` lists it, without parameters.

    Raises:
        UnknownNameError: no judge has the name.
    """
    found = entry(name)
    documentation = inspect.getdoc(found.judge) or ""
    parameters = [_parameter(found, one) for one in dataclasses.fields(found.judge)]  # type: ignore[arg-type]
    shown = ("parameter", "type", Column("default", missing="required"))
    table = Table.of(f"Parameters of {name}", shown, parameters)
    about = _about(found)
    return JudgeDescription(
        frame=flat_frame(parameters),
        tables=(table,),
        data={
            "command": "judges",
            **about,
            "documentation": documentation,
            "parameters": parameters,
        },
        documentation=documentation,
        name=about["name"],
        paper=about["paper"],
        needs=about["needs"],
        example=about["example"],
    )


def _about(found: Entry) -> dict[str, str]:
    return {
        "name": found.name,
        "paper": found.paper,
        "needs": str(found.needs),
        "example": found.example,
    }


def _parameter(found: Entry, field: dataclasses.Field[Any]) -> dict[str, Any]:
    missing = dataclasses.MISSING
    value = field.default
    if value is missing and field.default_factory is not missing:
        value = field.default_factory()
    return {
        "parameter": field.name,
        "type": type_in_words(found.judge, field.name),
        "required": value is missing,
        "default": None if value is missing else repr(value),
    }
