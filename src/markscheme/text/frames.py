"""What surrounds an answer without being part of it, recognised by a small trained model.

Systems put an answer into JSON, a table, a letter or a chat. `unwrapped` takes it apart (`parts`)
and leaves out what frames the answer and says nothing of it. What frames is learned: logistic
regression over words and counts, from wrappings and sentences that were written by hand for that
(recipes/frames.py). What question or references speak of stays whatever the model says.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from markscheme.errors import reading_weights
from markscheme.manifests import verified
from markscheme.text.lexicon import STOP
from markscheme.text.numbers import MONTHS
from markscheme.text.parts import Part, parts
from markscheme.text.words import words_of

WEIGHTS = Path(__file__).with_suffix(".npz")
BUCKETS = 1 << 14
"""Features are hashed to so many weights."""

Kind = Literal["part", "name", "lead", "tail"]
"""A whole part; its name; what comes before, or after, an answer in its sentence."""

_LONGEST = 10_000
"""Characters of an answer that is read here: what is longer is no short answer in a frame."""
_MOST_PARTS = 40
_SHORT = 20
"""Words of a short answer."""
_MOST_WORDS = 40
_MORE = 2
_MOST_CUTS = 5
_MOST_TRIMMED = 8
"""Parts of a text up to which a lead or a tail is looked for in each."""
_FARTHEST = 200
"""Characters from either end of a sentence within which a lead ends and a tail begins."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[^\w\s]")
_WORD = re.compile(r"\w+")
_TWO_WORDS = re.compile(r"\w\W+\w")
_SAYS_MUCH = re.compile(r"\d|....")
"""A number, or a word of four letters."""
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u3040-\u30ff\u3400-\ud7ff\uf900-\ufaff]")
"""Letters that are not Latin: of what they say nothing was learned."""
_TAG = re.compile(r"[<\[]/?[A-Za-z]")
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_CAPITAL = re.compile(r"(?<=[\w,] )[A-Z]")


def places(text: str, name: str = "") -> list[int]:
    """The places of the weights of a text's words of letters, and of those of its name."""
    return _places(_words(text), _name_words(name))


def _places(words: Sequence[str], names: Sequence[str]) -> list[int]:
    return [
        *(_place(word) for word in words if word[-1].isalpha()),
        *(_place(f"name {word}") for word in names),
    ]


def features(kind: Kind, text: str, question: str, known: Any, name: str = "") -> list[int]:
    """The places of the weights that count for a text: its words, pairs of words and size.

    Args:
        kind: what it is a piece of.
        text: the piece.
        question: that is answered: words in common are counted.
        known: for each place, whether words of several wrappings have it, shape (BUCKETS,).
        name: of a part.
    """
    text = _without(text, question)
    words = _words(text)
    asked = _words_asked(question)
    common = sum([word in asked and len(word) > 3 for word in words])
    capitals = len(_CAPITAL.findall(text))
    key = _name_words(text if kind == "name" else name)
    unknown = sum([not known[place] for place in _places([] if kind == "name" else words, key)])
    found = [
        kind,
        f"{kind} {min(len(words), 24) // 3}",
        f"capitals {min(capitals, 3)}",
        f"numbers {min(words.count('0'), 3)}",
        f"common {min(common, 3)}",
        f"{kind} unknown {min(unknown, 4)}",
        *words,
        *map(" ".join, zip(["^", *words], [*words, "$"], strict=True)),
    ]
    if name:
        last = key[-1] if key else ""
        found += ["named", f"last {last}", *(f"name {word}" for word in key or [last])]
    return sorted(set(map(_place, found)))


def _without(text: str, question: str) -> str:
    """A text in which the question, where it is repeated, is one word."""
    asked = question.strip().rstrip("?.! ")
    if not 8 < len(asked) <= len(text):  # as long is what matches, in whichever case
        return text
    if asked.isascii() and text.isascii() and asked.lower() not in text.lower():
        return text
    return re.sub(re.escape(asked), "<question>", text, flags=re.IGNORECASE)


@functools.lru_cache(maxsize=256)
def _words_asked(question: str) -> frozenset[str]:
    return frozenset(_WORD.findall(question.lower()))


@functools.lru_cache(maxsize=256)
def _spoken(text: str) -> tuple[str, ...]:
    """The words and numbers of a text, in lower case."""
    return tuple(_WORD.findall(text.casefold()))


def _words(text: str) -> list[str]:
    return ["0" if word.isdigit() else word.lower() for word in _TOKEN.findall(text)[:_MOST_WORDS]]


def _name_words(name: str) -> list[str]:
    return [word.lower() for word in _NAME_WORD.findall(name)]


@functools.lru_cache(maxsize=1 << 16)
def _place(feature: str) -> int:
    return zlib.crc32(feature.encode()) % BUCKETS


@functools.cache
def _weights() -> tuple[Any, Any, float]:
    with reading_weights(WEIGHTS), np.load(verified(WEIGHTS)) as stored:
        known = np.unpackbits(stored["known"])[:BUCKETS].astype(bool).tolist()
        return stored["weights"].astype(np.float32), known, float(stored["bias"])


def frames(kind: Kind, text: str, question: str, name: str = "") -> float:
    """How likely a piece of a text frames an answer and says nothing of it (0 to 1)."""
    if _OTHER_SCRIPT.search(text):
        return float(text.strip(" :：").casefold() in _LISTS["abroad"])
    weights, known, bias = _weights()
    found = features(kind, text, question, known, name)
    return float(1 / (1 + np.exp(-(bias + weights[found].sum()))))


# --- What may not go ------------------------------------------------------------------------------

_LISTS = {name: frozenset(words.split()) for name, words in words_of(__file__)["words"].items()}
_MARKUP = frozenset('`*_#<>[]{}|\\$\t"“”„«»「」『』')
_ASKS_YES_OR_NO = "|".join(_LISTS["asks_yes_or_no"])
_YES_NO = re.compile(
    rf"(?:^|[,.:;]\s+)(?:{_ASKS_YES_OR_NO})\b|\b(?:true or false|yes or no)\b|"
    r"\n\W*(?:yes|no|true|false)\b",
    re.IGNORECASE,
)
"""A question of yes or no, or after it a line of a reference that is yes or no."""
_OPTIONS = re.compile(r"\b(?:b|2)[.):]\s|^\W*[a-h](?:[):.\W]*$|[):.]\s)", re.MULTILINE)
_CODE = re.compile(r"[=\[\]{};|<>\\]|\w\(|(?<!\S)--?\w|(?<!\S)/\w")
_CHOICE = re.compile(r"\W*(?:[A-Ha-h]|\d)[).:]\s")
_OPTION = re.compile(r"\b[A-Ha-h]\b(?![’'])")
_SAYS_YES_OR_NO = re.compile(r"\W*(?:yes|no|true|false)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Asked:
    """What an answer is judged against, and so may not lose."""

    question: str
    question_words: frozenset[str]
    reference_words: frozenset[str]
    markup: frozenset[str]
    form: bool
    yes_no: bool
    options: bool
    digits: bool
    denies: bool

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, question: str, references: tuple[str | None, ...]) -> _Asked:
        asked = question.casefold()
        given = "\n".join(one for one in references if one).casefold()
        words = frozenset(_WORD.findall(asked))
        return cls(
            question=" ".join(_WORD.findall(asked)),
            question_words=frozenset(filter(_SAYS_MUCH.search, words)) - _LISTS["spoken"],
            reference_words=frozenset(_WORD.findall(given)) - STOP,
            markup=_MARKUP & (set(given) | set(asked) - set("\"'")),
            form=not words.isdisjoint(_LISTS["forms"]),
            yes_no=bool(_YES_NO.search(f"{question}\n{given}")),
            options=bool(_OPTIONS.search(f"{asked}\n{given}")),
            digits=bool(re.search(r"\d", given)),
            denies=not _LISTS["denials"].isdisjoint(_WORD.findall(given)),
        )

    def spares(self, lost: str, left: str, sure: float = 1.0, *, spoken: bool) -> bool:
        """Whether nothing goes with `lost` that may be part of the answer, if `left` is left.

        Words of the question may be part of it where they are spoken, but not in names of fields.
        An affirmation answers nothing before a yes or no of its own ("Sure! No, it is not."), or
        together with an offer ("Of course, happy to help.").

        Args:
            lost, left: the texts.
            sure: the share of 1 that the model gives for `lost` being a frame; what stays at 1
                stays at less.
            spoken: whether it is running text.
        """
        if _unbalanced(lost) or (self.options and _OPTION.search(lost)):
            return False
        if self.yes_no and spoken and sure < _SURE:
            return False
        gone: Sequence[str] = _spoken(lost)
        rest = _spoken(left)
        if self.question and self.question in (whole := " ".join(gone)):
            gone = whole.replace(self.question, " ", 1).split()
        words = set(gone).difference(rest)
        if not rest or words & self.reference_words or (spoken and words & self.question_words):
            return False
        if not _LISTS["doubts"].isdisjoint(gone) or (
            (sure < _SURE or self.denies) and not _LISTS["denials"].isdisjoint(gone)
        ):
            return False
        if not self.yes_no or words.isdisjoint(_LISTS["affirms"] | _LISTS["denials"]):
            return True
        return bool(words & _LISTS["serves"] or _SAYS_YES_OR_NO.match(left))

    def is_other(self, labelled: str) -> bool:
        """Whether a text that is labelled as the answer is another answer than the references.

        A word that says something, and nothing of references and question: what is in other fields
        (`alternatives`) does not make up for it. A letter or a yes may be spelled out there.
        """
        words = {word for word in _spoken(labelled) if len(word) > 1} - STOP
        words -= _LISTS["affirms"] | _LISTS["denials"]
        known = self.reference_words | self.question_words
        return bool(words) and words.isdisjoint(known) and not self.options

    def repeated(self, text: str) -> bool:
        """Whether a text is the question, with at most two words more."""
        said = " ".join(_spoken(text))
        more = said.replace(self.question, "", 1).split()
        return bool(self.question) and self.question in said and len(more) <= _MORE

    def spares_all(self, whole: str, left: str) -> bool:
        """Whether a whole answer has nothing more of references, or of their form, than `left`."""
        words, rest = set(_spoken(whole)), set(_spoken(left))
        if not rest or (words - rest) & self.reference_words:
            return False
        day = re.match(r"(\d{1,2})\. ([^\W\d_]+)", whole)
        if day and self.digits and day[2].lower() in MONTHS and day[1] not in rest:
            return False  # "1. May", against "4 May".
        if self.options and _CHOICE.match(whole) and not _CHOICE.match(left):
            return False
        formula = "\\" in left and "$" in whole
        code = "`" in whole and _CODE.search(left)
        return not formula and not code and not self.markup & (set(whole) - set(left))


def _unbalanced(text: str) -> bool:
    """Whether a bracket opens or closes here whose other half is elsewhere."""
    return bool(_PAIRED.search(text)) and (
        text.count('"') % 2 > 0
        or any(text.count(one) != text.count(other) for one, other in ("()", "[]", "{}", "“”"))
    )


_PAIRED = re.compile(r"[\"()\[\]{}“”]")
_NO_FRAMES = _LISTS["denials"] | _LISTS["doubts"]
_LABELLED = 0.95
"""How likely a name is the answer's, so that fields with other names are not the answer."""
_LIKELY, _CUT, _SURE, _UNLIKELY = 0.6, 0.7, 0.85, 0.75
"""Shares of 1 above which a piece is a frame, a part of a sentence is one, and a piece with a "no"
or "not"; and up to which the least likely of all is the answer."""


# --- Taking off -----------------------------------------------------------------------------------

_LEAD = re.compile(
    r"(?:\b(?:is|are|was|were|as|be|that|it|says?|reads?|states?)\s|[:：,–—](?!\d)|\s-\s"
    r"|[\"“‘])\s*(?=[^\W_]|[$€£¥+(\"“‘'-])"
)
_TAIL = re.compile(
    r"\s*[,;(\[–—\"”’]\s*|\s+(?=according|as|per|in|based|from)\b|\s-\s"
    r"|\s+(?=(?:Please|Let me|Would you|Feel free|I hope|Hope|Thank|Note|Happy to|Glad)\b)"
)
"""Where a tail may begin; after an answer without a full stop also with a sentence of its own."""


def unwrapped(answer: str, question: str | None, references: Sequence[str] | None) -> str:
    """An answer without what surrounds it and is no part of it; the same text where nothing does.

    No word of a reference goes that the rest of the answer lacks, no yes or no of a yes-no
    question, no markup that question or references have, and no doubt. An answer that is nothing
    but frame keeps all of it. What is labelled as the answer, and is another one than the
    references, stays without the fields next to it, whatever these have.

    >>> unwrapped('{"answer": "**Lima**", "confidence": 0.9}', "Which city is it?", ["Lima"])
    'Lima'
    >>> unwrapped('{"answer": "Quito", "alternatives": ["Lima"]}', "Which city is it?", ["Lima"])
    'Quito'
    >>> unwrapped("Sure! Here is what I found: Lima", "Which city is it?", ["Lima"])
    'Lima'
    >>> unwrapped("Sure! Lima is.", "Is Lima a city?", ["yes"])
    'Sure! Lima is.'
    """
    whole = answer.strip()
    asked = _Asked.of(question or "", tuple(references or ()))
    if not whole or len(whole) > _LONGEST or asked.form:
        return answer
    found = parts(whole)
    if not 0 < len(found) <= _MOST_PARTS:
        return answer
    labels = _labels(found, question or "")
    own = [part for part in found if not part.name or part.name in labels]
    sure = not _LISTS["labels"].isdisjoint(_name_words(" ".join(labels)))
    other = sure and asked.is_other(" ".join(part.text for part in own if part.name))
    if other := other and len(own) < len(found):
        found, whole = own, "\n".join(part.raw for part in own)
    left = _without_frames(found, labels, question or "", asked)
    if left == found and len(left) > 1 and not other:
        return answer
    text = _joined(left, whole, question or "", asked)
    return text if text and asked.spares_all(whole, text) else answer


def _labels(found: Sequence[Part], question: str) -> set[str]:
    """The name that labels the answer among the names of parts; none if there are two."""
    named = {part.name for part in found if part.name}
    labels = {name for name in named if frames("name", name, question) > _LABELLED}
    return labels if len(labels) == 1 else set()


@dataclass(frozen=True, eq=False, kw_only=True)
class _Rated:
    """A part, whole and without a lead and a tail; whether that is a frame is rated on demand."""

    part: Part
    left: Part
    labels: set[str]
    question: str
    asked: _Asked

    @functools.cached_property
    def sure(self) -> float:
        """The share of 1 that it frames the answer."""
        if self.asked.repeated(self.left.text):
            return 1.0
        if self.part.name and self.labels and self.part.name not in self.labels:
            return _LABELLED  # another field has the answer
        return frames("part", self.left.text, self.question, self.part.name)

    def may_go(self, rest: str, sure: float = 1.0) -> bool:
        """Whether nothing of the answer goes with it, if it is so surely a frame."""
        spoken = not self.left.name
        return self.asked.spares(self.left.text, rest, sure, spoken=spoken)


def _without_frames(
    found: Sequence[Part], labels: set[str], question: str, asked: _Asked
) -> list[Part]:
    """The parts that are no frames; one alone without a lead and a tail of its sentence."""
    trims = len(found) <= _MOST_TRIMMED
    rated = [
        _Rated(
            part=part,
            left=_trimmed(part, question, asked) if trims else part,
            labels=labels,
            question=question,
            asked=asked,
        )
        for part in found
    ]
    while len(rated) > 1:
        # The surest first, since what is left decides whether the others may go; running text only
        # from either end.
        spoken = [one for one in rated if not one.left.name]
        outer = [one for one in rated if one.left.name] + spoken[:1] + spoken[1:][-1:]
        rests = [
            (one, "\n".join(other.left.text for other in rated if other is not one))
            for one in outer
        ]
        may_go = [(one, rest) for one, rest in rests if one.may_go(rest)]
        for one, rest in sorted(may_go, key=lambda pair: -pair[0].sure):
            if one.sure > _least(rest) and one.may_go(rest, one.sure):
                rated.remove(one)
                break
        else:
            break
    if len(rated) == len(found) and (len(found) > 1 or rated[0].left is found[0]):
        return list(found)  # None goes.
    if all(one.sure > _UNLIKELY for one in rated):
        return list(found)  # Of nothing but frames none goes.
    return [rated[0].left] if len(rated) == 1 else [one.part for one in rated]


def _least(left: str) -> float:
    """How likely a frame must be: around a long text there are other things."""
    return _LIKELY if len(left.split()) <= _SHORT else _SURE


def _trimmed(part: Part, question: str, asked: _Asked) -> Part:
    """The part without a lead and a tail that frame the rest of its sentence."""
    text = part.text
    for kind, cuts in _CUTS:
        # The likeliest cut: a longer one has words of the answer.
        tried = list(cuts(text))[:_MOST_CUTS] if kind == "lead" else list(cuts(text))[-_MOST_CUTS:]
        if any(
            _may_cut(kind, lost, left, asked)
            and _cut_off(kind, lost, question) > max(_CUT, _least(left))
            for lost, left in tried
        ):
            sure, lost, left = max(
                ((_cut_off(kind, lost, question), lost, left) for lost, left in tried),
                key=lambda one: one[0],
            )
            if sure > max(_CUT, _least(left)) and _may_cut(kind, lost, left, asked, sure):
                text = left
    return part if text == part.text else part._replace(text=text, raw=text)


def _may_cut(kind: Kind, lost: str, left: str, asked: _Asked, sure: float = 1.0) -> bool:
    """Whether a sentence may lose a lead or a tail that is so surely a frame."""
    words = _spoken(left)
    denied = words[:1] == ("not",) or (kind == "tail" and not _LISTS["denials"].isdisjoint(words))
    return not denied and asked.spares(lost, left, sure, spoken=True)


@functools.lru_cache(maxsize=16)
def _cut_off(kind: Kind, lost: str, question: str) -> float:
    """How likely what is cut off is a frame: as a sentence too where it reads as one."""
    sure = frames(kind, lost, question)
    if kind == "tail" and lost[:1].isupper():
        sure = max(sure, frames("part", lost, question))
    return sure


def leads(text: str) -> Iterator[tuple[str, str]]:
    """A sentence cut in two, in every place at which a lead may end: the lead and the rest."""
    for end in _LEAD.finditer(text, 0, _FARTHEST):
        lost = text[: end.end()].rstrip("‘'( ")
        if lost.endswith(('"', "“")) and re.search('["”][.!]?$', text):
            lost = lost[:-1]
        if _WORD.search(lost) and lost.rfind("[") <= lost.rfind("]"):
            yield lost, text[end.end() :].strip("\"”’'")


def tails(text: str) -> Iterator[tuple[str, str]]:
    """A sentence cut in two, in every place at which a tail may begin: the tail and the rest."""
    for start in _TAIL.finditer(text, max(1, len(text) - _FARTHEST)):
        lost = text[start.start() :]
        if _TWO_WORDS.search(lost):
            yield lost.strip(), text[: start.start()].rstrip("\"“‘'( ")


_CUTS: tuple[tuple[Kind, Callable[[str], Iterator[tuple[str, str]]]], ...] = (
    ("lead", leads),
    ("tail", tails),
)


def _joined(found: Sequence[Part], whole: str, question: str, asked: _Asked) -> str:
    """Parts as a text: one alone without its name where that frames it, several as written.

    Empty where names are a part of the answer: several are left, or one that frames nothing.
    """
    names = {part.name for part in found}
    if len(names) > 1:
        return ""
    if len(found) > 1 and names == {""}:
        start, end = whole.find(found[0].raw), whole.rfind(found[-1].raw)
        if 0 <= start < end and not _TAG.search(written := whole[start : end + len(found[-1].raw)]):
            return written
        return "".join((" " if part.follows else "\n") + part.raw for part in found).strip()
    name, text = found[0].name, " ".join(part.text for part in found)
    if not name or name.casefold() in _LISTS["abroad"]:
        return text
    words = {word.lower() for word in _NAME_WORD.findall(name)}
    framing = frames("name", name, question) > _LIKELY or words <= asked.question_words
    letter = asked.options and len(name) == 1
    return text if framing and words.isdisjoint(_NO_FRAMES) and not letter else ""


_PLAIN = r"^[\p{L}\p{N}]+(?:(?:[ '’/%°-]|[.,;] ?)[\p{L}\p{N}]+)*[.!%]?$"
_HINTS = rf"(?i)^1\. |\b(?:{'|'.join(_LISTS['hints'])})\b"


def may_be_wrapped(answers: pl.Series) -> pl.Series:
    """Which answers (String) have something that `unwrapped` looks for: it leaves the others."""
    hinted = ~answers.str.contains(_PLAIN) | answers.str.contains(_HINTS)
    return hinted.fill_null(value=False)
