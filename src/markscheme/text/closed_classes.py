"""Small closed classes of English words that the rules for statements go by."""

from __future__ import annotations

from functools import lru_cache

_MARKS = ",;:?!\"'()“”‘’"


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


DETERMINERS = words(
    "a an the this that these those my your his her its our their every each all both some "
    "any no one two three four five six seven eight nine ten another several"
)
NUMBERS = words("one two three four five six seven eight nine ten")
PREPOSITIONS = words(
    "of in on at to from for with by about into over after before under between during "
    "against within without upon around near as than like through across behind beyond inside "
    "outside since until till along toward towards among per via off onto above below beneath "
    "beside"
)

PARTICLES = words("out up down off away back over together apart on in around ever through")
PRONOUNS = words("i you we he she it they there people someone")
BE = words("is are was were be 's")
HAVE = words("has have had")
DO = words("do does did")
MODALS = words("can could will would shall should may might must")
AUXILIARIES = BE | HAVE | DO | MODALS


SUBORDINATORS = words(
    "who whom which that whose where when while because if although though since until unless "
    "before after as than whether what how why"
)
FUNCTION = DETERMINERS | PREPOSITIONS | PRONOUNS | words(
    "approximately about around roughly almost nearly over more less up early late mid "
    "because when if so later since now today currently never not"
)  # fmt: skip
"""Words that lose their capital inside a sentence."""


@lru_cache(maxsize=100_000)
def lowered(word: str) -> str:
    """A word as the lists have it: lower case, without marks around it."""
    bare = word.lower().strip(_MARKS)
    if bare.endswith(".") and bare.count(".") == 1:
        bare = bare[:-1].rstrip(_MARKS)
    return bare or word
