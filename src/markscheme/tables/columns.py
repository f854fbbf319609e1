"""Which of a file's columns is the question, the answer, the verdict: names people use.

Wide tables have one row per question, and a column for the answers, or the labels, of each system.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.errors import DataError, did_you_mean
from markscheme.flags import columns_option
from markscheme.tables.label_values import BLANK, is_verdict, looks_like_values
from markscheme.tables.paths import sample
from markscheme.text import words_of

if TYPE_CHECKING:
    from markscheme.tables.files import RawBatch

Values = Sequence[Any] | pl.Series

_NAMES = words_of(__file__)

ALIASES: dict[str, tuple[str, ...]] = _NAMES["aliases"]
"""Our columns and the names under which they are recognised, without regard to case, `_` or `-`."""

MORE_REFERENCES: tuple[str, ...] = _NAMES["more_references"]
"""Columns that hold other forms of the reference that another column has."""

ANNOTATOR: tuple[str, ...] = _NAMES["annotator"]
"""Other names of the column that says who gave the label of a row."""

OF_JUDGMENTS = ("judge", "verdict", "score")
"""Columns of tables of judgments alone; an answers table has all the others."""

OF_ANSWERS = tuple(name for name in ALIASES if name not in OF_JUDGMENTS)
REQUIRED = ("question", "references", "answer")
KEYS = ("answer_id", "question", "answer", "system")
"""What a row is known by: `answer_id`, or `question` and `answer`, with `system` where known."""


def renamed(
    table: pl.DataFrame,
    mapping: Mapping[str, str],
    wanted: Sequence[str],
    keep: Sequence[str] = (),
) -> pl.DataFrame:
    """The table with our column names: by the user's mapping first, then by common names.

    `answer` is left out where it holds the references (`predictions_among`), except in a table of
    judgments, where a column `response` may be the judge's.

    Args:
        table: as it stood in its file.
        mapping: our names to the table's; `none` leaves a column out.
        wanted: our columns to look for, in this order.
        keep: columns of the table that are never taken for one of ours.

    Raises:
        DataError: the mapping names a column that is not there, or two columns could be the same
            one.
    """
    for ours, theirs in mapping.items():
        if theirs != "none" and theirs not in table.columns:
            raise no_such_column("the table", theirs, table.columns, ours)
    table = table.drop(o for o, t in mapping.items() if o in table.columns and o != t)
    table = table.rename({t: o for o, t in mapping.items() if t in table.columns})
    of_judgments = {"judge", "verdict"} & {plain_name(name) for name in table.columns}
    if "answer" in wanted and "answer" not in mapping and not of_judgments:
        named = predictions_among([name for name in table.columns if name not in keep])
        texts = [name for name in named if holds_texts(table[name])]
        # A column `pred` may hold a judge's verdicts.
        if len(texts) == 1 and not looks_like_values(table[texts[0]]):
            table = table.drop("answer").rename({texts[0]: "answer"})
    for ours in wanted:
        if ours in table.columns or ours in mapping:
            continue
        found = recognise([n for n in table.columns if n not in keep], ours, "the table")
        if found is not None:
            table = table.rename({found: ours})
    return table


def our_names(names: Sequence[str], mapping: Mapping[str, str], wanted: Sequence[str]) -> list[str]:
    """The columns of a table under our names, as `renamed` gives them.

    A mapping to what is no column, such as a path into objects, names nothing here.
    """
    known = {ours: theirs for ours, theirs in mapping.items() if theirs in (*names, "none")}
    return renamed(pl.DataFrame(schema=dict.fromkeys(names, pl.Null)), known, wanted).columns


def no_columns(
    source: str, missing: Sequence[str], names: Sequence[str], system: str | None = None
) -> str:
    """What to say of a table, its columns being `names`, in which none is known for `missing`.

    `system` is the one that may say whose answer each row is.
    """
    wanted = " and ".join([", ".join(missing[:-1]), missing[-1]][len(missing) == 1 :])
    pairs = dict.fromkeys(missing, "NAME") | ({} if system is None else {"system": system})
    return (
        f"{source} has no column for {wanted}; its columns are: "
        f"{', '.join(names)}. Say which one it is with {columns_option(pairs)}"
    )


def no_such_column(source: str, name: str, names: Sequence[str], ours: str) -> DataError:
    """What to say of a name that the user gave for a column of ours and no column has."""
    return DataError(
        f"{source} has no column {name!r}{did_you_mean(name, names) or ';'} the columns are "
        f"{', '.join(map(repr, names))} (requested as {ours})"
    )


def recognise(names: Sequence[str], ours: str, source: str) -> str | None:
    """The one of a source's columns that is ours by its name, or None.

    Raises:
        DataError: none has our name, and two have names that are used for it.
    """
    if ours in names:
        return ours
    matches = [name for name in names if plain_name(name) in ALIASES[ours]]
    if len(matches) > 1:
        raise DataError(
            f"{source}: {' and '.join(map(repr, matches))} could each be the {ours}; say which "
            f"with {columns_option({ours: matches[0]})}"
        )
    return matches[0] if matches else None


def predictions_among(names: Sequence[str]) -> list[str]:
    """Columns that may hold the answers where `answer` holds the references.

    So it is in NQ-open and in what follows it: `answer` next to `prediction`, and no other
    references.
    """
    others = {name: plain_name(name) for name in names if name != "answer"}
    gold = set(ALIASES["references"]) - set(MORE_REFERENCES)
    if len(others) == len(names) or gold & set(others.values()):
        return []
    return [name for name, plain in others.items() if plain in ALIASES["answer"]]


def plain_name(name: str) -> str:
    """A column's name without case, `_`, `-` and `?`, as names are compared; `goldAnswer` too."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.sub(r"[\s_\-?]+", " ", name).strip(" .").lower()


def value_named(record: Mapping[str, Any], ours: str, kind: type = object) -> Any:
    """A record's value, of a kind, under the first name used for a column of ours; else None."""
    values = {plain_name(name): value for name, value in record.items() if isinstance(value, kind)}
    return next((values[name] for name in ALIASES[ours] if values.get(name) is not None), None)


# --- wide tables ------------------------------------------------------------------------------

LABEL_OF = "label:"
"""`label:SYSTEM=COLUMN`: the column of the labels of one system's answers."""

_FAMILIES = re.compile(
    r"(chat)?gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|falcon|vicuna|alpaca|bard|palm|"
    r"command r|grok|phi \d|gemma|olmo|yi \d|t5|o[1-9]( mini| preview)?$|newbing|text davinci"
)
"""Names of language models, by which a column of a wide table is known."""

_VARIANTS = re.compile(
    r"(?<![a-z\d])\d+(\.\d+)?[bm]$| (nano|tiny|mini|small|large|xl|pro|flash|turbo|instruct)$"
)
"""How names of variants of a model end: too little to read a column by, enough to ask."""

_NOT_ANSWERS = frozenset(
    """
    id time length len score tokens cost latency label judge correct type format start end key
    index count reasoning explanation verdict grade rating rank prompt prob logprob
    """.split()
)


def wide_answers(raw: RawBatch, free: Sequence[str]) -> dict[str, str]:
    """Systems to columns of their answers: names of models, or several such as `answer_a`."""
    texts = [
        name
        for name in free
        if name.strip() and holds_texts(raw.columns[name])
        if not _NOT_ANSWERS & set(plain_name(name).split())
    ]
    called = by_system([name for name in texts if _system_named(name, "answer") is not None])
    marked = by_system([name for name in called.values() if _labelled(name, called) is None])
    models = [name for name in texts if _FAMILIES.search(plain_name(name))]
    known = {name: name for name in models if _labelled(name, marked) is None}
    if len(marked) > 1 and len(marked) >= len(known):
        return marked
    return by_system([name for name in known if not _is_labels(raw, name, known)])


def by_system(columns: Sequence[str]) -> dict[str, str]:
    """Systems to the columns of their answers: `a` and `b` to `answer_a` and `answer_b`.

    Where not all of several are called so, each system is called as its column is.
    """
    named = {_system_named(name, "answer") or "": name for name in columns}
    several = len(columns) > 1 and len(named) == len(columns) and "" not in named
    return named if several else {name: name for name in columns}


def model_columns(raw: RawBatch, names: Iterable[str]) -> list[str]:
    """Those of the columns that hold texts and are called like a model: `alpha-7b`, `beta-mini`."""
    return [
        name
        for name in names
        if _FAMILIES.search(plain_name(name)) or _VARIANTS.search(plain_name(name))
        if not _NOT_ANSWERS & set(plain_name(name).split()) and holds_texts(raw.columns[name])
    ]


def _system_named(name: str, ours: str) -> str | None:
    """The system in a name with a word for a column of ours: `gpt4` in `answer_gpt4`,
    `gpt4-output` or `response (gpt4)`, and for labels in `gpt4 ok?`."""
    names = sorted(ALIASES[ours], key=len, reverse=True)
    words = rf"\(?(?:{'|'.join(names)})\??\)?\??".replace(" ", "[ _-]")
    match = re.fullmatch(
        rf"{words}[ _./:-]+(?P<a>.+)|(?P<b>.+?)[ _./:-]+{words}", name, re.IGNORECASE
    )
    return None if match is None else re.sub(r"^\((.+)\)$", r"\1", match["a"] or match["b"])


def holds_texts(values: Values) -> bool:
    cells = sample(values)
    texts = [cell for cell in cells if isinstance(cell, str)]
    return bool(cells) and len(texts) == len(cells)


def _owner(name: str, answers: Mapping[str, str]) -> str | None:
    """The system whose column a name is an extension of: `gpt-4o` of `Karl (gpt-4o)`."""
    owners = [system for system, place in answers.items() if place != name and place in name]
    return max(owners, key=lambda system: len(answers[system]), default=None)


def _labelled(name: str, answers: Mapping[str, str]) -> str | None:
    """The system as whose labels a column is called: `gpt-4o` of `gpt-4o_label`."""
    named, owner = _system_named(name, "label"), _owner(name, answers)
    if named in answers:
        return named
    rest = "" if owner is None else name.replace(answers[owner], " ", 1).strip(" _./:()-")
    return owner if plain_name(rest) in ALIASES["label"] else None


def _is_labels(raw: RawBatch, name: str, answers: Mapping[str, str]) -> bool:
    """Whether a column holds verdicts alone on another system's answers, by its name.

    Where those are verdicts, too, as in a yes/no task, only a word for labels says so: `gpt-4o` is
    no label of `gpt-4`.
    """
    if not _verdicts_alone(raw.columns[name]):
        return False
    others = {one: at for one, at in answers.items() if not _verdicts_alone(raw.columns[at])}
    return _owner(name, others) is not None or _labelled(name, answers) is not None


def _verdicts_alone(values: Values) -> bool:
    cells = [str(cell).strip() for cell in sample(values)]
    words = [cell for cell in cells if cell.lower() not in BLANK]
    return bool(words) and all(map(is_verdict, words))


def labels_among(raw: RawBatch, names: Sequence[str]) -> dict[str, str]:
    """Columns named after another one that hold verdicts alone, by the name of that one."""
    each = {name: name for name in names}
    labels = [name for name in names if _is_labels(raw, name, each)]
    answers = {name: name for name in names if name not in labels}
    return {owner: name for name in labels if (owner := _owner(name, answers)) is not None}


def label_columns(
    raw: RawBatch, answers: Mapping[str, str], given: Mapping[str, str], free: Iterable[str]
) -> dict[str, str]:
    """Systems to the columns of their labels: those given, else `gpt-4o_label` and the like.

    Raises:
        DataError: labels are given of a system that there is not.
    """
    found: dict[str, str] = {}
    for ours, theirs in given.items():
        system = ours.removeprefix(LABEL_OF)
        if not ours.startswith(LABEL_OF):
            continue
        if system not in answers:
            raise DataError(
                f"{ours}={theirs}: {raw.source} has no answers of {system!r}; it has those of "
                f"{', '.join(answers) or 'one system a row'}"
            )
        found[system] = theirs
    for name in free:
        if (labelled := _labelled(name, answers)) is not None:
            found.setdefault(labelled, name)
    return found


def labels_of_systems(names: Sequence[str]) -> dict[str, str]:
    """Systems to the columns of their labels, of a table of labels alone: `gpt-4o_label`, ...

    Nothing where one column at most is called so.
    """
    found = {system: name for name in names if (system := _system_named(name, "label"))}
    return found if len(found) > 1 else {}


def holds_labels(values: pl.Series) -> bool:
    """Whether any cell of `label`, or of the lists of `annotator_labels`, has a label."""
    return bool((values.explode() if values.dtype == pl.List else values).count())


def is_annotator(name: str) -> bool:
    """Whether a column is called like the labels of one of several people: `annotator1`, ..."""
    return re.fullmatch(r"annotator ?\d+", plain_name(name)) is not None


def annotators_among(names: Iterable[str]) -> dict[str, str]:
    """`annotator1`, `annotator2`, ... to the columns called so; nothing where one alone is."""
    called = sorted(filter(is_annotator, names), key=lambda name: (len(name), name))
    found = {plain_name(name).replace(" ", ""): name for name in called}
    return found if len(called) > 1 else {}


def label_key(name: str, answers: Mapping[str, str]) -> str:
    """What `--columns` calls a column of labels: of a wide table with the system that they are of.

    A name says the system by its column's name or by its own, as `judge_fid` does where there is
    `answer_fid`, or by words that one system's name alone has: `v2 ok?` and `Bot v2`. Where it does
    not, SYSTEM is to be filled in.
    """
    if len(answers) < 2:
        return "label"
    named = max((system for system in answers if system in name), key=len, default=None)
    return LABEL_OF + (_owner(name, answers) or named or _sharing_words(name, answers) or "SYSTEM")


def _sharing_words(name: str, answers: Mapping[str, str]) -> str | None:
    """The one system that has a word of a column's name which no other system has."""
    words = {system: _words(place) for system, place in answers.items()}
    counts = Counter(word for each in words.values() for word in each)
    own = {word for word in _words(name) if counts[word] == 1}
    systems = [system for system, each in words.items() if own & each]
    return systems[0] if len(systems) == 1 else None


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w+", plain_name(name)))


def one_label_of_several(raw: RawBatch, name: str, answers: Mapping[str, str]) -> DataError:
    """What to say of a column of labels that could be of any system of the row."""
    return DataError(
        f"{raw.source}: {name!r} has one label a row, and a row has answers of "
        f"{', '.join(answers)}; say whose it is, as in "
        f"{columns_option({label_key(name, answers): name})}"
    )
