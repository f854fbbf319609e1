"""The probability of a verdict, from the log-probabilities of the tokens that spell it.

The word may be anywhere: first, in JSON, after reasons, in a sentence. It is found in the reply
by the parser's own forms, and then in the tokens. At its place every alternative token is
worth what the label is worth that it begins; the score is the mean of these worths by probability.
Where the word is not found, where less than half of the probability lies on known labels, or where
it lies on the other side of what the reply says, there is no probability: a figure for something
else would be worse than none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markscheme.contract import ChatReply, TokenLogprobs
from markscheme.judges.prompted.parsers import Choice, Criteria, Criterion, Parser, Scale
from markscheme.text.replies import (
    JUDGED_WORDS,
    RELATION_SCORES,
    VERDICT_WORDS,
    Place,
    Reading,
    json_objects,
    member_name,
    member_place,
    spoken,
)

_SIGNS = " \t\r\nĊ▁Ġ*_`#>\"'“”‘’([{:.,;!~|"
_LEFT_OUT = "\x00"
_ENOUGH = 0.5
"""Of the probability, the share that must lie on known labels for their ratio to mean much."""
_UNLIKELY = 0.1
"""With a smaller share among the labels, the label read cannot be the one generated there."""
_CONTEXTS = (24, 3)
"""Characters before a word by which it is found; few where a character is cut into tokens."""
_LEAST = 2
"""Letters from which on the beginning of a word tells which word it is."""

_MOST_MARKS = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Confidence:
    """What the tokens say of a verdict or mark.

    Attributes:
        score: mean worth by probability, from 0 to 1; None where there is none.
        why: in words, why there is none.
    """

    score: float | None
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighed:
    """The alternatives to a label: their mean worth, and the share of the label itself."""

    worth: float
    share: float


def confidence_of(reply: ChatReply, reading: Reading, parser: str | Parser) -> Confidence:
    """The score of a reply that was read, by the probabilities of its tokens.

    Args:
        reply: with `token_logprobs`.
        reading: what the parser made of it; judged.
        parser: by name, or one that a prompt set up.
    """
    tokens = _tokens_of(reply)
    if tokens is None:
        return Confidence(score=None, why="the server gave none")
    score: float | None
    if parser in ("yes_no", "yes_no_last") and reading.verdict is not None:
        weighed = _verdict(tokens, reading.place)
        score = None if weighed is None else weighed.worth
    elif parser == "grade":
        score = _grade(tokens, reading.place)
    elif isinstance(parser, Criteria):
        score = _criteria(tokens, parser)
    else:
        score = _known(tokens.weigh(reading.place, _worths(parser)))
    if score is None:
        return Confidence(score=None, why="the verdict's tokens were not found")
    if reading.verdict is not None and score != _ENOUGH and (score > _ENOUGH) != reading.verdict:
        return Confidence(score=None, why=f"they lie on the other side ({score:.3f})")
    return Confidence(score=min(1.0, max(0.0, score)))


def _known(weighed: Weighed | None) -> float | None:
    """The mean worth, unless the label read is all but impossible by the tokens."""
    return None if weighed is None or weighed.share < _UNLIKELY else weighed.worth


def _verdict(tokens: _Tokens, place: Place | None) -> Weighed | None:
    if place is None:
        return None
    word = " ".join(tokens.text[place[0] : place[1]].lower().split())
    begun = JUDGED_WORDS if word in JUDGED_WORDS else frozenset(("yes", "no", word))
    worths = {label: float(value) for label, value in VERDICT_WORDS.items()}
    return tokens.weigh(place, worths, begun=begun)


def _grade(tokens: _Tokens, place: Place | None) -> float | None:
    """Probability that an answer is accepted, from the relation's tokens and the verdict's.

    The relation comes first, so that the verdict hardly leaves it. Of the stated relation
    the verdict's own probability counts; of the others their worth. Where the order is another,
    whichever comes first decides.
    """
    verdict = _verdict(tokens, place)
    objects = json_objects(tokens.text)
    given = next((str(one["relation"]).strip().lower() for one in objects if "relation" in one), "")
    where = member_place(tokens.text, "relation") if given in RELATION_SCORES else None
    if verdict is None or place is None:
        return None
    if where is None or where > place:
        return verdict.worth
    relation = tokens.weigh(where, RELATION_SCORES)
    if relation is None or relation.share < _UNLIKELY:
        return None
    others = relation.worth - relation.share * RELATION_SCORES[given]
    return relation.share * verdict.worth + others


def _worths(parser: str | Choice | Scale | Criterion) -> Mapping[str, float]:
    """What the words and numbers that a parser takes are worth; none if they are too many."""
    if isinstance(parser, str):
        parser = Scale(low=1, high=5)
    if isinstance(parser, Scale):
        parser = Criterion(low=parser.low, high=parser.high)
    if parser.labels is not None:
        return {" ".join(label.lower().split()): worth for label, worth in parser.labels.items()}
    low, span = parser.low, parser.high - parser.low
    if span > _MOST_MARKS or low != int(low) or span != int(span):
        return {}
    return {str(int(low) + step): step / span for step in range(int(span) + 1)}


def _criteria(tokens: _Tokens, parser: Criteria) -> float | None:
    """Weighted mean over the criteria; None where one of them has no probability."""
    total = weights = 0.0
    for name, criterion in parser.criteria.items():
        place = member_place(tokens.text, member_name(name))
        score = _known(tokens.weigh(place, _worths(criterion)))
        if score is None:
            return None
        total += criterion.weight * score
        weights += criterion.weight
    return total / weights


class _Tokens:
    """The tokens of a reply, aligned with its text."""

    def __init__(self, whole: str, text: str, logprobs: TokenLogprobs) -> None:
        self.text = text
        self._likely = logprobs
        self._chosen_tokens = list(_spelt(whole.strip(), logprobs))
        self._joined = "".join(self._chosen_tokens)
        bare = self._joined.lstrip()
        # Servers and older ledgers that give the first tokens only.
        self._from_start = text == whole.strip() and text.startswith(bare.rstrip())
        self._before = len(self._joined) - len(bare)

    def weigh(
        self,
        place: Place | None,
        worths: Mapping[str, float],
        *,
        begun: frozenset[str] | None = None,
    ) -> Weighed | None:
        """The alternatives to a word of the text.

        Args:
            place: of the word in the text.
            worths: of the labels, in lower case.
            begun: those of them that the beginning of a word may be read as; all if none.
        """
        if place is None:
            return None
        at = self._find(*place)
        if at is None:
            return None
        word = " ".join(self.text[place[0] : place[1]].lower().split())
        if word not in worths:
            return None
        index, end = 0, len(self._chosen_tokens[0])
        while end <= at:
            index += 1
            end += len(self._chosen_tokens[index])
        return self._weigh(index, word, worths, begun or frozenset(worths))

    def _weigh(
        self, index: int, word: str, worths: Mapping[str, float], begun: frozenset[str]
    ) -> Weighed | None:
        """Follow the word's tokens until the label differs from all others."""
        shares: dict[float, float] = {}
        path, begin = 1.0, ""
        for place in range(index, len(self._chosen_tokens)):
            likely, chosen = self._likely[place], self._chosen_tokens[place]
            if chosen == _LEFT_OUT or chosen not in likely:
                return None
            after = None
            for token, logprob in likely.items():
                text = _plain(begin, token)
                if token == chosen and not (word.startswith(text) or text.startswith(word)):
                    return None  # The token holds other text as well.
                worth = _worth(text, worths, begun, open_ended=token == chosen)
                if worth is not None:
                    share = path * math.exp(min(0.0, logprob))
                    shares[worth] = shares.get(worth, 0.0) + share
                elif token == chosen:
                    after = text
            if after is None:
                break
            path *= math.exp(min(0.0, likely[chosen]))
            begin = after
        else:
            if begin in worths:  # The reply ends here, so that 1 was not the beginning of 10.
                shares[worths[begin]] = shares.get(worths[begin], 0.0) + path
        total = math.fsum(shares.values())
        if total < _ENOUGH:
            return None
        mean = math.fsum(worth * share for worth, share in shares.items()) / total
        return Weighed(worth=mean, share=shares.get(worths[word], 0.0) / total)

    def _find(self, start: int, end: int) -> int | None:
        """Where a word of the text is in the joined tokens; None where that is not certain."""
        if self._from_start:
            at = start + self._before
            return at if at < len(self._joined) else None
        for context in _CONTEXTS:
            begin = max(0, start - context)
            wanted = self.text[begin:end]
            here, there = _places(self.text, wanted), _places(self._joined, wanted)
            which = here.index(begin)
            if len(there) == len(here):
                return there[which] + start - begin
            if _LEFT_OUT in self._joined and len(here) - which <= len(there):
                # The end of the reply is there, and a part before it is not.
                gap = self._joined.rindex(_LEFT_OUT)
                found = there[which - len(here)]
                if found > gap:
                    return found + start - begin
            elif len(there) > len(here):
                # Reasoning precedes the text, which is the end of what was generated.
                return there[which - len(here)] + start - begin
        return None


def _tokens_of(reply: ChatReply) -> _Tokens | None:
    """The tokens of what a reply says; None where it says nothing, or the server gave none."""
    text = spoken(reply.text or "", finished=reply.finished)
    if isinstance(text, Reading) or not reply.token_logprobs:
        return None
    return _Tokens(reply.text or "", text, reply.token_logprobs)


def _spelt(text: str, logprobs: TokenLogprobs) -> Iterator[str]:
    """The token that was chosen in each place: the first that continues the text.

    In replies of this version the chosen one is the first; ledgers of earlier ones have it among
    the others.
    """
    at: int | None = 0
    for likely in logprobs:
        if not likely:
            at = None
            yield _LEFT_OUT
            continue
        token = next(iter(likely))
        if at is not None:
            fits = (one for one in likely if one and _goes_on(text, one, at))
            found = next(fits, None)
            if found is None:
                at = None
            else:
                token = found
                at += len(found.lstrip() if at == 0 else found)
        yield token


def _goes_on(text: str, token: str, at: int) -> bool:
    return text.startswith(token.lstrip() if at == 0 else token, at)


def _places(text: str, wanted: str) -> list[int]:
    found, at = [], text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def _plain(begin: str, token: str) -> str:
    """A token after the beginning of a word, in lower case, without the signs before the word."""
    joined = (begin + token.replace("Ġ", " ").replace("▁", " ")).lower()
    return re.sub(r"\s+", " ", joined.lstrip(_SIGNS))


def _worth(
    text: str, worths: Mapping[str, float], begun: frozenset[str], *, open_ended: bool
) -> float | None:
    """What a beginning is worth; None if it is of no label, or of several worths.

    Args:
        text: without signs before it.
        worths: of labels.
        begun: labels that a beginning may be read as.
        open_ended: the next token is known, so that what is a label and begins another one, as 1
            and 10, need not be decided here.
    """
    core = re.sub(r"[^\w]+$", "", text)
    exact = worths.get(core)
    if core != text or not core:
        return exact if exact is not None or not core else _before_a_sign(text, worths)
    longer = {worths[one] for one in begun if one != core and one.startswith(core)}
    if exact is not None and not longer - {exact}:
        return exact
    if exact is not None:
        # Of another token it cannot be known how it would have gone on.
        return None if open_ended or core.isdigit() else exact
    if len(core) >= _LEAST and len(longer) == 1:
        return next(iter(longer))
    return None


def _before_a_sign(text: str, worths: Mapping[str, float]) -> float | None:
    """Worth of the label before a sign, as in `yes",`."""
    first = re.match(r"[\w ]+(?=[^\w ])", text)
    return worths.get(first[0].strip()) if first else None
