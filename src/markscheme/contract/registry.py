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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar, cast

from markscheme.contract.judge import UNDECLARED, Judge, Needs, combined
from markscheme.contract.origin import note_source, place_of, with_imports
from markscheme.errors import JudgeError, MissingExtraError, UnknownNameError
from markscheme.text import one_line

ENTRY_POINTS = "markscheme.judges"
"""Entry-point group of other packages, whose modules register judges when imported. One that is
called as its judge is found without importing the others."""

_SHIPPED = "markscheme.judges.shipped"
"""Lists our own, each with the module that registers it; an upper layer, so imported by name."""

RESEARCH_JUDGES = ("bem", "bertscore", "bleurt", "claims", "jury", "learned", "reference_overlap")
"""The judges that `markscheme[research]` adds, named where it is not installed."""

_OURS = "markscheme."
_WORDS = {"true", "false", "none"}
_CHANGEABLE = re.compile(r"(?:typing\.)?(?:list|dict|set|List|Dict|Set)\b")
_SEE = "'markscheme judges' lists all"
_BY_A_JUDGE = "; a model is used through a judge: -j llm_grader -m MODEL"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What is registered under one name.

    Attributes:
        name: as users write it.
        cls: the class, of a judge or of a part of judges.
        summary, paper: of a judge, for lists.
        needs: what it needs; one that declares nothing may ask a chat model.
        example: a name that works.
        shorthand: the field that `NAME:VALUE` sets; "" for none.
        form: how names of it look, with words in capitals for what is to be filled in.
    """

    name: str
    cls: type
    needs: Needs
    example: str
    summary: str = ""
    paper: str = ""
    shorthand: str = ""
    form: str = ""

    @property
    def judge(self) -> type[Judge]:
        """The class of a judge."""
        return self.cls


class Register:
    """Classes of one kind by name: judges, entailment tests, makers of statements.

    Attributes:
        what: the kind in words, for messages: "entailment test".
        method: what every class of the kind must have, as it is called.
        known: what was registered so far, by name.
    """

    def __init__(self, what: str, method: str) -> None:
        """Begin an empty register; `what` and `method` as the attributes."""
        self.what = what
        self.method = method
        self.known: dict[str, Entry] = {}

    def entries(self) -> dict[str, Entry]:
        """Everything registered, by name, sorted."""
        load_all()  # modules that register judges register parts too
        return dict(sorted(self.known.items()))

    def add(self, entry: Entry) -> None:
        """Make a class known by its name.

        Raises:
            JudgeError: the name is no name or taken, the class is no frozen keyword-only dataclass,
                a parameter could be changed, or its method cannot be called with a table and
                models.
        """
        name, cls, kind = entry.name, entry.cls, f"{'an' if self.what[0] in 'aeiou' else 'a'} "
        kind += self.what
        if not name.isidentifier() or keyword.iskeyword(name) or name.lower() in _WORDS:
            raise JudgeError(
                f"{name!r} cannot name {kind}: a name is a word of letters, digits and _, as it "
                "is typed after -j"
            )
        taken = self.known.get(name)
        if taken is not None and not _same_definition(taken.cls, cls):
            raise JudgeError(
                f"the name {name!r} of {kind} is taken by {taken.cls.__qualname__} of "
                f"{taken.cls.__module__}; choose another for {cls.__module__}.{cls.__qualname__}"
            )
        parameters = getattr(cls, "__dataclass_params__", None)
        method = getattr(cls, self.method.partition("(")[0], None)
        if parameters is None or not parameters.frozen or method is None:
            raise JudgeError(
                f"{cls.__qualname__} cannot be registered as {kind}: it must be a "
                f"@dataclass(frozen=True, kw_only=True) with a method {self.method}"
            )
        if not _takes_table_and_models(method):
            raise JudgeError(
                f"{cls.__qualname__}.{method.__name__}{inspect.signature(method)} cannot be called "
                f"as {self.method}; write def {self.method.replace('(', '(self, ')}"
            )
        for field in dataclasses.fields(cls):
            if _CHANGEABLE.match(str(getattr(field.type, "__name__", field.type))):
                raise JudgeError(
                    f"{cls.__qualname__}.{field.name} is a {field.type}, which {kind} could "
                    "change as it works; parameters are numbers, words, judges, or tuples of them"
                )
        self.known[name] = entry
        note_source(cls)

    def find(self, made: object) -> Entry | None:
        """The entry of an object's class; None where it is not registered."""
        return next((one for one in self.known.values() if one.cls is type(made)), None)

    def own_needs(self, made: object) -> Needs:
        """What an object of a registered class needs: its own property `needs`, or as registered.

        Raises:
            JudgeError: the property is something else than `Needs`.
        """
        declared = getattr(made, "needs", None)
        if declared is None:
            entry = self.find(made)
            return UNDECLARED if entry is None else entry.needs
        if not isinstance(declared, Needs):
            raise JudgeError(
                f"{type(made).__qualname__}.needs is {declared!r}; it must be a Needs(...), as in "
                "Needs(chat=False)"
            )
        return declared


JUDGES = Register("judge", "judge(answers, models)")
"""The registered judges."""

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
            needs depend on its parameters has a property `needs` as well.
        example: a name with parameters that works; `name` itself if empty.

    Raises:
        JudgeError: as `Register.add` does.
    """

    def add(cls: J) -> J:
        ours = cls.__module__.startswith(_OURS)
        if name not in JUDGES.known and not ours and name in shipped_names():
            entry(name)  # ours comes first, whichever is imported first
        doc = (cls.__doc__ or "").strip().split("\n\n")[0]
        JUDGES.add(
            Entry(
                name=name,
                cls=cls,
                summary=" ".join(doc.split()),
                paper=paper,
                needs=Needs(note=needs) if isinstance(needs, str) else needs,
                example=example or name,
            )
        )
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


def judges() -> dict[str, Entry]:
    """Every registered judge by name, sorted."""
    return JUDGES.entries()


def broken_plugins() -> dict[str, str]:
    """Entry points of other packages that failed to load, with the reason."""
    load_all()
    return dict(_BROKEN_PLUGINS)


def entry(name: str) -> Entry:
    """The entry registered under `name`. Other judges are imported only where it is not ours.

    Raises:
        UnknownNameError: nothing is; the message suggests near names.
    """
    if name not in JUDGES.known and name in shipped_names():
        importlib.import_module(shipped_names()[name])
    elif name not in JUDGES.known:
        for point in importlib.metadata.entry_points(group=ENTRY_POINTS, name=name):
            with suppress(Exception, SystemExit):  # `load_all` says why.
                point.load()
    if name in JUDGES.known:
        return JUDGES.known[name]
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
    found = JUDGES.find(judge)
    if found is None:
        raise JudgeError(
            f"{type(judge).__qualname__} is not registered; decorate it with @register(name)"
        )
    return found.name


def parts(judge: Judge) -> Iterator[Judge]:
    """A judge and the judges inside it, at any depth."""
    yield judge
    for _, inner in members(judge):
        yield from parts(inner)


def members(judge: Judge) -> Iterator[tuple[str, Judge]]:
    """The judges that a judge's parameters hold, each after its place, such as `judges.0`."""
    if not dataclasses.is_dataclass(judge):
        return
    for field in dataclasses.fields(judge):
        value = getattr(judge, field.name)
        yield from _judges_in(value if isinstance(value, tuple | list) else (value,), field.name)


def _judges_in(values: Iterable[object], place: str) -> Iterator[tuple[str, Judge]]:
    for index, value in enumerate(values):
        if isinstance(value, tuple | list):
            yield from _judges_in(value, f"{place}.{index}")
        elif dataclasses.is_dataclass(value) and hasattr(value, "judge"):
            yield f"{place}.{index}", cast("Judge", value)


def needs_of(judge: Judge) -> Needs:
    """What a judge needs with its parameters, and the judges inside it.

    Raises:
        JudgeError: `needs` of a judge is something else than `Needs`.
    """
    return combined(JUDGES.own_needs(part) for part in parts(judge))


def asks_chat(judge: Judge) -> bool:
    """Whether a judge, or one inside it, may ask a chat model: declared so, or not declared."""
    return needs_of(judge).may_ask_chat


def reads_plain(judge: Judge) -> bool:
    """Whether a judge, or one inside it, asks no chat model, so that it reads plain answers."""
    return any(not asks_chat(part) for part in parts(judge))


def _takes_table_and_models(method: Callable[..., object]) -> bool:
    try:
        inspect.signature(method).bind("self", "table", "models")
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
            line = place_of(error)
            raise JudgeError(
                f"{path} cannot be imported: {type(error).__name__}: {error}"
                + (f" ({line})" if line else "")
            ) from error
        finally:
            sys.dont_write_bytecode = written
    # Modules next to it too may have a taken name.
    for file in (one for one in with_imports([path]) if one.is_relative_to(path.parent)):
        made = sys.modules.get(".".join(file.relative_to(path.parent).with_suffix("").parts))
        place = getattr(made, "__file__", None)
        if made is not None and (place is None or Path(place).resolve() != file):
            raise JudgeError(f"{file.name} has the name of another module ({made}); rename it")
    return known
