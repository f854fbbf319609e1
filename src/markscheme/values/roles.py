"""Who did it to whom: "Hesse nominated Bloch", "Bloch was nominated by Hesse".

Both names and the verb are in a right answer and in a wrong one alike: voice and order decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markscheme.values.outcome import Comparison, agreement, conflict

_MOST_WORDS = 24
_ROLES_ASKED = re.compile(
    r"\bwhom\b|\bthe other\b|\beach other\b|\b(?:which|who)\b.+\b(?:which|who)\b"
    r"|^(?:did|was|has|is|does)\b.+\bor\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+")
_LEAST_STEM = 4
_EMPTY = frozenset(
    """
    the a an of in on at by for to from as with and or but it its his her their he she they that
    this which who whom was were is are be been being has had have did does do not no yes into
    than then one other when after before while until also only just so
    """.split()
)
_PASSIVE = r"\b(?:was|were|is|are|be|been|being|gets?|got)\b(?:\s+\w+){0,2}\s+$"
_RELATIVE = re.compile(r"\b(?:who|whom|whose|which)\b", re.IGNORECASE)
_TURNED = re.compile(
    r"\b(?:not|never|nor|neither|other way|vice versa|each other|before|after|because|although|but|"
    r"whereas|while|unlike)\b|n['’]t\b",
    re.IGNORECASE,
)
_CONVERSE = (
    (
        "beat beats beaten defeat defeats defeated overcame overcome outplayed eliminated trounced",
        r"lost (?:\d+\W\d+ )?(?:the \w+ )?(?:to|against)|loses to|went out (?:to|against)|fell to|"
        r"knocked out by|succumbed to",
    ),
    (
        "bought buys acquired acquires purchased absorbed absorbs swallowed",
        r"sold (?:itself )?to|was sold to|is owned by|became part of|merged into|disappeared into",
    ),
    (
        "taught teaches instructed tutored mentored coached trained",
        r"(?:was |were |is )?(?:a |the )?(?:pupil|student|disciple|apprentice) of|"
        r"learn(?:ed|t) from|(?:studied|trained) (?:under|with)",
    ),
    (
        "succeeded succeeds followed replaced replaces",
        r"preceded|precedes|came before|was the predecessor of|gave way to|made way for",
    ),
    (
        "employs employed hired recruited",
        r"works? for|worked for|(?:is|was) (?:an )?employee of|got (?:the|a) job (?:at|with|from)",
    ),
    ("outlived survived", r"died before|predeceased"),
    ("lent lends loaned", r"borrow(?:s|ed) (?:\w+ ){0,4}from"),
    ("leases leased rents lets", r"(?:rents|rented|leases) (?:\w+ ){0,4}from"),
    ("supplies supplied delivers", r"(?:buys|gets|receives|orders) (?:\w+ ){0,4}from"),
    ("contains includes comprises", r"(?:is|are) (?:a )?part of|belongs? to|(?:is|are) inside"),
)
"""Verbs, and what says the same with the two changed about."""


@dataclass(frozen=True)
class _Deed:
    """Who does it, and to whom, as sets of words."""

    doer: frozenset[str]
    done_to: frozenset[str]


def compare_roles(question: str, reference: str, answer: str) -> Comparison | None:
    """Whether in the answer the same one does it to the same other; None where that is not read.

    Read are single clauses with one verb, in the reference's or with a converse one.

    >>> compare_roles("Who beat whom?", "Peru beat Chile.", "Peru lost to Chile.").outcome.name
    'CONFLICT'
    """
    if not _ROLES_ASKED.search(question):
        return None
    if max(len(reference.split()), len(answer.split())) > _MOST_WORDS:
        return None
    wanted_text, given_text = (_first_sentence(text) for text in (reference, answer))
    if any(_TURNED.search(text) or _RELATIVE.search(text) for text in (wanted_text, given_text)):
        return None
    found = _both_deeds(wanted_text, given_text)
    if found is None:
        return None
    wanted, given = found
    names = wanted.doer ^ wanted.done_to
    doer, done_to = wanted.doer & names, wanted.done_to & names
    straight = (bool(doer & given.doer), bool(done_to & given.done_to))
    crossed = (bool(doer & given.done_to), bool(done_to & given.doer))
    texts = reference.strip(" ."), answer.strip(" .")
    if all(crossed) and not any(straight):
        return conflict("comparison", *texts, 0.9, "the two have each other's parts")
    if (
        all(straight)
        and not any(crossed)
        and "," not in answer
        and not _more(given, wanted, question)
    ):
        return agreement("comparison", *texts, 0.85, "the same one does it to the same other")
    return None


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[\w)])[.;!](?:\s|$)", text.strip(), maxsplit=1)[0]


def _more(given: _Deed, wanted: _Deed, question: str) -> bool:
    """Whether the clauses say other things besides: figures, places, reasons."""
    own = given.doer | given.done_to
    theirs = wanted.doer | wanted.done_to
    return bool((own - theirs - _keys(question)) | (theirs - own - _keys(question)))


def _both_deeds(reference: str, answer: str) -> tuple[_Deed, _Deed] | None:
    for verbs, converse in _CONVERSE:
        plain = re.compile(rf"\b(?:{'|'.join(verbs.split())})\b", re.IGNORECASE)
        other = re.compile(rf"\b(?:{converse})\b", re.IGNORECASE)
        one, two = (_by_table(text, plain, other) for text in (reference, answer))
        if one and two:
            return one, two
    verb = _shared_verb(reference, answer)
    if verb is None:
        return None
    one, two = (
        _deed(text, text.index(word), len(word))
        for text, word in zip((reference, answer), verb, strict=True)
    )
    return (one, two) if one and two else None


def _by_table(text: str, plain: re.Pattern[str], converse: re.Pattern[str]) -> _Deed | None:
    if hit := converse.search(text):
        return _Deed(_keys(text[hit.end() :]), _keys(text[: hit.start()]))
    hits = list(plain.finditer(text))
    return _deed(text, hits[0].start(), len(hits[0][0])) if len(hits) == 1 else None


def _deed(text: str, start: int, length: int) -> _Deed | None:
    """The clause around a verb: active, or passive with "by"."""
    before, after = text[:start], text[start + length :]
    by = re.search(r"\bby\b", after)
    if re.search(_PASSIVE, before + " ") or (by and not _keys(after[: by.start()])):
        if by is None:
            return None
        deed = _Deed(_keys(after[by.end() :]), _keys(before) | _keys(after[: by.start()]))
    else:
        deed = _Deed(_keys(before), _keys(after))
    return deed if deed.doer and deed.done_to else None


def _shared_verb(reference: str, answer: str) -> tuple[str, str] | None:
    """The only word of one stem that both have in lower case with words on either side."""
    found = []
    for one in _WORD.finditer(reference):
        if not one[0].islower() or not reference[: one.start()].strip():
            continue
        stem = _stem(one[0])
        if len(stem) < _LEAST_STEM or not re.search(r"(?:ed|es|s|t|en|ew|ang)$", one[0]):
            continue
        for two in _WORD.finditer(answer):
            if two[0].islower() and _stem(two[0]) == stem and answer[: two.start()].strip():
                found.append((one[0], two[0]))
    words = {one for one, _two in found}
    verbs = (
        [pair for pair in found if re.search(r"(?:ed|t|en)$", pair[0])] if len(words) > 1 else found
    )
    return verbs[0] if len({one for one, _two in verbs}) == 1 and len(verbs) == 1 else None


def _stem(word: str) -> str:
    return re.sub(r"(?:ied|ies|ed|es|s|en|ing)$", "", word.lower()).rstrip("e")


def _keys(text: str) -> frozenset[str]:
    found = (re.sub(r"['’]s?$", "", hit[0].lower()) for hit in _WORD.finditer(text))
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in found
        if word not in _EMPTY
    )
