"""What is around an answer without being part of it: markup, fields, labels, the question, talk.

`unwrapped` takes shells off an answer, one at a time, until none is left. Each shell says what may
be left of a text; `_Asked` refuses what question or references speak of, an answer of yes or no,
and doubt.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.text import talk
from markscheme.text.lexicon import STOP
from markscheme.text.words import words_of

_LONGEST = 10_000
"""Characters of an answer that is read here: what is longer is no short answer in a wrapping."""
_MOST_SHELLS = 30
_MOST_LINES = 20
"""Lines of fields or of steps."""

_TABLE = words_of(__file__)
_LISTS = {name: frozenset(words.split()) for name, words in _TABLE["words"].items()}


def _any(name: str) -> str:
    """An alternation of the words of a list, the longest first."""
    return "|".join(map(re.escape, sorted(_LISTS[name], key=len, reverse=True)))


_WORD = re.compile(r"\w+")
_MARKUP = frozenset('`*_#<>[]{}|\\$\t"“”„«»「」『』')
_YES_NO = re.compile(
    rf"(?:^|[,.:;]\s+)(?:{_any('asks_yes_or_no')})\b|\b(?:true or false|yes or no)\b|"
    r"\n\W*(?:yes|no|true|false)\b",
    re.IGNORECASE,
)
"""A question of yes or no, or after it a line of a reference that is yes or no."""
_SAYS_YES_OR_NO = re.compile(r"\W*(?:yes|no|true|false)\b", re.IGNORECASE)
_OPTIONS = re.compile(r"\bb[.):]|^\W*[a-h](?:[):.\W]*$|[):.]\s)", re.MULTILINE)


@dataclass(frozen=True)
class _Asked:
    """What an answer is judged against, and so may not lose."""

    question: str
    question_words: frozenset[str]
    reference_words: frozenset[str]
    references: str
    markup: frozenset[str]
    yes_no: bool
    options: bool

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, question: str, references: tuple[str | None, ...]) -> _Asked:
        asked = question.casefold()
        given = "\n".join(one for one in references if one).casefold()
        words = frozenset(_WORD.findall(asked))
        form = not words.isdisjoint(_LISTS["forms"])
        return cls(
            question=" ".join(_WORD.findall(asked)),
            question_words=frozenset(one for one in words if re.search(r"\d|....", one))
            - _LISTS["spoken"],
            reference_words=frozenset(_WORD.findall(given)) - STOP,
            references=given,
            markup=_MARKUP if form else _MARKUP & (set(given) | set(asked) - set('"')),
            yes_no=bool(_YES_NO.search(f"{question}\n{given}")),
            options=bool(_OPTIONS.search(f"{asked}\n{given}")),
        )

    def spares(self, text: str, left: str, *, spoken: bool) -> bool:
        """Whether nothing goes with what `left` lacks of `text` that may be part of the answer.

        Words of the question may be so where they are spoken, but for names of fields and sources.
        An affirmation answers nothing before a yes or no of its own ("Sure! No, it is not."), or
        together with an offer ("Of course, happy to help.").
        """
        whole = _WORD.findall(text.casefold())
        rest = _WORD.findall(left.casefold())
        if not rest or self.markup & (set(text) - set(left)):
            return False
        doubts = Counter(talk.words(text)) - Counter(talk.words(left))
        if self.question and self.question in " ".join(whole):
            whole = " ".join(whole).replace(self.question, " ", 1).split()
            doubts -= Counter(self.question.split())
        lost = set(whole) - set(rest)
        if lost & self.reference_words or (spoken and lost & self.question_words):
            return False
        if not _LISTS["doubts"].isdisjoint(doubts):
            return False
        if not self.yes_no or lost.isdisjoint(_LISTS["affirms"]):
            return True
        return bool(lost & _LISTS["serves"] or _SAYS_YES_OR_NO.match(left))


# --- Markup around the whole ----------------------------------------------------------------------

_CODE = re.compile(r"[={};<>\[\]$\\]|\w\(|^\s*(?:def|import|return|select)\b", re.IGNORECASE)
_QUOTES = ('""', "“”", "‘’", "„“", "«»", "「」")
_RULE = r"(?:[-=*_~#]{3,}|#{1,6})"
_MODEL_MARK = r"(?:<\|[^|<>\n]{1,40}\|>|<(?:s|bos|eos|eot|end|br ?/?)>|<!--[^<>]{0,200}-->)"
_AROUND = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"(`{3,}|~{3,})[^\n`]*\n(?P<in>(?:(?!\1).)*)(?:\1)?",
        r"(`+)(?P<in>[^`\n]+)\1(?P<end>[.!]?)",
        r"<(?!think|reason|thought|scratch)([A-Za-z][\w-]{0,30})(?:\s[^<>]*)?>"
        r"(?P<in>(?:(?!<\1).)*)</\1\s*>\.?",
        r"\[([A-Za-z][\w-]{0,30})\](?P<in>.*)\[/\1\]",
        r"\$*\\(?:boxed|f?box|text(?:bf)?|math(?:rm|bf))\{(?P<in>(?:[^{}]|\{[^{}]*\})*)\}\$*\.?",
        r"(([*_])\2{0,2})(?!\s)(?P<in>(?:(?!\2).)+)(?<!\s)\1(?P<end>[.!]*)",
        *(rf"{pair[0]}(?P<in>[^{pair}]+){pair[1]}(?P<end>[.!]*)" for pair in _QUOTES),
        r"#{1,6} +(?P<in>[^\n]+?)[ #]*",
        rf"{_MODEL_MARK}(?P<in>.*)",
        rf"(?P<in>.*){_MODEL_MARK}",
        r"(?P<in>[^<]*)</\w{1,20}>",
        rf"(?P<in>.*)\n\s*{_RULE}",
        r"(?P<in>.*)\n\W*(?:END|DONE|STOP)\W*",
    )
]
_QUOTED_LINES = re.compile(r"(?:[ \t]*>[^\n]*(?:\n+|$))+")
_ITEM = re.compile(r"(?:[*•‣▪·→➤▶►]|[-–+](?!\s*\d)|\(?1[.)](?!.*\b2[.)]\s))\s+(?=\S)")


def _markup(text: str, asked: _Asked) -> Iterator[str]:
    """The text within markup, or without tokens of a model and rules at its ends."""
    for pattern in _AROUND:
        if found := pattern.fullmatch(text):
            inner = found["in"].strip()
            if text[0] not in "`~" or inner[:1] in "{[<|" or not _CODE.search(inner):
                yield inner + found.groupdict().get("end", "")
    if _QUOTED_LINES.fullmatch(text):
        yield re.sub(r"(?m)^\s*(?:>\s*)+", "", text)
    found = _ITEM.match(text)
    if found and "\n" not in text and asked.markup is not _MARKUP:
        day = "1" in found[0] and re.search(r"\d", asked.references)  # "1. May", against "4 May".
        if not day or text[found.end()].isdigit():
            yield text[found.end() :]


# --- Fields: JSON, tables, lines of key and value -------------------------------------------------

_KEY_LINE = re.compile(r"[-*•\s_]*([A-Za-z][\w -]{0,30}?)[*_\s]*[:=][*_\s]*(.*?)[*_\s]*")
_ELEMENTS = re.compile(r"\s*<([A-Za-z][\w-]{0,30})>([^<>]*)</\1>\s*")
_KEY_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_Fields = Sequence[Sequence[Any]]
"""Names and their values."""


def _data(text: str, _: _Asked) -> Iterator[str]:
    """The one answer among fields, of which the others say nothing of it."""
    for fields in _fields(text):
        answers = []
        for key, value in fields:
            *before, last = [word.lower() for word in _KEY_WORD.findall(key)] or [""]
            if last in _LISTS["answer_keys"] and _LISTS["modifiers"].issuperset(before):
                answers.append(value)
            elif last not in _LISTS["other_keys"]:
                break
        else:
            if len(answers) == 1:
                yield (
                    answers[0]
                    if isinstance(answers[0], str)
                    else json.dumps(answers[0], ensure_ascii=False)
                )


def _fields(text: str) -> Iterator[_Fields]:
    """Names and values of what a text consists of, in the ways that it can be read."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if text[0] in "{[":
        yield _json(text)
    elif text[0] == "<" and not _ELEMENTS.sub("", text):
        yield _ELEMENTS.findall(text)
    elif 2 <= len(lines) <= _MOST_LINES:
        for mark in "|\t":
            rows = [line.strip(mark).split(mark) for line in lines if re.search(r"[^\s|:-]", line)]
            cells = [[cell.strip() for cell in row] for row in rows if mark in text]
            if len(cells) == 2 and len(cells[0]) == len(cells[1]):
                yield list(zip(*cells, strict=True))
            if cells and all(len(row) == 2 for row in cells):
                yield cells
        pairs = [_KEY_LINE.fullmatch(line) for line in lines]
        yield [(one[1], one[2]) for one in pairs if one] if all(pairs) else []


def _json(text: str) -> _Fields:
    for one in (text, text.replace("'", '"'), text.replace("\\n", "\n")):
        try:
            value = json.loads(one, strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and len(value) == 1:
            # A number in brackets may be a range or a mark.
            value = {"answer": value[0]} if isinstance(value[0], str) else value[0]
        return list(value.items()) if isinstance(value, dict) else []
    return []


# --- What is written before the answer ------------------------------------------------------------

_OPENS = r"[\s>#*_\[(•-]{0,20}"
_PHRASE = (
    rf"(?:(?:so|thus|hence|therefore),?\s+)?(?:(?:{_any('modifiers')})\s+){{0,3}}(?:{_any('nouns')})"
    r"(?:\s+(?:to|for)\s+\w+\s+question|\s+you(?:['’]re|\s+are)\s+looking\s+for|[\s_]\d+)?"
)
_LABEL = re.compile(
    rf"{_OPENS}(?:{_PHRASE}|{'|'.join(_TABLE['phrases']['labels'])}|{_any('abroad')})"
    r"(?:[\s*_\])]*(?:[:：]|\s[=–—-](?=\s)|[-=]+>|→)|[#*_:=\] ]*\n(?:[=-]{2,} *\n)?)[\s*_\])]*",
    re.IGNORECASE,
)
_SAYS = re.compile(
    rf"{_OPENS}(?:(?:i|we)\s+(?:believe|think)\s+(?:that\s+)?)?"
    rf"(?=[^:.\n]{{0,60}}\b(?:answer|response|reply)\b){_PHRASE}\s+(?:is|would\s+be)"
    r"(?:\s*[:：][\s*_]*|\s+(?!(?:that|not|as|below|in|on)\b))",
    re.IGNORECASE,
)
_A = re.compile(r"[*_]*A(?:ns)?[*_]*:[\s*_]+")
_QUESTION_LABEL = re.compile(rf"[\W_]*(?:{_any('questions')})[\W\d_]*", re.IGNORECASE)
_AFTER_QUESTION = re.compile(
    r"(?=[\W_]*?[?？:：\"”»\n])[\"”»’*_)\]]*[?!.:;？。！]*[\"”»’*_)\]]*[:：]?"
    r"(?:\s+[-–—](?=\s))?\s*"
)
_FARTHEST_QUESTION = 80
"""Characters within which the question begins that a text repeats."""
_MATTER = re.compile(r"[\d\"“«`]|\s(?!I\b)[A-Z]")
"""Numbers, quotations and names."""
_STEP = re.compile(r"^[\s*_#-]*(?:step\s+)?\d{1,2}[*_]*(?:[.):]|\s[-–—]\s)[*_\s]*", re.IGNORECASE)
_SO = re.compile(r"(?:so|thus|hence|therefore|finally)\b[,:\s]*", re.IGNORECASE)


def _label(text: str, asked: _Asked) -> Iterator[str]:
    """The text without a label or role before it, or a heading over it that is a label."""
    for pattern in (_LABEL, _SAYS, _A):
        found = pattern.match(text)
        if found and not (pattern is _A and asked.options):
            left = text[found.end() :]
            if found[0].count("**") % 2 and left.count("**") == 1:
                left = left.replace("**", "")
            yield left


def _question(text: str, asked: _Asked) -> Iterator[str]:
    """The text after the question, where it begins with it."""
    wanted = asked.question.split()
    found = list(_WORD.finditer(text, 0, _FARTHEST_QUESTION + 2 * len(asked.question)))
    have = [word[0].casefold() for word in found]
    for place in range(len(have) - len(wanted) + 1 if len(wanted) > 2 else 0):
        if have[place : place + len(wanted)] != wanted:
            continue
        before = text[: found[place].start()]
        mark = _AFTER_QUESTION.match(text, found[place + len(wanted) - 1].end())
        labelled = not place or _QUESTION_LABEL.fullmatch(before)
        if mark and labelled:
            yield text[mark.end() :]


def _steps(text: str, asked: _Asked) -> Iterator[str]:
    """The answer that a last line is labelled as, after steps without numbers and names."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not 2 <= len(lines) <= _MOST_LINES:
        return
    *before, last = (_STEP.sub("", line) for line in lines)
    numbered = all(map(_STEP.match, lines))
    if not all(talk.is_talk(line) or (numbered and not _MATTER.search(line)) for line in before):
        return
    for place in (0, *(one.end() for one in re.finditer(r"[:,;.–—]\s+", last))):
        yield from _label(last[place:], asked)
    if numbered and (found := _SO.match(last)):
        yield last[found.end() :]


# --- All of them ----------------------------------------------------------------------------------

_Shell = Callable[[str, _Asked], Iterator[str]]
_SHELLS: dict[bool, tuple[_Shell, ...]] = {
    False: (_markup, _data, _question, lambda text, _: talk.without_sources(text)),
    True: (
        _label,
        _steps,
        lambda text, _: talk.without_first(text),
        lambda text, _: talk.without_last(text),
    ),
}
"""By whether their words are spoken."""


def unwrapped(answer: str, question: str | None, references: Sequence[str] | None) -> str:
    """An answer without what is around it and no part of it; the same text where that is nothing.

    No word of a reference goes that the rest of the answer lacks, no yes or no of a yes-no
    question, no markup that question or references have, and no line of doubt. An answer that is
    nothing but talk keeps all of it.

    >>> unwrapped('{"answer": "**Lima**", "confidence": 0.9}', "Which city is it?", ["Lima"])
    'Lima'
    >>> unwrapped("Sure! Here is what I found: Lima", "Which city is it?", ["Lima"])
    'Lima'
    >>> unwrapped("Sure! Lima is.", "Is Lima a city?", ["yes"])
    'Sure! Lima is.'
    """
    whole = text = answer.strip()
    if not text or len(text) > _LONGEST:
        return answer
    asked = _Asked.of(question or "", tuple(references or ()))
    for _ in range(_MOST_SHELLS):
        left = _without_a_shell(text, asked)
        if left is None:
            break
        text = left
    return answer if text == whole or talk.is_talk(text) else text


def _without_a_shell(text: str, asked: _Asked) -> str | None:
    for spoken, shells in _SHELLS.items():
        for left in (left.strip() for shell in shells for left in shell(text, asked)):
            if left != text and asked.spares(text, left, spoken=spoken):
                return left
    return None


_PLAIN = r"^[\p{L}\p{N}]+(?:(?:[ '’/%°-]|[.,;] ?)[\p{L}\p{N}]+)*[.!%]?$"
_HINTS = rf"(?i)^1\. |\b(?:answer|response|reply)\b|{talk.HINTS}"


def may_be_wrapped(answers: pl.Series) -> pl.Series:
    """Which answers (String) have something that `unwrapped` looks for: it leaves the others."""
    talks = answers.str.contains(r"\. ") & answers.str.contains(talk.TALKS)
    hinted = ~answers.str.contains(_PLAIN) | answers.str.contains(_HINTS) | talks
    return hinted.fill_null(value=False)
