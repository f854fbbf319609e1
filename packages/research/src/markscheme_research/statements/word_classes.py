"""Classes of English words that only the rules for statements use."""

from __future__ import annotations

from markscheme_research.statements.sentence_forms import (
    PREPOSITIONS,
    words,
)

STRANDED = PREPOSITIONS - words("of than as since until till before after during per")
"""Prepositions that may occur alone where the thing sought was taken from behind them."""
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
