"""Where a registered class comes from: its distribution and version, or a hash of its source.

A class of an installed distribution is identified by the distribution's version. A class of a
notebook, a script or an editable install can change under one version, so there the source counts:
the files of its module and of its bases, and the files that those import from the same place; for
a notebook cell, the cells of its methods and of the functions that they call.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import importlib.metadata
import inspect
import linecache
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType

_OURS = {"markscheme", "markscheme_research"}
_STANDARD = Path(sysconfig.get_paths()["stdlib"]).resolve()
_INSTALLED = ("site-packages", "dist-packages")

_SOURCES: dict[type, str] = {}
"""Hash of the source of every registered class that markscheme does not ship.

Taken when the class is registered: that is the code that runs, whatever the file says later."""


def note_source(cls: type) -> None:
    """Remember what the source of a class is now, at its definition."""
    if not _is_ours(cls):
        _SOURCES[cls] = _source_hash(cls)


def origin_of(cls: type) -> Mapping[str, str]:
    """What the signature adds for a class that markscheme does not ship; nothing for one it does.

    Returns:
        `registered_by`, the distribution and its version as `NAME==VERSION`, where there is one;
        `source`, a hash, unless all of the source is installed files of distributions.
    """
    return {} if _is_ours(cls) else _origin(cls)


@functools.cache
def _origin(cls: type) -> Mapping[str, str]:
    files = list(_files(cls))
    owners = {file: _owner(file) for file in files}
    names = sorted({_name(owner) for owner in owners.values() if owner is not None})
    found = {}
    if not names:
        names = sorted({_name(one) for one in _editable(cls.__module__.partition(".")[0])})
    if names:
        found["registered_by"] = "+".join(names)
    if not files or None in owners.values():
        if cls not in _SOURCES:
            _SOURCES[cls] = _source_hash(cls)
        found["source"] = _SOURCES[cls]
    return MappingProxyType(found)


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in _OURS


def place_of(error: BaseException) -> str:
    """The line of somebody's own code in which an error was raised, as `FILE, line N`.

    Own code is neither ours, nor Python's, nor of an installed distribution. Where it called
    others, it is the last line of its own; "" where it had no part in the error.
    """
    places = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _OURS
        and _is_own(Path(frame.f_code.co_filename))
    ]
    return places[-1] if places else ""


def _is_own(file: Path) -> bool:
    return file.is_file() and not _is_standard(file) and not _is_installed(file)


# --- distributions ------------------------------------------------------------------------------


def _name(found: importlib.metadata.Distribution) -> str:
    return f"{found.metadata['Name']}=={found.version}"


def _owner(file: Path) -> importlib.metadata.Distribution | None:
    """The distribution that installed a file, if one did."""
    if not _is_installed(file):
        return None
    return _installed_files().get(file)


@functools.cache
def _installed_files() -> Mapping[Path, importlib.metadata.Distribution]:
    """Python files of all distributions that offer judges or are requested."""
    found = {}
    for one in importlib.metadata.distributions():
        for file in one.files or ():
            if file.suffix == ".py":
                found[Path(str(one.locate_file(file)))] = one
    return found


def _editable(top: str) -> list[importlib.metadata.Distribution]:
    """Distributions whose entry points name a package that is none of their installed files."""
    points = importlib.metadata.entry_points(group="markscheme.judges")
    return [
        point.dist
        for point in points
        if point.dist is not None and point.module.partition(".")[0] == top
    ]


# --- source -------------------------------------------------------------------------------------


def _source_hash(cls: type) -> str:
    digest = hashlib.sha256()
    for name, content in _source(cls):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _source(cls: type) -> Iterator[tuple[str, bytes]]:
    """Named contents that define a class, in an order that is always the same."""
    files = list(_files(cls))
    for file in with_imports(files):
        yield file.name, file.read_bytes()
    seen: set[object] = set()
    for function in _functions(cls):
        yield from _cells(function, seen)


def _bases(cls: type) -> list[type]:
    """The class and those of its bases that are neither ours nor Python's."""
    return [one for one in cls.__mro__ if not _is_ours(one) and one.__module__ != "builtins"]


def _functions(cls: type) -> Iterator[FunctionType]:
    for one in _bases(cls):
        for value in vars(one).values():
            inner = value.fget if isinstance(value, property) else value
            inner = getattr(inner, "__func__", inner)
            inner = getattr(inner, "func", inner)  # cached_property
            if isinstance(inner, FunctionType):
                yield inspect.unwrap(inner)


def _files(cls: type) -> Iterable[Path]:
    """The files in which a class, its bases and their methods are written."""
    named = [getattr(sys.modules.get(one.__module__), "__file__", None) for one in _bases(cls)]
    named += [function.__code__.co_filename for function in _functions(cls)]
    paths = (Path(name).resolve() for name in named if name and not name.startswith("<"))
    return dict.fromkeys(
        path for path in paths if path.suffix == ".py" and path.is_file() and not _is_standard(path)
    )


def _is_standard(path: Path) -> bool:
    return path.is_relative_to(_STANDARD) and not _is_installed(path)


def _is_installed(path: Path) -> bool:
    return not set(_INSTALLED).isdisjoint(path.parts)


def with_imports(files: Iterable[Path]) -> list[Path]:
    """Files, and those that they import from the same place, at any depth; sorted."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        waiting += _imported(file)
    return sorted(found)


def _imported(file: Path) -> Iterator[Path]:
    top = file.parent
    while (top / "__init__.py").exists():
        top = top.parent
    own = file.relative_to(top).parts[0].removesuffix(".py")
    installed = _is_installed(top)
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            here = file.parent
            for _ in range(node.level - 1):
                here = here.parent
            if not here.is_relative_to(top):  # Fails when it runs, which the file may catch.
                continue
            base = ".".join(here.relative_to(top).parts) if node.level else ""
            base = ".".join(part for part in (base, node.module or "") if part)
            names = [base, *(f"{base}.{alias.name}".lstrip(".") for alias in node.names)]
        for name in names:
            # Among installed packages everything lies in one place; only the own one counts.
            if name and (not installed or name.partition(".")[0] == own):
                yield from _modules(top, name)


def _modules(top: Path, name: str) -> Iterator[Path]:
    """The files that importing a dotted name from a folder reads: its packages and itself."""
    place = top
    for part in name.split("."):
        place = place / part
        for file in (place / "__init__.py", place.with_name(f"{part}.py")):
            if file.is_file():
                yield file.resolve()


def _cells(function: FunctionType, seen: set[object]) -> Iterator[tuple[str, bytes]]:
    """The source of a function that is in no file, and of those of its module that it uses."""
    code = function.__code__
    file = Path(code.co_filename)
    if code in seen or (file.suffix == ".py" and file.is_file()):
        return
    seen.add(code)
    if not _is_generated(function):
        lines = linecache.getlines(code.co_filename, function.__globals__)
        yield function.__qualname__, "".join(lines).encode() if lines else _bytes_of(code)
    for name in sorted(_names_in(code)):
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            yield from _cells(value, seen)
        elif isinstance(value, type) and value.__module__ == function.__module__:
            for inner in _functions(value):
                yield from _cells(inner, seen)
        elif isinstance(value, str | int | float | bool | tuple | frozenset):
            yield name, repr(value).encode()


def _is_generated(function: FunctionType) -> bool:
    """Whether a dataclass made it, from fields that are in the judge's name already."""
    return function.__code__.co_filename == "<string>" and function.__name__.startswith("__")


def _names_in(code: CodeType) -> set[str]:
    found = {str(step.argval) for step in dis.get_instructions(code) if "GLOBAL" in step.opname}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _names_in(inner)
    return found


def _bytes_of(code: CodeType) -> bytes:
    """A function's instructions and constants, where its source is not available."""
    inner = b"".join(
        _bytes_of(one) if isinstance(one, CodeType) else repr(one).encode()
        for one in code.co_consts
    )
    return code.co_code + inner + " ".join(code.co_names).encode()
