"""Whether the answer claims the reference, or names it only to deny, doubt or offer it."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from markscheme.features.alignment.batch import Array
from markscheme.features.alignment.overlap import FeatureView
from markscheme.text import (
    STOP,
    declines_abroad,
    denials_abroad,
    language_of,
    stem,
    thesaurus,
    yes_or_no,
)

_REACH = 160
"""Characters on either side of the match that are read."""
_READ = 20_000
"""Characters of an answer that are searched for any turn of phrase."""

_HARMLESS = re.compile(
    r"\b(?:no (?:doubt|question|matter|less|more)|not only|not just|nothing but)\b"
)
_DENIED_BEFORE = re.compile(
    r"(?:\bnot|\bnever|n['’]t|\brather than|\binstead of|\bunlike|\bneither|\bnor|\bexcept|"
    r"\bapart from|\bother than|\bcontrary to)(?: [\w'-]+){0,3} ?[\"'“‘(]?$"
)
_DENIED_AFTER = re.compile(
    r"^[^.;!?,]{0,30}?(?:\b(?:is|was|are|were|did|does|do|has|had|could|would|can)(?: not\b|n['’]t\b)"
    r"|\bnever\b|\b(?:is|was|are|were|would be) (?:\w+ )?(?:wrong|incorrect|false|mistaken|untrue|"
    r"inaccurate|rejected|a (?:myth|mistake|misconception)|an error)\b)"
)
_DISPUTED = re.compile(
    r"\b(?:myth|misconception|mistak\w+|wrong(?:ly)?|false(?:ly)?|incorrect(?:ly)?|erroneous(?:ly)?|"
    r"(?:common|popular|wide|general)ly (?:said|thought|believed|assumed|credited|held)|"
    r"often (?:said|thought|believed|credited|assumed|given|named)|(?:popular|common) belief|"
    r"(?:once|long|formerly|previously) (?:thought|believed|held|attributed|assumed)|"
    r"(?:some|many|most)(?: \w+)? (?:say|think|thought|believe|claim|assume|credit|give|would|name)|"
    r"(?:one|you) (?:would|might|may|could) (?:expect|think|guess|assume|suppose)|if you (?:thought|"
    r"said|guessed)|think again|(?:usual|common|obvious) (?:guess|answer|assumption)|"
    r"claims? that|supposed(?:ly)?|contrary to|no longer|rejected|disprove[nd]|debunked|despite|"
    r"although|though|even though)\b"
)
_CORRECTED = re.compile(
    r"\b(?:in fact|actually|in reality|really|instead|however|yet|but|rather|"
    r"the (?:right|correct|real|true|actual|proper) \w+)\b"
)
_AFFIRMED = re.compile(
    r"(?:\b(?:but|actually|in fact|in reality|really|instead|answer|name|date|year)\b[ ,:]*"
    r"(?:is|was|it is|it was|that is|the)?(?: [\w'-]+){0,2} ?[\"'“‘(]?$)"
)
_TURNS = re.compile(
    r"not|never|n['’]t|instead|unlike|neither|nor|except|apart|other|contrary|rather|wrong|false|"
    r"incorrect|mista|untrue|inaccurate|reject|myth|misconception|error|said|thought|belie|assum|"
    r"credit|held|given|named|attributed|say|think|claim|give|would|expect|guess|suppose|"
    r"no longer|dispro|debunk|despite|although|though|fact|actual|reality|really|however|yet|but|"
    r"the (?:right|correct|real|true|proper)|answer|name|date|year"
)
"""Some part of every turn below and above; answers without any are passed over."""
_CHOICE = re.compile(r"\bor\b|\beither\b|\bone of\b|\bpossibl[ye]\b|\bcould be\b|\bmight be\b|/")
_ITEMS = re.compile(r",|/|;|\n|\bor\b|\band\b")
_SENTENCE = re.compile(r"[.!?]\s|\n")
_YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must)\b"
)
_YES, _NO = (
    re.compile(r"^\W*(?:yes|true|correct|yeah)\b"),
    re.compile(r"^\W*(?:no|not|false|nope|never)\b"),
)
_DECLINES = re.compile(
    r"\b(?:(?:i|we)(?: do not|['’]?m not| am not| don['’]?t| cannot| can['’]?t| could not| couldn['’]?t)"
    r" (?:\w+ )?(?:know|answer|say|tell|help|determine|find|sure|certain|comment|confirm)|"
    r"(?:unable|not able|impossible|hard|difficult) to (?:answer|say|tell|determine|know|confirm)|"
    r"(?:i|we) have no (?:idea|information|answer|clue)|no idea|not (?:sure|certain)|cannot be (?:known|"
    r"determined|answered|found|told)|not enough (?:information|context)|no (?:information|answer|mention|opinion)\b|"
    r"not (?:known|specified|stated|mentioned|given|available|something (?:i|we) can)|(?:does|did)(?: not|n['’]t) say|"
    r"(?:not|im)possible to (?:answer|say|tell)|who knows|nothing is said|could(?: not|n['’]t) find|"
    r"(?:is|are) (?:unclear|unknown)|it depends|hard to say|never mind|no comment)\b"
)
"""The answer declines, so that its "not" is no "no"."""
_PRO_FORM = re.compile(
    r"\b(?:it|he|she|they|we|you|that|this)(?:['’]s\b| (?:is|was|are|were|did|do|does|has|have|had|"
    r"can|could|cannot|will|would|must|may|should)(?:n['’]t)?\b)"
)
"""A pronoun and an auxiliary, which replace the question: "they did", "it hasn't"."""
_A_PREDICATE = 3
"""An answer of so few words affirms what the question asks: "mandatory", "not really"."""
_A_SENTENCE = 12
"""An answer no longer than this, without yes, no or a word of the question, says nothing of it."""
_OPPOSITES = tuple(
    tuple(re.compile(rf"\b(?:{words})\b") for words in pair)
    for pair in (
        ("mandatory|required|compulsory|obligatory|necessary|must", "optional|voluntary"),
        ("allowed|permitted|possible|legal", "forbidden|prohibited|banned|impossible|illegal"),
        ("free|free of charge", "fee|charged?|costs?|paid"),
        ("included", "excluded|extra|separately"),
        ("available|in stock", "sold out|discontinued|out of stock"),
        ("enabled|switched on|turned on", "disabled|switched off|turned off"),
        ("returned|refundable|refunded", "final|non-refundable"),
    )
)
"""Opposites of terms and conditions, which WordNet does not have as such."""
_BEGINNING = re.compile(r"[^,.;:!?()–—。，、；：！？]+")
_SENTENCE_ABROAD = re.compile(r"[.!?]\s|[。！？]|\n")
_LONG_WORD = re.compile(r"\w{4,}")
_STEM, _A_YES = 5, 4
"""Letters by which two words of another language are the same, and of a yes without spaces."""
_PREFIX = re.compile(r"(?:un|in|im|il|ir|non|dis)(?=[a-z]{4})")
_NEGATED = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|cannot|fail(?:s|ed)?)\b|n['’]t\b"
)


def claim_features(view: FeatureView) -> dict[str, Array]:
    """Denial and doubt next to the match, choices offered, yes against no."""
    batch, raw = view.batch, view.batch.raw
    rows = view.rows
    lower: dict[int, str] = {}
    turns = _having(view, _TURNS)
    key_word = _first_key(view)
    names = """
        denied_before denied_after disputed corrected_after affirmed_before choice_items
        choice_offered polarity
    """
    found = {name: np.zeros(rows) for name in names.split()}
    for row, (answer, reference, question) in enumerate(
        zip(batch.answer.tolist(), view.reference.tolist(), batch.question.tolist(), strict=True)
    ):
        for text in (answer, reference, question):
            if text not in lower:
                lower[text] = raw[text][:_READ].lower()
        answer_text, wanted = lower[answer], lower[reference].strip()
        if _YES_NO.match(lower[question]):
            found["polarity"][row] = _polarity(wanted, answer_text, lower[question])
        elif _abroad(lower[question], wanted):
            found["polarity"][row] = _polarity_abroad(wanted, answer_text, lower[question])
        at = answer_text.find(wanted) if wanted else -1
        size = len(wanted)
        if at < 0 and key_word[row]:
            at, size = answer_text.find(key_word[row]), len(key_word[row])
        if at < 0 or len(answer_text) <= size + 1:
            continue
        before, after = (
            answer_text[max(0, at - _REACH) : at],
            answer_text[at + size : at + size + _REACH],
        )
        near = _SENTENCE.split(before)[-1]
        rest = _SENTENCE.split(after)[0]
        if answer in turns:
            near_claim = _HARMLESS.sub(" ", near)
            found["denied_before"][row] = bool(_DENIED_BEFORE.search(near_claim))
            found["denied_after"][row] = bool(_DENIED_AFTER.search(rest))
            disputed = bool(_DISPUTED.search(near)) + 2 * bool(_DISPUTED.search(after))
            found["disputed"][row] = disputed
            found["corrected_after"][row] = bool(_CORRECTED.search(after))
            found["affirmed_before"][row] = bool(_AFFIRMED.search(near_claim))
        sentence = near + " | " + rest
        found["choice_offered"][row] = bool(_CHOICE.search(sentence))
        items = _ITEMS.split(sentence)
        found["choice_items"][row] = sum(0 < len(item.split()) <= 4 for item in items) - 1
    return found


def _having(view: FeatureView, pattern: re.Pattern[str]) -> set[int]:
    """The texts of answers in which a pattern without lookaround is found, all at once."""
    texts = sorted(set(view.batch.answer.tolist()))
    lower = pl.Series([view.batch.raw[i][:_READ] for i in texts], dtype=pl.String)
    found = lower.str.to_lowercase().str.contains(pattern.pattern)
    return {texts[i] for i in found.arg_true().to_list()}


def _first_key(view: FeatureView) -> list[str]:
    """The first key word of each row's reference that the answer has, in lower case."""
    words = view.batch.lexicon.words
    out = [""] * view.rows
    hit = np.flatnonzero(view.r_key & view.r_hit)[::-1]
    places = view.batch.texts.word[view.r_place[hit]].tolist()
    for row, word in zip(view.r_row[hit].tolist(), places, strict=True):
        out[row] = words[word].lower()
    return out


def _polarity(wanted: str, answer_text: str, question: str) -> float:
    """1 if answer and reference both affirm or both deny, -1 if not, -2 if the answer declines.

    0 where the reference does neither, and where a longer answer without "yes" or "no" begins with
    a sentence that shares no word with the question: what it says of it cannot be distinguished from its
    denials. A short one of that kind is counted with those that decline.
    """
    if _YES.match(wanted):
        expected = True
    elif _NO.match(wanted):
        expected = False
    else:
        return 0.0
    if _DECLINES.search(_SENTENCE.split(answer_text.strip(), maxsplit=1)[0]):
        return -2.0
    said = yes_or_no(_HARMLESS.sub(" ", answer_text))
    if said is not None:
        affirmed = said
    else:
        first = _SENTENCE.split(answer_text.strip(), maxsplit=1)[0]
        if not _about(question, first):
            return 0.0 if len(answer_text.split()) > _A_SENTENCE else -2.0
        negated = _NEGATED.search(_HARMLESS.sub(" ", first)) is not None
        affirmed = negated == _reversed(question, first)
    return 1.0 if affirmed == expected else -1.0


def _abroad(question: str, wanted: str) -> bool:
    """Whether a question in another language is one whose reference says yes or no."""
    begun = _BEGINNING.match(wanted)
    if begun is None or yes_or_no(wanted) is None or len(begun[0].split()) > _A_PREDICATE:
        return False
    return language_of(question) is not None and (
        wanted[0].isascii() or len(begun[0]) <= _A_YES or " " in wanted
    )


def _polarity_abroad(wanted: str, answer_text: str, question: str) -> float:
    """The same as `_polarity` for questions in other languages, by their words of denial."""
    first = _SENTENCE_ABROAD.split(answer_text.strip(), maxsplit=1)[0]
    if declines_abroad(first) or _DECLINES.search(first):
        return -2.0
    affirmed = yes_or_no(answer_text)
    if affirmed is None:
        words = {word[:_STEM] for word in _LONG_WORD.findall(question)}
        shared = any(word[:_STEM] in words for word in _LONG_WORD.findall(first))
        pairs = {question[place : place + 2] for place in range(len(question) - 1)}
        east = any(first[place : place + 2] in pairs for place in range(len(first) - 1))
        if not (shared or (east and not first.isascii() and " " not in first)):
            return 0.0 if len(answer_text.split()) > _A_SENTENCE else -2.0
        affirmed = denials_abroad(first) == 0
    return 1.0 if affirmed == yes_or_no(wanted) else -1.0


def _about(question: str, answer_text: str) -> bool:
    """Whether `answer_text` has a word of the question that carries meaning, its opposite or a pronoun for it."""
    if _PRO_FORM.search(answer_text) or len(answer_text.split()) <= _A_PREDICATE:
        return True
    question_words = {stem(word) for word in re.findall(r"\w{3,}", question)} - STOP
    words = {stem(word) for word in re.findall(r"\w{3,}", answer_text)} - STOP
    return bool(question_words & words) or _reversed(question, answer_text)


def _reversed(question: str, answer_text: str) -> bool:
    """Whether `answer_text` has the opposite of a word of the question: "finish", "unfinished"."""
    question_words = {stem(word) for word in re.findall(r"[a-z]{3,}", question)} - STOP
    words = set(re.findall(r"[a-z]{3,}", answer_text)) - STOP
    prefixed = {
        word
        for word in words
        if (found := _PREFIX.match(word)) and stem(word[len(found[0]) :]) in question_words
    }
    pairs = [
        (one, stem(word)) for one in sorted(question_words) for word in sorted(words - prefixed)
    ]
    opposite = thesaurus().opposites([one for one, _ in pairs], [word for _, word in pairs])
    turned = any(
        (one.search(question) and other.search(answer_text) and not one.search(answer_text))
        or (other.search(question) and one.search(answer_text) and not other.search(answer_text))
        for one, other in _OPPOSITES
    )
    return (len(prefixed) + int(bool(opposite.any()) or turned)) % 2 == 1
