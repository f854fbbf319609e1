"""Words that change what an answer claims: hedging, refusal, speaking to the marker.

Single words are looked up per token; phrases run as one regular expression over the lower-cased
answer. English only; answers in other languages simply meet no cue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from markscheme.text.words import words_of

HEDGES = frozenset(words_of(__file__)["hedges"].split())

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


_ADDRESS = (
    r"\b(?:(?:ignore|disregard|forget|override)\b.{0,30}\b(?:instruct\w*|prompts?|rules?|rubrics?|"
    r"guidelines?|criteri\w+|directions?|references?|above|previous|prior|earlier)\b|"
    r"(?:mark|grade|score|accept|judge|rate|treat|count|consider) "
    r"(?:this|it|me|my|the (?:above|answer|response|candidate))\b.{0,40}"
    r"\b(?:correct|right|true|full|accept|perfect|1)\b|accept (?:it|this|my)\b|"
    r"you are (?:now )?an? (?:\w+ )?(?:judge|grader|examiner|marker)\b|is_correct\b|"
    r"verdict\W{0,3}[:=]|"
    r"verdict (?:is|must be|should be|has to be|will be) "
    r"\W?(?:true|correct|right|accept\w*|yes|pass|1)\b|"
    r"(?:notes?|messages?|instructions?|attention)(?: to| for|,) (?:the |all )?"
    r"(?:graders?|examiners?|judges?|markers?|evaluators?)\b|"
    r"for (?:the )?purposes? of (?:this )?(?:evaluation|grading|marking)\b|"
    r"(?:the )?(?:expected|reference|gold|model) answer\b|"
    r"(?:match\w*|same as|equals?|equal to|agree\w* with|stated in|given in|identical to) (?:the )?"
    r"(?:reference|expected|gold)\b|(?:deserves|give|award)\w* .{0,20}"
    r"full (?:marks|credit)\b|full (?:marks|credit)\s*[.!]*$|correct ?= ?true\b|"
    r"(?:output|return|print|respond with|answer with) \W?(?:true|correct|yes|1)\b)|"
    r"\{\{[^{}]{0,60}\}\}|</?(?:verdict|score|grade)>|\[(?:sep|cls|mask|pad)\]|"
    r"^\s*(?:system|grader|reference|instructions?)\s*:|"
    r"^(?:(?:correct|yes|true|right|pass(?:ed)?|accept(?:ed)?|valid|perfect|1(?:\.0)?|100%?)\W*){3,}$"
)
_WEAK = (
    r"\b(?:system prompt|you are (?:now )?an? (?:\w+ )?(?:ai|assistant|model)|"
    r"(?:this|it|that|my answer) is (?:therefore |thus |clearly )?(?:correct|right)\s*[.!]*$)"
)
INJECTION = re.compile(f"(?:{_ADDRESS})|(?:{_WEAK})")
"""Signs that the answer speaks to the marker."""

_STRONG = re.compile(_ADDRESS)
_ROLE = r"(?i)^\s*(?:assistant|ai)\s*:\s*(\S)"
_CLAUSE = re.compile(r"(?<=[.!?;,])\s+|\n+|\s(?=\()")
_WORDS = re.compile(r"[^\W_]+")


def without_injections(
    answers: pl.Series, questions: pl.Series, references: pl.Series
) -> pl.Series:
    """Answers without the clauses in which they speak to the marker.

    What such a clause quotes is no answer, be it the reference itself. A sign all of whose words
    are in question or references is none ("Ignore the warning" may be what a label says), and an
    answer that merely calls itself right is left whole if nothing else is in it. Of "Assistant:
    Rome" the role is taken off.

    Args:
        answers: String.
        questions: String, as long.
        references: List(String), as long.
    """
    plain = answers.str.replace(_ROLE, "$1")
    suspicious = plain.str.to_lowercase().str.contains(f"(?m){INJECTION.pattern}").arg_true()
    if suspicious.is_empty():
        return plain
    rows = (column.gather(suspicious).to_list() for column in (plain, questions, references))
    return plain.scatter(suspicious, [_unaddressed(*row) for row in zip(*rows, strict=True)])


def _unaddressed(answer: str, question: str, references: Sequence[str]) -> str:
    known = set(_WORDS.findall(" ".join([question, *references]).lower()))

    def speaks(clause: str, signs: re.Pattern[str]) -> bool:
        return any(
            not set(_WORDS.findall(sign.group())) <= known
            for sign in signs.finditer(clause.lower())
        )

    clauses = _CLAUSE.split(answer)
    rest = " ".join(clause for clause in clauses if not speaks(clause, INJECTION))
    if _WORDS.search(rest) or any(speaks(clause, _STRONG) for clause in clauses):
        return rest
    return answer


def is_api_error(text: str) -> bool:
    """Whether a text is the error of a failed call rather than a model's answer.

    >>> is_api_error("Error code: 429 - {'error': {'message': 'Rate limit reached'}}")
    True
    >>> is_api_error("The error code is 429.")
    False
    """
    return _API_ERROR.search(text) is not None
