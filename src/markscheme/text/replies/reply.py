"""What parsers of model replies share: the result they give, and finding JSON in prose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

Place = tuple[int, int]
"""In a text: the first character, and the one after the last."""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a reply says, or why it cannot be determined.

    Attributes:
        status: `judged` (read), `unparsed` (nobody can say what it means), `refused` (the model
            declined to answer or to decide); `failed` or `skipped` where no reply came.
        reason: what was read and where, or what is wrong with the reply.
        verdict, score, relation, marks: what was read; all None unless `judged`. `score` and
            `marks` are from 0 to 1.
        product: what a stage of several makes of the reply, such as a statement.
        place: of the word that decided, in the text that `spoken` gives; None if it is not known.
    """

    status: Literal["judged", "unparsed", "refused", "failed", "skipped"]
    reason: str
    verdict: bool | None = None
    score: float | None = None
    relation: str | None = None
    marks: float | None = None
    product: Any = None
    place: Place | None = None


def unparsed(reason: str) -> Reading:
    """A reply that cannot be read, and why."""
    return Reading(status="unparsed", reason=reason)


CUT_OFF = "cut off by the token limit before a verdict"
EMPTY = "an empty reply"
MARKUP = "\\s>*_#\"'“”‘’`´«»(\\[~\\-"
_ABLE = (
    r"(?:can(?:not|['’]?t| not)|am (?:unable|not able) to|won['’]t|will not|could(?:n['’]t| not))"
)
REFUSAL = re.compile(
    rf"^[{MARKUP}]*(?:no[,.]\s+)?(?:(?:i['’]?m (?:really |very |so )?sorry|sorry|i apologi[sz]e"
    r"|my apologies)(?! for (?:the|any|my)\b)|as an ai\b|as a(?: large)? language model"
    rf"|i {_ABLE} (?:assist|help|comply|fulfil|answer|respond|provide|judge|evaluate|engage))",
    re.IGNORECASE,
)
ABSTENTION = re.compile(
    rf"\b(?:i|we|one|it) (?:{_ABLE}|(?:is|was) (?:not possible|impossible) to)"
    r" (?:be )?(?:determine|verif(?:y|ied)|say|tell|judge|confirm|assess|decide|know)"
    r"|\bunable to (?:determine|verify|judge|confirm|assess|decide)"
    r"|\b(?:not enough|insufficient) (?:information|context|evidence)|\bi do(?:n['’]t| not) know\b",
    re.IGNORECASE,
)
DECLINED = "the model declined to answer"
UNDECIDED = "the model declined to decide"
NEAR = 600

BRACKETS = re.compile(r"\[\[\s*([^\[\]\n]{1,80}?)\s*\]\]")
"""A verdict, mark or label in `[[...]]`."""

REASONING_TAGS = ("think", "thinking", "reasoning", "thought", "thoughts", "scratchpad")
"""Elements in which models think."""
_TAG = rf"(?:{'|'.join(REASONING_TAGS)})\s*>"
_BEGINS = rf"<{_TAG}|\[think\]|◁think▷|<\|channel\|>analysis(?:<\|message\|>)?"
_ENDS = rf"</{_TAG}|\[/think\]|◁/think▷|<\|channel\|>final(?:<\|message\|>)?"
REASONING = rf"(?i)(?:{_BEGINS}|{_ENDS})"
"""A tag that begins or ends a model's reasoning, for Polars and Python alike."""

_START = re.compile(_BEGINS, re.IGNORECASE)
_END = re.compile(_ENDS, re.IGNORECASE)
_TRIES = 40
_MARKS = re.compile(r"[\W_]++")
_LONGEST_MARKS = 100
_DECODER = json.JSONDecoder(strict=False)
_REPAIRS = (
    (re.compile(r",\s*([}\]])"), r"\1"),
    (re.compile(r"(?<=[{,\s])'|'(?=\s*[:,}\]])"), '"'),
    (re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:"), r'\1"\2":'),
)
_NUMBER_OF = re.compile(r"\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*(?:/\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*)?")
_CLOSING = re.compile(r"[\]}]")


def shortened(reply: str) -> str:
    """A reply in which no run of spaces and signs is longer than 100: the middle is left out.

    A model that continues with `****` or empty lines to its limit would take the patterns of the
    parsers minutes, since they try every place of such a run; a verdict is never in its middle.
    """
    half = _LONGEST_MARKS // 2

    def cut(found: re.Match[str]) -> str:
        run = found[0]
        return run if len(run) <= _LONGEST_MARKS else run[:half] + run[-half:]

    return _MARKS.sub(cut, reply)


def spoken(reply: str, *, finished: bool) -> str | Reading:
    """What a reply says, or a `Reading` that says why there is nothing to read.

    The reasoning that some models put between tags is left out.
    """
    reply = shortened(reply)
    before, after = around_reasoning(reply) or (reply, "")
    if after is None:
        if not before.strip():
            return unparsed("nothing but reasoning" if finished else CUT_OFF)
        before, after = reply, ""
    text = before + after
    return text.strip() or unparsed(EMPTY if finished else CUT_OFF)


def reads(
    find: Callable[Concatenate[str, P], T | Reading],
) -> Callable[Concatenate[str, P], T | Reading]:
    """A reader of replies from one of texts; a reply that says nothing is read by `spoken`.

    Args:
        find: reads what a reply says; of its options, `finished` is true if it is not given.
    """

    @wraps(find)
    def read(reply: str, /, *args: P.args, **options: P.kwargs) -> T | Reading:
        text = spoken(reply, finished=bool(options.get("finished", True)))
        return text if isinstance(text, Reading) else find(text, *args, **options)

    return read


def undecided(text: str, lack: str, *, finished: bool) -> Reading:
    """The reading of a text in which what was wanted is not: refused, or unparsed by `lack`."""
    refusal = declines(text)
    if refusal:
        return Reading(status="refused", reason=refusal)
    return unparsed(lack if finished else CUT_OFF)


def declines(text: str) -> str | None:
    """In words, that a reply without a verdict refuses or abstains; None if it does neither."""
    if REFUSAL.match(text):
        return DECLINED
    return UNDECIDED if ABSTENTION.search(text[:NEAR]) else None


def around_reasoning(text: str) -> tuple[str, str | None] | None:
    """What precedes the first block of reasoning and what follows the last one.

    None follows a block that was never closed. Some servers and chat templates cut the opening tag
    away, so that whatever ends in `</think>` is reasoning too. None where there is no tag.

    >>> around_reasoning("<think>Rome? No.</think> Paris")
    ('', ' Paris')
    >>> around_reasoning("<think>Rome? No.")
    ('', None)
    """
    begins, ends = _START.search(text), list(_END.finditer(text))
    if ends:
        last = ends[-1]
        opened = begins is not None and begins.start() < last.start()
        return text[: begins.start()] if begins and opened else "", text[last.end() :]
    return None if begins is None else (text[: begins.start()], None)


def without_reasoning(text: str) -> str | None:
    """An answer without its reasoning: what follows the last block; where nothing does, what
    precedes the first. None where neither says anything, or a block was never closed: the answer
    was not given.

    >>> without_reasoning("Rome? No. </think> Paris")
    'Paris'
    """
    around = around_reasoning(text)
    if around is None:
        return text
    before, after = around
    if after is None or _START.search(after):  # A block that was never closed.
        return None
    return after.strip() or before.strip() or None


def json_at(text: str, start: int) -> tuple[Any, int] | None:
    """The JSON object or list that begins at a place of a text, and its end; None if none does.

    Trailing commas, single quotes and bare keys, which models write, are put right.

    >>> json_at("so: {'verdict': 'yes', marks: 1,} it is", 4)
    ({'verdict': 'yes', 'marks': 1}, 33)
    """
    rest = text[start:]
    for read in (str, _repaired):
        written = read(rest)
        try:
            value, end = _DECODER.raw_decode(written)
        except (ValueError, RecursionError):
            continue
        # Repairs move places, but no bracket comes or goes.
        last = len(_CLOSING.findall(written, 0, end)) - 1
        return value, start + next(islice(_CLOSING.finditer(rest), last, None)).end()
    return None


def _repaired(text: str) -> str:
    for pattern, by in _REPAIRS:
        text = pattern.sub(by, text)
    return text


def json_objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects in a reply, outermost ones only, whether alone, fenced or amid prose."""
    found = []
    place, tries = text.find("{"), 0
    while place >= 0 and tries < _TRIES:
        tries += 1
        value, end = json_at(text, place) or (None, place + 1)
        if isinstance(value, dict):
            found.append(value)
        place = text.find("{", end)
    return found


def begins_an_object(text: str) -> bool:
    """Whether a reply begins as JSON does, whole or not: its numbers belong to names."""
    return text.lstrip("` \t\n").removeprefix("json").lstrip().startswith("{")


def member_name(key: str) -> str:
    """A member's name without its case, spaces, hyphens and underscores."""
    return re.sub(r"[\W_]+", "", key.lower())


def field(value: dict[str, Any], *names: str) -> Any:
    """The first of the named members, by `member_name`."""
    known = {member_name(key): item for key, item in value.items()}
    for name in names:
        if name in known:
            return known[name]
    return None


def json_number(value: Any, high: float) -> float | None:
    """A number in JSON, or a short text that is one; None if it is neither.

    The text may name the scale's upper end too:

    >>> json_number("4/5", 5), json_number("4/10", 5)
    (4.0, None)
    """
    if isinstance(value, str):
        said = _NUMBER_OF.fullmatch(value)
        return float(said[1]) if said and float(said[2] or high) == high else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of over 308 digits
        return None
