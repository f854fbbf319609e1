"""How options are named and described on a command line: each once, for every command.

An option is an annotation on a field of an options class, or on a parameter of a command:

    @dataclass(frozen=True, kw_only=True)
    class ProbeOptions:
        probes: Annotated[tuple[str, ...], Option("Only these probes.", split=True)] = ()
        seed: Seed = 0

`markscheme.cli` makes flags of them. Options that several classes or commands have (`Seed`,
`Labels`, ...) are defined here, so that a flag has one help text and one meaning everywhere.
"""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from markscheme.errors import MarkschemeError, UnknownNameError


@dataclass(frozen=True, kw_only=True)
class _Text:
    """What options and arguments share."""

    metavar: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    parse: Callable[[str], Any] | None = None


@dataclass(frozen=True)
class Option(_Text):
    """A flag.

    Attributes:
        help: what it means, the same for every command.
        flags: how it is written, `("--judge", "-j")`; () for the field's name. `--x/--no-x` for
            one that can be switched off.
        aliases: older spellings, understood but not shown.
        alias_values: older flags without a value, and the value that each means.
        split: whether one value may hold several, separated by commas.
        panel: heading of the help under which it is shown.
        rare: whether few need it; `--help-all` shows it, and `--help` of a long list does not.
        output: whether it names a file to write, which may be none that the command reads.
        metavar: what the help shows for a value.
        minimum, maximum: range of a number, both included.
        parse: makes the value of the text that was typed.
    """

    help: str
    flags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = field(default=(), kw_only=True)
    alias_values: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    split: bool = field(default=False, kw_only=True)
    panel: str | None = field(default=None, kw_only=True)
    rare: bool = field(default=False, kw_only=True)
    output: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Argument(_Text):
    """What is given by its place instead of a flag; attributes as for `Option`."""

    help: str


@dataclass(frozen=True)
class Default:
    """What a command's help shows as an option's default, where the value does not say it."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Fields:
    """Which fields of an options class a command has.

    Attributes:
        only: these; () for all.
        without: not these.
        required: these have no default.
        defaults: values where a command's default is not the class's.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


def split_list(text: str) -> list[str]:
    """`a, b` as a list; commas inside brackets belong to a judge's name.

    >>> split_list("exact_match, sample(base=f1, n=3)")
    ['exact_match', 'sample(base=f1, n=3)']
    """
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def parse_columns(text: str) -> dict[str, str]:
    """`question=q,answer=pred` as a mapping.

    Raises:
        MarkschemeError: a piece without `=`, or one of our columns given twice.
    """
    found: dict[str, str] = {}
    for piece in filter(None, (part.strip() for part in text.split(","))):
        ours, equals, theirs = piece.partition("=")
        if not equals or not theirs.strip():
            raise MarkschemeError(
                f"--columns {piece!r} is not OURS=THEIRS, as in question=q,answer=pred"
            )
        ours, theirs = ours.strip(), theirs.strip()
        if ours in found:
            hint = (
                f"; where each holds a system's answers, 'markscheme judge' and 'init' take "
                f"--answer-columns {found[ours]},{theirs}"
                if ours == "answer"
                else "; give one of them"
            )
            raise MarkschemeError(
                f"--columns gives {ours} twice, as {found[ours]!r} and as {theirs!r}{hint}"
            )
        found[ours] = theirs
    return found


def columns_option(pairs: Mapping[str, str]) -> str:
    """How columns are named, on the command line and in Python, for the text of an error.

    Args:
        pairs: our names of columns to the file's.

    >>> columns_option({"answer": "NAME"})
    "--columns answer=NAME (Python: columns={'answer': 'NAME'})"
    """
    return f"{typed_columns(pairs)} (Python: columns={dict(pairs)!r})"


def typed_columns(pairs: Mapping[str, str]) -> str:
    """How columns are named on the command line, as a shell takes it.

    >>> typed_columns({"label:Bot v1": "v1 ok?"})
    "--columns 'label:Bot v1=v1 ok?'"
    """
    return f"--columns {shlex.quote(','.join(f'{ours}={name}' for ours, name in pairs.items()))}"


JUDGE = Option(
    'Name of a judge, such as exact_match or "token_f1(threshold=0.6)"; for several, where '
    "allowed, repeat the option or separate them by commas. In a wide table of judgments: its "
    "column.",
    ("--judge", "-j"),
    aliases=("--judges",),
    split=True,
)
Judge = Annotated[str | None, JUDGE]
"""One judge."""
Judges = Annotated[tuple[str, ...], JUDGE]
"""Several judges; () for the default, which the command's help names."""

Seed = Annotated[int, Option("Random seed.", minimum=0, rare=True)]
Columns = Annotated[
    Mapping[str, str],
    Option(
        "Map the file's column names, comma-separated: question=q,answer=pred. THEIRS may be a "
        "path into nested data: doc.question, resps.0.0.",
        parse=parse_columns,
        metavar="OURS=THEIRS",
    ),
]
LABELS = Option("File of people's labels, with a label column.", metavar="PATH")
Labels = Annotated[str | None, LABELS]
LabelColumn = Annotated[str | None, Option("Name of the column with labels.")]
PositiveFrom = Annotated[
    float | None, Option("Lowest grade of an acceptable answer, where labels are grades.")
]
Answers = Annotated[
    str | None,
    Option(
        "File of the answers that were judged, if the judgments lack question, answer or system.",
        metavar="PATH",
    ),
]
Threshold = Annotated[
    float,
    Option("Lowest score of an accepted answer, 0 to 1, where a judge gave no verdict.", rare=True),
]
CONFIDENCE = Option(
    "Confidence level of intervals and limits, such as 0.95.",
    minimum=0.5,
    maximum=0.9999,
    rare=True,
)
Confidence = Annotated[float, CONFIDENCE]
FailUnder = Annotated[
    float | None,
    Option(
        "Exit with code 1 if less than this share of a system's answers is accepted, such as 0.8: "
        "a gate for CI. In judge, by the judge: answers that were not judged count as wrong, and "
        "with --confidence the share's lower bound must reach it. In estimate, by people, without "
        "the judge's errors: the low end of the interval must reach it."
    ),
]
"""The limit of a gate; None for none."""
Slices = Annotated[
    tuple[str, ...],
    Option(
        "Columns to break figures down by, comma-separated: topic,language. Saved with the run.",
        split=True,
    ),
]
"""Columns of the user's own by whose values figures are given; () for none."""
Cleaning = Literal["formatting", "none"]
"""What is taken out of answers before they are judged. `formatting`: citation marks, lists of
sources, closing offers and wrappings (markup around the whole, labels, greetings, disclaimers), for
judges that ask no chat model (see `markscheme.text.without_formatting`). `none`: nothing."""
CLEANING: Cleaning = "formatting"
"""What is taken out unless the user says otherwise."""
Clean = Annotated[
    Cleaning,
    Option(
        "What to remove from answers before judging. formatting: citation marks, source lists, "
        "closing offers and wrappings (markup around the whole, labels, greetings, disclaimers), "
        "for judges that use no chat model. none: nothing.",
        rare=True,
    ),
]
By = Annotated[
    Literal["system"] | None,
    Option(
        "Also report figures for each system.",
        alias_values={"--by-system": "system"},
    ),
]
Question = Annotated[str, Option("The question.", ("--question", "-q"))]
References = Annotated[
    tuple[str, ...], Option("A reference; several may be given.", ("--reference", "-r"))
]
ANSWER = Option("The system's answer.", ("--answer", "-a"))
Answer = Annotated[str, ANSWER]
SHARE = Option(
    "Share of the questions, 0 to 1, to choose and fit on; figures are for the others.", rare=True
)
LIMIT = Option(
    "Use at most this many answers, drawn at random (for training, by whole questions).", minimum=1
)
COUNT = (
    "Number of examples, or of answers to label, to draw. plan-labels draws them instead of making "
    "a plan, in addition to those labelled already; with --by system, for each system."
)
Count = Annotated[int, Option(COUNT, minimum=1, maximum=64)]
Title = Annotated[str | None, Option("Title of the pages. [default: the name of FILE or RUN]")]
ReferenceSeparator = Annotated[
    str,
    Option(
        "What separates several references in one field: '|', ';', newline, / for EVOUNA. auto "
        "recognises ' || ' and ' | '; none does not split.",
        rare=True,
    ),
]


_Options = TypeVar("_Options")

_RETIRED = "_retired"


def retired(*names: str) -> Callable[[type[_Options]], type[_Options]]:
    """Makes an options class understand former fields until 0.3: it ignores them, and warns."""

    def mark(kind: type[_Options]) -> type[_Options]:
        make = kind.__init__

        @wraps(make)
        def init(self: Any, **values: Any) -> None:
            make(self, **_without_retired(kind, values, stacklevel=3))

        kind.__init__ = init  # type: ignore[method-assign]
        setattr(kind, _RETIRED, names)
        return kind

    return mark


def _without_retired(
    kind: type[Any], values: Mapping[str, Any], *, stacklevel: int
) -> dict[str, Any]:
    idle = [name for name in getattr(kind, _RETIRED, ()) if name in values]
    if idle:
        said = f"{' and '.join(idle)} of {kind.__name__}: no longer used, to be removed "
        warnings.warn(f"{said}in 0.3", DeprecationWarning, stacklevel=stacklevel)
    return {name: value for name, value in values.items() if name not in idle}


def with_keywords(
    kind: type[_Options], options: _Options | None, keywords: Mapping[str, Any]
) -> _Options:
    """The options object of a call: `options`, else the defaults, changed by the keywords.

    Raises:
        UnknownNameError: a keyword is no option.
        MarkschemeError: a number is out of its range, or a value none of the choices.
    """
    hints = get_type_hints(kind, include_extras=True)
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    keywords = _without_retired(kind, keywords, stacklevel=4)
    for name in keywords:
        if name not in known:
            raise UnknownNameError("option", name, known, f"there are {', '.join(known)}")
    found: Any = replace(options or kind(), **keywords)  # type: ignore[type-var]
    for name in known:
        value = getattr(found, name)
        choices = _choices(hints[name])
        if value is not None and choices and value not in choices:
            raise MarkschemeError(f"{name} is {value!r}, and must be one of {', '.join(choices)}")
        for extra in getattr(hints[name], "__metadata__", ()):
            if isinstance(extra, Option) and isinstance(value, int | float):
                _check_range(name, value, extra)
    return found  # type: ignore[no-any-return]


def _choices(hint: Any) -> tuple[str, ...]:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(value for part in parts if get_origin(part) is Literal for value in get_args(part))


def _check_range(name: str, value: float, option: Option) -> None:
    wrong = out_of_range(value, option.minimum, option.maximum)
    if wrong:
        raise MarkschemeError(f"{name} is {wrong}")


def out_of_range(value: float, minimum: float | None, maximum: float | None) -> str:
    """What to say of a number below or above what can be, or of NaN; nothing of others."""
    if not value <= math.inf:  # NaN; a whole number may be too large for `math.isnan`
        return "nan, and must be a number"
    if minimum is not None and value < minimum:
        return f"{value!r}, and must be {minimum:.10g} or more"
    if maximum is None or value <= maximum:
        return ""
    share = f": write {value / 100:g}" if maximum <= 1 and value / 100 <= maximum else ""
    return f"{value!r}, and must be {maximum:.10g} or less{share}"
