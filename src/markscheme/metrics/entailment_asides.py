"""What an answer says of its own certainty, taken out: it changes no fact that is claimed."""

from __future__ import annotations

import re

_I = r"(?:i|we)\b(?:['’](?:m|d|ve|ll|re)\b)?"
_BELIEF = re.compile(
    rf"\b(?:{_I}(?: (?:do|would|am|have|can|must|only|\w+ly))*"
    r" (?:think|thought|believe|guess|suppose|assume|reckon|imagine|say|recall|remember|heard|read|"
    r"(?:quite |pretty |fairly |almost )?(?:sure|certain|confident)|think of)\b"
    r"(?! (?:who|what|when|where|which|how|whether|if|of)\b)(?: that)?|"
    r"(?:as far as i (?:know|remember|recall|can tell)|if i(?:['’]m| am)? (?:remember|recall|not "
    r"mistaken)(?: (?:correctly|right|rightly|well))?|if my memory serves me(?: \w+)?|to my "
    r"knowledge|to the best of my knowledge|i(?:['’]m| am) (?:not )?(?:\w+ )?"
    r"(?:sure|certain|confident|an expert|no expert),? but))\b,?\s*",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:[,;:(–—]|(?<=[.!?])|(?<=\s)(?=(?:but|although|though|and|while)\b))\s*"
    r"(?:(?:but|although|though|and|yet|while|so|as|or so|at least) )*"
    rf"(?:{_I}(?: (?!am\b|was\b|are\b)[\w'’]{{1,20}}| am){{0,3}}? (?:know|sure|unsure|certain|"
    r"uncertain|remember|recall|check|look|say|tell|exact|specific|guess|mistaken|swear|verify|confirm|expert)"
    r"\b|of course|don['’]t quote me)(?:[^.,;!?)]*)?(?=[.,;!?)]|$)",
    re.IGNORECASE,
)
_ENDS = re.compile(r"^[\s,;:–—-]+|[\s,;:–—-]+$")


def without_asides(text: str) -> str:
    """A text without first-person remarks on how sure the speaker is; never empty if it was not.

    >>> without_asides("It began in 1992, I know that much; I am unsure when it ended.")
    'It began in 1992'
    >>> without_asides("I believe it was Rome"), without_asides("I do not know.")
    ('it was Rome', 'I do not know.')
    """
    shorter = _CLAUSE.sub("", _BELIEF.sub("", text))
    shorter = _ENDS.sub("", shorter)
    return shorter if any(char.isalnum() for char in shorter) else text
