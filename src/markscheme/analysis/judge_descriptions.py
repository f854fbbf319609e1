"""Which judges there are, and what one takes, as results."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from typing import Any

from markscheme.analysis.bibliography import references
from markscheme.contract import (
    RESEARCH_JUDGES,
    Entry,
    Judge,
    Needs,
    broken_plugins,
    entry,
    judge_name,
    judges,
    name_of,
    needs_of,
    parse_judge,
    type_in_words,
)
from markscheme.errors import install_line
from markscheme.results import Column, Table, TableResult, flat_frame


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgeList(TableResult):
    """Every registered judge, a row each: name, summary, paper, needs, example.

    Attributes:
        broken: plugins that did not load, with the reason.
    """

    broken: Mapping[str, str]


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
        (f"{install_line('research')} adds {absent}",) if absent else (),
    )
    data = {"command": "judges", "judges": records, "broken_plugins": broken}
    return JudgeList(frame=flat_frame(records), tables=(table,), data=data, broken=broken)


def describe_judge(name: str) -> TableResult:
    """One judge: documentation, parameters with types and defaults, paper, needs, an example.

    Args:
        name: as `list_judges` lists it, or with parameters (`token_f1(threshold=0.6)`): then
            their values are shown too, and what the judge needs with them.

    Returns:
        A row per parameter: `parameter`, `type`, `required`, `default`, `description`, and `value`
        where parameters were named; the rest is in `lead` and `data`.

    Raises:
        UnknownNameError: no judge has the name.
        JudgeError: a parameter is wrong.
    """
    judge = parse_judge(name) if "(" in name else None
    found = entry(name if judge is None else name_of(judge))
    documentation = _SECTION.sub("", inspect.getdoc(found.judge) or "").strip()
    parameters = [_parameter(found, one) for one in dataclasses.fields(found.judge)]  # type: ignore[arg-type]
    if judge is not None:
        parameters = [one | {"value": repr(getattr(judge, one["parameter"]))} for one in parameters]
    about = _about(found, judge)
    papers = references(found.paper)
    # A shell takes quotes inside quotes of the same kind away.
    quote = '"' if "'" in about["example"] else "'"
    shown = (
        "parameter",
        "type",
        Column("default", missing="required"),
        Column("value", lambda row: row.get("value"), show=None),
        Column("description", lambda row: row["description"] or None, show=None),
    )
    table = Table.of(
        f"Parameters of {found.name}", shown, parameters, () if parameters else ("It takes none.",)
    )
    return TableResult(
        frame=flat_frame(parameters),
        tables=(table,),
        data={
            "command": "judges",
            **about,
            "references": papers,
            "documentation": documentation,
            "parameters": parameters,
        },
        lead=(
            found.name,
            documentation,
            f"paper: {found.paper or 'none; our own'}",
            *(f"  {paper}" for paper in papers),
            f"needs: {about['needs']}",
            f"example: markscheme judge FILE --judge {quote}{about['example']}{quote}",
        ),
    )


def _about(found: Entry, judge: Judge | None = None) -> dict[str, str]:
    """What lists show of a judge; of one with parameters, what it needs with them."""
    return {
        "name": found.name,
        "paper": found.paper,
        "needs": needs_in_words(found, found.needs if judge is None else needs_of(judge)),
        "example": found.example if judge is None else judge_name(judge),
    }


def needs_in_words(found: Entry, needs: Needs) -> str:
    """What a judge needs, in words, with the package that has it where that is not this one."""
    said = str(needs)
    if found.name not in RESEARCH_JUDGES:
        return said
    return "the research package" if said == "nothing" else f"the research package, {said}"


_SECTION = re.compile(r"(?:^|\n)Attributes:\n((?:(?: .*)?(?:\n|$))*)")
"""The section of a docstring on parameters; its lines are indented or empty."""

_ENTRY = re.compile(r"^ {4}(\w[\w, ]*): (.*(?:\n {5,}.*)*)", re.MULTILINE)
"""The names that an entry of the section describes, and its text."""


def _descriptions(judge: type) -> dict[str, str]:
    """What docstrings say of each parameter; a class goes before those that it inherits from."""
    known: dict[str, str] = {}
    for one in judge.__mro__:
        section = _SECTION.search(inspect.cleandoc(one.__doc__ or ""))
        for names, text in _ENTRY.findall(section[1]) if section else ():
            for name in names.split(", "):
                known.setdefault(name, " ".join(text.split()))
    return known


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
        "description": _descriptions(found.judge).get(field.name, ""),
    }
