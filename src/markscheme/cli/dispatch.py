"""From a command line to its command: the files that are imported, errors, exit codes."""

from __future__ import annotations

import errno
import functools
import gc
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from markscheme.cli.app import (
    GROUPS,
    app,
    group,
    notes,
    print_error,
    registrations,
    silence,
)
from markscheme.errors import MarkschemeError, SkippedRowsWarning, UnsealedWarning, install_line
from markscheme.text import one_line

RESEARCH = (
    "amend",
    "bench",
    "cascade",
    "claims",
    "datasets",
    "entail",
    "examples",
    "hierarchy",
    "jury",
    "may-replace",
    "probe",
    "references",
    "reliability",
    "reproduce",
    "statements",
    "study",
    "tags",
    "train",
    "tune-judge",
)
"""The commands that the research package adds, named where it is not installed."""

FORMER: dict[str, str] = {
    **{
        name: f"research {name}"
        for name in RESEARCH
        if name not in ("may-replace", "tags", "train")
    },
    **{
        f"train {name}": f"research train {name}"
        for name in ("entailment", "learned", "listwise", "question-kind")
    },
    **{name: f"llm {name}" for name in ("batch", "drift", "ledger")},
    **{f"train-{name}": f"research train {name}" for name in ("listwise", "question-kind")},
    "llm-examples": "research examples",
}
"""Spellings of before, understood and not shown, to those of now."""

GONE: dict[tuple[str, str], str] = {
    ("agree", "--alternative-annotator"): "research may-replace",
    ("agree", "--relations"): "research hierarchy",
    ("judge", "--anchors"): "llm drift FILE --every 1",
    ("rank", "--protocol amended"): "research amend' or 'markscheme research bench",
    ("judge", "--clean chat"): "judge --clean formatting",
    ("failures", "--tags"): "research tags",
    ("failures", "--to-tag"): "research tags",
    ("annotate", "--order informative"): "plan-labels' and 'markscheme estimate --anytime",
    ("annotate-export", "--as references"): (
        "annotate-export --as labels' and 'markscheme research amend"
    ),
    ("cascade", "--guarantee"): "research cascade --agreement",
    ("cascade", "--delta"): "research cascade --agreement",
}
"""Options that were taken out, by command, to the commands that answer their question."""

_DRAWS = ("--resamples", "--bootstrap", "--seed")
IDLE = dict.fromkeys(("agree", "compare", "diff"), _DRAWS) | {
    "explain": ("--features",),
    "plan-labels": ("--design", "--strata"),
    "rank": (*_DRAWS, "--protocol"),
    "serve": ("--batch-rows", "--batch-ms"),
    "train examiner": ("--encoder", "--epochs"),
}
"""Options with a value that do nothing any more, by command: understood until 0.3, and ignored."""

NOT_INSTALLED = (
    f"not installed: {install_line('research')}; it adds papers' tables, public data sets, "
    "studies, the judges fine-tuned for a paper, and training"
)


def spelled_now(arguments: Sequence[str]) -> list[str]:
    """A command line with its command as it is spelled now, and a note where that has changed.

    Raises:
        MarkschemeError: an option that was taken out.
    """
    line = f" {' '.join(arguments)} ".replace("=", " ")
    for (name, option), instead in GONE.items():
        if arguments[:1] == [name] and f" {option} " in line:
            raise MarkschemeError(f"'markscheme {name} {option}' is 'markscheme {instead}' now")
    for words in (2, 1):
        before = " ".join(arguments[:words])
        now = FORMER.get(before)
        if now is not None and before.replace(" ", ".") not in _offered():
            notes.print(
                f"note: 'markscheme {before}' is 'markscheme {now}' now; the old spelling "
                "will be removed in 0.3"
            )
            return [*now.split(), *arguments[words:]]
    return _without_idle(arguments)


def _without_idle(arguments: Sequence[str]) -> list[str]:
    """A command line without the options that do nothing any more, and a note that names them."""
    known = IDLE.get(" ".join(arguments[:2])) or IDLE.get(next(iter(arguments), ""), ())
    idle, taken, rest = [], [], iter(arguments)
    for item in rest:
        flag, equals, _ = item.partition("=")
        if flag in known:
            idle.append(flag)
            next(rest if not equals else iter(()), None)  # its value
        else:
            taken.append(item)
    if idle:
        said = f"note: {', '.join(idle)}: no longer used, to be removed in 0.3"
        notes.print(said)
    return taken


class NotInstalled(TyperGroup):
    """Has in it what other packages added, and an error for what the research package would."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A command by its name.

        Raises:
            MarkschemeError: the research package has it, with the line that installs that.
        """
        theirs = RESEARCH if ctx.info_name == "research" else ("examiner",)
        if args[0] in theirs and args[0] not in self.list_commands(ctx):
            raise MarkschemeError(f"markscheme {ctx.info_name} {args[0]} is {NOT_INSTALLED}")
        return super().resolve_command(ctx, args)


_ERROR, _INTERRUPTED = 2, 130

_COLLECT_FROM = 50_000
"""New objects after which Python looks for garbage. Starting makes hundreds of thousands that stay;
at Python's own 700 to 2,000, searching those took an eighth of a short command's time."""


ENTRY_POINTS = "markscheme.commands"
"""Entry-point group of other packages: each is named as its command is typed, with a dot for a
space (`research.probe`), and its module registers the command when imported."""


def load_commands(arguments: Sequence[str] = ()) -> None:
    """Import command files, which registers their commands with the application.

    Where the arguments begin with a command, only the files of its name, or of its group, are
    imported: a command starts in the time that it needs itself.
    """
    files = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    first, second = [*arguments[:2], "", ""][:2]
    stem = first.replace("-", "_")
    if stem in files and first not in GROUPS:  # one of ours: other packages are not looked for
        importlib.import_module(f"markscheme.cli.{stem}")
        if first in _registered():
            return
    points = _others(files)
    own = [name for name in files if name == stem or name.startswith(f"{stem}_")]
    theirs = [name for name in points if name == first or name.startswith(f"{first}.")]
    if f"{first}.{second}" in theirs:
        theirs = [f"{first}.{second}"]
    known = stem in own or bool(theirs) or first in GROUPS
    if importlib.util.find_spec("markscheme_research") is None:
        for name in ("research", "train"):
            group(name, NOT_INSTALLED, cls=NotInstalled)
    for name in own if known else files:
        importlib.import_module(f"markscheme.cli.{name}")
    for name in theirs if known else points:
        _load(points[name])
    if known and first not in _registered():
        load_commands()


def _offered() -> set[str]:
    return {one.name for one in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def _others(files: Sequence[str]) -> dict[str, importlib.metadata.EntryPoint]:
    """Other packages' commands by name, without those that would replace one of ours or another.

    Args:
        files: our own command files.
    """
    found: dict[str, importlib.metadata.EntryPoint] = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        first = point.name.partition(".")[0].replace("-", "_")
        whole = point.name.replace(".", "_").replace("-", "_")
        other = found.get(point.name)
        if whole in files or (first in files and first not in GROUPS):
            reason = "markscheme has a command of its name"
        elif other is not None and other.value != point.value:
            reason = f"{other.value} has a command of its name"
        else:
            found[point.name] = point
            continue
        _note_broken(point, reason)
    return found


def _load(point: importlib.metadata.EntryPoint) -> None:
    """Import another package's command; where it is broken, say so: the others work."""
    try:
        point.load()
    except (Exception, SystemExit) as error:
        _note_broken(point, f"{type(error).__name__}: {error}")


@functools.cache
def _note_broken(point: importlib.metadata.EntryPoint, reason: str) -> None:
    """Say once that a command of another package is not there."""
    name = point.name.replace(".", " ")
    notes.print(f"note: the command {name!r} of {point.value} did not load: {one_line(reason)}")


def _registered() -> set[str | None]:
    commands = {one.name for one in app.registered_commands}
    return commands | {one.name for one in app.registered_groups}


@functools.lru_cache(maxsize=1)
def _built(registered: tuple[object, ...]) -> Any:
    """The application with the commands registered by now, built again where these are others."""
    del registered
    return get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code.

    0: done. 1: done, but a requested check failed. 2: an error, printed without a traceback unless
    `--debug` is given; also where nothing was judged, and where a run stopped since no further
    request to a model could succeed. 130: interrupted.
    """
    debug = "--debug" in arguments
    arguments = ["--debug", *(item for item in arguments if item != "--debug")][not debug :]
    try:
        arguments = [*arguments[:debug], *spelled_now(arguments[debug:])]
        load_commands(arguments[debug:])
        with _warnings_noted():
            built = _built(registrations())
            code = built(args=list(arguments), standalone_mode=False, prog_name="markscheme")
    except MarkschemeError as error:
        if debug:
            raise
        print_error(str(error))
        return _ERROR
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as ended:
        # Typer ends the process with 1 where the reader has left, which would be a check failed.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        return _reader_left()
    except (OSError, MemoryError) as error:
        if debug:
            raise
        raised = _raised_in_own_code(error)
        print_error(_reason(error) + (f" ({raised})" if raised else ""))
        return _ERROR
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except Exception as error:
        # Usage errors of the command-line library show themselves. Otherwise it is a mistake in
        # somebody's own judge, or a bug of ours.
        show, exit_code = getattr(error, "show", None), getattr(error, "exit_code", None)
        if show is not None and exit_code is not None:
            show()
            return int(exit_code)
        raised = _raised_in_own_code(error)
        no_memory = isinstance(error, ImportError) and _NO_ROOM in str(error)
        if debug or not (raised or no_memory):
            raise
        said = f"{type(error).__name__}: {error}, {raised}; --debug shows the traceback"
        print_error(_reason(MemoryError()) if no_memory else said)
        return _ERROR
    if code == _INTERRUPTED:  # Typer makes a code of an interrupt.
        notes.print("interrupted")
    return code if isinstance(code, int) else 0


def _raised_in_own_code(error: Exception) -> str:
    """Which judge raised an error and where, as far as it is known; "" where none did."""
    from markscheme.contract import RAISED_BY, place_of

    noted = [note for note in getattr(error, "__notes__", ()) if note.startswith(RAISED_BY)]
    place = place_of(error)
    return noted[0] if noted else f"raised in {place}" if place else ""


_NO_ROOM = "failed to map segment"
"""What the loader of libraries says where no memory is left for one."""


def _reason(error: OSError | MemoryError) -> str:
    """What the system refused."""
    if isinstance(error, OSError) and error.errno != errno.ENOMEM:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return (
        "there is no memory left; what was judged in a run's folder is saved, and the same "
        "command with that --out resumes there; other commands write a result whole or not at all, "
        "so start them again with more memory"
    )


@contextmanager
def _warnings_noted() -> Iterator[None]:
    """Prints our warnings as the command line does, those of former names as notes."""
    show = warnings.showwarning

    def noted(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, DeprecationWarning):
            notes.print(f"note: {message}")
        elif issubclass(category, SkippedRowsWarning | UnsealedWarning):
            notes.print(f"warning: {message}", soft_wrap=True)
        else:
            show(message, category, *where, **more)

    with warnings.catch_warnings():
        # Those of libraries are none of the user's; ours come once for each line that warns.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("default", category=DeprecationWarning, module="markscheme")
        warnings.simplefilter("always", SkippedRowsWarning)
        warnings.simplefilter("default", UnsealedWarning)
        warnings.showwarning = noted
        yield


def _reader_left() -> int:
    """The exit code where the reader (head, less) has left: no error, but no more to write."""
    silence(sys.stdout)
    return 0


def main() -> None:
    """Entry point of the `markscheme` command."""
    gc.set_threshold(_COLLECT_FROM, *gc.get_threshold()[1:])
    try:
        code = run(sys.argv[1:])
    except Exception:  # Python's own exit code, 1, is that of a check which failed.
        traceback.print_exc()
        code = _ERROR
    sys.exit(code)
