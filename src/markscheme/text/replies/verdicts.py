"""Reading yes or no out of a model's reply.

A reply is judged only where all that it says agrees. What contradicts itself, hedges, is empty or
was cut off stays unread: a grade must never come out of a reply that nobody could grade by.
"""

from __future__ import annotations

import re
from typing import Any

from markscheme.text.replies.reply import CUT_OFF, Reading, field, json_objects, spoken, unparsed

YES_WORDS = (
    "yes", "yeah", "yep", "yup", "ja", "oui", "si", "sí", "sì", "sim", "da", "да", "tak", "evet",
    "はい", "是", "是的", "对", "對", "正确", "正確", "네", "예", "हाँ", "हां", "نعم", "ใช่", "vâng",
)  # fmt: skip
NO_WORDS = (
    "no", "nope", "nein", "non", "não", "nao", "nee", "nej", "nie", "нет", "hayır", "hayir",
    "いいえ", "否", "不", "不是", "不对", "不對", "不正确", "不正確", "错误", "錯誤", "아니요",
    "아니오", "नहीं", "لا", "ไม่", "không", "tidak",
)  # fmt: skip
"""Yes and no in languages that models slip into. Where a word means both, it is left out."""

_JUDGED_YES = ("correct", "true", "accurate", "right", "acceptable")
_JUDGED_NO = ("incorrect", "false", "wrong", "inaccurate", "not correct", "not acceptable")

_VALUES = dict.fromkeys([*YES_WORDS, *_JUDGED_YES, "y", "1"], True) | dict.fromkeys(
    [*NO_WORDS, *_JUDGED_NO, "n", "0"], False
)
VERDICT_WORDS = {word: value for word, value in _VALUES.items() if word not in ("y", "n", "1", "0")}
"""Words that are a verdict, in lower case, with what they say."""

JUDGED_WORDS = frozenset((*_JUDGED_YES, *_JUDGED_NO))
"""Those of them that judge an answer, as "incorrect" does."""

_MARKUP = "\\s>*_#\"'“”‘’`´«»(\\[~\\-"
_YES = "|".join(sorted(map(re.escape, YES_WORDS), key=len, reverse=True))
_NO = "|".join(sorted(map(re.escape, NO_WORDS), key=len, reverse=True))

# "No. 5" is a number and "no-one" a person; "no evidence ..." leaves the verdict open.
_END = r"(?:\s*$|[,;:!?)\]}\"'“”‘’*_`…。、，！؟।]|\.(?!\s?\d)|\s*[–—(\n]|\s-|-\s)"
_AFTER_NO = r"(?:\s+(?:it|the|this|that|they|he|she|because|since|as|but|ai|its|not)\b)"
_OPENING = re.compile(
    rf"[{_MARKUP}]*(?:"
    rf"(?P<yes>(?:{_YES})(?={_END})|yes(?=\s+(?!(?:and|or)\s+no\b)[^\W\d]))"
    rf"|(?P<no>(?:{_NO})(?={_END})|no(?={_AFTER_NO}))"
    rf"|(?P<right>correct|true)(?={_END})"
    rf"|(?P<wrong>incorrect|false|wrong|not correct)(?={_END})"
    r")",
    re.IGNORECASE,
)
_BOTH = re.compile(
    rf"[{_MARKUP}]*(?:yes\W{{1,5}}(?:and\W|or\W)?\W{{0,3}}no|no\W{{1,5}}(?:and\W|or\W)?\W{{0,3}}yes)"
    r"\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^[^\w\n]*(?:(?:final|my|overall)[ _])?"
    r"(?:verdict|judge?ment|answer|decision|conclusion|result|correct|is[ _]correct|a)"
    r"[^\w\n:=]*[:=][^\w\n]*"
    r"(?P<word>yes|no|true|false|correct|incorrect|wrong|not correct)"
    r"(?![\w/]| (?:or|and) )(?!\.\s?\d)",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKETS = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
_MEMBER = re.compile(
    r"[\"'](?:verdict|is[ _]?correct|correct|judge?ment|decision)[\"']\s*:\s*[\"']?"
    r"(yes|no|true|false|correct|incorrect)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:^|[.!?;:。]\s+|\b(?:answer|verdict|judge?ment|decision|conclusion) (?:is|would be)\b)"
    rf"[{_MARKUP},:]*(?:(?:so|thus|therefore|hence|finally)\b[\s,:]*)?[{_MARKUP}]*"
    r"(?P<word>yes|no|correct|incorrect)[\s.!*_\"'”’`)\]}]*$",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"\b(?:candidate(?:['’]s)?(?: answer| response)?|(?:the|this|that|ai|ai[- ]generated"
    r"|system['’]?s?|generated|given|provided|proposed|submitted|student['’]?s?)"
    r" (?:answer|response))"
    r"(?: \"[^\"\n]{0,200}\"| [“][^”\n]{0,200}[”])?"
    r"\s+(?:is|was)\s+(?:(?:indeed|also|actually|therefore|thus|still|in fact|hence|completely"
    r"|entirely|factually)\s+){0,2}"
    r"(?P<word>not correct|not right|not accurate|not acceptable|incorrect|wrong|false|inaccurate"
    r"|correct|right|accurate|true|acceptable)\b",
    re.IGNORECASE,
)
_ABLE = (
    r"(?:can(?:not|['’]?t| not)|am (?:unable|not able) to|won['’]t|will not|could(?:n['’]t| not))"
)
_REFUSAL = re.compile(
    rf"^[{_MARKUP}]*(?:no[,.]\s+)?(?:(?:i['’]?m (?:really |very |so )?sorry|sorry|i apologi[sz]e"
    r"|my apologies)(?! for (?:the|any|my)\b)|as an ai\b|as a(?: large)? language model"
    rf"|i {_ABLE} (?:assist|help|comply|fulfil|answer|respond|provide|judge|evaluate|engage))",
    re.IGNORECASE,
)
_ABSTENTION = re.compile(
    rf"\b(?:i|we|one|it) (?:{_ABLE}|(?:is|was) (?:not possible|impossible) to)"
    r" (?:be )?(?:determine|verif(?:y|ied)|say|tell|judge|confirm|assess|decide|know)"
    r"|\bunable to (?:determine|verify|judge|confirm|assess|decide)"
    r"|\b(?:not enough|insufficient) (?:information|context|evidence)|\bi do(?:n['’]t| not) know\b",
    re.IGNORECASE,
)
_DECLINES_FIRST = re.compile(rf"^[{_MARKUP}]*no[,.]\s+(?=(?:i|we)\b)", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:if|whether|unless|when|not|cannot|never|doubt|unlikely|unclear|had|would)\b|n['’]t\b"
    r"|\bno (?:evidence|reason|indication|way|proof)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:partial(?:ly)?|partly|maybe|perhaps|possibly|probably|somewhat|it depends|not sure"
    r"|unclear|ambiguous|not (?:entirely|fully|completely|exactly|quite))\b",
    re.IGNORECASE,
)

DECLINED = "the model declined to answer"
UNDECIDED = "the model declined to decide"

_JSON_FIELDS = ("verdict", "iscorrect", "correct", "judgment", "judgement", "decision", "answer",
                "finalanswer", "result", "label")  # fmt: skip
_NEAR = 600


def as_bool(value: Any) -> bool | None:
    """A word or JSON value as a verdict: booleans, 1 and 0, yes and no; None if it is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        return _VALUES.get(value.strip(" \t\r\n.!*_\"'`").lower())
    return None


def read_yes_no(reply: str, *, finished: bool = True, verdict_last: bool = False) -> Reading:
    """Whether a reply accepts the answer.

    Looked for: JSON, `[[yes]]`, a line such as `Verdict: no`; the first word, in several languages;
    the last word; a sentence such as "The candidate is correct". Where two of these differ, the
    reply is unparsed ("No, the candidate is correct", Kamalloo et al. 2023, appendix A).

    Args:
        reply: the model's text.
        finished: whether the model stopped by itself. Of a reply that was cut off, only a verdict
            that certainly came before is taken.
        verdict_last: the prompt asks for reasons first, so that a first word "no" may begin a
            thought; then the end decides.
    """
    text = spoken(reply, finished=finished)
    if isinstance(text, Reading):
        return text
    explicit = _explicit(text)
    if None in explicit:
        return unparsed("contradicts itself: it gives both verdicts")
    opening, closing = _opening(text), _closing(text) if finished else None
    stated = _statements(text)
    if verdict_last:
        found = explicit or ({"its end": closing} if closing is not None else {})
        if not found and finished:
            found = stated[-1] if stated else _named("its first word", opening)
        if found and not explicit and "\n" not in text:
            found |= _named("its first word", opening)  # One line has no thought before its end.
    elif opening is not None and _BOTH.match(text):
        return unparsed("hedges: it says yes and no")
    else:
        found = explicit | _named("its first word", opening) | _named("its end", closing)
        if found or finished:
            for one in stated:
                found |= {where: value for where, value in one.items() if where not in found}
    values = {value for value in found.values() if value is not None}
    if len(values) == 2:
        said = ", ".join(f"{where} says {_word(value)}" for where, value in found.items())
        return unparsed(f"contradicts itself: {said}")
    declined = _declined_first(text)
    if declined and not explicit:  # A word after a refusal is no verdict: nothing was weighed.
        return Reading(status="refused", reason=declined)
    if values:
        verdict = bool(values.pop())
        where = next(iter(found))
        return Reading(
            status="judged", reason=f"{where} says {_word(verdict)}", verdict=verdict,
            score=float(verdict),
        )  # fmt: skip
    return _without_verdict(text, finished=finished)


def _without_verdict(text: str, *, finished: bool) -> Reading:
    declined = declines(text)
    if declined:
        return Reading(status="refused", reason=declined)
    if not finished:
        return unparsed(CUT_OFF)
    if _BOTH.match(text) or _HEDGE.search(text[:_NEAR]):
        return unparsed("hedges: neither yes nor no")
    return unparsed("no yes or no in it")


def _explicit(text: str) -> dict[str | None, bool | None]:
    """Verdicts in a form made for machines, by where; a None key if one form gives both."""
    forms: dict[str, list[bool | None]] = {
        "its JSON": [as_bool(field(item, *_JSON_FIELDS)) for item in json_objects(text)]
        or [as_bool(word) for word in _MEMBER.findall(text)],
        "its [[...]]": [as_bool(word) for word in _BRACKETS.findall(text)],
        "a line of its own": [as_bool(found["word"]) for found in _LABEL.finditer(text)],
    }
    found: dict[str | None, bool | None] = {}
    for where, values in forms.items():
        distinct = {value for value in values if value is not None}
        if len(distinct) == 2:
            return {None: None}
        if distinct:
            found[where] = distinct.pop()
    return found


def _opening(text: str) -> bool | None:
    found = _OPENING.match(text)
    if found is None:
        return None
    return found["yes"] is not None or found["right"] is not None


def _closing(text: str) -> bool | None:
    lines = text.rstrip("`~ \n\t").rsplit("\n", 1)
    found = _CLOSING.search(lines[-1][-_NEAR:])
    return None if found is None else as_bool(found["word"])


def declines(text: str) -> str | None:
    """In words, that a reply without a verdict refuses or abstains; None if it does neither."""
    if _REFUSAL.match(text):
        return DECLINED
    return UNDECIDED if _ABSTENTION.search(text[:_NEAR]) else None


def _declined_first(text: str) -> str | None:
    """The same of a reply that may begin with "no", as in "No, I cannot help with that"."""
    if _REFUSAL.match(text):
        return DECLINED
    first = _DECLINES_FIRST.match(text)
    return UNDECIDED if first and _ABSTENTION.match(text, first.end()) else None


def _statements(text: str) -> list[dict[str | None, bool | None]]:
    """Sentences on whether the candidate is right, apart from conditions and denials of them."""
    found: list[dict[str | None, bool | None]] = []
    for match in _STATEMENT.finditer(text):
        sentence = re.split(r"[.!?;\n]", text[max(0, match.start() - _NEAR) : match.start()])[-1]
        if not _OPEN.search(sentence):
            found.append({f"{match[0].strip()!r}": match["word"].lower() in _JUDGED_YES})
    return found


def _named(where: str, value: bool | None) -> dict[str | None, bool | None]:
    return {} if value is None else {where: value}


def _word(value: bool | None) -> str:
    return "yes" if value else "no"
