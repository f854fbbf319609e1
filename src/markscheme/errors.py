"""Every error markscheme raises on purpose, in one tree.

    MarkschemeError               base: catch this one
    ├── DataError                 a file or table cannot be read as answers, judgments or labels
    │   ├── BadRowsError          particular rows are malformed; `.problems` lists them
    │   └── BadValuesError        some of a column's labels or verdicts cannot be read
    ├── UnknownNameError          no such judge, dataset, column...; suggests near names
    ├── JudgeError                a judge's parameters or registration are wrong
    │   └── JudgeMemoryError      a judge needs more memory than there is
    ├── RunError                  a run directory cannot be started, resumed or finished
    ├── MissingExtraError         an optional dependency is not installed; names its install line
    ├── ModelError                weights or a model server cannot be used
    │   └── RunStoppedError       no further request can succeed; the rest was not sent
    ├── NotJudgedError            an answer has no verdict, where a tool takes nothing else
    └── AgreementError            labels or judgments cannot support the requested statistic

A message names the value, the choices and the next step. The command line prints it without a
traceback and exits with 2.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec


class MarkschemeError(Exception):
    """Base of all errors that markscheme raises on purpose."""


class DataError(MarkschemeError):
    """A file or table cannot be read in its expected format."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One malformed row: where it is and what is wrong with it.

    `line` is the 1-based line (or, for JSON arrays and Parquet, row) in `source`. A row that is
    `kept` can be used without the value that could not be read. `system` is the one whose answer
    the row is, "" where that is not known.
    """

    source: str
    line: int
    message: str
    unit: str = "line"
    kept: bool = False
    system: str = ""

    def __str__(self) -> str:
        return f"{self.source}, {self.unit} {self.line}: {self.message}"


_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_DIFFERING = re.compile(rf"{_QUOTED.pattern}|\d[\d,]*")
_LINES_NAMED = 5


def gathered(problems: Sequence[Problem]) -> list[str]:
    """Problems as lines to read: the first of each kind, and below it how many are like it.

    Problems are alike that differ in what they quote and in numbers only.
    """
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        kind = problem.source, _DIFFERING.sub("...", problem.message)
        kinds.setdefault(kind, []).append(problem)
    lines = []
    for first, *others in kinds.values():
        lines.append(str(first))
        if others:
            places = [str(one.line) for one in others[:_LINES_NAMED]]
            places += ["..."] if len(others) > _LINES_NAMED else []
            values = dict.fromkeys(
                _QUOTED.findall(one.message)[:1][0] for one in others if _QUOTED.search(one.message)
            )
            for value in _QUOTED.findall(first.message)[:1]:
                values.pop(value, None)
            more = [*list(values)[:_LINES_NAMED], *(["..."] if len(values) > _LINES_NAMED else [])]
            said = f", with {', '.join(more)}" if more else ""
            unit = first.unit + "s" * (len(others) > 1)
            lines.append(f"  and {len(others):,} like it: {unit} {', '.join(places)}{said}")
    return lines


class BadRowsError(DataError):
    """Rows that cannot be used. The message shows 20 kinds; `problems` holds all rows."""

    shown = 20

    def __init__(self, problems: Sequence[Problem], *, skippable: bool = False) -> None:
        """Write the message.

        Args:
            problems: what is wrong, row by row.
            skippable: whether `on_bad_row="skip"` would have the rest used without these rows.
        """
        self.problems: list[Problem] = list(problems)
        kinds = gathered(self.problems)
        lines = kinds[: self.shown]
        if len(kinds) > self.shown:
            lines.append(f"... and others; {len(self.problems):,} rows in all")
        labels = sum(problem.kept for problem in self.problems)
        rows = len(self.problems) - labels
        count, what = len(self.problems), "row" if rows else "label"
        head = f"{count} {what}{'s' if count != 1 else ''} cannot be {'used' if rows else 'read'}:"
        effects = ["leaves out and counts what cannot be used"] if rows else []
        effects += ["judges an answer without a label that cannot be read"] if labels else []
        hint = f"fix the {what}s"
        if skippable:
            hint += (
                "; where answers are judged or shown, --on-bad-row skip (Python: "
                f"on_bad_row='skip') {' and '.join(effects)}"
            )
        super().__init__("\n  ".join([head, *lines]) + f"\n{hint}")


class BadValuesError(DataError):
    """A column of labels or verdicts, of which some cannot be read."""


class SkippedRowsWarning(UserWarning):
    """Rows of a file that cannot be used were left out, or labels of it, as was requested."""


class UnsealedWarning(UserWarning):
    """A file of labels has no seal, and a secret is set to check seals with."""


class JudgeError(MarkschemeError):
    """A judge's name, parameters or registration are wrong."""


class JudgeMemoryError(JudgeError, MemoryError):
    """A judge needs more memory than there is."""


def no_such_name(kind: str, name: str, choices: Iterable[str], see: str = "") -> str:
    """What to say of a name that is none of the choices: near ones, and what there is.

    Args:
        kind: of what it should be the name.
        name: what was given.
        choices: the names there are.
        see: where they are listed; empty to list them.

    >>> no_such_name("system", "chaty", ["terse", "chatty"])
    "no system named 'chaty'; did you mean 'chatty'? There are 'terse', 'chatty'"
    """
    known = list(choices)
    guess = did_you_mean(name, known)
    listing = see if guess and see else see[:1].upper() + see[1:]
    listing = listing or f"There are {', '.join(map(repr, known))}"
    return f"no {kind} named {name!r}{guess or '.'} {listing}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Names that begin so, and near ones, as a question; "" where there are none.

    >>> did_you_mean("promt", ["nr", "prompt"])
    "; did you mean 'prompt'?"
    >>> did_you_mean("f1", ["recall", "f1_positive", "f1_macro"])
    "; did you mean 'f1_positive' or 'f1_macro'?"
    """
    names = list(known)
    begun = [one for one in names if name and one.startswith(name)]
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    near = list(dict.fromkeys(begun + close))[:3]
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


class UnknownNameError(MarkschemeError):
    """A name that nothing is registered under; the message suggests near ones."""

    def __init__(self, kind: str, name: str, choices: Iterable[str], see: str) -> None:
        self.name = name
        self.choices: list[str] = sorted(choices)
        super().__init__(no_such_name(kind, name, self.choices, see))


class RunError(MarkschemeError):
    """A run directory cannot be started, resumed or finished."""


class MissingExtraError(MarkschemeError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an extra: {install_line(extra)}")


def install_line(extra: str) -> str:
    """What installs extras, named with commas: from a package index and from a checkout.

    >>> install_line("report")
    "pip install 'markscheme[report]', or in a checkout pip install '.[report]'"
    """
    names = extra.split(",")
    apart = [f"./packages/{name}" for name in names if name in _PACKAGES]
    rest = ",".join(name for name in names if name not in _PACKAGES)
    here = f"'.[{rest}]' " if rest else ""
    if apart:
        return f"pip install {here}{' '.join(apart)} (in a checkout)"
    return f"pip install 'markscheme[{extra}]', or in a checkout pip install {here.strip()}"


_PACKAGES = ("languages", "research")
"""Extras that are packages of their own, which no index has."""
_MODULES = {
    "languages": ("markscheme_languages",),
    "report": ("altair", "vl_convert"),
    "web": ("fastapi", "uvicorn"),
}
"""Modules by which an extra is recognised as installed."""


def lacks_extras(*extras: str) -> bool:
    """Whether a module of these extras is not installed; none is imported."""
    names = (name for extra in extras for name in _MODULES[extra])
    return any(find_spec(name) is None for name in names)


class ModelError(MarkschemeError):
    """Weights or a model server cannot be used."""


class RunStoppedError(ModelError):
    """No further request of a run can succeed, so that the rest was not sent."""


class NotJudgedError(MarkschemeError):
    """A judge gave no verdict, in a place where only a verdict or an error can be returned."""


class AgreementError(MarkschemeError):
    """The given labels or judgments cannot support the requested statistic."""


@contextmanager
def reading_weights(path: object) -> Iterator[None]:
    """Whatever reading a file of weights raises, as one ModelError that names the file."""
    try:
        yield
    except MarkschemeError:
        raise
    except Exception as error:  # Libraries raise what they like at damaged bytes.
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ModelError(
            f"{path} is damaged, or no weights of this kind ({said}); copy or train the weights "
            "again, or install markscheme again if they are the package's own"
        ) from error


KEY_VARIABLE = "MARKSCHEME_SEAL_KEY"


def signature_wanted() -> str | None:
    """The secret that what is written is signed with, if it is to be."""
    return os.environ.get(KEY_VARIABLE) or None


def signature_of(content: bytes) -> str | None:
    """The HMAC of a content's digest, if what is written is to be signed."""
    import hashlib
    import hmac

    key = signature_wanted()
    if key is None:
        return None
    digest = hashlib.sha256(content).hexdigest()
    return hmac.new(key.encode(), digest.encode(), hashlib.sha256).hexdigest()
