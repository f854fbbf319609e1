"""The grammar of judges' names, the check of their parameters, and signatures.

A judge is a frozen, keyword-only dataclass whose fields are all of its parameters. Its name in text
is its registered name, with parameters that differ from their defaults in brackets:

    exact_match
    token_f1(threshold=0.8)
    panel(judges=[exact_match, contains], vote=majority)

The grammar is a subset of Python's expression syntax (read with `ast`, never evaluated): numbers,
quoted text, `true`/`false`/`none`, lists, bare words, and judges inside judges. Text, object and
text again are equal: `parse_judge(judge_name(judge)) == judge`.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import keyword
import math
import re
import types
import typing
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeVar, Union

from markscheme.contract.judge import Judge, ModelSource
from markscheme.contract.origin import origin_of
from markscheme.contract.registry import (
    RESEARCH_JUDGES,
    Entry,
    entry,
    judges,
    members,
    name_of,
    shipped_names,
    version,
)
from markscheme.errors import JudgeError, UnknownNameError

_LONGEST_NAME = 20_000

T = TypeVar("T")

# --- text to object ---------------------------------------------------------------------------


def parse_judge(text: str | Judge) -> Judge:
    """The judge that a name such as `token_f1(threshold=0.8)` denotes.

    An object that already is a judge is checked and returned.

    Raises:
        JudgeError: not in the grammar, or a parameter that is unknown or of the wrong type.
        UnknownNameError: no such judge.
    """
    if not isinstance(text, str):
        check(text)
        return text
    source = text.strip()
    if not source or len(source) > _LONGEST_NAME:
        raise JudgeError(
            f"a judge's name must have 1 to {_LONGEST_NAME} characters, not {len(source)}"
        )
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if _MODEL.fullmatch(source):
            raise JudgeError(f"{source!r} is not a judge. {_how_to_write(source)}") from None
        reason = getattr(error, "msg", None) or str(error)
        raise JudgeError(
            f"cannot read the judge {source!r}: {reason}. {_how_to_write(source)}"
        ) from None
    judge = _judge_from(tree, source)
    check(judge)
    return judge


_MODEL = re.compile(r"[A-Za-z][\w.:/@-]*[-.:/\d][\w.:/@-]*")
"""What may be the name of a model: `gpt-4o`, `mistralai/Mistral-7B`, `llama3.1:8b`."""


def _how_to_write(source: str) -> str:
    if ".py" in source:
        return (
            "A judge in a file is FILE.py:CLASS or FILE.py:CLASS(parameter=value), by itself and "
            "after -j on the command line; FILE holds no comma or bracket"
        )
    if _MODEL.fullmatch(source):
        return f"If it is a model, a judge asks it: -j llm_grader -m {source}"
    return (
        "Write it like exact_match or token_f1(threshold=0.8), and a text in quotes, as in "
        "llm_grader(model='gpt-4o-mini')"
    )


def _judge_from(node: ast.expr, source: str) -> Judge:
    called = call_of(node)
    if called is None:
        raise JudgeError(f"{source!r} is not a judge. {_how_to_write(source)}")
    found = entry(called[0])
    return typing.cast("Judge", made_from(found, node, source=source))


def call_of(node: ast.expr) -> tuple[str, ast.Call | None] | None:
    """The name in `NAME` or `NAME(parameters)`, and the call; None where it is neither."""
    call = node if isinstance(node, ast.Call) else None
    name = call.func if call else node
    return (name.id, call) if isinstance(name, ast.Name) else None


def made_from(found: Entry, node: ast.expr, *, source: str) -> Any:
    """An object of a registered class from its name with parameters.

    Raises:
        JudgeError: a parameter cannot be read, or is missing.
        UnknownNameError: there is no such parameter.
    """
    name, hints = found.name, _hints(found.cls)
    call = node if isinstance(node, ast.Call) else None
    if call and call.args:
        raise JudgeError(
            f"{_written(node)!r}: parameters need their names, as in {found.example!r}"
        )
    values: dict[str, Any] = {}
    see = (
        f"there are {', '.join(hints)}" if found.form else f"'markscheme judges {name}' shows them"
    )
    for given in call.keywords if call else ():
        key = given.arg or "**"
        former = _former(found.cls).get(key)
        hint = hints.get(key) or former
        if hint is None:
            raise UnknownNameError(f"parameter of {name}", key, hints, see)
        values[key] = _value(given.value, hint, f"{name}({key}=...)", source)
        if former is not None:  # no field, so `check` does not see it
            _check_value(values[key], former, key, name)
    _check_complete(found.cls, values, name, "" if found.example == name else found.example)
    return found.cls(**values)


def from_table(
    cls: type[T], table: Mapping[str, Any], where: str, *, also: Collection[str] = (), **fixed: Any
) -> T:
    """An object of a dataclass from a table of a file, checked against the class's annotations.

    Lists become tuples or sets, as the fields want them. What a value's type does not say, such as
    its range, the class checks in `__post_init__`.

    Args:
        cls: a dataclass.
        table: values by the names of its fields.
        where: the file and the part of it, for messages.
        also: what else the table may have, which is none of this class's concern.
        **fixed: fields that the table may not set.

    Raises:
        UnknownNameError: there is no such field.
        JudgeError: a field is missing, has another type, or a value that the class refuses.
    """
    kind: type = cls
    hints = {name: hint for name, hint in _hints(kind).items() if name not in fixed}
    values = {}
    fields = {**hints, **dict.fromkeys(also)}
    for key, value in table.items():
        if key not in fields:
            see = f"there are {', '.join(fields)}"
            raise UnknownNameError(f"field of {where}", key, fields, see)
        if key in also:
            continue
        values[key] = tuple(value) if isinstance(value, list) else value
        _check_value(values[key], hints[key], key, where)
    _check_complete(cls, {**values, **fixed}, where, "")
    try:
        return cls(**values, **fixed)
    except ValueError as error:
        raise JudgeError(f"{where}: {error}") from None


def _check_complete(cls: type, values: Mapping[str, Any], name: str, example: str) -> None:
    missing = [
        field.name
        for field in dataclasses.fields(cls)
        if field.name not in values
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        shown = f", as in {example!r}" if example else f": {missing[0]}=..."
        raise JudgeError(f"{name} needs {', '.join(missing)}{shown}")


def _written(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:
        return "what is nested so deeply"


_WORDS = {"true": True, "false": False, "none": None, "True": True, "False": False, "None": None}


def _value(node: ast.expr, hint: Any, where: str, source: str) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str | None):
        return _coerce(node.value, hint)
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and isinstance(node.operand.value, int | float)
    ):
        return _coerce(-node.operand.value, hint)
    if isinstance(node, ast.List | ast.Tuple):
        item = next(iter(typing.get_args(hint)), Any)
        return tuple(_value(child, item, where, source) for child in node.elts)
    if isinstance(node, ast.Name):
        if node.id in _WORDS:
            return _WORDS[node.id]
        return _judge_from(node, source) if _is_judge_hint(hint) else node.id
    if isinstance(node, ast.Call):
        # A text may name a registered part, such as an entailment test with parameters.
        is_text = str in _options(hint) and not _is_judge_hint(hint)
        return _written(node) if is_text else _judge_from(node, source)
    message = f"{where}: cannot read {_written(node)!r} as a value"
    if str in _options(hint):
        message += "; a text with signs in it needs quotes, as in 'folder/map.json'"
    raise JudgeError(message)


def _coerce(value: Any, hint: Any) -> Any:
    """An integer written where a float belongs is that float, so that both spellings are equal."""
    if type(value) is int and float in _options(hint) and int not in _options(hint):
        return float(value)
    return value


# --- object to text ---------------------------------------------------------------------------


def judge_name(judge: Judge, *, full: bool = False) -> str:
    """A judge as text: only parameters that differ from their defaults, or with `full` all."""
    shown = []
    for field in dataclasses.fields(judge):  # type: ignore[arg-type]
        value = getattr(judge, field.name)
        default = (
            field.default
            if field.default_factory is dataclasses.MISSING
            else field.default_factory()
        )
        if full or value != default or type(value) is not type(default):
            hint = _hints(type(judge))[field.name]
            takes_judge = any(map(_is_judge_hint, (hint, *typing.get_args(hint))))
            try:
                text = _text(value, full=full, takes_judge=takes_judge)
            except TypeError as error:
                raise JudgeError(f"{name_of(judge)}: {field.name} cannot be {error}") from None
            shown.append(f"{field.name}={text}")
    inside = f"({', '.join(shown)})" if shown else ""
    return name_of(judge) + inside


def _text(value: Any, *, full: bool, takes_judge: bool) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"  # Infinity has no literal of its own.
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        # Names of ours are quoted wherever they occur; whether a plugin has the name, which only
        # importing it shows, matters where a bare word would be read as a judge.
        names = judges() if takes_judge else {*shipped_names(), *RESEARCH_JUDGES}
        plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value) and value not in names
        is_word = value in _WORDS or not plain or keyword.iskeyword(value)
        return repr(value) if is_word else value
    if isinstance(value, tuple | list):
        return f"[{', '.join(_text(item, full=full, takes_judge=takes_judge) for item in value)}]"
    if dataclasses.is_dataclass(value):
        return judge_name(typing.cast("Judge", value), full=full)
    raise TypeError(f"{value!r} of type {type(value).__name__}")


# --- checking ---------------------------------------------------------------------------------


def check(made: Any, name: str = "") -> None:
    """Check a judge, or the part called `name`: its parameters by type, then by its `validate()`.

    Raises:
        JudgeError: naming the judge, the parameter, the value and what is allowed.
    """
    cls: type = type(made)
    name = name or name_of(made)
    for key, hint in _hints(cls).items():
        _check_value(getattr(made, key), hint, key, name)
    validate = getattr(made, "validate", None)
    if validate is not None:
        validate()


def _check_value(value: Any, hint: Any, key: str, name: str) -> None:
    if not _fits(value, hint):
        raise JudgeError(f"{name}: {key}={value!r} must be {_describe(hint)}")
    if isinstance(value, float) and math.isnan(value):
        raise JudgeError(f"{name}: {key} is not a number")


def check_range(name: str, value: float | None, low: float, high: float = math.inf) -> None:
    """For `validate()` methods: `value` must lie from `low` to `high`, unless it is None.

    Raises:
        JudgeError: it does not.
    """
    if value is not None and not low <= value <= high:
        wanted = f"be at least {low:g}" if high == math.inf else f"lie between {low:g} and {high:g}"
        raise JudgeError(f"{name}={value!r} must {wanted}")


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _former(cls: type) -> dict[str, Any]:
    """Types of parameters that a class still understands, but that are no fields of it."""
    hints = typing.get_type_hints(cls)
    return {
        name: hint.type for name, hint in hints.items() if isinstance(hint, dataclasses.InitVar)
    }


def _options(hint: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(hint)
    if origin in (Union, types.UnionType):
        return tuple(option for part in typing.get_args(hint) for option in _options(part))
    return (hint,)


def _is_judge_hint(hint: Any) -> bool:
    return any(option is Judge for option in _options(hint))


def _fits(value: Any, hint: Any) -> bool:
    return any(_fits_one(value, option) for option in _options(hint))


def _fits_one(value: Any, option: Any) -> bool:
    origin = typing.get_origin(option)
    if option is Any:
        return True
    if origin is Literal:
        return value in typing.get_args(option)
    if origin is tuple:
        inner = typing.get_args(option)
        return isinstance(value, tuple) and all(_fits(item, inner[0]) for item in value)
    if origin is Mapping:
        inner = typing.get_args(option)
        return isinstance(value, Mapping) and all(_fits(v, inner[1]) for v in value.values())
    if option is Judge:
        if hasattr(value, "judge") and dataclasses.is_dataclass(value):
            check(value)
            return True
        return False
    if option in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if option is float else option)


def type_in_words(cls: type, parameter: str) -> str:
    """What a parameter of a judge class may be, in words."""
    return _describe(_hints(cls)[parameter])


def _describe(hint: Any) -> str:
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}
    parts = []
    for option in _options(hint):
        if typing.get_origin(option) is Literal:
            parts.append("one of " + ", ".join(repr(choice) for choice in typing.get_args(option)))
        elif typing.get_origin(option) is tuple:
            inner = typing.get_args(option)
            parts.append(f"a list, each {_describe(inner[0])}" if inner else "a list")
        elif typing.get_origin(option) is Mapping:
            item = typing.get_args(option)[1]
            parts.append("a table" if item is Any else f"a table, each value {_describe(item)}")
        elif option is type(None):
            parts.append("none")
        elif option is Judge:
            parts.append("a judge")
        else:
            parts.append(words.get(option, getattr(option, "__name__", str(option))))
    return " or ".join(parts)


def signature(judge: Judge | str, models: ModelSource | None = None) -> str:
    """What must be equal before two figures may be compared: every parameter and the version.

    Derived, never listed by hand: all fields (nested judges too), the package version, whatever
    the judge's optional `identity(models)` adds (hash of its weights or prompt, a model's name and
    revision), and for a judge that markscheme does not ship `registered_by=DISTRIBUTION==VERSION`
    and, where its code is no installed file of that distribution (a notebook, a script, an editable
    install), `source=HASH` of the code that defines it.

    Args:
        judge: a judge, or its name and parameters as after `-j`.
        models: where the judge's models come from, if it asks any.

    Raises:
        JudgeError, UnknownNameError: the text is no judge.
    """
    judge = parse_judge(judge) if isinstance(judge, str) else judge
    parts = [judge_name(judge, full=True), f"markscheme={version()}"]
    parts += [f"{key}={value}" for key, value in sorted(_identities(judge, models).items())]
    return " ".join(parts)


def _identities(judge: Judge, models: ModelSource | None) -> Mapping[str, str]:
    found = {
        f"{place}.{key}": text
        for place, inner in members(judge)
        for key, text in _identities(inner, models).items()
    }
    identity = getattr(judge, "identity", None)
    if identity is not None:
        found.update(identity(models))
    found.update(origin_of(type(judge)))
    return found
