"""What a reference is: a year, a date, a number, a person, another name or a phrase."""

from __future__ import annotations

import re

from markscheme.text import MONTHS, NUMBER_UNITS, STOP

_MONTH = "|".join(name for name in MONTHS if len(name) > 3 or name == "may")
_DATE = re.compile(rf"(?i)^({_MONTH}) (\d{{1,2}}) ?, ?(\d{{4}})$")
_YEAR = re.compile(r"^(1\d|20)\d\d$")
_NUMBER_WORDS = NUMBER_UNITS[1:13]


def kind_of(reference: str, question: str) -> str:
    """Year, date, number, person, name or phrase: what may occur in a reference's place."""
    if _YEAR.match(reference):
        return "year"
    if _DATE.match(reference):
        return "date"
    if any(char.isdigit() for char in reference) or reference.lower() in _NUMBER_WORDS:
        return "number"
    words = [word for word in reference.split() if word.lower() not in STOP]
    if words and all(word[:1].isupper() for word in words):
        return "person" if re.search(r"\bwho\b", question.lower()) else "name"
    return "phrase"
