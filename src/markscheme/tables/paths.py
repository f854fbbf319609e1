"""Values inside objects and lists, by paths: `doc.question`, `resps.0.0`, `messages.assistant`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from markscheme.tables.list_literals import is_squad_object, parse_json

_SAMPLE = 200
"""Cells of a column that are looked at to learn what it holds."""

_DEEPEST = 7
_ROLES = {
    "user": ("user", "human", "humanmessage"),
    "assistant": ("assistant", "ai", "gpt", "model", "bot", "aimessage"),
    "system": ("system", "systemmessage"),
}
_ROLE_KEYS = ("role", "type", "from")
_TEXT_KEYS = ("content", "value", "text", "parts")


def segments(path: str) -> list[str]:
    """The parts of a path; names of flat tables are split too: `inputs/question`, `a.b`."""
    return [part for part in re.split(r"[./]", path) if part]


def values_at(columns: Mapping[str, Sequence[Any] | pl.Series], path: str) -> Any:
    """The values at a path in every row, or None where no column begins it.

    A column of exactly that name comes first, so `inputs.question` may be either. Cells that hold
    JSON as text are read as what they hold. A cell of plain text in a column of such cells is taken
    as it is.
    """
    if path in columns:
        return columns[path]
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        column = columns.get(".".join(parts[:end]))
        if column is not None:
            rest = parts[end:]
            return [_cell(value, rest) for value in column]
    return None


def _cell(value: Any, parts: Sequence[str]) -> Any:
    if isinstance(value, str) and json_of(value) is None:
        return value
    return inside(value, parts)


def inside(value: Any, parts: Sequence[str]) -> Any:
    """What a path leads to in one value; None where it leads nowhere.

    A number picks an item of a list, `user` or `assistant` the text of the last message with that
    role; another name is looked up in every item.
    """
    if not parts:
        return value
    if isinstance(value, str):
        value = json_of(value)
    if isinstance(value, Mapping):
        for end in range(len(parts), 0, -1):
            key = ".".join(parts[:end])
            if key in value:
                return inside(value[key], parts[end:])
        return None
    if isinstance(value, pl.Series):
        value = value.to_list()
    if not isinstance(value, list | tuple):
        return None
    first, rest = parts[0], parts[1:]
    if re.fullmatch(r"-?\d+", first):
        place = int(first)
        return inside(value[place], rest) if -len(value) <= place < len(value) else None
    if not rest and are_messages(value):
        return message_text(value, first)
    found = [there for item in value if (there := inside(item, parts)) is not None]
    return found or None


def json_of(text: str) -> Any:
    """The object or list that a text holds as JSON, or None."""
    bare = text.strip()
    if not (bare.startswith("{") and bare.endswith("}")) and not (
        bare.startswith("[") and bare.endswith("]")
    ):
        return None
    try:
        found = parse_json(bare.encode())
    except ValueError:
        return None
    return found if isinstance(found, dict | list) else None


def are_messages(value: Any) -> bool:
    """Whether a list is a conversation: objects with a role and a text."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(
            isinstance(one, Mapping)
            and _role(one) is not None
            and any(key in one for key in _TEXT_KEYS)
            for one in value
        )
    )


def message_text(messages: Sequence[Mapping[str, Any]], role: str) -> str | None:
    """The text of the last message of a role that has one."""
    for message in reversed(messages):
        if _role(message) == role:
            text = _content(message)
            if text:
                return text
    return None


def _role(message: Mapping[str, Any]) -> str | None:
    for key in _ROLE_KEYS:
        name = message.get(key)
        if isinstance(name, str):
            for role, names in _ROLES.items():
                if name.lower() in names:
                    return role
            if key == "role":
                return name.lower()
    return None


def _content(message: Mapping[str, Any]) -> str | None:
    value = next((message[key] for key in _TEXT_KEYS if message.get(key)), None)
    if isinstance(value, list | tuple):
        parts = [part for part in value if isinstance(part, str | Mapping)]
        pieces = [part if isinstance(part, str) else part.get("text") for part in parts]
        return "\n".join(piece for piece in pieces if isinstance(piece, str)) or None
    return value if isinstance(value, str) else None


def sample(values: Sequence[Any] | pl.Series) -> list[Any]:
    """The first cells of a column that hold something."""
    if isinstance(values, pl.Series):
        return values.drop_nulls().head(_SAMPLE).to_list()
    found: list[Any] = []
    for value in values:
        if value is not None and value != "":
            found.append(value)
            if len(found) == _SAMPLE:
                break
    return found


def holds_objects(values: Sequence[Any] | pl.Series) -> bool:
    """Whether a column's cells are objects, conversations, or JSON text of such."""
    if isinstance(values, pl.Series):
        if values.dtype == pl.String:
            bare = values.drop_nulls().head(_SAMPLE).str.strip_chars()
            if not bare.len() or not bare.str.contains(r"^(\{|\[\s*\{)").all():
                return False
        elif not values.dtype.is_nested() and values.dtype != pl.Object:
            return False
    cells = sample(values)
    return bool(cells) and all(_is_object(cell) for cell in cells)


def _is_object(cell: Any) -> bool:
    if isinstance(cell, str):
        cell = json_of(cell)
    if isinstance(cell, Mapping):
        return not is_squad_object(cell)
    return isinstance(cell, list | tuple) and bool(cell) and isinstance(cell[0], Mapping)


def leaves(name: str, values: Sequence[Any] | pl.Series) -> list[str]:
    """Paths of the texts, numbers and lists of texts inside a column of objects."""
    found: dict[str, None] = {}
    for cell in sample(values)[:50]:
        found.update(dict.fromkeys(_walk(name, cell, 0)))
    return list(found)


def _walk(path: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        value = json_of(value) or value
    if depth > _DEEPEST or value is None:
        return
    if isinstance(value, Mapping) and not is_squad_object(value):
        for key, inner in value.items():
            yield from _walk(f"{path}.{key}", inner, depth + 1)
    elif are_messages(value):
        yield from (f"{path}.{role}" for role in ("user", "assistant"))
    elif isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        if len(value) == 1:
            yield from _walk(f"{path}.0", value[0], depth + 1)
        else:
            for key, inner in value[0].items():
                if isinstance(inner, str):
                    yield f"{path}.{key}"
    else:
        yield path
