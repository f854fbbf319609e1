# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""What the words around a value say: denied, about, more or less."""

from __future__ import annotations

import re
from dataclasses import replace

from markscheme.values.kinds import Amount, Date, Identifier, Range, Value

_FELL = re.compile(
    r"\b(?:f[ae]ll(?:s|en)?|dropp?(?:s|ed|ing)?|down|declined?|decreas\w+|shr[aiu]nk|lost|los[se]\w*|reduc\w+|deficit|cut|minus|lower(?:ed)?|negative|decline|slump\w*|slid|slipp\w*|dipp\w*|tumbl\w*|plung\w*|weaken\w*|shed|gave up|given up|sank|contracted|behind|colder)\b(?:\s+\w+){0,4}\s*$",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"\b(?:to|at)\s+(?:[$€£]\s?)?$", re.IGNORECASE)
_ROSE = re.compile(
    r"\b(?:r[io]se[ns]?|up|grew|grow[ns]?|growth|increas\w+|gain\w*|climb\w*|rais\w+|jump\w*|higher|surplus|profit|strengthen\w*|ahead|positive)\b(?:\s+\w+){0,3}\s*$",
    re.IGNORECASE,
)
_FELL_AFTER = re.compile(
    r"\s*(?:\w+\s+){0,2}(?:decline|decrease|drop|fall|loss|reduction|cut|less|fewer|lower|down|behind|deficit|below)\b",
    re.IGNORECASE,
)
_ROSE_AFTER = re.compile(
    r"\s*(?:longer|more|later|higher|gain|rise|growth|increase) than\b", re.IGNORECASE
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|rather than|instead of|unlike|except|neither|nor|formerly|previously|no longer|replac(?:ed|es|ing)|superseded?|supersedes|superseding|as opposed to|contrary to|other than|(?:older|earlier|previous|prior|legacy) (?:releases?|versions?|models?|editions?) (?:used|had|has|were|was|listened on|defaulted to)|used to be|excluding|all but|every one but|all except|nicht|nicht mehr|sondern nicht|pas|non|não|не|geen|niet|statt|instead)|n't)(?:\s+(?:(?:in|on|by|at|the|a|an|just|only|to|until|till|from|for|it|its|old|older|plain|of|before|after|via|version|about|until|around|be|been|de|im|en|am|il|el|le|la)\s+){0,3}(?:[$€£#(]\s?)?)?$",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(?:before|after|prior to|predecessor (?:of|to)|successor (?:of|to)|followed|preceded|preceding|following|than|since|until|up to)\s+(?:the\s+)?(?:version\s+)?$",
    re.IGNORECASE,
)
_NOT_BOUND = re.compile(r"\bnot\s+(?:only|just)\b[^.]{0,12}$", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approx(?:imately|\.)?|roughly|nearly|almost|some|circa|ca\.|c\.|close to|or so|just (?:over|under)|a little (?:over|under)|slightly (?:more|less) than|a bit (?:over|under)|not quite|knapp|casi|presque|quasi|quase|bijna|почти|etwa|rund|unos|environ|circa|cerca de|около|约|大约|およそ|약|in the region of|estimated|approaching|under|over)|约|約|およそ|~|≈)\s*(?:[$€£]\s?)?$",
    re.IGNORECASE,
)
_PART_OF = re.compile(
    r"\b(?:end|beginning|start|middle|early|late|mid|half|part|days?|weeks?|quarter|latter)(?:[ -]+(?:of|in))?(?: the)?[ -]*$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(
    r"\s*(?:\w+\s+){0,2}(?:or so|or thereabouts|give or take|approximately|-ish)\b|,? (?:or so|give or take|roughly|approximately)\b",
    re.IGNORECASE,
)


def with_stance(text: str, value: Value, raw: str) -> Value:
    """Mark what the words around a value say: denied, about, more or less."""
    left = max(0, value.start - 48)
    ahead = text[left : value.start]
    changes: dict[str, object] = {}
    if raw[value.start : value.end] != value.text:
        changes["text"] = raw[value.start : value.end]
    if ahead:
        if (
            not isinstance(value, Range) and _DENIED.search(ahead) and not _NOT_BOUND.search(ahead)
        ) or (isinstance(value, Identifier) and _ASIDE.search(ahead)):
            changes["denied"] = True
        if _ABOUT.search(ahead) or (isinstance(value, Date) and _PART_OF.search(ahead)):
            changes["approximate"] = True
    if "approximate" not in changes and _ABOUT_AFTER.match(text, value.end):
        changes["approximate"] = True
    if isinstance(value, Amount) and not value.signed:
        clause = re.split(r"[.;:,]\s", ahead)[-1]
        if _LEVEL.search(clause):
            pass  # "dropped to 40" names what was reached, not the change
        elif _FELL.search(clause) or _FELL_AFTER.match(text, value.end):
            changes["direction"] = -1
        elif _ROSE.search(clause) or _ROSE_AFTER.match(text, value.end):
            changes["direction"] = 1
    return replace(value, **changes) if changes else value  # type: ignore[arg-type]
