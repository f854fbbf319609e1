"""Words that change what an answer claims: negation, hedging, refusal, correction.

Single words are looked up per token; phrases run as one regular expression over the lower-cased
answer. English only; answers in other languages simply meet no cue.
"""

from __future__ import annotations

import re

import polars as pl

NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "neither",
        "nor",
        "without",
        "cannot",
        "cant",
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "wasnt",
        "werent",
        "arent",
        "wont",
        "wouldnt",
        "couldnt",
        "hasnt",
        "havent",
        "hadnt",
        "nobody",
        "none",
        "nothing",
        "rather",
        "instead",
        "unlike",
        "except",
        "false",
        "incorrect",
        "wrong",
        "mistakenly",
        "erroneously",
        "contrary",
    ]
)
"""Words after which what follows is usually denied (apostrophes removed)."""

HEDGES = frozenset(
    [
        "maybe",
        "perhaps",
        "possibly",
        "probably",
        "might",
        "could",
        "may",
        "likely",
        "unlikely",
        "unsure",
        "uncertain",
        "guess",
        "think",
        "believe",
        "seems",
        "appears",
        "apparently",
        "reportedly",
        "allegedly",
        "roughly",
        "approximately",
    ]
)

CONTRASTS = frozenset(
    ["but", "however", "although", "though", "while", "whereas", "despite", "actually"]
)

CLAUSES = frozenset(
    ["who", "which", "whose", "whom", "while", "whereas", "although", "though", "but", "yet",
     "because", "since", "unlike", "until", "despite"]
)  # fmt: skip
"""Words with which another clause begins."""

FORMER = frozenset(
    [
        "formerly",
        "previously",
        "originally",
        "former",
        "previous",
        "earlier",
        "initially",
        "once",
        "until",
        "before",
    ]
)

REFUSAL = re.compile(
    r"\b(?:i (?:do not|don['’]?t|cannot|can['’]?t|could not|couldn['’]?t|am unable|am not able|"
    r"have no|am not sure|['’]m not (?:sure|able))|i['’]m (?:sorry|unable|not (?:sure|able))|sorry|"
    r"as an ai|language model|unable to|do(?:es)? not have (?:access|information|enough)|"
    r"no (?:information|specific (?:information|answer|record)|definitive|clear answer)|"
    r"(?:is|are|was) not (?:clear|known|specified|available|possible|mentioned|provided)|"
    r"(?:is|are) (?:unclear|unknown)|not enough (?:information|context)|"
    r"more (?:context|information) (?:is|to)|"
    r"cannot (?:answer|determine|provide|find|confirm)|could ?n[o'’]t find|"
    r"(?:please|could you|can you) (?:provide|clarify|specify|check|rephrase)|not sure|"
    r"no (?:such|one|known)|depends? on|varies|vary|difficult to|hard to|impossible to)\b"
)
"""Signs that the answer declines, asks back or calls the question undecidable."""

OUTDATED = re.compile(
    r"\b(?:as of (?:my|20\d\d|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|now|today)|my (?:last|latest|knowledge|current)|knowledge cutoff|"
    r"real[- ]?time|up[- ]to[- ]date|at the time of)\b"
)
"""Signs that the answer speaks of the state at some date."""

_HTTP_CODE = r"(?:4\d\d|5\d\d)"
_HTTP_STATUS = (
    "too many requests|unauthorized|forbidden|not found|bad request|request timeout|"
    "internal server error|bad gateway|service unavailable|gateway time-?out|"
    "resource_exhausted|unavailable|deadline_exceeded|invalid_argument|permission_denied"
)

API_ERROR = "|".join(
    (
        # str() of the errors of the SDKs of OpenAI and Anthropic
        rf"(?i)^\s*(?:error:? *)?error code: {_HTTP_CODE}\b",
        r"^\s*(?:request timed out|connection error)\.\s*$",
        # as tracebacks and repr() name them: openai.RateLimitError: ..., httpx.ReadTimeout(...)
        r"^\s*(?:[a-z_]\w*\.)+[a-z]\w*(?:error|exception|timeout)\b *(?:[:(]|$)",
        r"^\s*(?:rate_?limit|api(?:connection|timeout|status|response)?|authentication|bad_?request|"
        r"internal_?server|service_?unavailable|overloaded|http(?:status)?|timeout|"
        r"connection)error\b *[:(]",
        r"^\s*traceback \(most recent call last\):",
        # requests, httpx, and the lines of statuses
        rf"^\s*{_HTTP_CODE} (?:client|server) error: .* for url",
        rf"^\s*(?:client|server) error '{_HTTP_CODE} [^']*' for url",
        r"^\s*(?:(?:api )?error:? *)?(?:http(?:/[\d.]+)? *)?(?:error:? *)?"
        rf"{_HTTP_CODE}:? +(?:{_HTTP_STATUS})\b",
        rf"^\s*(?:api|http|server) error:? *\(?{_HTTP_CODE}\b",
        r"^\s*rate limit (?:reached|exceeded) (?:for|on|in)\b",
        # the body of a reply: {"error": {"message": ..., "type": ...}}
        r"^\s*\{\s*['\"](?:type['\"]: *['\"]error['\"], *['\"])?error['\"]\s*:\s*\{[^{}]*"
        r"['\"](?:message|code|type|status)['\"]\s*:",
    )
)
"""The whole text is, or begins as, the error of a call; for Polars and Python alike."""

ABOUT_ERRORS = (
    r"(?i)(?:^|[^t])errors?\b|exceptions?\b|time[sd]?[ -]?outs?\b|"
    r"\b(?:http|codes?|servers?|tracebacks?|apis?|rate[ -]?limit\w*)\b"
)
"""A question or reference that speaks of errors: there such a text may be the answer."""

_API_ERROR = re.compile(API_ERROR)

_DECLINES = re.compile(
    r"\bunanswerable\b|\bno answer\b|\bnot answerable\b|\bn/?a\b|"
    r"\b(?:cannot|can['’]?t|can ?not) be (?:answered|determined|inferred|known|found)\b|"
    r"\b(?:does|do|did)(?: not|n['’]?t) (?:say|state|mention|specify|provide|contain|answer|tell)|"
    r"\b(?:is|are|was)(?: not|n['’]?t) (?:stated|mentioned|specified|given|provided|answerable)\b"
)
"""Ways of declining that are none of asking back."""

_SAYS_ALL_THE_SAME = re.compile(
    r"\b(?:but|however|though|although|nevertheless|still|i (?:think|believe|guess|would say)|"
    r"probably|perhaps|maybe|likely|possibly|might be|could be|my (?:best )?guess)\b"
)
_WORDS_OF_DECLINING = 60


def declines(answer: str) -> bool:
    """Whether an answer says nothing but that there is no answer, or is empty.

    One that declines and then answers all the same does not; nor does a long one.

    >>> declines("The passage does not say."), declines("I am not sure, but I think Paris.")
    (True, False)
    """
    text = answer.strip().lower()
    if not text or text.strip(".! ") in ("none", "unknown", "nothing", "null", "-", "?"):
        return True
    if len(text.split()) > _WORDS_OF_DECLINING or _SAYS_ALL_THE_SAME.search(text):
        return False
    return bool(_DECLINES.search(text) or REFUSAL.search(text))


INJECTION = re.compile(
    r"\b(?:(?:ignore|disregard|forget) (?:all|any|the|previous|prior|your)\b|"
    r"(?:mark|grade|score|accept|judge|rate|treat|count|consider) (?:this|it|me|my|the)\b.{0,40}"
    r"\b(?:correct|right|true|full|accept|perfect|1)|accept (?:it|this|my)\b|system prompt|"
    r"you are (?:now )?an? (?:\w+ )?(?:ai|assistant|judge|grader|examiner|marker|model)|"
    r"verdict|is_correct|"
    r"(?:note|message|instruction)s? (?:to|for) (?:the )?(?:grader|examiner|judge|marker)|"
    r"for (?:the )?purposes? of (?:this )?(?:evaluation|grading|marking)|"
    r"(?:the )?(?:expected|reference|gold|model) answer|full (?:marks|credit)|correct ?= ?true|"
    r"(?:output|return|print|respond with|answer with) \W?(?:true|correct|yes|1)|"
    r"(?:this|it|that|my answer) is (?:therefore |thus |clearly )?(?:correct|right)\s*[.!]*$)"
    r"|^\s*(?:system|assistant|grader|reference|instructions?)\s*:"
)
"""Signs that the answer speaks to the marker."""


_CLAUSE = re.compile(r"(?<=[.!?;,])\s+|\n+|\s(?=\()")


def without_injections(answers: pl.Series) -> pl.Series:
    """Answers without the clauses in which they speak to the marker.

    What such a clause quotes is no answer, be it the reference itself.
    """
    suspicious = answers.str.to_lowercase().str.contains(f"(?m){INJECTION.pattern}")
    if not suspicious.any():
        return answers
    remaining = [
        " ".join(part for part in _CLAUSE.split(text) if not INJECTION.search(part.lower()))
        for text in answers.filter(suspicious)
    ]
    return answers.scatter(suspicious.arg_true(), remaining)


def is_api_error(text: str) -> bool:
    """Whether a text is the error of a failed call rather than a model's answer.

    >>> is_api_error("Error code: 429 - {'error': {'message': 'Rate limit reached'}}")
    True
    >>> is_api_error("The error code is 429.")
    False
    """
    return _API_ERROR.search(text) is not None
