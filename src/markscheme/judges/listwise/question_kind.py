"""Is a question after a fact, or after an explanation, advice, experience or opinion?

Only the words that make a question are looked at (question words, verbs of asking, adverbs), never
its topic, its case or its marks. Cues are named after the categories of Bolotova et al. 2022 (the
taxonomy LINKAGE filters TREC-DL with).
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Mapping
from pathlib import Path

import orjson

from markscheme.errors import reading_weights
from markscheme.manifests import verified
from markscheme.text import QUESTION_WORDS

WEIGHTS = Path(__file__).parent / "question_kind.json"

_CUES: tuple[tuple[str, str], ...] = (
    ("comparison", r"\b(differences?|different|compared?|versus|vs|better than|or which is)\b"),
    ("reason", r"^\W*(why|how come|what (are the )?(causes?|reasons?))\b"),
    ("reason", r"\bwhy (do|does|did|is|are)\b"),
    ("reason", r"\b(reasons? (for|why|that|of)|what (would )?(causes?|makes?|happens))\b"),
    ("instruction", r"\bhow (do|can|could|should|would|to|does one|i)\b|\bhow\b.*\bto\b"),
    ("instruction", r"\b(ways? to|what should i do|steps|process (of|for|to)|recipe)\b"),
    ("experience", r"\b(best|recommend\w*|advice|should (i|we|you)|suggest\w*)\b"),
    ("experience", r"\b(anyone|any good|favou?rite)\b"),
    ("debate", r"^\W*is it (right|wrong|ok|okay|true|possible|good|bad)\b"),
    ("debate", r"^\W*(do you think|can you|should|are you|would you)\b"),
    ("debate", r"\b(your opinion|do you think|believe|agree)\b"),
)
_WORDS = """
    a about after all also am an and any anyone are as at be because been before best better
    between but by can cause causes come could define definition describe did difference
    different do does doing done each effect effects ever every explain find first for from
    get go good happen happens has have he help her his i if in information into is it
    its know last like located long make makes many me mean meaning means most much my need
    new no not of on one or other our out people person play played plays purpose reason
    role should since so some someone song sings sang star symptoms take than that the their
    them there they thing things think this time to tell type types up use used us was way
    ways we were whats will with won work works
    would written wrote year you your
"""
_FUNCTION = QUESTION_WORDS.union(_WORDS.split())
_TOKEN = re.compile(r"[a-z]+")
_OPINION = re.compile(
    r"^\W*(do|would|should|have) (you|we|i|u)\b|\b(your|ur) opinions?\b"
    r"|\bdo (you|u) (think|believe|agree|like|prefer)\b"
)


def features(question: str) -> dict[str, float]:
    """What the linear model sees of a question: function words, and how it begins."""
    tokens = _TOKEN.findall(question.lower().replace("'", "").replace("’", ""))[:60]
    masked = [word if word in _FUNCTION else "_" for word in tokens]
    found = {f"has {word}": 1.0 for word in masked if word != "_"}
    found |= {f"begins {' '.join(masked[:size])}": 1.0 for size in (1, 2, 3)}
    found |= {f"pair {' '.join(pair)}": 1.0 for pair in itertools.pairwise(masked)}
    found |= {
        f"cue {kind}": 1.0 for kind, pattern in _compiled() if pattern.search(question.lower())
    }
    found["length"] = math.log1p(len(tokens))
    return found


@functools.cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern)) for kind, pattern in _CUES)


@functools.cache
def _weights() -> Mapping[str, float]:
    with reading_weights(WEIGHTS):
        return {
            str(cue): float(weight)
            for cue, weight in orjson.loads(verified(WEIGHTS).read_bytes()).items()
        }


def asks_opinion(question: str) -> bool:
    """Whether a question asks what the reader thinks or should do: never a fact.

    A rule, because the sets that the linear model learns from have few such questions.
    """
    return _OPINION.search(question.lower()) is not None


@functools.lru_cache(maxsize=65_536)
def factoid_chance(question: str) -> float:
    """The chance that a question asks for a fact, 0 to 1; 0 where it asks for an opinion."""
    if asks_opinion(question):
        return 0.0
    weights = _weights()
    total = weights["bias"] + math.fsum(
        weights.get(name, 0.0) * value for name, value in features(question).items()
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
