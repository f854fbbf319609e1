"""The register of judges: how one is made known by name, how it is found, and what it needs."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.metadata
import inspect
import keyword
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar, cast

from markscheme.contract.judge import UNDECLARED, Judge, Needs, combined
from markscheme.contract.origin import note_source, with_imports
from markscheme.errors import JudgeError, MissingExtraError, UnknownNameError
from markscheme.text import one_line

ENTRY_POINTS = "markscheme.judges"
"""Entry-point group of other packages, whose modules register judges when imported. One that is
called as its judge is found without importing the others."""

_SHIPPED = "markscheme.judges.shipped"
"""Lists our own, each with the module that registers it; an upper layer, so imported by name."""

RESEARCH_JUDGES = ("bem", "bertscore", "bleurt", "claims", "learned", "reference_overlap")
"""The judges that `markscheme[research]` adds, named where it is not installed."""

_OURS = "markscheme."
_WORDS = {"true", "false", "none"}
_CHANGEABLE = re.compile(r"(?:typing\.)?(?:list|dict|set|List|Dict|Set)\b")
_SEE = "'markscheme judges' lists all"
_BY_A_JUDGE = "; a model is used through a judge: -j llm_grader -m MODEL"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What is registered under one name."""

    name: str
    judge: type[Judge]
    summary: str
    paper: str
    needs: Needs
    example: str


_ENTRIES: dict[str, Entry] = {}
_BROKEN_PLUGINS: dict[str, str] = {}

J = TypeVar("J", bound=type)


def register(
    name: str, *, paper: str = "", needs: Needs | str = UNDECLARED, example: str = ""
) -> Callable[[J], J]:
    """Class decorator: make a judge known under `name`. Its docstring's first line is its summary.

    Args:
        name: as users write it.
        paper: where the method comes from.
        needs: what must be available, as values. A judge that declares nothing is treated as one
            that may use a chat model. A text is shown to people and declares nothing. A judge whose
            needs depend on its parameters has a property `needs` as well (`DeclaresNeeds`).
        example: a name with parameters that works; `name` itself if empty.

    Raises:
        JudgeError: the name is no name or taken, the class is no frozen keyword-only dataclass, a
            parameter could be changed, or its method `judge` cannot be called with answers and
            models.
    """

    if not name.isidentifier() or keyword.iskeyword(name) or name.lower() in _WORDS:
        raise JudgeError(
            f"{name!r} cannot name a judge: a name is a word of letters, digits and _, as it is "
            "typed after -j"
        )

    def add(cls: J) -> J:
        if (
            name not in _ENTRIES
            and not cls.__module__.startswith(_OURS)
            and name in shipped_names()
        ):
            entry(name)  # ours comes first, whichever is imported first
        known = _ENTRIES.get(name)
        if known is not None and not _same_definition(known.judge, cls):
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
        if not _takes_answers_and_models(cls.judge):  # type: ignore[attr-defined]
            raise JudgeError(
                f"{cls.__qualname__}.judge{inspect.signature(cls.judge)} cannot be called with "  # type: ignore[attr-defined]
                "(answers, models); write def judge(self, answers, models)"
            )
        for field in dataclasses.fields(cls):
            if _CHANGEABLE.match(str(getattr(field.type, "__name__", field.type))):
                raise JudgeError(
                    f"{cls.__qualname__}.{field.name} is a {field.type}, which a judge could "
                    "change as it judges; parameters are numbers, words, judges, or tuples of them"
                )
        doc = (cls.__doc__ or "").strip().split("\n\n")[0]
        _ENTRIES[name] = Entry(
            name=name,
            judge=cls,
            summary=" ".join(doc.split()),
            paper=paper,
            needs=Needs(note=needs) if isinstance(needs, str) else needs,
            example=example or name,
        )
        note_source(cls)
        return cls

    return add


def shipped_names() -> Mapping[str, str]:
    """The module that registers each name of ours; some are names of prompts that are no judges."""
    return cast("Mapping[str, str]", importlib.import_module(_SHIPPED).MODULES)


@functools.cache
def load_all() -> None:
    """Import our own modules and those of the entry points, once. A broken plugin stops no other.

    Needed to list what there is, and for a name that is not one of ours.
    """
    importlib.import_module(_SHIPPED).load()
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            point.load()
        except (Exception, SystemExit) as error:
            _BROKEN_PLUGINS[point.value] = f"{type(error).__name__}: {error}"


def _load_named(name: str) -> None:
    """Import the modules of the entry points that are called as a judge, and no others."""
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS, name=name):
        with suppress(Exception, SystemExit):  # `load_all` says why.
            point.load()


def judges() -> dict[str, Entry]:
    """Every registered judge by name, sorted."""
    load_all()
    return dict(sorted(_ENTRIES.items()))


def broken_plugins() -> dict[str, str]:
    """Entry points of other packages that failed to load, with the reason."""
    load_all()
    return dict(_BROKEN_PLUGINS)


def entry(name: str) -> Entry:
    """The entry registered under `name`. Other judges are imported only where it is not ours.

    Raises:
        UnknownNameError: nothing is; the message suggests near names.
    """
    if name not in _ENTRIES and name in shipped_names():
        importlib.import_module(shipped_names()[name])
    elif name not in _ENTRIES:
        _load_named(name)
    if name in _ENTRIES:
        return _ENTRIES[name]
    known = judges()
    if name not in known and name in RESEARCH_JUDGES:
        raise MissingExtraError(f"the judge {name!r}", "research")
    if name not in known:
        broken = "; ".join(f"{point}: {why}" for point, why in _BROKEN_PLUGINS.items())
        failed = f" (plugins that did not load: {one_line(broken)})" if broken else ""
        raise UnknownNameError("judge", name, known, f"{_SEE}{_BY_A_JUDGE}{failed}")
    return known[name]


def name_of(judge: Judge) -> str:
    """The bare registered name of a judge object.

    Raises:
        JudgeError: its class is not registered.
    """
    for known in _ENTRIES.values():
        if known.judge is type(judge):
            return known.name
    raise JudgeError(
        f"{type(judge).__qualname__} is not registered; decorate it with @register(name)"
    )


def parts(judge: Judge) -> Iterator[Judge]:
    """A judge and the judges inside it, at any depth."""
    yield judge
    if not dataclasses.is_dataclass(judge):
        return
    for field in dataclasses.fields(judge):
        yield from _parts_in(getattr(judge, field.name))


def _parts_in(value: object) -> Iterator[Judge]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _parts_in(item)
    elif dataclasses.is_dataclass(value) and hasattr(value, "judge"):
        yield from parts(value)  # type: ignore[arg-type]


def needs_of(judge: Judge) -> Needs:
    """What a judge needs with its parameters, and the judges inside it.

    Raises:
        JudgeError: `needs` of a judge is something else than `Needs`.
    """
    return combined(_own_needs(part) for part in parts(judge))


def _own_needs(judge: Judge) -> Needs:
    declared = getattr(judge, "needs", None)
    if declared is None:
        known = (found.needs for found in _ENTRIES.values() if found.judge is type(judge))
        return next(known, UNDECLARED)
    if not isinstance(declared, Needs):
        raise JudgeError(
            f"{type(judge).__qualname__}.needs is {declared!r}; it must be a Needs(...), as in "
            "Needs(chat=False)"
        )
    return declared


def asks_chat(judge: Judge) -> bool:
    """Whether a judge, or one inside it, may ask a chat model: declared so, or not declared."""
    return needs_of(judge).may_ask_chat


def reads_plain(judge: Judge) -> bool:
    """Whether a judge, or one inside it, asks no chat model, so that it reads plain answers."""
    return any(not asks_chat(part) for part in parts(judge))


def _takes_answers_and_models(method: Callable[..., object]) -> bool:
    try:
        inspect.signature(method).bind("self", "answers", "models")
    except TypeError:
        return False
    return True


def _same_definition(one: type, other: type) -> bool:
    """Whether a class is defined again: its module was reloaded, its notebook cell run again."""
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


@functools.cache
def version() -> str:
    """The installed version of markscheme."""
    return importlib.metadata.version("markscheme")


# --- A judge in a file of one's own, as the command line names it: `./mine.py:Judge` --------------
# Names that reach us otherwise (over HTTP, from a run's folder, from Python) never import a file.


_IN_FILE = re.compile(
    r"(?P<file>[^()]+\.py):(?P<name>[^\W\d]\w*)(?P<parameters>\(.*\))?", re.DOTALL
)


def judge_in_file(text: str) -> str:
    """The name of a judge that `FILE.py:CLASS`, with its parameters, denotes; other texts as given.

    The file is imported under its own name, from its folder, so that modules next to it
    can be imported and other processes find it.

    Raises:
        JudgeError: there is no such file, it cannot be imported, or it registers no such judge.
    """
    found = _IN_FILE.fullmatch(text.strip())
    if found is None:
        return text
    path = Path(found["file"]).expanduser().resolve()
    if not path.is_file():
        raise JudgeError(f"the judge {text!r} is in no file: {path} is not there")
    made = getattr(_imported(path), found["name"], None)
    if not isinstance(made, type):
        raise JudgeError(f"{path} has no class {found['name']!r}")
    try:
        name = name_of(object.__new__(made))
    except JudgeError:
        raise JudgeError(
            f"{found['name']} of {path} is not registered; write @markscheme.register('a_name') "
            "above its @dataclass(frozen=True, kw_only=True)"
        ) from None
    return name + (found["parameters"] or "")


def _imported(path: Path) -> ModuleType:
    known = sys.modules.get(path.stem)
    if known is None:
        folder = str(path.parent)
        if folder not in sys.path:
            sys.path.append(folder)
        importlib.invalidate_caches()
        written, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # old code of a new file
        try:
            known = importlib.import_module(path.stem)
        except (Exception, SystemExit) as error:
            raise JudgeError(
                f"{path} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        finally:
            sys.dont_write_bytecode = written
    for file in with_imports([path]):  # modules next to it too may have a taken name
        made = sys.modules.get(".".join(file.relative_to(path.parent).with_suffix("").parts))
        place = getattr(made, "__file__", None)
        if made is not None and (place is None or Path(place).resolve() != file):
            raise JudgeError(f"{file.name} has the name of another module ({made}); rename it")
    return known
