# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Negation, quantity words, conditions, comparison and word order of answer against reference.

Minimal pairs turn on these small words, which the alignment weighs as function words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from markscheme.text import SENTENCE_BREAK, STOP, denials_abroad, language_of, stem

Matrix = npt.NDArray[np.float32]

_GROUPS = {
    "quantity": r"all|every|each|any|some|most|few|fewer|many|only|none|no|both|either|neither|half|"
    r"always|never|usually|often|sometimes|rarely|at least|at most|up to|more than|less than|exactly|"
    r"majority|minority|entire|whole|part|partly|fully|completely",
    "condition": r"if|unless|except|provided|without|with|until|once|only if|as long as|regardless|"
    r"even if|whether|otherwise",
    "time": r"before|after|until|since|during|while|when|within|by|first|then|later|earlier|last|next|"
    r"finally|previously|formerly|currently|now|past|former|prior",
    "comparison": r"more|less|higher|lower|larger|smaller|bigger|greater|longer|shorter|older|younger|"
    r"faster|slower|earlier|later|better|worse|increases?|decreases?|increased|decreased|rises?|"
    r"falls?|rose|fell|above|below|over|under|maximum|minimum|most|least|up|down|gains?|loses?|lost|"
    r"north|south|east|west|left|right|left-hand|right-hand|positive|negative|hot|cold|warm",
    "modality": r"must|may|can|cannot|should|shall|will|would|might|could|required|optional|allowed|"
    r"permitted|forbidden|prohibited|free|mandatory|need|needs|needed|have to|has to|possible|impossible",
}

WORDING: dict[str, str] = {
    "negations_differ": "one of answer and reference denies an odd number of times, the other not",
    "negations_answer": "denials in the answer's sentence nearest to the reference",
    "negations_reference": "denials in the reference",
    **{
        f"{name}_lacking": f"words of {name} that the reference has and the answer lacks"
        for name in _GROUPS
    },
    **{
        f"{name}_new": f"words of {name} that the answer has and the reference lacks"
        for name in _GROUPS
    },
    "small_words_differ": "share of the reference's small words that are used differently in the answer",
    "shared_words": "different content words that answer and reference share",
    "order_inverted": "share of the pairs of shared words that occur in the other order",
    "first_shared_moved": "the first content word of the reference that the answer has is not the first there",
    "content_jaccard": "content words shared, as a share of the content words of both",
    "new_content": "how many content words of the answer neither reference nor question has",
    "lacking_content": "how many content words of the reference neither answer nor question has",
    "length_ratio": "how much longer than the reference the answer is (0: as long)",
    "verbatim": "the answer is the reference, articles, commas and full stops apart",
}
"""Every column of `wording_features` by name, and what it means in one line.

`new_content` and `lacking_content` are ln(1 + n), `length_ratio` is ln of words + 1 over words + 1.
"""

_COMPILED = {name: re.compile(rf"\b(?:{words})\b") for name, words in _GROUPS.items()}
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|fail(?:s|ed)?|lacks?|"
    r"isn|aren|wasn|weren|don|doesn|didn|won|can|couldn|shouldn|wouldn|hasn|haven|hadn)(?:['’]t)\b"
    r"|\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|fail(?:s|ed)?|lacks?|"
    r"excluded?s?|excludes|denied|refused|un(?:able|available|changed|affected|paid|limited))\b"
)
_WORD = re.compile(r"\w+", re.UNICODE)
_stem = lru_cache(65_536)(stem)
_LONGEST = 6_000
_ASIDE = re.compile(
    r"[,.;:!?](?=\s|$)|[\"“”„«»`]|(?<!\w)['‘’]|['‘’](?!\w)|\b(?:an?|the)\b(?=\s+\w)"
)
"""Marks between words, quotes and articles: texts that differ in nothing else are the same."""


def without_asides(text: str) -> str:
    """A text in lower case without what tells no text from another: see `_ASIDE`."""
    return " ".join(_ASIDE.sub(" ", text.lower()).split())


def wording_features(
    questions: Iterable[str], references: Iterable[str], answers: Iterable[str]
) -> Matrix:
    """Columns of `WORDING` for every answer against one reference, shape (rows, len(WORDING))."""
    rows = [
        _row(question or "", reference or "", answer or "")
        for question, reference, answer in zip(questions, references, answers, strict=True)
    ]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(WORDING))


@lru_cache(16_384)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_stem(word) for word in _WORD.findall(text) if word not in STOP)


@lru_cache(65_536)
def _row(question: str, reference: str, answer: str) -> tuple[float, ...]:
    question, reference = question[:_LONGEST].lower(), reference[:_LONGEST].lower()
    answer = answer[:_LONGEST].lower()
    r, q = _words(reference), set(_words(question))
    wanted = set(r)
    near = _nearest(answer, wanted, sentences=max(1, len(SENTENCE_BREAK.split(reference.strip()))))
    a = _words(near)
    everything = _words(answer)
    denials = len(_NEGATION.findall(near)), len(_NEGATION.findall(reference))
    if language_of(question) is not None:
        denials = denials_abroad(near), denials_abroad(reference)
    found: list[float] = [float((denials[0] - denials[1]) % 2), denials[0], denials[1]]
    lacking, new, small = [], [], 0
    for pattern in _COMPILED.values():
        one, other = set(pattern.findall(reference)), set(pattern.findall(near))
        lacking.append(float(len(one - other)))
        new.append(float(len(other - one)))
        small += len(one)
    shared = wanted & set(a)
    order_r = [word for word in dict.fromkeys(r) if word in shared]
    order_a = {word: place for place, word in enumerate(dict.fromkeys(a)) if word in shared}
    places = [order_a[word] for word in order_r][:60]
    pairs = len(places) * (len(places) - 1) / 2
    inverted = sum(
        places[i] > places[j] for i in range(len(places)) for j in range(i + 1, len(places))
    )
    both = wanted | set(a)
    return (
        *found,
        *lacking,
        *new,
        sum(lacking) / max(small, 1),
        float(len(shared)),
        inverted / pairs if pairs else -1.0,
        float(bool(places) and min(places) != places[0]),
        len(shared) / max(len(both), 1),
        float(np.log1p(len(set(everything) - wanted - q))),
        float(np.log1p(len(wanted - set(everything) - q))),
        float(np.log((len(everything) + 1) / (len(r) + 1))),
        float("\\" not in reference and without_asides(reference) == without_asides(answer) != ""),
    )


def denies(text: str) -> bool:
    """Whether a text has an English word that denies."""
    return _NEGATION.search(text.lower()) is not None


def denies_and_adds_nothing(question: str, answer: str) -> bool:
    """Whether an answer has more denials than the question, and no content word that it lacks."""
    question, answer = question[:_LONGEST].lower(), answer[:_LONGEST].lower()
    denials = [len(_NEGATION.findall(text)) for text in (question, answer)]
    bare = _NEGATION.sub(" ", answer)
    return denials[1] > denials[0] and set(_words(bare)) <= set(_words(question))


def _nearest(answer: str, wanted: set[str], *, sentences: int) -> str:
    """The run of `sentences` sentences of the answer that has most of the reference's words."""
    parts = [part for part in SENTENCE_BREAK.split(answer) if part.strip()]
    if len(parts) <= sentences:
        return answer
    sets = [set(_words(part)) for part in parts]
    best = max(
        range(len(parts) - sentences + 1),
        key=lambda i: (len(wanted & set().union(*sets[i : i + sentences])), -i),
    )
    return " ".join(parts[best : best + sentences])
