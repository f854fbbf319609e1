"""Small closed classes of English words that the rules for statements go by."""

from __future__ import annotations


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
STRANDED = PREPOSITIONS - words("of than as since until till before after during per")
"""Prepositions that may stand alone where the thing asked for was taken from behind them."""

PARTICLES = words("out up down off away back over together apart on in around ever through")
PRONOUNS = words("i you we he she it they there people someone")
BE = words("is are was were be 's")
HAVE = words("has have had")
DO = words("do does did")
MODALS = words("can could will would shall should may might must")
AUXILIARIES = BE | HAVE | DO | MODALS
ADVERBS = words(
    "first last best most originally often usually currently mostly generally ever also "
    "actually now still always never formerly just only already finally initially officially "
    "not typically commonly mainly primarily widely normally probably directly then once "
    "better well fully"
)
ADJECTIVES = words(
    "available legal illegal compulsory open born dead alive due able likely based free "
    "famous known responsible true false possible necessary safe edible native equal closed "
    "big tall long old high deep wide large small located found called similar different "
    "single rich poor common close older bigger larger taller longer higher mandatory "
    "required pregnant contagious eligible out over important popular present active in "
    "related married unable worth"
)
"""Adjectives that are often predicates."""

ATTRIBUTES = words(
    "colour color colours colors type kind sort size category shape age share percentage "
    "percent part parts proportion fraction nationality religion genre breed length height "
    "width weight language class rank grade temperature distance form style currency role "
    "position species occupation number amount"
)
"""Nouns that, after "what", ask for a property of what follows the verb."""

TIMES = words(
    "year years date day month season episode century decade time chapter week weekend era "
    "period summer winter"
)
PLACES = words(
    "country city state town county continent place region province area village nation "
    "countries cities states street building stadium part district borough location"
)
DIRECTION = words("go went gone goes move moved moves flee fled emigrate emigrated sail sailed "
                   "travel traveled migrate migrated retreat send sent lead leads")  # fmt: skip
ORIGIN = words("come came comes originate originated originates derive derived derives arise")
INTRANSITIVE = words(
    "live occur happen die begin start end originate grow reside originated take place play "
    "stop settle land meet"
)
PROPERTIES = {
    "old": "old", "long": "long", "tall": "tall", "high": "high", "deep": "deep", "wide": "wide",
    "big": "", "large": "", "far": "", "fast": "", "heavy": "", "hot": "", "cold": "", "thick":
    "thick", "small": "", "strong": "", "close": "", "quickly": "", "expensive": "", "late": "",
    "soon": "", "often": "", "frequently": "", "successful": "", "likely": "", "common": "",
    "important": "", "loud": "", "hard": "", "early": "", "broad": "broad", "short": "",
}  # fmt: skip
"""What "how" is followed by, and the word that may follow the answer."""

COMMAND = words("name list give state describe identify mention tell")
"""First words of requests that are no questions."""

SUBORDINATORS = words(
    "who whom which that whose where when while because if although though since until unless "
    "before after as than whether what how why"
)
FUNCTION = DETERMINERS | PREPOSITIONS | PRONOUNS | words(
    "approximately about around roughly almost nearly over more less up early late mid "
    "because when if so later since now today currently never not"
)  # fmt: skip
"""Words that lose their capital inside a sentence."""
