"""What the answer does with the match: claims it last, denies it, does not know it, lists it."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from markscheme.features.alignment.batch import Array
from markscheme.features.alignment.overlap import FeatureView
from markscheme.text import STOP

_IGNORANCE = re.compile(
    r"\b(?:(?:do|does|did|could|can|would)(?: not|n['’]t)|cannot|can['’]?t|unable to|not able to|"
    r"never|hard to|impossible to|not (?:in a position|possible|at liberty) to|no (?:way|means) of|"
    r"wouldn['’]t (?:want|like) to|would rather not|rather not|not going to)"
    r"(?: \w+){0,2}? (?:know|tell|telling|say|saying|choose|decide|deciding|confirm|commit|recall|"
    r"remember|determine|judge|pick|answer|verify|name|knowing|identify)\b"
    r"|\bno (?:idea|clue)\b|\b(?:not sure|unsure|uncertain|undecided|unclear|unknown to me|in doubt)\b"
    r"|\bmay or may not\b|\bbeats me\b|\bnobody knows\b|\banyone['’]s guess\b"
)
_OPEN = re.compile(
    r"\b(?:whether|if|or some|or another|or anyone|or someone|who|what|which|when|where)\b"
)
_COMMITS = re.compile(r"\b(?:but|however|though|still|yet)\b|[:;]")
_TURN = re.compile(
    r"\b(?:but|yet|however|actually|in (?:fact|truth|reality)|instead|rather|really|nevertheless|"
    r"think again|on the contrary|the (?:right|correct|real|true|actual|proper)(?: \w+)?|"
    r"(?:wrong|false|mistaken|incorrect|untrue|error|mistake|myth|misconception|no|not so|rejected|"
    r"debunked|disproved|discredited)(?=[.:;,!?]|$))"
    r"|[:;]|[.?!]\s+(?=no\b|not\b|wrong\b|false\b|never\b)"
)
_CUES = re.compile(
    r"\b(?:not|no|never|but|yet|however|actually|fact|truth|reality|instead|rather|really|though|"
    r"although|wrong|wrongly|false|falsely|mistaken|mistakenly|error|mistake|myth|incorrect|"
    r"misconception|credited|attributed|believed|thought|assumed|expected|expect|guess|guessed|"
    r"said|think|contrary|despite|unlike|rejected|debunked|neither|nor|cannot|supposed|reputed)\b"
    r"|n['’]t\b"
)
_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|hardly|anything but|far from|no longer|cannot have been|rules? out|"
    r"other than|rather than|instead of|contrary to|unlike)\b|n['’]t\b"
)
_AFTER = re.compile(
    r"^[^.;:!?]{0,40}?(?:\b(?:is|was|are|were|did|does|do|has|had|could|would|can)(?: not\b|n['’]t\b)"
    r"|\bnever\b|\b(?:wrong|wrongly|incorrect|false|mistaken|untrue|mistake|error|rejected|myth|"
    r"misconception)\b)|^[\"'”’]?\? *(?:no\b|not\b|never\b|wrong\b|hardly\b)"
)
_BELIEF = re.compile(
    r"\b(?:(?:people|many|most|some|textbooks?|books?|sources?|everyone|everybody|students|others|"
    r"tradition|legend|folklore)(?: \w+){0,3}? (?:say|says|think|thought|believe|believed|claim|"
    r"assume|credit|credits|give|gives|name|names|answer|guess|insist|suppose|have|has|had|imagine)"
    r"|(?:often|commonly|generally|popularly|widely|long|once|sometimes|usually|traditionally|"
    r"formerly|frequently|wrongly|mistakenly|falsely|erroneously|incorrectly)(?: \w+){0,2}? "
    r"(?:said|thought|believed|assumed|credited|attributed|named|given|held|supposed|cited|ascribed|"
    r"called|regarded|taken|considered|answered|confused)"
    r"|(?:used|supposed|reputed) to|(?:usual|common|popular|obvious|first|natural|typical|"
    r"tempting|easy|likely)(?: \w+)? (?:guess|answer|assumption|belief|choice|view|idea|opinion|"
    r"error|mistake|reply)|(?:you|one) (?:may|might|would|will|could)(?: \w+){0,2} (?:think|guess|"
    r"expect|assume|suppose|hear|read|say|imagine)|myth|misconception|contrary to|despite|although|"
    r"even though|if you)\b"
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_PARTS = re.compile(r"\s*(?:,|/|;|\n|\||\bor\b|\band\b|•|\*|^\W*\d+[.)]\s|\s\d+[.)]\s)\s*")
_WORD = re.compile(r"\w+")
_SEVERAL = re.compile(
    r"\b(?P<count>two|three|four|five|six|seven|eight|nine|ten|[2-9]|10|12)\b(?= \w+)"
    r"|\b(?:what|who|which|where) (?:are|were)\b|\bname the\b|\blist\b"
)
_COUNTS = dict(
    zip(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        range(2, 11),
        strict=True,
    )
)
_LONGEST, _READ = 1500, 20_000
"""Characters of an answer that are read for turns of phrase, and searched for any at all."""


def stance_features(view: FeatureView) -> dict[str, Array]:
    """Turns such as "but in fact", beliefs of others, ignorance, bare lists, answers of no words."""
    batch, raw, rows = view.batch, view.batch.raw, view.rows
    names = (
        "last_claim", "belief_before", "denied_near", "denied_rival", "ignorance", "bare_items",
        "bare_strangers", "beyond_count", "wordless",
    )  # fmt: skip
    found = {name: np.zeros(rows) for name in names}
    words = batch.texts.count
    keys = _key_words(view)
    doubtful, turning = (having(view, pattern) for pattern in (_IGNORANCE, _CUES))
    questions: dict[int, tuple[bool, int, set[str]]] = {}
    for row, (answer, reference, question) in enumerate(
        zip(batch.answer.tolist(), view.reference.tolist(), batch.question.tolist(), strict=True)
    ):
        text = raw[answer]
        if not words[answer]:
            same = text.strip() == raw[reference].strip() and bool(text.strip())
            found["wordless"][row] = 2.0 if same else 1.0
            continue
        answer_text = text[:_LONGEST].lower()
        key = keys[row]
        if question not in questions:
            questions[question] = _question_facts(raw[question].lower())
        several, count, question_words = questions[question]
        if words[answer] <= 40 and _PARTS.search(answer_text):
            items, unmatched = _bare_list(answer_text, key, raw[reference].lower(), question_words)
            if several:
                found["beyond_count"][row] = max(items - count, 0) if count else 0
            else:
                found["bare_items"][row], found["bare_strangers"][row] = items, unmatched
        at = answer_text.find(raw[reference].lower().strip())
        size = len(raw[reference].strip())
        if at < 0 and key:
            spots = [(spot, len(one)) for one in key if (spot := answer_text.find(one)) >= 0]
            at, size = min(spots, default=(-1, 0))
        if at < 0 or words[answer] < 3:
            continue
        known = _IGNORANCE.search(answer_text) if answer in doubtful else None
        if known:
            found["ignorance"][row] = _ignorant(answer_text, known, at)
        if answer not in turning:
            continue
        before, after = answer_text[:at], answer_text[at + size :]
        near = _SENTENCES.split(before)[-1]
        found["belief_before"][row] = bool(_BELIEF.search(near))
        found["denied_near"][row] = bool(_DENIED.search(near[-40:])) + 2 * bool(
            _AFTER.search(after)
        )
        turns = [turn.end() for turn in _TURN.finditer(answer_text)]
        if turns:
            tail = answer_text[turns[-1] :]
            if not _news(tail, question_words):
                tail = answer_text[turns[-2] if len(turns) > 1 else 0 :]
            holds = any(one in tail for one in key) if key else raw[reference].lower() in tail
            found["last_claim"][row] = (
                1.0 if holds else -1.0 if _news(tail, question_words) else 0.0
            )
        found["denied_rival"][row] = _rival_denied(near, after)
    return found


def having(view: FeatureView, pattern: re.Pattern[str]) -> set[int]:
    """The texts of answers in which a pattern without lookaround is found, all at once."""
    texts = sorted(set(view.batch.answer.tolist()))
    lower = pl.Series([view.batch.raw[i][:_READ] for i in texts], dtype=pl.String)
    found = lower.str.to_lowercase().str.contains(pattern.pattern)
    return {texts[i] for i in found.arg_true().to_list()}


def _key_words(view: FeatureView) -> list[list[str]]:
    """The key words of each row's reference as written, in lower case, longer than one letter."""
    words = view.batch.lexicon.words
    out: list[list[str]] = [[] for _ in range(view.rows)]
    keep = np.flatnonzero(view.r_key)
    places = view.batch.texts.word[view.r_place[keep]].tolist()
    for row, word in zip(view.r_row[keep].tolist(), places, strict=True):
        if len(words[word]) > 1 and not words[word].startswith("\x00"):
            out[row].append(words[word].lower())
    return out


def _question_facts(question: str) -> tuple[bool, int, set[str]]:
    """Whether a question asks for several things, how many (0: not stated), and its words."""
    found = _SEVERAL.search(question)
    count = found["count"] if found and found["count"] else ""
    number = int(count) if count.isdigit() else _COUNTS.get(count, 0)
    return found is not None, number, set(_WORD.findall(question))


def _news(text: str, question_words: set[str]) -> bool:
    """Whether a piece of the answer holds words that neither the question nor grammar has."""
    return any(word not in question_words and word not in _PLAIN for word in _WORD.findall(text))


_PLAIN = STOP | frozenset(
    [
        "answer",
        "right",
        "correct",
        "one",
        "wrong",
        "false",
        "mistaken",
        "it's",
        "that's",
        "yes",
        "no",
        "really",
        "actually",
        "indeed",
    ]
)


def _ignorant(answer_text: str, known: re.Match[str], at: int) -> float:
    """1 if the answerer says not to know, 2 if that bears on the match: no "but" leads on to it."""
    if known.start() > at:
        between = answer_text[at : known.start()]
        return 2.0 if not _SENTENCES.search(between) or len(between) < 120 else 1.0
    between = answer_text[known.end() : at]
    if _COMMITS.search(between):
        return 1.0
    return 2.0 if _OPEN.search(between) else 1.5


def _bare_list(
    answer_text: str, key: list[str], reference: str, question_words: set[str]
) -> tuple[int, int]:
    """Items of an answer that is nothing but a list of short items, and those unlike the reference.

    A lead-in that ends with a colon or repeats the question does not count.
    """
    whole = ", " in reference or len(answer_text) > 300
    wanted = set(_WORD.findall(reference)) if whole else set(key)
    body = answer_text.rsplit(":", 1)[-1]
    items = [item for item in (part.strip(" .!?()[]\"'") for part in _PARTS.split(body)) if item]
    if len(items) < 2 or any(len(item.split()) > 4 for item in items[1:]):
        return 0, 0
    if len(items[0].split()) > 8:
        return 0, 0
    unmatched = sum(
        not wanted & set(_WORD.findall(item)) and _news(item, question_words) for item in items
    )
    return len(items), unmatched


def _rival_denied(near: str, after: str) -> float:
    """Whether something other than the match is what is denied: "not W but R", "R, not W"."""
    led = re.search(r"\b(?:not|never)\b.*\b(?:but|;|it was|it is)\b", near) is not None
    follows = re.match(r"^[^.;!?]{0,6}(?:,|and|-)? ?(?:not|rather than|instead of|unlike)\b", after)
    return float(led) + 2.0 * float(follows is not None)
