"""Reading yes or no out of a model's reply.

A reply is judged only where all that it says agrees. What contradicts itself, hedges, is empty or
was cut off stays unread: a grade must never come out of a reply that nobody could grade by.
"""

from __future__ import annotations

import re
from typing import Any

from markscheme.text.replies.places import member_place, trimmed
from markscheme.text.replies.reply import (
    ABSTENTION,
    BRACKETS,
    DECLINED,
    MARKUP,
    NEAR,
    REFUSAL,
    UNDECIDED,
    Place,
    Reading,
    field,
    json_objects,
    reads,
    undecided,
    unparsed,
)

YES_WORDS = tuple(
    """
    yes yeah yep yup ja oui si sí sì sim da да tak evet はい 是 是的 对 對 正确 正確 네 예
    हाँ हां نعم ใช่ vâng
    """.split()
)
NO_WORDS = tuple(
    """
    no nope nein non não nao nee nej nie нет hayır hayir いいえ 否 不 不是 不对 不對 不正确 不正確
    错误 錯誤 아니요 아니오 नहीं لا ไม่ không tidak
    """.split()
)
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

_YES = "|".join(sorted(map(re.escape, YES_WORDS), key=len, reverse=True))
_NO = "|".join(sorted(map(re.escape, NO_WORDS), key=len, reverse=True))

# "No. 5" is a number and "no-one" a person; "no evidence ..." leaves the verdict open.
_END = r"(?:\s*$|[,;:!?)\]}\"'“”‘’*_`…。、，！؟।]|\.(?!\s?\d)|\s*[–—(\n]|\s-|-\s)"
_AFTER_NO = r"(?:\s+(?:it|the|this|that|they|he|she|because|since|as|but|ai|its|not)\b)"
_OPENING = re.compile(
    rf"[{MARKUP}]*(?:"
    rf"(?P<yes>(?:{_YES})(?={_END})|yes(?=\s+(?!(?:and|or)\s+no\b)[^\W\d]))"
    rf"|(?P<no>(?:{_NO})(?={_END})|no(?={_AFTER_NO}))"
    rf"|(?P<right>correct|true)(?={_END})"
    rf"|(?P<wrong>incorrect|false|wrong|not correct)(?={_END})"
    r")",
    re.IGNORECASE,
)
_BOTH = re.compile(
    rf"[{MARKUP}]*(?:yes\W{{1,5}}(?:and\W|or\W)?\W{{0,3}}no|no\W{{1,5}}(?:and\W|or\W)?\W{{0,3}}yes"
    r"|yes\W{1,5}(?:but\W)?(?:only\W)?(?:in part|partly|partially)(?! because))\b",
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
_MEMBER = re.compile(
    r"[\"'](?:verdict|is[ _]?correct|correct|judge?ment|decision)[\"']\s*:\s*[\"']?"
    r"(yes|no|true|false|correct|incorrect)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:^|[.!?;:。]\s+|\b(?:answer|verdict|judge?ment|decision|conclusion) (?:is|would be)\b)"
    rf"[{MARKUP},:]*(?:(?:so|thus|therefore|hence|finally)\b[\s,:]*)?[{MARKUP}]*"
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
_RIGHT, _WRONG = "|".join(_JUDGED_YES), "|".join(_JUDGED_NO)
_HALF = re.compile(
    rf"\b(?:{_RIGHT})(?:,? (?:only (?:about|for|if|in|when)|(?:only )?(?:in part|partly|partially)"
    r"|except)\b(?! because)|(?=([^.!?;\n]{0,150}?\b(?:but|yet|although|though|however|except)\b))"
    rf"\1(?:(?!\b(?:reference|gold|ground|question))[^.!?;\n]){{0,150}}?(?:\b(?:{_WRONG})"
    rf"|(?:\bnot|n['’]t) (?:(?:the|entirely|fully|completely|exactly|quite) )?(?:{_RIGHT}))\b)",
    re.IGNORECASE,
)
"""A "correct" that is partly taken back: "correct only in part", "right, but the year is wrong"."""
_DECLINES_FIRST = re.compile(rf"^[{MARKUP}]*no[,.]\s+(?=(?:i|we)\b)", re.IGNORECASE)
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

_FIRST_WORD, _JSON = "its first word", "its JSON"
_JSON_FIELDS = tuple(
    """
    verdict iscorrect correct judgment judgement decision answer finalanswer result label
    """.split()
)


def as_bool(value: Any) -> bool | None:
    """A word or JSON value as a verdict: booleans, 1 and 0, yes and no; None if it is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        return _VALUES.get(value.strip(" \t\r\n.!*_\"'`").lower())
    return None


Verdict = tuple[bool, Place | None]


@reads
def read_yes_no(text: str, *, finished: bool = True, verdict_last: bool = False) -> Reading:
    """Whether a reply accepts the answer.

    Looked for: JSON, `[[yes]]`, a line such as `Verdict: no`; the first word, in several languages;
    the last word; a sentence such as "The candidate is correct", without "only in part" or "but the
    year is wrong" after it. Where two of these differ, the reply is unparsed ("No, the candidate is
    correct", Kamalloo et al. 2023, appendix A).

    Args:
        text: the model's.
        finished: whether the model stopped by itself. Of a reply that was cut off, only a verdict
            that certainly came before is taken.
        verdict_last: the prompt asks for reasons first, so that a first word "no" may begin a
            thought; then the end decides.
    """
    explicit = _explicit(text)
    if explicit is None:
        return unparsed("contradicts itself: it gives both verdicts")
    opening, closing = _opening(text), _closing(text) if finished else {}
    stated = _statements(text)
    if verdict_last:
        found = explicit or closing
        if not found and finished:
            found = dict(stated[-1:]) or opening
        if found and not explicit and "\n" not in text:
            found = found | opening  # One line has no thought before its end.
    elif opening and _BOTH.match(text):
        return unparsed("hedges: it says yes and no")
    else:
        found = explicit | opening | closing
        if found or finished:
            for where, verdict in stated:
                found.setdefault(where, verdict)
    if len({value for value, _ in found.values()}) == 2:
        said = ", ".join(f"{where} says {_word(value)}" for where, (value, _) in found.items())
        return unparsed(f"contradicts itself: {said}")
    declined = _declined_first(text)
    if declined and not explicit:  # A word after a refusal is no verdict: nothing was weighed.
        return Reading(status="refused", reason=declined)
    if found:
        where, (value, place) = next(iter(found.items()))
        if not verdict_last:  # What is said later follows from what was said first.
            surest = found.get(_FIRST_WORD) or found.get(_JSON)
            place = surest[1] if surest else min(at for _, at in found.values() if at)
        return Reading(
            status="judged",
            reason=f"{where} says {_word(value)}",
            verdict=value,
            score=float(value),
            place=place,
        )
    hedges = _BOTH.match(text) or _HEDGE.search(text[:NEAR]) or _HALF.search(text[:NEAR])
    lack = "hedges: neither yes nor no" if hedges else "no yes or no in it"
    return undecided(text, lack, finished=finished)


def _explicit(text: str) -> dict[str, Verdict] | None:
    """Verdicts in a form made for machines, by where; None if one form gives both."""
    member = member_place(text, *_JSON_FIELDS)
    forms: dict[str, list[tuple[Any, Place | None]]] = {
        _JSON: [(field(item, *_JSON_FIELDS), member) for item in json_objects(text)]
        or [(match[1], match.span(1)) for match in _MEMBER.finditer(text)],
        "its [[...]]": [
            (match[1], trimmed(text, match.span(1))) for match in BRACKETS.finditer(text)
        ],
        "a line of its own": [
            (match["word"], match.span("word")) for match in _LABEL.finditer(text)
        ],
    }
    found: dict[str, Verdict] = {}
    for where, words in forms.items():
        read = [(as_bool(word), place) for word, place in words]
        verdicts = [(value, place) for value, place in read if value is not None]
        if len({value for value, _ in verdicts}) == 2:
            return None
        if verdicts:
            found[where] = verdicts[0]
    return found


def _opening(text: str) -> dict[str, Verdict]:
    found = _OPENING.match(text)
    if found is None:
        return {}
    word = found.lastgroup or ""
    return {_FIRST_WORD: (word in ("yes", "right"), found.span(word))}


def _closing(text: str) -> dict[str, Verdict]:
    whole = text.rstrip("`~ \n\t")
    begin = max(whole.rfind("\n") + 1, len(whole) - NEAR)
    found = _CLOSING.search(whole[begin:])
    if found is None:
        return {}
    start, end = found.span("word")
    return {"its end": (as_bool(found["word"]) is True, (begin + start, begin + end))}


def _declined_first(text: str) -> str | None:
    """The same of a reply that may begin with "no", as in "No, I cannot help with that"."""
    if REFUSAL.match(text):
        return DECLINED
    first = _DECLINES_FIRST.match(text)
    return UNDECIDED if first and ABSTENTION.match(text, first.end()) else None


def _statements(text: str) -> list[tuple[str, Verdict]]:
    """Sentences on whether the candidate is right, apart from conditions, denials and halves."""
    found: list[tuple[str, Verdict]] = []
    for match in _STATEMENT.finditer(text):
        sentence = re.split(r"[.!?;\n]", text[max(0, match.start() - NEAR) : match.start()])[-1]
        verdict = match["word"].lower() in _JUDGED_YES
        if not (_OPEN.search(sentence) or (verdict and _HALF.match(text, match.start("word")))):
            found.append((f"{match[0].strip()!r}", (verdict, match.span("word"))))
    return found


def _word(value: bool) -> str:
    return "yes" if value else "no"
