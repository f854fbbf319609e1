"""The register of judges: what a judge is, how one is made known by name, and how it is found."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import polars as pl

from markscheme.errors import JudgeError, UnknownNameError

ENTRY_POINTS = "markscheme.judges"
"""Entry-point group whose modules register judges when imported; ours is one of them."""

_SEE = "'markscheme judges' lists all"


@runtime_checkable
class Judge(Protocol):
    """Whatever gives a verdict on answers.

    `judge` gets rows with a non-null `answer` and returns as many rows in the same order, with any
    of the columns in `markscheme.tables.judgments.OUTCOME`. `models` opens weights and servers.
    """

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What is registered under one name."""

    name: str
    judge: type[Judge]
    summary: str
    paper: str
    needs: str
    example: str


_ENTRIES: dict[str, Entry] = {}
_BROKEN_PLUGINS: dict[str, str] = {}

J = TypeVar("J", bound=type)


def register(
    name: str, *, paper: str = "", needs: str = "nothing", example: str = ""
) -> Callable[[J], J]:
    """Class decorator: make a judge known under `name`. Its docstring's first line is its summary.

    Args:
        name: as users write it.
        paper: where the method comes from.
        needs: what must be at hand: "nothing", an extra, a model, a key.
        example: a name with parameters that works; `name` itself if empty.

    Raises:
        JudgeError: the name is taken, or the class is no frozen keyword-only dataclass.
    """

    def add(cls: J) -> J:
        known = _ENTRIES.get(name)
        if known is not None and known.judge is not cls:
            raise JudgeError(
                f"judge name {name!r} is taken by {known.judge.__qualname__} of "
                f"{known.judge.__module__}; choose another for {cls.__module__}.{cls.__qualname__}"
            )
        parameters = getattr(cls, "__dataclass_params__", None)
        if parameters is None or not parameters.frozen or "judge" not in dir(cls):
            raise JudgeError(
                f"{cls.__qualname__} cannot be registered as a judge: it must be a "
                "@dataclass(frozen=True, kw_only=True) with a method judge(answers, models)"
            )
        doc = (cls.__doc__ or "").strip().split("\n\n")[0]
        _ENTRIES[name] = Entry(
            name=name,
            judge=cls,
            summary=" ".join(doc.split()),
            paper=paper,
            needs=needs,
            example=example or name,
        )
        return cls

    return add


@functools.cache
def _load_judges() -> None:
    """Import every module of the entry-point group once. A broken plugin does not stop others."""
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            point.load()
        except Exception as error:
            if point.name == "builtin":
                raise
            _BROKEN_PLUGINS[point.name] = f"{type(error).__name__}: {error}"


def judges() -> dict[str, Entry]:
    """Every registered judge by name, sorted."""
    _load_judges()
    return dict(sorted(_ENTRIES.items()))


def broken_plugins() -> dict[str, str]:
    """Entry points of other packages that failed to load, with the reason."""
    _load_judges()
    return dict(_BROKEN_PLUGINS)


def entry(name: str) -> Entry:
    """The entry registered under `name`.

    Raises:
        UnknownNameError: nothing is; the message suggests near names.
    """
    known = judges()
    if name not in known:
        failed = f" (plugins that did not load: {_BROKEN_PLUGINS})" if _BROKEN_PLUGINS else ""
        raise UnknownNameError("judge", name, known, _SEE + failed)
    return known[name]


def name_of(judge: Judge) -> str:
    """The bare registered name of a judge object.

    Raises:
        JudgeError: its class is not registered.
    """
    for known in judges().values():
        if known.judge is type(judge):
            return known.name
    raise JudgeError(
        f"{type(judge).__qualname__} is not registered; decorate it with @register(name)"
    )


def parts(judge: Judge) -> Iterator[Judge]:
    """A judge and the judges inside it, at any depth."""
    yield judge
    for field in dataclasses.fields(judge):  # type: ignore[arg-type]
        value = getattr(judge, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if dataclasses.is_dataclass(part) and hasattr(part, "judge"):
                yield from parts(part)  # type: ignore[arg-type]


def asks_chat(judge: Judge) -> bool:
    """Whether a judge, or one inside it, asks a chat model.

    It is registered to need one or, if it asks one with some parameters and not with others, has a
    property `asks_chat` that says so.
    """
    return any(
        "chat model" in entry(name_of(part)).needs or bool(getattr(part, "asks_chat", False))
        for part in parts(judge)
    )


@functools.cache
def version() -> str:
    """The installed version of markscheme."""
    return importlib.metadata.version("markscheme")
