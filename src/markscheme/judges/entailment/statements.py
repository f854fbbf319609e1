"""Reading the statement out of the reply of a model that turns a question and answer into one.

Models repeat the label ("S:"), announce the statement, continue with pairs of their own, echo the
question, repeat themselves until the limit, decline, or write the same for every pair. What is no
statement of its pair has a status; nothing is made up in its place.
"""

from __future__ import annotations

import re

from markscheme.judges.entailment.grounding import says_yes, ungrounded
from markscheme.text import SENTENCE_BREAK, normalise
from markscheme.text.replies import Reading, declines, reads, unparsed

_LABEL = re.compile(
    r"^(?:\**(?:S|A|Statement|Declarative statement|Answer|Output)\**\s*[:：]\s*)+\**",
    re.IGNORECASE,
)
_NEXT_PAIR = re.compile(r"\s+(?:Q|Question)\s*:\s+\S.*$", re.DOTALL)
_PAIR = re.compile(r"^\**(?:Q|Question)\s*:(?P<pair>.*?)(?:\bS\s*:(?P<said>.*))?$", re.DOTALL)
_ANNOUNCES = re.compile(r":\**$")
_DECLINES = re.compile(
    r"^(?:i(?:['’]m| am) (?:sorry|unable|not able)|sorry,|i (?:cannot|can['’]t|won['’]t) "
    r"(?:convert|provide|help|assist|create|do|comply|fulfil)|as an ai\b|unfortunately, i\b)",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "“": "”", "'": "'", "`": "`"}
_TIMES = 3
"""How often a sentence or a run of words may follow itself before a reply counts as a loop."""

EXAMPLES = frozenset(
    normalise(text)
    for text in (
        "The TV show the Curse of Oak Island is filmed on Oak Island.",
        "Cyrus wrote the first declaration of human rights",
    )
)
"""The paper's own examples: a model that gives one back for another pair has stated nothing."""


@reads
def read_statement(said: str, *, question: str, answer: str, finished: bool = True) -> Reading:
    """The statement in a reply, as `product` of a judged reading.

    Args:
        said: the model's.
        question, answer: the pair that it received, to distinguish an echo from a statement.
        finished: whether it ended by itself.
    """
    if loops(said):
        return unparsed("the reply repeats itself")
    refusal = _refusal(said, question, answer)
    if refusal:
        return Reading(status="refused", reason=refusal)
    pair = _PAIR.match(said)
    if pair:  # The model wrote the pair out again, or one of its own.
        said = (pair["said"] or "").strip()
        if not said or normalise(question) not in normalise(pair["pair"]):
            return unparsed("the reply is a pair of question and answer")
    text = _first_line(said)
    if not normalise(text):
        return unparsed("the reply holds no statement")
    if not finished and len(text) >= len(said):
        return unparsed("cut off by the token limit before the statement ended")
    plain = normalise(text)
    echoes = plain == normalise(question) and plain != normalise(answer)
    stated = text.endswith((".", "。")) and says_yes(answer)
    if echoes and not stated:  # Some languages ask so: "È vero?"
        return unparsed("the reply repeats the question")
    if text.endswith("?") and not answer.strip().endswith("?"):
        return unparsed("the reply is a question")
    if plain in EXAMPLES and not _about(plain, question, answer):
        return unparsed("the reply repeats an example of the prompt")
    elsewhere = ungrounded(text, of=answer, about=question)
    if elsewhere:
        return unparsed(f"the reply is no statement of the answer: {elsewhere}")
    return Reading(status="judged", reason="", product=text)


def _refusal(said: str, question: str, answer: str) -> str | None:
    """In words, that a reply declines, where neither question nor answer has those words."""
    if _DECLINES.match(said) and not _DECLINES.match(answer.strip()):
        return "the model declined"
    declined = declines(said)
    return declined if declined and not (declines(answer) or declines(question)) else None


def loops(text: str) -> bool:
    """Whether a text goes on saying the same.

    >>> loops("Paris is big. " * 4), loops("Duran Duran sang it."), loops("no no no no no no no")
    (True, False, True)
    """
    words = text.lower().split()
    for size in (1, 2, 3, 5, 8, 13, 21):
        run = _TIMES * size if size > 2 else 6
        for start in range(max(0, len(words) - run - 40), len(words) - run + 1):
            piece = words[start : start + run]
            if all(piece[place] == piece[place % size] for place in range(run)):
                return True
    sentences = [normalise(one) for one in SENTENCE_BREAK.split(text)]
    counts = [sentences.count(one) for one in set(sentences) if one]
    return max(counts, default=0) > _TIMES


def _first_line(said: str) -> str:
    """The statement's line, without label, announcement, quotes and further pairs."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for place, line in enumerate(lines):
        text = _LABEL.sub("", line).strip()
        last = place == len(lines) - 1
        if (_ANNOUNCES.search(text) and not last) or (not text and not last):
            continue
        text = _NEXT_PAIR.sub("", text).strip("* ")
        closing = _QUOTES.get(text[:1])
        if closing and len(text) > 2 and text.endswith(closing) and text.count(closing) <= 2:
            text = text[1:-1].strip()
        return text
    return ""


def _about(statement: str, question: str, answer: str) -> bool:
    """Whether a statement shares half of its words with the pair."""
    known = set(normalise(f"{question} {answer}").split())
    words = statement.split()
    return 2 * sum(word in known for word in words) >= len(words)
