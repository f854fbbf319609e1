"""How an answer is put into a statement: sentences stay, fragments get what they need."""

from __future__ import annotations

import re

from markscheme.text import CARDINAL_WORDS, SCALES, month_of
from markscheme_research.statements.sentence_forms import (
    BE,
    DETERMINERS,
    FUNCTION,
    INNER_END,
    NUMBERS,
    PASTS,
    PREPOSITIONS,
    THIRDS,
    is_sentence,
    is_title,
    lowered,
    strength,
    third,
)
from markscheme_research.statements.sentence_forms import words as word_set

_LED_IN = re.compile(
    r"^(?:the (?:correct |short )?answer (?:is|would be|was)|answer|a|it(?:'s| is| was| would be)|"
    r"that(?:'s| is| was| would be)|they (?:are|were)|this (?:is|was)|i (?:think|believe) "
    r"(?:it (?:is|was)|that)|(?:he|she) (?:is|was))(?:\s*:\s*|\s+)",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(?:yes|yeah|yep|true|correct|indeed|of course|right|affirmative)\b[\s,.;:!–—-]*",
    re.IGNORECASE,
)
_NO = re.compile(r"^(?:no|nope|false|incorrect|wrong|not at all)\b[\s,.;:!–—-]*", re.IGNORECASE)
_YEAR = re.compile(r"^(?:c\.? ?|ca\.? ?|circa )?\d{3,4}(?:s|\b)|^\d{1,4} (?:bc|bce|ad|ce)\b", re.I)
_FULL_DATE = re.compile(
    r"^(?:[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?\b(?!\d)|\d{1,2}(?:st|nd|rd|th)? (?:of )?[A-Z])"
)
_HAPPENED = re.compile(
    r"^(?:(?:first|originally|officially) )?[A-Z]?[a-z]{3,}(?:ed|n|t) "
    r"(?=(?:in|on|at|by|around|during|after|before) )"
)
_BY = re.compile(
    r"^[A-Z]?[a-z]+(?:ed|en|wn|ng|de|lt|it|ut|ot|rn|ld) (?:primarily |originally )?by "
)
_CLOCK = re.compile(r"^\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\b|o'clock)", re.IGNORECASE)
_SPAN = re.compile(r"^(?:from|between|after|before|since|until|during|prior|every|each|now|today|"
                   r"yesterday|tomorrow|tonight|later|never|not|next|last|this|about|around|circa|"
                   r"as|when|once|shortly|sometime|soon|over|upon|ago|annually|"
                   r"daily|weekly|currently|recently|by|at|on|in|for|to|within|near|along|"
                   r"throughout|across|all over|there|here|inside|outside|above|below|behind|"
                   r"beneath|under|off|off-|against|into|through|up|down|out|via|through|"
                   r"according|because|due|since|so|using|with|without|of)\b",
                   re.IGNORECASE)  # fmt: skip
_AGO = re.compile(r"\b(?:ago|later|earlier|before|after)\W*$", re.IGNORECASE)
_DAY = re.compile(
    r"(?:day|eve|monday|tuesday|christmas|easter)$|^(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    re.IGNORECASE,
)
_ON = re.compile(
    r"\b(?:island|street|avenue|road|river|coast|floor|mount|mountain|moon|earth|bank|"
    r"peninsula|isle|lake|beach|border|plateau|channel)s?\b",
    re.IGNORECASE,
)
_AT = re.compile(
    r"\b(?:stadium|university|college|airport|arena|hospital|theatre|theater|hall|school|"
    r"studios?|palace|centre|center)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?:(?:about|around|over|approximately|more than|less than|fewer than|up to|nearly|almost|"
    r"roughly|at least|only|exactly|a total of) )*[~<>]?(?:[\d.,–/-]+|(?:"
    + "|".join(sorted((*CARDINAL_WORDS, *SCALES), key=len, reverse=True))
    + r"|and|or|to|half|a|dozen|[ –-])+)(?: ?(?:hundred|thousand|million|billion|trillion))*\+?",
    re.IGNORECASE,
)
_ONE = re.compile(r"^((?:\S+ )??\w{3,}[^s\W])s(?= of| in| on|$)")
"""The plural of what is counted, in its simplest form."""
_CLAUSE_START = word_set("they it he she we there people")


def trimmed(answer: str) -> str:
    """A fragment without a verb at its beginning and a stop at its end.

    >>> trimmed("was the Seine."), trimmed("Sammy Davis Jr.")
    ('the Seine', 'Sammy Davis Jr.')
    """
    text = " ".join(answer.split())
    first, _, rest = text.partition(" ")
    text = rest if first in BE and rest else text
    text = text[:-1] if text.endswith(".") and not _abbreviated(text) else text
    return text.rstrip(",;: ")


def led_in(answer: str) -> str | None:
    """What follows "It was" in an answer that is only that; None where there is no such opening.

    >>> led_in("It was in 1999."), led_in("It was filmed there.")
    ('in 1999', None)
    """
    found = _LED_IN.match(answer)
    if found is None or INNER_END.search(answer):
        return None
    rest = trimmed(answer[found.end() :])
    first = lowered(rest.split(" ", 1)[0]) if rest else ""
    plain = first in DETERMINERS | PREPOSITIONS or rest[:1].isupper() or first.isdigit()
    if found.group().lower().startswith("a") and ":" not in found.group():
        return None
    return rest if plain and len(rest.split()) <= 14 and not is_sentence(rest) else None


def headed(answer: str, known: frozenset[str]) -> str | None:
    """What follows a heading that repeats the question; None where there is no such heading.

    >>> headed("Voice of Alistair: Steve Valentine.", frozenset({"voice", "of", "alistair"}))
    'Steve Valentine.'
    """
    heading, colon, rest = answer.rpartition(": ")
    words = [lowered(word) for word in heading.split()]
    if not colon or not rest or len(words) < 2:
        return None
    same = sum(word in known for word in words)
    return rest if same * 5 >= len(words) * 2 and not is_sentence(heading) else None


def agent(answer: str) -> str:
    """Who did it, in an answer such as "Directed by ...".

    >>> agent("Sung by Rufus and Chaka Khan")
    'Rufus and Chaka Khan'
    """
    found = _BY.match(answer)
    return answer[found.end() :] if found else answer


def _abbreviated(text: str) -> bool:
    last = text[:-1].rsplit(" ", 1)[-1]
    return bool(
        re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]|Jr|Sr|Inc|Ltd|Co|St|etc|[ap]\.m|[A-Z]", last)
    )


def yes_or_no(answer: str) -> tuple[bool | None, str]:
    """Whether an answer says yes or no, and what it says beyond.

    >>> yes_or_no("No, it is not."), yes_or_no("Paris")
    ((False, 'it is not.'), (None, 'Paris'))
    """
    for sign, pattern in ((True, _YES), (False, _NO)):
        found = pattern.match(answer)
        if found:
            return sign, answer[found.end() :]
    return None, answer


def inside(answer: str) -> str:
    """An answer as it occurs in the middle of a sentence: articles and the like in lower case."""
    first, space, rest = answer.partition(" ")
    title = _title_case(rest) or (first.lower() in NUMBERS and rest[:1].isupper())
    if space and first[:1].isupper() and first.lower() in FUNCTION and not title:
        return f"{first.lower()} {rest}"
    return answer


def _title_case(rest: str) -> bool:
    """Whether what follows "The" makes it a title of a work ("The Lord of the Rings")."""
    words = rest.split()
    small = any(word in ("of", "the", "in", "and", "a", "to", "with") for word in words)
    return small and is_title(words) and len(words) > 3


def timed(answer: str, preposition: str) -> str:
    """An answer to "when" with its preposition.

    >>> [timed(one, "in") for one in ("1999", "May 19, 2017", "Christmas Day", "after the war")]
    ['in 1999', 'on May 19, 2017', 'on Christmas Day', 'after the war']
    """
    text = _HAPPENED.sub("", inside(answer))
    if _SPAN.match(text) or _AGO.search(text):
        return text
    if _CLOCK.match(text):
        return f"at {text}"
    if _FULL_DATE.match(text) and month_of(re.split(r"[ .]", text)[0]) is not None:
        return f"on {text}"
    if _FULL_DATE.match(text) and text[:1].isdigit() and _has_month(text):
        return f"on {text}"
    if _DAY.search(text.split(",")[0]) and not _YEAR.match(text):
        return f"on {text}"
    if re.match(r"^(?:early |late )?\d{1,2}(?:st|nd|rd|th) century", text):
        return f"in the {text}"
    return f"{preposition} {text}"


def _has_month(text: str) -> bool:
    return any(month_of(word.strip(".,")) is not None for word in text.split()[:4])


def placed(answer: str, preposition: str) -> str:
    """An answer to "where" with its preposition.

    >>> [placed(one, "in") for one in ("Paris", "Oak Island", "on the moon", "Wembley Stadium")]
    ['in Paris', 'on Oak Island', 'on the moon', 'at Wembley Stadium']
    """
    text = _HAPPENED.sub("", inside(answer))
    first = text.split(" ", 1)[0]
    if _SPAN.match(text) or (first.islower() and first.endswith("ly")):
        return text
    if preposition == "in":
        head = text.split(",")[0]
        if _ON.search(head):
            return f"on {text}"
        if _AT.search(head):
            return f"at {text}"
    return f"{preposition} {text}"


def reasoned(answer: str) -> str:
    """An answer to "why" as a clause: because, because of, to.

    >>> reasoned("poor hygiene"), reasoned("They were late"), reasoned("to win")
    ('because of poor hygiene', 'because they were late', 'to win')
    """
    low = answer.lower()
    if low.startswith(
        ("because", "due to", "to ", "since", "as ", "for ", "so ", "in order", "by ")
    ):
        return answer[:1].lower() + answer[1:]
    first, _, rest = answer.partition(" ")
    verb = first.islower() and rest.split(" ", 1)[0] in DETERMINERS - {"one", "no"}
    if rest and first not in FUNCTION and (verb or strength(lowered(first)) == 2):
        return f"to {answer}"
    if is_sentence(answer) or _has_plain_clause(answer):
        return f"because {_started(answer)}"
    return f"because of {inside(answer)}"


def done_by(answer: str) -> str:
    """An answer to "how" as an adverbial.

    >>> done_by("They train cells"), done_by("diffusion"), done_by("by hand"), done_by("burning it")
    ('in that they train cells', 'by diffusion', 'by hand', 'by burning it')
    """
    first = lowered(answer.split(" ", 1)[0])
    if first in PREPOSITIONS or first.endswith("ly") or first in ("using", "because", "when"):
        return inside(answer)
    if is_sentence(answer) or _has_plain_clause(answer):
        return f"in that {_started(answer)}"
    return f"by {inside(answer)}"


def _has_plain_clause(answer: str) -> bool:
    """ "Air molecules scatter blue light": a verb in the plural, which is no sign elsewhere."""
    low = [lowered(word) for word in answer.split()]
    if low[0] in _CLAUSE_START and len(low) > 1:
        return True
    return any(
        strength(low[place]) == 2 and low[place - 1].endswith("s") and place + 1 < len(low)
        for place in range(1, len(low))
    ) or any(
        low[place] in THIRDS and strength(THIRDS[low[place]]) == 2 for place in range(1, len(low))
    )


def _started(clause: str) -> str:
    """A clause without its capital, where the first word is an ordinary one."""
    first, space, rest = clause.partition(" ")
    plain = first.lower() in FUNCTION | {"air", "water", "light"} or (
        first[:1].isupper() and first[1:].islower() and rest[:1].islower() and first.endswith("s")
    )
    return f"{first.lower()}{space}{rest}" if plain else clause


def counted(answer: str, noun: str) -> str:
    """A number with what is counted, unless the answer names it.

    >>> counted("four", "strings"), counted("four strings", "strings"), counted("$5", "money")
    ('four strings', 'four strings', '$5')
    """
    text = inside(answer)
    if not noun or text[:1] in "$£€" or noun == "money":
        return text
    low = {lowered(word).rstrip("s") for word in text.split()}
    head = [lowered(word).rstrip("s") for word in noun.split()]
    if low & set(head[:1] + head[-1:]) or not _NUMBER.fullmatch(text):
        return text
    if text.lower() in ("one", "1"):
        noun = _ONE.sub(r"\1", noun, count=1)
    return f"{text.lower()} {noun}"


def measured(answer: str, noun: str, preposition: str) -> str:
    """A measure with its adjective ("50 metres long") or preposition ("at 100 km/h").

    >>> measured("50 metres", "long", ""), measured("42", "old", ""), measured("a week", "", "")
    ('50 metres long', '42 years old', 'a week')
    """
    text = inside(answer)
    if noun == "old" and re.fullmatch(r"[\d.,-]+|[a-z-]+", text):
        return f"{text} years old"
    if preposition and not _SPAN.match(text):
        return f"{preposition} {text}"
    return f"{text} {noun}" if noun and text[:1].isdigit() and noun not in text else text


_NUMBERS = {"is": "are", "was": "were", "has": "have", "does": "do"}
_SINGULARS = {many: one for one, many in _NUMBERS.items()}


def plural(verb: str) -> str:
    """A finite verb after a plural subject; others stay."""
    if verb in _NUMBERS:
        return _NUMBERS[verb]
    return THIRDS.get(verb, verb)


def singular(verb: str) -> str:
    """A finite verb after a singular subject; others stay."""
    if verb in _SINGULARS:
        return _SINGULARS[verb]
    return third(verb) if strength(verb) and verb not in PASTS else verb
