"""Command-line flags made from option classes: a command's parameters are dataclasses.

    @command("research probe", example="markscheme research probe contains answers.jsonl")
    def probe(judge: ..., options: ProbeOptions, models: ModelOptions) -> None: ...

has a flag for each field of both classes, and is called with an instance of each.
"""

from __future__ import annotations

import inspect
import itertools
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from difflib import get_close_matches
from operator import itemgetter
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from typer.core import TyperCommand

from markscheme.cli.app import console, group, notes
from markscheme.cli.settings import columns_left, defaults_of, is_in_file, say
from markscheme.errors import MarkschemeError
from markscheme.flags import JUDGE, Argument, Default, Fields, Option, out_of_range, split_list

if TYPE_CHECKING:
    from markscheme.results import Tabular

OUT = Option(
    "Write results to this file or folder (for judge, always a folder). A file's extension sets "
    "its format: .json, .csv, .md, .tex or .txt for figures; .jsonl, .csv, .tsv or .parquet for "
    "rows.",
    ("--out", "-o"),
    metavar="PATH",
    output=True,
)
Out = Annotated[Path | None, OUT]
"""Where a command may write."""
OutAddress = Annotated[str | None, OUT]
"""The same, or an address such as `s3://bucket/run`, of which a path would lose a slash."""
OutFile = Annotated[Path, OUT]
"""Where a command has to write."""
Quiet = Annotated[
    bool,
    Option(
        "Print only results, warnings and errors; no progress and no notes.",
        ("--quiet", "-q"),
        rare=True,
    ),
]
Host = Annotated[
    str,
    Option("Address to listen on; other machines can connect if it is not a loopback address."),
]
Port = Annotated[int, Option("Port to listen on; 0 takes any free one.", minimum=0, maximum=65535)]
Files = Annotated[
    list[str],
    Argument(
        "Answers: JSONL, JSON, CSV, TSV or Parquet, compressed or not; - is standard input.",
        metavar="FILE...",
    ),
]
Judgments = Annotated[
    str,
    Argument(
        "Judgments: a file (CSV, JSONL, Parquet, ...), ours or another tool's, or the folder of a "
        "run.",
        metavar="JUDGMENTS",
    ),
]


_ENDINGS = frozenset(".json .csv .md .tex .txt .jsonl .tsv .parquet .html".split())
"""Of files that other commands and tools write results to."""


def check_folder(out: str) -> None:
    """Refuse a new folder with the name of a file, as people mean whose other tools write one.

    Raises:
        MarkschemeError: the name has an ending that results are written with.
    """
    if Path(out).suffix.lower() in _ENDINGS and not Path(out).is_dir():
        raise MarkschemeError(
            f"--out names the folder of a run, and {out!r} looks like a file: --out "
            f"{Path(out).with_suffix('')} writes a folder with judgments.parquet and summary.md; "
            "--format csv prints the figures as CSV"
        )


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a result is printed, and where it is written too."""

    format: Annotated[
        Literal["table", "json", "csv", "markdown", "latex"],
        Option("Format of the printed results."),
    ] = "table"
    out: Out = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        """Raises MarkschemeError for an ending that nothing is written with: before the work."""
        if self.out is not None:
            from markscheme.results import check_ending

            check_ending(self.out)

    def show(self, result: Tabular, own: Callable[[], None] | None = None) -> None:
        """Print a result in the chosen format, and write it to the chosen file.

        `--format json` prints exactly what the result's `to_json` gives.

        Args:
            result: what was found.
            own: prints it where people read it, for commands with another way than its tables.
        """
        if self.out is not None:
            # Before printing: a reader that leaves early (head) must not cost the file.
            result.save(self.out)
        if self.format != "table":
            console.file.write(getattr(result, f"to_{self.format}")())
        elif own is not None:
            own()
        else:
            result.print_on(console)
        if self.out is not None:
            self.note(f"written to {self.out}")

    def note(self, text: str) -> None:
        """Print a note on standard error, unless the command is to be quiet."""
        if not self.quiet:
            notes.print(text, soft_wrap=True)

    def gates(self, held: Mapping[str, bool]) -> None:
        """Print what gates say, whether quiet or not; the command ends with 1 if one has failed."""
        for outcome in held:
            notes.print(outcome)
        if not all(held.values()):
            raise typer.Exit(1)


_EMPTY = inspect.Parameter.empty
_METAVARS = {bool: "", Path: "PATH", int: "N", float: "X", str: "TEXT"}
"""What the help shows for a value of a type; a switch has none."""
_WORDS_WIDTH = 18
"""Characters of `WORD|WORD` in the help, at most; more words are in the option's text."""
_SHORT = "markscheme.short_help"
_FEW = 12
"""A command with no more options shows all, rare ones too."""
_JUDGES = ("judge", "judges", "allow")
"""Parameters that name judges."""
_FIRST = (
    "--question",
    "--reference",
    "--answer",
    "--labels",
    "--judge",
    "--first",
    "--then",
    "--answers",
    "--columns",
    "--answer-columns",
    "--label-column",
    "--positive-from",
    "--out",
    "--format",
)
"""The options that help begins with, in this order: what goes in, who judges, what comes out."""
_Function = TypeVar("_Function", bound=Callable[..., None])


@dataclass(frozen=True)
class _Flag:
    """One flag or argument: how typer sees it, and how its value is made of what was typed."""

    name: str
    kind: Any
    default: Any
    text: Option | Argument
    shown: str | None
    several: type | None
    element: Any

    def parameter(self) -> inspect.Parameter:
        """The typer parameter."""
        text = self.text
        shown_help = text.help
        words = self._words
        if not all(re.search(rf"\b{re.escape(word)}\b", shown_help) for word in words):
            before, default, after = shown_help.partition(" [default: ")
            shown_help = f"{before} One of {', '.join(words)}.{default}{after}"
        if self.shown is not None:
            shown_help = f"{shown_help} [default: {self.shown}]".lstrip()
        common: dict[str, Any] = {"help": shown_help, "metavar": self._metavar}
        if self._numeric:
            common |= {"min": text.minimum, "max": text.maximum}
        if isinstance(text, Argument):
            info = typer.Argument(**common)
        else:
            common["show_default"] = self.shown is None and self.default not in ("", None, ())
            info = typer.Option(*self.flags, rich_help_panel=text.panel, **common)
        default = self.default
        if default is not _EMPTY:
            default = self._as_typed(default)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[self.kind, info],
        )

    @property
    def flags(self) -> tuple[str, ...]:
        """How it is written."""
        if isinstance(self.text, Argument):
            return ()
        flag = f"--{self.name.replace('_', '-')}"
        if self.text.flags:
            return self.text.flags
        if (self.kind is bool and self.default is True) or self.kind == bool | None:
            return (f"{flag}/--no-{flag[2:]}",)
        return (flag,)

    @property
    def _words(self) -> tuple[str, ...]:
        """The values that there are, where a value is one of a few words."""
        if get_origin(self.element) is Literal:
            return tuple(map(str, get_args(self.element)))
        return ()

    @property
    def _metavar(self) -> str | None:
        if self.text.metavar is not None or isinstance(self.text, Argument):
            return self.text.metavar
        words = "|".join(self._words)
        if words:
            return words if len(words) <= _WORDS_WIDTH else "WORD"
        kinds = {self.element, *get_args(self.element)}
        return next(shown for kind, shown in _METAVARS.items() if kind in kinds)

    @property
    def _numeric(self) -> bool:
        return self.element in (int, float) and not self._separated

    @property
    def _pairs(self) -> bool:
        """Whether it is a mapping, which may be given in parts, one option after the other."""
        return isinstance(self.text, Option) and _is_mapping(self.element)

    @property
    def _separated(self) -> bool:
        return isinstance(self.text, Option) and self.text.split and self.several is not None

    @property
    def _names_judges(self) -> bool:
        return self.flags[:1] == JUDGE.flags[:1]

    def _as_typed(self, default: Any) -> Any:
        if self.several is not None:
            return [str(item) for item in default] or None if default else None
        if isinstance(default, Mapping):
            pairs = [f"{ours}={theirs}" for ours, theirs in default.items()]
            return pairs or None if self._pairs else ",".join(pairs)
        if isinstance(default, Path):
            return str(default) if self.kind is str else default
        return default

    def value(self, given: Any) -> Any:
        """What the command is given for what was typed.

        Raises:
            typer.BadParameter: an item of a list is not of its type.
        """
        if self.several is not None:
            items = [] if given is None else list(given)
            if not items and self.default is not _EMPTY:
                return self.default
            if self._separated:
                pieces = [piece for item in items for piece in split_list(item)]
                items = pieces or items * self._names_judges
            return self.several(self._item(item) for item in items)
        if self._pairs:
            given = ",".join(given or ())
        if given is None:
            return None
        return self._item(given)

    def _item(self, given: Any) -> Any:
        if self.text.parse is not None and isinstance(given, str):
            return self.text.parse(given)
        if isinstance(given, str) and self._names_judges:
            return _judge(given)
        if self._separated and self.element in (int, float):
            try:
                return self.element(given)
            except ValueError:
                kind = "whole number" if self.element is int else "number"
                raise MarkschemeError(f"{self.flags[0]} {given!r} is not a {kind}") from None
        return given


def _judge(given: str) -> str:
    """The name of a judge; one in a file (`./mine.py:Judge`) is imported and has its name.

    Raises:
        MarkschemeError: it is empty, which would be taken for the default judge.
    """
    if not given.strip():
        raise MarkschemeError(
            f"{JUDGE.flags[0]} is empty (a variable that is not set?); name a judge, or leave the "
            "option out"
        )
    if not is_in_file(given):
        return given
    from markscheme.contract import judge_in_file

    return judge_in_file(given)


class _Command(TyperCommand):
    """A command that understands older spellings, which its help does not show.

    `aliases` has each, with what is typed now in its place; `flags` are those of its options.
    """

    flags: Mapping[str, _Flag] = {}
    aliases: Mapping[str, tuple[str, ...]] = {}
    rare: Set[str] = frozenset()
    reads_answers = False

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse what was typed.

        Raises:
            typer.BadParameter: a value cannot be; in our words.
        """
        try:
            return super().parse_args(ctx, [*self._spelled_now(args)])
        except typer.BadParameter as error:
            error.message = _in_our_words(error)
            raise

    def _spelled_now(self, args: Iterable[str]) -> Iterator[str]:
        for item in args:
            flag, equals, value = item.partition("=")
            now, *more = self.aliases.get(flag, (flag,))
            yield f"{now}{equals}{value}"
            yield from more

    def get_params(self, ctx: Any) -> Any:
        """The options; for `--help` without the rare ones."""
        known = super().get_params(ctx)
        rare = self.rare if ctx.meta.get(_SHORT) else ()
        return [parameter for parameter in known if parameter.name not in rare]

    def get_help_option(self, ctx: Any) -> Any:
        """`--help`, which takes no value."""
        found: Any = super().get_help_option(ctx)
        found.metavar = ""
        return found

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What is typed after the command, in the usual notation."""
        arguments = [one for one in self.params if one.param_type_name == "argument"]
        return [*super().collect_usage_pieces(ctx)[:1], *map(placeholder, arguments)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help: what most need, or all of it for `--help-all`."""
        for parameter in self.params:
            if parameter.param_type_name == "argument":  # Its name says what it is, not `<str>`.
                parameter.display_type_rich = lambda **_: None  # type: ignore[attr-defined]
        short = ctx.meta.setdefault(_SHORT, True)
        super().format_help(ctx, formatter)
        if short and self.rare:
            console.print(f" --help-all shows {len(self.rare)} more options")

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context, in which `markscheme.toml` gives what was not typed."""
        names = [str(info_name)]
        above = parent
        while above is not None and above.parent is not None:
            names.insert(0, str(above.info_name))
            above = above.parent
        blank = self.context_class(self, info_name=info_name, parent=parent)
        found = None
        if not extra.get("resilient_parsing"):  # A shell that completes words wants nothing else.
            found = defaults_of(
                " ".join(names),
                self.params,
                args,
                lambda one, value: one.process_value(blank, value),
                reads_answers=self.reads_answers,
            )
        settings, given = found or (None, {})
        columns = given.pop("columns", [])  # They add to those that are typed.
        context = super().make_context(info_name, args, parent, default_map=given, **extra)
        origins = {
            name: getattr(context.get_parameter_source(name), "name", "")
            for name in (*given, "answer_columns", "model")
        }
        if settings is not None:
            taken = {n: value for n, value in given.items() if origins[n] == "DEFAULT_MAP"}
            if "answer_columns" in taken and "answer" in self._columns(context.params["columns"]):
                del taken["answer_columns"]
                context.params["answer_columns"] = []
            if columns:
                several = origins["answer_columns"] == "COMMANDLINE"
                taken = self._add_columns(context.params, columns, several=several) | taken
            say(settings, taken)
        # A team's settings may name a model for other judges.
        if origins["model"] == "COMMANDLINE" and not context.resilient_parsing:
            self._check_model(context.params)
        return context

    def _columns(self, pairs: list[str] | None) -> dict[str, str]:
        found: dict[str, str] = self.flags["columns"].value(pairs)
        return found

    def _add_columns(
        self, typed: dict[str, Any], settings: list[str], *, several: bool
    ) -> dict[str, list[str]]:
        """Add the settings' columns to those typed, which come first, and return what was added.

        Args:
            typed: the options' values.
            settings: `[columns]`, as it would be typed.
            several: whether a column of answers for each system is typed.
        """
        own = self._columns(typed["columns"])
        added = columns_left(self._columns(settings), own, several=several)
        if not added:
            return {}
        pairs = [",".join(f"{ours}={theirs}" for ours, theirs in added.items())]
        typed["columns"] = [*pairs, *(typed["columns"] or ())]
        return {"columns": pairs}

    def _check_model(self, typed: Mapping[str, Any]) -> None:
        """Raises MarkschemeError where `--model` is typed and no judge calls a language model."""
        judges = [flag for flag in self.flags.values() if flag.name in _JUDGES]
        if not judges:
            return
        from markscheme.contract import asks_chat, parse_judge

        names: list[str] = []
        for flag in judges:
            value = flag.value(typed[flag.name]) or flag.shown or ()
            names += [value] if isinstance(value, str) else value
        if not any(asks_chat(parse_judge(name)) for name in names):
            raise MarkschemeError(
                f"--model {typed['model']} has no effect: no language model is called by "
                f"{', '.join(names) or 'the judges of this command'}; name a judge that calls one, "
                f"such as {' '.join((*judges[0].flags[-1:], 'llm_grader'))} ('markscheme judges' "
                "lists all)"
            )


def _in_our_words(error: typer.BadParameter) -> str:
    """What is wrong with a value that was typed, where pydantic has found it."""
    details: list[Any] = getattr(error.__cause__, "errors", list)()
    if not details:
        return error.message
    said, value, limits = details[0]["type"], details[0]["input"], details[0].get("ctx", {})
    if said in ("greater_than_equal", "less_than_equal"):
        number = float(value)
        number = int(number) if number.is_integer() else number
        return f"it is {out_of_range(number, limits.get('ge'), limits.get('le'))}."
    text = error.message.removeprefix("Value error, ").rstrip(".")
    words = re.findall(r"'([^']*)'", text)
    near = get_close_matches(words[0], words[1:], n=1) if "is not one of" in text else []
    return f"{text}; did you mean {near[0]!r}?" if near else f"{text}."


def placeholder(argument: Any) -> str:
    """How the value of an argument is written in a line of usage."""
    shown = argument.metavar or argument.name.upper()
    return shown if argument.required or shown.startswith("[") else f"[{shown}]"


def command(
    path: str, *, example: str, reads_answers: bool = False
) -> Callable[[_Function], _Function]:
    """Register a function as a command whose flags are the fields of its option classes.

    Parameters annotated with a dataclass become a flag per field, those annotated with an `Option`
    or `Argument` a flag or argument of their own. `Annotated[Class, Fields(...)]` takes some
    fields only. Two classes may share a field, where it is the same option. The help is the
    function's docstring.

    Args:
        path: as it is typed after `markscheme`, such as `judge` or `llm batch write`.
        example: a whole line that can be typed, with which the help begins.
        reads_answers: whether it reads answers as people have them, so that the columns and
            readers' options of `markscheme.toml` count for it.

    Raises (when registering):
        TypeError: a field has no `Option`, or two fields of one name are different options.
    """

    def register(function: _Function) -> _Function:
        call, flags, aliases, rare = _flagged(function)
        attributes = {
            "flags": flags,
            "aliases": aliases,
            "rare": rare,
            "reads_answers": reads_answers,
        }
        above, _, name = path.rpartition(" ")
        about = inspect.cleandoc(function.__doc__ or "")
        group(above).command(
            name,
            cls=type("Command", (_Command,), attributes),
            help=f"For instance: `{example}`\n\n{about}",
            short_help=about.partition("\n")[0],
        )(call)
        return function

    return register


def flagged(function: Callable[..., None]) -> Callable[..., None]:
    """A function with the flags of its options, for the callback of a group of commands."""
    return _flagged(function)[0]


def _show_all(context: typer.Context, value: bool) -> None:
    """Print the help with every option and stop, for `--help-all`."""
    if value and not context.resilient_parsing:
        context.meta[_SHORT] = False
        context.get_help()
        raise typer.Exit


def _help_all(*, hidden: bool) -> inspect.Parameter:
    flag = typer.Option(
        "--help-all",
        help="Show all options and exit.",
        metavar="",
        is_eager=True,
        hidden=hidden,
        callback=_show_all,
    )
    return inspect.Parameter(
        "help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, flag]
    )


def _place(flag: _Flag) -> tuple[bool, int, bool]:
    """Where a flag is in the help: arguments, what every command has, its own, rare ones."""
    first = next((_FIRST.index(name) for name in flag.flags if name in _FIRST), len(_FIRST))
    return flag.flags != (), first, _is_rare(flag)


def _is_rare(flag: _Flag) -> bool:
    return isinstance(flag.text, Option) and flag.text.rare


def _flagged(
    function: Callable[..., None],
) -> tuple[Callable[..., None], dict[str, _Flag], dict[str, tuple[str, ...]], frozenset[str]]:
    """What typer calls, its flags, older spellings, and options that `--help` leaves out."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    defaults = inspect.signature(function).parameters
    flags: dict[str, _Flag] = {}
    makers: dict[str, Callable[[dict[str, Any]], Any]] = {}
    context: list[inspect.Parameter] = []
    for parameter, hint in hints.items():
        kind, extras = _bare(hint)
        if kind is typer.Context:
            context.append(
                inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
            )
            makers[parameter] = itemgetter(parameter)
        elif is_dataclass(kind) and isinstance(kind, type):
            chosen = next((one for one in extras if isinstance(one, Fields)), Fields())
            makers[parameter] = _instance(kind, chosen, flags)
        else:
            flag = _flag(parameter, hint, defaults[parameter].default)
            _add(flags, flag)
            makers[parameter] = _single(flag)

    def call(**given: Any) -> None:
        _refuse_to_overwrite(flags.values(), given)
        function(**{parameter: make(given) for parameter, make in makers.items()})

    options = [flag for flag in flags.values() if flag.flags]
    rare = frozenset(flag.name for flag in options if len(options) > _FEW and _is_rare(flag))
    ordered = [flag.parameter() for flag in sorted(flags.values(), key=_place)]
    parameters = [*context, *ordered, _help_all(hidden=not rare)]
    call.__doc__ = function.__doc__
    call.__name__ = function.__name__
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    aliases: dict[str, tuple[str, ...]] = {}
    for flag in options:
        if isinstance(flag.text, Option):
            now = flag.flags[0].partition("/")[0]
            aliases |= dict.fromkeys(flag.text.aliases, (now,))
            aliases |= {old: (now, value) for old, value in flag.text.alias_values.items()}
    for spelling in (one for flag in options for both in flag.flags for one in both.split("/")):
        aliases.pop(spelling, None)  # another option of this command is called so
    return call, flags, aliases, rare


def _refuse_to_overwrite(flags: Iterable[_Flag], given: Mapping[str, Any]) -> None:
    """Raises MarkschemeError where a file to write is one that the command reads, or writes too."""
    named: dict[bool, list[str]] = {True: [], False: []}
    for flag in flags:
        if flag.name == "pilot":  # A plan may continue in its file, and loses none of its labels.
            continue
        values = given[flag.name] if isinstance(given[flag.name], list) else [given[flag.name]]
        names = [str(one) for one in values if isinstance(one, str | Path)]
        named[isinstance(flag.text, Option) and flag.text.output] += names
    for target, other in itertools.combinations(named[True], 2):
        plain = Path(target).is_file() or not Path(target).exists()  # else a pipe or a device
        if plain and Path(target).resolve() == Path(other).resolve():
            raise MarkschemeError(
                f"{target} is named by two options, and the one result would replace the other; "
                "write to two files"
            )
    for target, source in itertools.product(named[True], named[False]):
        with suppress(OSError, ValueError):
            if Path(source).is_file() and Path(source).samefile(target):
                raise MarkschemeError(
                    f"{target} is read by this command and would be overwritten; write to another "
                    "file"
                )


def _single(flag: _Flag) -> Callable[[dict[str, Any]], Any]:
    return lambda given: flag.value(given[flag.name])


def _instance(
    cls: type, chosen: Fields, flags: dict[str, _Flag]
) -> Callable[[dict[str, Any]], Any]:
    """Adds the flags of a class's fields, and gives what makes an instance of them."""
    hints = get_type_hints(cls, include_extras=True)
    makers: dict[str, Callable[[dict[str, Any]], Any]] = {}
    for one in fields(cls):
        kind, extras = _bare(hints[one.name])
        if is_dataclass(kind) and isinstance(kind, type):
            if one.name not in chosen.without:
                makers[one.name] = _instance(kind, chosen, flags)
            continue
        if (chosen.only and one.name not in chosen.only) or one.name in chosen.without:
            continue
        if not any(isinstance(extra, Option | Argument) for extra in extras):
            if one.default is MISSING and one.default_factory is MISSING:
                raise TypeError(f"{cls.__name__}.{one.name} has neither an Option nor a default")
            continue
        default = chosen.defaults.get(one.name, _default(one))
        if one.name in chosen.required:
            default = _EMPTY
        flag = _flag(one.name, hints[one.name], default)
        _add(flags, flag)
        makers[one.name] = _single(flag)
    return lambda given: cls(**{name: make(given) for name, make in makers.items()})


def _default(one: Any) -> Any:
    if one.default is not MISSING:
        return one.default
    return _EMPTY if one.default_factory is MISSING else one.default_factory()


def _add(flags: dict[str, _Flag], flag: _Flag) -> None:
    there = flags.setdefault(flag.name, flag)
    if there.text != flag.text:
        raise TypeError(f"two different options are called {flag.name}")


def _bare(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without `Annotated` and `None`, and what it was annotated with."""
    extras: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *found = get_args(hint)
        extras = tuple(found)
    if get_origin(hint) in (Union, types.UnionType):
        members = [one for one in get_args(hint) if one is not type(None)]
        if len(members) == 1:
            inner, more = _bare(members[0])
            return inner, (*extras, *more)
    return hint, extras


def _optional(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)


def _flag(name: str, hint: Any, default: Any) -> _Flag:
    """A flag of an annotated type.

    Raises:
        TypeError: no `Option` or `Argument` is among the annotations.
    """
    kind, extras = _bare(hint)
    text = next((one for one in extras if isinstance(one, Option | Argument)), None)
    if text is None:
        raise TypeError(f"{name} has no Option")
    shown = next((one.text for one in reversed(extras) if isinstance(one, Default)), None)
    several, element = _element(kind)
    if default is _EMPTY and isinstance(text, Option) and get_origin(kind) is Mapping:
        default = {}
    if isinstance(text, Option) and (_is_mapping(kind) or (text.split and several is not None)):
        typed: Any = list[str]
    elif text.parse is not None:
        typed = list[str] if several else str
    else:
        typed = _typed(element)
        typed = list[typed] if several else typed
    if _optional(hint) or (default is not _EMPTY and get_origin(typed) is list):
        typed = typed | None
    return _Flag(name, typed, default, text, shown, several, element)


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _element(kind: Any) -> tuple[type | None, Any]:
    """The container and the type of its items; None and the type itself where it is no list."""
    origin = get_origin(kind)
    if origin in (tuple, list) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return (list if origin is list else tuple), get_args(kind)[0]
    return None, kind


def _typed(kind: Any) -> Any:
    """The type that typer parses for a Python type."""
    if get_origin(kind) in (Union, types.UnionType):
        members = {_bare(member)[0] for member in get_args(kind)}
        return next(one for one in (str, float, int, Path) if one in members)
    return kind
