"""A light English stemmer: plurals, possessives and the commonest verb endings.

Made for comparing words with words, not for linguistics: both sides go through it, so that it only
has to be consistent. Short words stay as they are.
"""

from __future__ import annotations

import re

_IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "feet": "foot", "teeth": "tooth",
    "geese": "goose", "mice": "mouse", "people": "person", "wives": "wife", "lives": "life",
    "knives": "knife", "leaves": "leaf", "wolves": "wolf", "halves": "half", "oxen": "ox",
    "bacteria": "bacterium", "phenomena": "phenomenon", "criteria": "criterion",
    "nuclei": "nucleus", "fungi": "fungus", "species": "species", "series": "series",
    "wrote": "write", "written": "write", "sang": "sing", "sung": "sing", "won": "win",
    "began": "begin", "begun": "begin", "led": "lead", "made": "make", "built": "build",
    "held": "hold", "said": "say", "took": "take", "taken": "take", "gave": "give",
    "given": "give", "became": "become", "went": "go", "gone": "go", "came": "come",
    "born": "bear", "died": "die", "dying": "die", "was": "be", "were": "be", "is": "be",
    "are": "be", "been": "be", "being": "be", "has": "have", "had": "have", "does": "do",
    "did": "do", "done": "do", "fought": "fight", "found": "find", "sold": "sell",
    "bought": "buy", "brought": "bring", "left": "leave", "met": "meet", "ran": "run",
    "saw": "see", "seen": "see", "thought": "think", "told": "tell", "knew": "know",
    "known": "know", "drew": "draw", "drawn": "draw", "flew": "fly", "grew": "grow",
    "grown": "grow", "used": "use", "using": "use", "spoke": "speak", "spoken": "speak",
    "chose": "choose", "chosen": "choose", "broke": "break", "broken": "break", "stole": "steal",
    "stolen": "steal", "drove": "drive", "driven": "drive", "rode": "ride", "ridden": "ride",
    "risen": "rise", "wore": "wear", "worn": "wear", "froze": "freeze", "frozen": "freeze",
    "woke": "wake", "ate": "eat", "eaten": "eat", "beaten": "beat", "bitten": "bite",
    "hid": "hide", "hidden": "hide", "threw": "throw", "thrown": "throw", "blew": "blow",
    "blown": "blow", "swam": "swim", "swum": "swim", "drank": "drink", "drunk": "drink",
    "stuck": "stick", "struck": "strike", "shot": "shoot", "slept": "sleep", "kept": "keep",
    "dealt": "deal", "meant": "mean", "sent": "send", "spent": "spend", "lost": "lose",
    "paid": "pay", "laid": "lay", "taught": "teach", "caught": "catch", "sought": "seek",
    "understood": "understand", "stood": "stand", "heard": "hear", "sat": "sit", "fed": "feed",
    "got": "get", "gotten": "get", "forgot": "forget", "forgotten": "forget", "sprang": "spring",
    "fell": "fall", "fallen": "fall", "sank": "sink", "sunk": "sink",
    "colour": "color", "colours": "color", "centre": "center", "theatre": "theater",
    "grey": "gray", "metre": "meter", "metres": "meter", "litre": "liter", "litres": "liter",
    "kilometre": "kilometer", "kilometres": "kilometer", "programme": "program",
    "defence": "defense", "labour": "labor", "honour": "honor", "harbour": "harbor",
}  # fmt: skip
_VOWELS = set("aeiouy")
_DROPPED_E = re.compile(r"[^aeiou][aeiou][^aeiouwxy]$")
"""What is left of short verbs in -e: "hoped", "making". Others double the last letter: "hopped"."""
_BRITISH = (
    ("isation", "ization"),
    ("ising", "izing"),
    ("ised", "ized"),
    ("ise", "ize"),
    ("our", "or"),
)


def stem(word: str) -> str:
    """The stem of a lower-case word without accents.

    >>> [stem(w) for w in ("cities", "boxes", "running", "hoped", "glass", "wives")]
    ['city', 'box', 'run', 'hope', 'glass', 'wife']
    """
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
        return word[:-1] if word.endswith("e") and len(word) > 4 else word
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _one_spelling(_singular(word))
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= 3 and _VOWELS & set(base):
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            elif len(base) == 3 and _DROPPED_E.match(base):
                return base + "e"
            return base[:-1] if base.endswith("e") and len(base) > 4 else base
    if word.endswith("e") and len(word) > 4:
        return word[:-1]
    return word


def _one_spelling(word: str) -> str:
    """American endings for British ones: "organise", "colour"."""
    if len(word) > 5:
        for british, american in _BRITISH:
            if word.endswith(british):
                return word[: -len(british)] + american
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
