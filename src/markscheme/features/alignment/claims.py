"""Whether the answer claims the reference, or names it only to deny, doubt or offer it."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from markscheme.features.alignment.batch import Array
from markscheme.features.alignment.overlap import FeatureView

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


def claim_features(view: FeatureView) -> dict[str, Array]:
    """Denial and doubt next to the match, and choices offered."""
    batch, raw = view.batch, view.batch.raw
    rows = view.rows
    lower: dict[int, str] = {}
    turns = _having(view, _TURNS)
    key_word = _first_key(view)
    names = """
        denied_before denied_after disputed corrected_after affirmed_before choice_items
        choice_offered
    """
    found = {name: np.zeros(rows) for name in names.split()}
    for row, (answer, reference) in enumerate(
        zip(batch.answer.tolist(), view.reference.tolist(), strict=True)
    ):
        for text in (answer, reference):
            if text not in lower:
                lower[text] = raw[text][:_READ].lower()
        answer_text, wanted = lower[answer], lower[reference].strip()
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
