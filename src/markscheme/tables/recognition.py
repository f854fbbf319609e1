"""Which of a source's columns, or what inside them, are the columns of an answers table."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from markscheme.errors import DataError, UnknownNameError, did_you_mean
from markscheme.flags import columns_option
from markscheme.tables.columns import (
    ALIASES,
    LABEL_OF,
    MORE_REFERENCES,
    OF_ANSWERS,
    REQUIRED,
    Values,
    annotators_among,
    by_system,
    holds_texts,
    is_annotator,
    label_columns,
    labels_among,
    model_columns,
    no_columns,
    no_such_column,
    one_label_of_several,
    plain_name,
    predictions_among,
    wide_answers,
)
from markscheme.tables.columns import recognise as by_name
from markscheme.tables.files import RawBatch
from markscheme.tables.formats import (
    EXPECTED,
    ForeignFormat,
    Record,
    expected_reference,
    format_of_record,
)
from markscheme.tables.label_values import NO_ERROR, blank_words, is_label, is_verdict
from markscheme.tables.paths import holds_objects, leaves, sample, segments, values_at
from markscheme.text import is_api_error

_WRAPPERS = frozenset({"output text", "content text"}).union(
    """
    text content value message choices choice body data messages parts result 0
    """.split()
)
"""Names of what holds a text without saying which text it is."""

_OBJECT = re.compile(r"\{\s*\"(?!text\"\s*:\s*\[)")
"""The beginning of an object of JSON, but for SQuAD's list of references."""


@dataclass(kw_only=True)
class Recognised:
    """The values of our columns in one batch, and where they are from.

    Attributes:
        values: our columns to the values.
        places: our columns to where they are from, as `--columns` takes it; foreign formats give
            their name.
        answers: of a wide table: systems to the columns of their answers; labels: likewise.
        annotators: several people's labels: our names of them to their columns.
        unused: named columns of the source that none of ours is from.
        more_references: columns that hold further references.
        format: the foreign format, if it is one.
        notes: what was guessed, with the number of rows that it is of.
        no_labels: words that are no label of an annotator, as `blank_words` counts them.
    """

    values: dict[str, Values] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    annotators: dict[str, str] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    more_references: tuple[str, ...] = ()
    format: ForeignFormat | None = None
    notes: dict[str, int] = field(default_factory=dict)
    no_labels: Counter[str] = field(default_factory=Counter)

    @property
    def used(self) -> set[str]:
        """The columns, and paths, that ours are from."""
        of_systems = (*self.answers.values(), *self.labels.values(), *self.annotators.values())
        return {*self.places.values(), *self.more_references, *of_systems}

    def place_of(self, ours: str) -> str:
        """Where a column of ours is from, as it is shown."""
        place = self.places.get(ours, "")
        if ours == "references" and self.more_references:
            return " and ".join((place, *self.more_references))
        if self.format is not None and place == ours:
            return self.format.places.get(ours, place)
        return place

    def said(self, source: str) -> str | None:
        """What was read as what, where names of the source are not ours; None where all are."""
        pairs = [
            f"{ours} = {theirs}"
            for ours in self.places
            if ours != (theirs := self.place_of(ours))
            and ours in (*REQUIRED, "system", "label", "answer_id")
        ]
        if self.answers:
            pairs.append(f"answer = each of {', '.join(self.answers.values())}")
        pairs += [f"label of {system} = {name}" for system, name in self.labels.items()]
        pairs += [f"{ours} = {name}" for ours, name in self.annotators.items()]
        known = f" as {self.format.name}" if self.format is not None else ""
        if not pairs and not known:
            return None
        return f"{source} read{known}: {', '.join(pairs)}" if pairs else f"{source} read{known}"


def recognise_columns(
    raw: RawBatch,
    given: Mapping[str, str],
    answer_columns: Sequence[str] = (),
    *,
    required: Sequence[str] = REQUIRED,
    own: Sequence[str] = (),
) -> Recognised:
    """The columns of an answers table in a batch of raw rows.

    What is given comes first; then what a foreign format says; then names of columns; then names
    inside objects; then, where no column is the answer, columns that hold a system's answers each.

    Args:
        raw: rows as they stood.
        given: our names to theirs, as the user says.
        answer_columns: columns that hold one system's answers each.
        required: our columns without which it is no answers table.
        own: columns of the user's own that are read under their own names.

    Raises:
        UnknownNameError: `given` names a column of ours that does not exist.
        DataError: a required column is missing, two could be the same one, or a given one is not
            in the source.
    """
    found = Recognised()
    names = list(raw.columns)
    _take_given(found, raw, given)
    for system, name in by_system(answer_columns).items():
        found.answers[system], _ = _at(raw, name, "answer")
    blocked = set(given) | ({"answer"} if answer_columns else set())
    if any(ours.startswith(LABEL_OF) for ours in given):
        blocked.add("label")
    _take_foreign(found, raw, blocked)
    used = found.used | {place.split(".")[0] for place in found.places.values()}
    if found.format is not None:
        used |= found.format.whole
    free = [name for name in names if name not in used and name not in given.values()]
    others = [] if "references" in given or found.format else _more_references(raw, free)
    free = [name for name in free if name not in others]
    if found.format is None or found.format.joined is None:
        _take_names(found, raw, free, blocked)
    _take_more_references(found, raw, others)
    _take_annotators(found, raw, free)
    missing = [ours for ours in required if ours not in found.places]
    if found.answers and "answer" in missing:
        missing.remove("answer")
    if missing == ["answer"] and "answer" not in given:
        found.answers = wide_answers(raw, free)
        missing = [] if found.answers else missing
    if missing:
        raise _nothing_for(raw, missing, free, found)
    _take_labels_of_systems(found, raw, given)
    gone = found.used
    heads = {place.split(".")[0] for place in gone if place not in names}
    for name in own:
        if name not in names:
            raise DataError(
                f"{raw.source} has no column {name!r}, which --slices or a judge's prompt names; "
                f"its columns are: {', '.join(names)}"
            )
        found.values[name] = raw.columns[name]
    found.unused = [
        name for name in names if name.strip() and name not in gone and name not in heads
    ]
    if "answer_error" not in found.places and found.format is None:
        _take_errors(found, raw)
    found.places = {ours: theirs for ours, theirs in found.places.items() if theirs != "none"}
    if found.places.get("references") == EXPECTED:
        found.values["references"] = [
            expected_reference(cell) for cell in _listed(found.values["references"])
        ]
    _note_json(found)
    _note_other_answers(found, raw, given)
    return found


def _take_given(found: Recognised, raw: RawBatch, given: Mapping[str, str]) -> None:
    for ours, theirs in given.items():
        if ours.startswith(LABEL_OF):
            continue
        if is_annotator(ours):
            found.annotators[ours], _ = _at(raw, theirs, ours)
            continue
        if ours not in OF_ANSWERS and ours in raw.columns and theirs in OF_ANSWERS:
            raise DataError(
                f"{ours}={theirs} is the wrong way round: columns are given as OURS=THEIRS, so "
                f"{theirs}={ours}"
            )
        if ours not in OF_ANSWERS:
            choices = f"ours are {', '.join(OF_ANSWERS)}"
            raise UnknownNameError("column", ours, OF_ANSWERS, choices)
        same = next((one for one, place in found.places.items() if place == theirs), None)
        if same is not None and theirs != "none":
            raise DataError(
                f"{raw.source}: the column {theirs!r} is given as {same} and as {ours}; a column "
                "is one of them"
            )
        if theirs == "none":
            found.places[ours] = theirs
            continue
        place, values = _at(raw, theirs, ours)
        found.places[ours], found.values[ours] = place, values


def _at(raw: RawBatch, path: str, ours: str) -> tuple[str, Values]:
    """The values at a path that the user gave, or at the one text inside the objects there.

    Raises:
        DataError: there are none.
    """
    values = values_at(raw.columns, path)
    if values is None:
        raise no_such_column(raw.source, path, list(raw.columns), ours)
    if path not in raw.columns and not sample(values):
        inner = [leaf for leaf in _leaves(raw, list(raw.columns)) if leaf not in raw.columns]
        raise DataError(
            f"{raw.source}: no row holds anything at {path!r} (requested as {ours})"
            f"{did_you_mean(path, inner) or ';'} there are {_shown(inner)}"
        )
    if ours in ("question", "answer") and _is_container(path, values):
        inside = [leaf for leaf in leaves(path, values) if leaf != path]
        fitting = [leaf for leaf in inside if _role(leaf, alone=len(inside) == 1) == ours]
        if len(fitting) == 1:
            return fitting[0], values_at(raw.columns, fitting[0])
    return path, values


def _take_labels_of_systems(found: Recognised, raw: RawBatch, given: Mapping[str, str]) -> None:
    """The labels of each system of a wide table, which are in columns of their own.

    Raises:
        DataError: a column of labels does not say whose answers it is of.
    """
    used = {*found.places.values(), *found.answers.values()} - {found.places.get("label")}
    free = [name for name in raw.columns if name not in used]
    found.labels = label_columns(raw, found.answers, given, free)
    for system, place in found.labels.items():
        found.labels[system], _ = _at(raw, place, "label")
    place = found.places.get("label", "none")
    if len(found.answers) > 1 and place != "none":
        if place not in found.labels.values():
            raise one_label_of_several(raw, place, found.answers)
        del found.places["label"], found.values["label"]


def _take_foreign(found: Recognised, raw: RawBatch, blocked: Iterable[str]) -> None:
    """What a foreign format says of its records, for columns that were not given."""
    names = list(raw.columns)
    if raw.format is None and not any(holds_objects(raw.columns[name]) for name in names):
        return
    columns = {name: _listed(raw.columns[name]) for name in names}
    first = {name: next(iter(sample(values)), None) for name, values in columns.items()}
    found.format = raw.format or format_of_record(first)
    if found.format is None:
        return
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    rows = [_ours(found.format, record) for record in records]
    for ours in dict.fromkeys(name for row in rows for name in row):
        if ours not in blocked:
            found.values[ours] = [row.get(ours) for row in rows]
            found.places[ours] = ours
    if found.format.variant is not None:
        variants = [found.format.variant(record) for record in records]
        if any(variants) and found.places.get("system") != "none":
            systems = _listed(found.values.get("system", [None] * len(variants)))
            found.values["system"] = [
                ":".join(str(name) for name in names if name) or None
                for names in zip(systems, variants, strict=True)
            ]
            found.places.setdefault("system", "system")
    if found.format.notes is not None:
        found.notes.update(found.format.notes(records))


def _ours(format: ForeignFormat, record: Record) -> Record:
    """A record under our names; one that is not as its format has it holds nothing."""
    try:
        return format.ours(record)
    except (KeyError, TypeError, AttributeError, IndexError):
        return {}


def _listed(values: Values) -> Sequence[Any]:
    return values.to_list() if isinstance(values, pl.Series) else values


def _take_names(found: Recognised, raw: RawBatch, free: list[str], blocked: set[str]) -> None:
    """Columns by their names; then names inside objects, for what every row must have."""
    objects = {name for name in free if _is_container(name, raw.columns[name])}
    flat = [name for name in free if name not in objects]
    for ours in OF_ANSWERS:
        if ours not in found.places and not (ours == "answer" and found.answers):
            name = _by_name(raw, flat, ours)
            if name is not None:
                _take(found, raw, ours, name, flat)
    foreign = found.format is not None
    if not foreign and "references" not in found.places and not found.answers:
        _prefer_prediction(found, raw, flat, blocked)
    # What lies beside a taken path may be ours too: `trace.output` beside `trace.input`.
    taken = [place for place in found.places.values() if place not in raw.columns]
    opened = {place.split(".")[0] for place in taken} & set(raw.columns) - set(free)
    inner = [
        leaf
        for leaf in _leaves(raw, [*free, *sorted(opened)])
        if (leaf not in flat or len(segments(leaf)) > 1)
        and not any(f"{leaf}.".startswith(f"{place}.") for place in taken)
    ]
    alone = {
        name
        for name in objects
        if sum(leaf.startswith(f"{name}.") for leaf in inner) == 1
        # JSON in a text may be the answer itself, so there only known names are looked into.
        and not isinstance(next(iter(sample(raw.columns[name])), ""), str)
    }
    for ours in REQUIRED:
        if ours not in found.places and not (ours == "answer" and found.answers):
            fitting = [
                leaf for leaf in inner if _role(leaf, alone=leaf.split(".")[0] in alone) == ours
            ]
            path = _best(fitting, ours, raw.source)
            if path is not None:
                found.places[ours], found.values[ours] = path, values_at(raw.columns, path)
                inner.remove(path)
                if path in flat:
                    flat.remove(path)
    for ours in REQUIRED:  # Objects as they stand, where nothing in them has a known name.
        if ours not in found.places and not (ours == "answer" and found.answers):
            name = by_name(sorted(objects), ours, raw.source)
            if name is not None:
                _take(found, raw, ours, name, [])
    if not foreign and "answer" in found.places:
        _take_inner(found, raw, blocked, inner)
    free[:] = [name for name in free if name in flat or name in objects]


def _take_inner(found: Recognised, raw: RawBatch, blocked: set[str], inner: Sequence[str]) -> None:
    """The system and the label inside objects; where two may be as well, neither."""
    for ours, may_hold in (("system", _names), ("label", _verdicts)):
        if ours in found.places or ours in blocked:
            continue
        taken = [f"{place}." for place in found.places.values()]
        fitting: dict[str, Values] = {}
        for leaf in inner:
            if _is_called(leaf, ours) and not any(f"{leaf}.".startswith(place) for place in taken):
                values = values_at(raw.columns, leaf)
                if may_hold(sample(values)):
                    fitting[leaf] = values
        least = min((len(segments(leaf)) for leaf in fitting), default=0)
        best = [leaf for leaf in fitting if len(segments(leaf)) == least]
        if best and all(_listed(fitting[leaf]) == _listed(fitting[best[0]]) for leaf in best):
            found.places[ours], found.values[ours] = best[0], fitting[best[0]]


_OF_TOOLS = frozenset(
    """
    judge evaluator metric metrics grader score scores evaluation evaluations eval evals assertions
    """.split()
)
"""Names of objects in which a verdict is a tool's, and no person's."""


def _is_called(path: str, ours: str) -> bool:
    """Whether a path is called like the system or the label: `run.model`, `human.label`.

    What is inside a question, a reference or an answer labels nothing, and what is inside a
    question under `system` is a prompt.
    """
    names = [plain_name(part) for part in segments(path) if not part.lstrip("-").isdigit()]
    *outer, last = names or [""]
    if not {last, " ".join(names[-2:])} & {*ALIASES[ours]}:
        return False
    roles = set(map(_named, outer))
    if ours == "label":
        return roles == {None} and _OF_TOOLS.isdisjoint(outer)
    return "references" not in roles and not (last == "system" and "question" in roles)


_ERRORS = ("error", "error message")


def _take_errors(found: Recognised, raw: RawBatch) -> None:
    """Why calls failed, in a column called like errors, of rows without an answer alone.

    What such a column holds where there is an answer may be anything, an annotator's remark or a
    log's line, and changes nothing. Of several systems in one row it does not say whose call it is.
    """
    names = [name for name in found.unused if plain_name(name) in _ERRORS]
    if not names or "answer" not in found.values:
        return
    answers = _listed(found.values["answer"])
    for name in names:
        errors: list[str | None] = [None] * len(answers)
        for row, (error, answer) in enumerate(
            zip(_listed(raw.columns[name]), answers, strict=True)
        ):
            silent = answer is None or (isinstance(answer, str) and not answer.strip())
            said = str(error).strip()
            if silent and said.lower() not in NO_ERROR:
                errors[row] = said
        if count := len(errors) - errors.count(None):
            found.places["answer_error"], found.values["answer_error"] = name, errors
            found.unused.remove(name)
            found.notes[
                f"rows without an answer are skipped, since {name!r} says that the call failed; "
                "--columns answer_error=none has them judged as wrong"
            ] = count
            return


def _more_references(raw: RawBatch, names: Sequence[str]) -> list[str]:
    """The columns of further references by their names, such as `answer_aliases`."""
    return [
        name
        for name in names
        if plain_name(name) in MORE_REFERENCES and not holds_objects(raw.columns[name])
    ]


def _take_more_references(found: Recognised, raw: RawBatch, others: Sequence[str]) -> None:
    """Add the columns of further references; where there is no other, the first is the column."""
    if others and "references" not in found.places:
        _take(found, raw, "references", others[0], [])
        others = others[1:]
    found.more_references = tuple(others)


def _take_annotators(found: Recognised, raw: RawBatch, free: list[str]) -> None:
    """The labels of several people, which are in columns of their own."""
    if "annotator_labels" in found.places:
        found.annotators.clear()
    elif not found.annotators and found.format is None:
        called = annotators_among(free)
        looked_at = [sample(raw.columns[name]) for name in called.values()]
        if any(looked_at) and all(_labels(one) for one in looked_at if one):
            found.annotators = called  # Who left all blank may have labels further on.
    if found.annotators:
        columns = [_listed(values_at(raw.columns, place)) for place in found.annotators.values()]
        for name, cells in zip(found.annotators.values(), columns, strict=True):
            texts = [cell for cell in cells if isinstance(cell, str)]
            found.no_labels += blank_words(pl.Series(texts, dtype=pl.String), name)
        found.values["annotator_labels"] = [list(row) for row in zip(*columns, strict=True)]
        free[:] = [name for name in free if name not in found.annotators.values()]


def _by_name(raw: RawBatch, names: Sequence[str], ours: str) -> str | None:
    """The column that is ours by its name; one that holds nothing does not compete with another.

    Raises:
        DataError: two could be.
    """
    try:
        return by_name(names, ours, raw.source)
    except DataError:
        return by_name([name for name in names if sample(raw.columns[name])], ours, raw.source)


def _take(found: Recognised, raw: RawBatch, ours: str, name: str, free: list[str]) -> None:
    found.places[ours], found.values[ours] = name, raw.columns[name]
    if name in free:
        free.remove(name)


def _prefer_prediction(
    found: Recognised, raw: RawBatch, flat: list[str], blocked: set[str]
) -> None:
    """`answer` next to `prediction`, with no other references, holds the references, as in NQ-open
    (`predictions_among`); so it does where the answers are in a file of their own.
    """
    if found.places.get("answer") == "none":
        name = by_name(flat, "answer", raw.source)
        if name is not None:
            _take(found, raw, "references", name, flat)
        return
    if found.places.get("answer") != "answer" or "answer" in blocked:
        return
    other = by_name(predictions_among(["answer", *flat]), "answer", raw.source)
    if other is not None:
        found.places["references"], found.values["references"] = "answer", found.values["answer"]
        _take(found, raw, "answer", other, flat)


def _leaves(raw: RawBatch, names: Sequence[str]) -> list[str]:
    """Everything in the columns that a path leads to: `inputs.question`, or a flat column."""
    return [
        leaf
        for name in names
        for leaf in (
            leaves(name, raw.columns[name]) if holds_objects(raw.columns[name]) else (name,)
        )
    ]


_OUTPUTS = frozenset({"output", "outputs"})
"""Names under which tools export what a call returned, with the answer somewhere inside."""


def _is_container(name: str, values: Values) -> bool:
    """Whether ours are looked for inside a column's cells.

    Text in a column called `answer` is the answer, JSON or not: were it opened where all rows are
    JSON, what is judged in a row would depend on the other rows.
    """
    called = plain_name(name)
    if called in ALIASES["answer"] and called not in _OUTPUTS:
        first = next(iter(sample(values)), None)
        return not isinstance(first, str) and holds_objects(values)
    return holds_objects(values)


def _role(path: str, *, alone: bool = False) -> str | None:
    """Which of question, references and answer a path is by the names along it.

    What is under `expected` or `reference_outputs` is a reference, whatever its own name.

    Args:
        path: of a leaf.
        alone: it is the only leaf of its column, whose name then counts too.
    """
    names = [plain_name(part) for part in segments(path) if not part.lstrip("-").isdigit()]
    *outer, last = names or [""]
    roles = [_named(name) for name in outer]
    if last in ("user", "assistant") and "references" not in roles:
        return "question" if last == "user" else "answer"
    own = _named(last)
    if own is None and (last in _WRAPPERS or last == "assistant" or alone):
        inwards = zip(outer[::-1], roles[::-1], strict=True)
        own = next((role for name, role in inwards if role or name not in _WRAPPERS), None)
    if "references" in roles and own == "answer":
        return "references"
    return own


def _named(name: str) -> str | None:
    return next((ours for ours in REQUIRED if name in ALIASES[ours]), None)


def _best(paths: Sequence[str], ours: str, source: str) -> str | None:
    """The path that is ours: the one under a name of the same meaning, then the shortest.

    Raises:
        DataError: two are as good.
    """

    def rank(path: str) -> tuple[bool, int, bool]:
        *outer, last = map(plain_name, segments(path))
        return ours not in map(_named, outer), len(outer), last in ("user", "assistant")

    ranked = sorted(paths, key=rank)
    best = [path for path in ranked if rank(path) == rank(ranked[0])]
    exact = [path for path in best if plain_name(segments(path)[-1]) in (ours, "aliases")]
    best = exact if len(exact) == 1 else best
    if len(best) > 1:
        raise DataError(
            f"{source}: {' and '.join(map(repr, best))} could each be the {ours}; say which with "
            f"{columns_option({ours: best[0]})}"
        )
    return best[0] if best else None


_MOST_SYSTEMS = 50
_LONGEST_NAME = 60


def _short_texts(cells: Sequence[Any]) -> bool:
    return all(isinstance(cell, str) and 0 < len(cell) <= _LONGEST_NAME for cell in cells)


def _names(cells: Sequence[Any]) -> bool:
    return bool(cells) and _short_texts(cells)


def _verdicts(cells: Sequence[Any]) -> bool:
    return bool(cells) and sum(is_verdict(str(cell)) for cell in cells) * 2 >= len(cells)


def _labels(cells: Sequence[Any]) -> bool:
    return bool(cells) and all(is_label(str(cell)) for cell in cells)


def system_like(values: Values, of: Values, answers: Values | None = None) -> tuple[str, ...]:
    """The different values of a column that may name the system of each row; none if it cannot.

    It can where some of `of` (questions, or their numbers) repeat, and with the column's short
    texts no row is like another, but for rows that repeat an earlier one with its answer.
    """
    names = _listed(values)
    if not _short_texts(names):
        return ()
    kinds = tuple(dict.fromkeys(names))
    if not 1 < len(kinds) <= min(_MOST_SYSTEMS, len(names) // 2):
        return ()
    keys = [str(key) for key in _listed(of)]
    pairs = list(zip(keys, names, strict=True))
    rows = pairs if answers is None else set(zip(pairs, map(str, _listed(answers)), strict=True))
    distinct = len(set(pairs))
    return kinds if distinct == len(rows) and len(set(keys)) < distinct else ()


def systems_in(raw: RawBatch, found: Recognised, of: Values) -> tuple[str, tuple[str, ...]]:
    """The first column, or path, that is not used and may name the systems, with their names."""
    keys = [str(key) for key in _listed(of)]
    if len(set(keys)) < len(keys):
        for name in unread(raw, found):
            values = values_at(raw.columns, name)
            if values is not None and _short_texts(sample(values)):
                kinds = system_like(values, keys, found.values.get("answer"))
                if kinds:
                    return name, kinds
    return "", ()


def number_questions(ids: Values, values: Mapping[str, Values]) -> bool:
    """Whether ids are those of questions: an id has one question, and answers of several systems.

    Args:
        ids: as they are in the source.
        values: of `question` and `system`.
    """
    keys = [str(key) for key in _listed(ids)]
    asked = list(zip(keys, _listed(values["question"]), strict=True))
    questions = dict(asked)
    if any(questions[key] != one for key, one in asked):
        return False
    return len(set(zip(keys, map(str, _listed(values["system"])), strict=True))) > len(questions)


def unread(raw: RawBatch, found: Recognised) -> list[str]:
    """Columns, and paths inside those that hold objects, that none of ours is from."""
    used = found.used
    return [name for name in _leaves(raw, list(raw.columns)) if name not in used and name.strip()]


def _typed(columns: Sequence[str]) -> str:
    return shlex.quote(",".join(columns))


def _keyword(columns: Sequence[str]) -> str:
    return f" (Python: answer_columns={list(columns)!r})"


def _nothing_for(
    raw: RawBatch, missing: Sequence[str], free: Sequence[str], found: Recognised
) -> DataError:
    names = list(raw.columns)
    message = no_columns(raw.source, missing, names)
    inner = [leaf for leaf in _leaves(raw, names) if leaf not in names]
    inside = f" (inside them are {_shown(inner)})" if inner else ""
    labels = labels_among(raw, [name for name in free if name.strip()])
    free = [name for name in free if name not in labels.values()]
    models = model_columns(raw, free)
    several = len(models) > 1 and "answer" in missing
    remedy = "; or, where columns hold a system's answers each, with --answer-columns "
    if list(missing) != ["answer"]:
        wide = f"{remedy}{_typed(models)} in place of answer=NAME{_keyword(models)}"
        return DataError(f"{message}{inside}{wide if several else ''}")
    texts = [name for name in free if name.strip() and holds_texts(raw.columns[name])]
    questions = () if "system" in found.places else found.values.get("question", ())
    system = next((name for name in texts if system_like(raw.columns[name], questions)), None)
    if system is not None:
        message = no_columns(raw.source, missing, names, system)
        return DataError(f"{message}{inside}: {system!r} may say whose answer each row is")
    columns = models if several else texts[:3] if len(texts) > 1 else [*texts, "OTHER"]
    of_systems = {LABEL_OF + name: labels[name] for name in columns if name in labels}
    rated = f" {columns_option(of_systems)}" if of_systems else ""
    wide = f"{remedy}{_typed(columns)}{rated}{_keyword(columns)}"
    return DataError(
        f"{message}{inside}{wide}; or give the file of the answers (one object of ids and answers) "
        "too"
    )


def _shown(names: Sequence[str]) -> str:
    most = 30
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _note_other_answers(found: Recognised, raw: RawBatch, given: Mapping[str, str]) -> None:
    """Say where one of several columns that look like a system's answers was named."""
    taken = model_columns(raw, {given.get("answer", "")} & set(raw.columns))
    others = model_columns(raw, found.unused) if taken and found.format is None else []
    if others:
        found.notes[
            f"{', '.join(map(repr, others))} may hold answers of other systems, which are not "
            f"read; --answer-columns {shlex.quote(','.join((*taken, *others)))} reads all, in "
            "place of answer=..."
        ] = len(raw.columns[taken[0]])


def _note_json(found: Recognised) -> None:
    """Say where cells hold JSON and are judged as the text that they are."""
    for ours in REQUIRED:
        values = found.values.get(ours)
        if values is None or (isinstance(values, pl.Series) and values.dtype != pl.String):
            continue
        if isinstance(values, pl.Series):
            texts = values.filter(values.str.starts_with("{")).to_list()
        else:
            texts = [one for one in values if isinstance(one, str) and one[:1] == "{"]
        count = sum(_OBJECT.match(text) is not None and not is_api_error(text) for text in texts)
        if count:
            place = found.places[ours]
            found.notes[
                f"cells of the {ours} hold JSON objects, judged as the text that they are; "
                f"--columns {ours}={place}.KEY takes what is inside"
            ] = count
