# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""`compare_values`: whether the typed values of an answer agree with a reference's.

A conflict is reported only where it is certain, since it vetoes; agreement only where the value
that the question asks for is met and nothing of the same role contradicts it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markscheme.text import without_latex
from markscheme.values.alternatives import compare_alternatives
from markscheme.values.amounts import Relation
from markscheme.values.choices import as_choice, compare_directions, letter_of, named, picked
from markscheme.values.code_lines import compare_code
from markscheme.values.comparisons import compare_comparisons
from markscheme.values.exact_names import compare_exact_names
from markscheme.values.formulae import compare_formulae
from markscheme.values.frequency import PERIODS
from markscheme.values.kinds import (
    Amount,
    ClockTime,
    Date,
    Duration,
    Expression,
    Flag,
    Frequency,
    Identifier,
    Money,
    Number,
    Percent,
    Quantity,
    Range,
    Value,
    Version,
)
from markscheme.values.lists import compare_lists
from markscheme.values.numbers import CARDINALS
from markscheme.values.outcome import Comparison, Outcome, Pair, difference, in_words, kind_of
from markscheme.values.parse import typed_values
from markscheme.values.relation import relate
from markscheme.values.requested import Requested, read_question
from markscheme.values.roles import compare_roles
from markscheme.values.scores import compare_scores
from markscheme.values.stance import contrary

_PROSE = frozenset("with by the use using add set a an option flag run type you can it".split())
_A_COMMAND = 6
"""Words of an answer that is taken for nothing but a command."""
_NOTHING = Comparison(outcome=Outcome.NONE)
_MET = (Relation.SAME, Relation.FINER)
_LONGEST = 20_000
_MOST_PAIRS = 10_000
"""Values of the reference times those of the answer; more are long texts, and no typed answer."""
_KINDS: dict[str, tuple[type[Value], ...]] = {
    "number": (Number, Percent, Quantity, Duration, Money),
    "percent": (Percent, Number),
    "money": (Money, Number, Quantity),
    "duration": (Duration, Number),
    "frequency": (Frequency, Duration),
    "date": (Date,),
    "time": (ClockTime,),
    "version": (Version, Number, Identifier),
    "identifier": (Identifier, Version, Number),
    "verse": (Identifier, ClockTime),
}
_OPERAND_AFTER = re.compile(
    r"\s*(?:[×*+/÷=−–]|-\s|x\s?\d|times\b|plus\b|minus\b|divided\b|multiplied\b|(?:more|fewer|less|older|longer|higher|lower) than\b|of\b(?=\s*\d))"
)
_OPERAND_BEFORE = re.compile(
    r"(?:[×*+/÷−]|\d\s*[-–x]|times|plus|minus|divided by|multiplied by|\d (?:more|less|fewer|greater) than)\s*$"
)
_WHOLE = re.compile(
    r"\b(?:out )?of\s+(?:the|its|their|our|all|his|her|these|those|a total of|some|every)\s+$|\bof\s+$",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:does not (?:say|state|mention|give|specify)|doesn't (?:say|state|mention|give|specify)|not (?:stated|known|mentioned|given|specified)|unknown|cannot be (?:known|determined)|no information)\b",
    re.IGNORECASE,
)
_PER = re.compile(
    r"\s*(?:/\s?|per\s+|an?\s+|for each\s+|for every\s+|each\s+|every\s+|p\.)(?P<word>[a-z]+\.?)|\s+(?P<adverb>annually|monthly|yearly|weekly|daily|hourly)\b",
    re.IGNORECASE,
)
_TIMED = frozenset(
    [
        "year",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "quarter",
        "period",
        "night",
        "game",
        "match",
        "half",
        "round",
    ]
)
_UNTIL = re.compile(
    r"\b(?:before|until|till|by|no later than|not later than|up to|prior to|ends?(?: on)?|through)\s+(?:the\s+)?(?:end of\s+)?$",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:after|from|since|starting|begin\w*|not before|as of|no earlier than)\s+(?:on\s+)?(?:the\s+)?$",
    re.IGNORECASE,
)
_DAILY = re.compile(r"\b(?:daily|weekly|monthly|yearly|annually|hourly)\b", re.IGNORECASE)
_EXACTLY = re.compile(r"\b(?:exactly|precisely|just)\s+$", re.IGNORECASE)
_ROSE_TO = re.compile(
    r"\b(?:rose|fell|grew|dropp?ed|increased|decreased|declined|down|up|risen|fallen|went)\s+(?:\w+\s+){0,2}to\s+$",
    re.IGNORECASE,
)
_BY = re.compile(r"\bby (?:how|what)\b", re.IGNORECASE)
_COMPOUND = re.compile(
    r"\b(?:when|where|who|what|which|why|how)\b.*\band (?:\w+ )?(?:when|where|who|what|which|why|how)\b",
    re.IGNORECASE | re.DOTALL,
)
_YES_NO = re.compile(
    r"(?:is|are|was|were|will|would|does|do|did|can|could|may|must|should|has|have|had)\b(?!.*\bor\b)",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"\b(?:voted down|rejected|not adopted|so there is none|under discussion|originally planned|was proposed but)\b",
    re.IGNORECASE,
)
_GRAINS = ("day", "month", "quarter", "year", "decade", "century")
_RESULT = re.compile(
    r"(?:=|≈|→|\bso|\bmakes?|\bgives?|\bgave|\bthus|\btherefore|\bhence|\btotal(?:s|ling)?|\bequals|\bi\.e\.|\bnamely|\bexactly|\bprecisely|\bin all|\baltogether)\W*(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_BESIDE = 24
"""Characters next to a value in which a word can reverse it."""
_EARLIER = re.compile(r"\b(?:before|prior|ahead|earlier|until)\b", re.IGNORECASE)
_LATER = re.compile(r"\b(?:after|following|from|later|since|of)\b", re.IGNORECASE)
_RELATIVE = 8
"""Words of a reference that is a time before or after something, and hardly more."""
_OR = re.compile(
    r"\s*,?\s*(?:[a-z]+\s+){0,2}\b(?:or|oder|o|ou|veya|или|أو)\b(?:\s+[a-z]+){0,3}\s*[$€£]?\s*",
    re.IGNORECASE,
)


def compare_values(question: str, reference: str | Sequence[str], answer: str) -> Comparison:
    """How the typed values of an answer relate to those of a reference.

    Args:
        question: decides which value counts, its scale, unit and granularity.
        reference: the reference, or several of which any will do.
        answer: the answer, of any length; time is near-linear in it.

    >>> compare_values("When did it open?", "5 June 2021", "On 5 January 2021.").reason
    'January where the reference has June'
    """
    if not isinstance(reference, str):
        return _best(question, reference, answer)
    texts = (text[:_LONGEST] for text in (question, reference, answer))
    question, reference, answer = map(without_latex, texts)
    return _compare(question, read_question(question), reference, answer)


def _best(question: str, references: Sequence[str], answer: str) -> Comparison:
    """The most favourable comparison; a conflict only where no reference leaves it open."""
    found = [compare_values(question, one, answer) for one in references]
    if not found:
        return _NOTHING
    order = {Outcome.AGREE: 0, Outcome.NONE: 1, Outcome.MISSING: 2, Outcome.CONFLICT: 3}
    compared = [one for one in found if one.kind]
    if not compared:
        return found[0]
    best = min(compared, key=lambda one: (order[one.outcome], -one.confidence))
    finer = any(pair.relation == "finer" for pair in best.agreed)
    if (
        best.outcome is Outcome.AGREE
        and finer
        and best.kind != "date"
        and any(one.outcome is Outcome.CONFLICT for one in compared)
    ):
        return replace(best, outcome=Outcome.NONE, confidence=0.0, decided=False)
    if best.outcome is Outcome.NONE and best.kind == "list":
        lists = [
            one
            for one in compared
            if one.outcome is Outcome.MISSING and one.kind == "list" and one.confidence > 0.9
        ]
        best = lists[0] if lists else best
    if best.outcome is Outcome.CONFLICT and len(compared) < len(found):
        best = replace(best, confidence=best.confidence * 0.95)
    return best


_BEFORE_VALUES = (
    compare_formulae,
    compare_directions,
    compare_scores,
    compare_alternatives,
    compare_roles,
    compare_code,
    compare_exact_names,
)


def _compare(question: str, requested: Requested, reference: str, answer: str) -> Comparison:
    if not reference.strip() or not answer.strip() or _UNKNOWN.search(reference):
        return _NOTHING
    if requested.options or as_choice(reference):
        chosen = _choices(requested, reference, answer)
        if chosen is not None:
            return chosen
    if requested.named and (chosen := _named_choice(requested, reference, answer)) is not None:
        return chosen
    for compare in _BEFORE_VALUES:
        if (compared := compare(question, reference, answer)) is not None:
            return compared
    wanted = typed_values(reference, question=question)
    if (compared := compare_comparisons(question, reference, answer)) is not None:
        return compared
    listed = compare_lists(requested, reference, answer, typed=bool(wanted))
    if listed is not None:
        return listed
    if not wanted:
        return _NOTHING
    given = _outside_formulae(typed_values(answer, question=question))
    if len(wanted) * len(given) > _MOST_PAIRS:
        return _NOTHING
    return _Case(question, requested, reference, answer, wanted, given).result()


def _outside_formulae(values: list[Value]) -> list[Value]:
    """Without the numbers that are only terms of a formula: 1 + 1/e gives no 1, x = 1 does."""
    formulae = [one for one in values if isinstance(one, Expression)]
    return [
        one
        for one in values
        if not isinstance(one, Number)
        or not any(
            whole.start <= one.start
            and one.end <= whole.end
            and "=" not in whole.source
            and one.end - one.start < len(whole.source.strip())
            for whole in formulae
        )
    ]


def _named_choice(requested: Requested, reference: str, answer: str) -> Comparison | None:
    """A short answer that names one option of the question, and not the reference's."""
    if (
        len(reference.split()) > 6
        or len(answer.split()) > 8
        or re.search(
            r"\b(?:not|n't|but|rather|than|before|after|instead|preced\w*|comes?|came)\b|n't\b",
            answer,
            re.IGNORECASE,
        )
    ):
        return None
    wanted, given = named(reference, requested.named), named(answer, requested.named)
    if len(wanted) != 1 or len(given) != 1:
        return None
    options = {one.letter: one.option for one in requested.named}
    mine, theirs = options[next(iter(wanted))], options[next(iter(given))]
    if len(answer.split()) > len(theirs.split()) + 1 and "," not in answer:
        return None
    if wanted == given:
        return Comparison(
            outcome=Outcome.AGREE,
            confidence=0.9,
            decided=True,
            kind="choice",
            agreed=(Pair(mine, theirs, "same"),),
            reason=f"both choose {mine}",
        )
    return Comparison(
        outcome=Outcome.CONFLICT,
        confidence=0.9,
        decided=True,
        kind="choice",
        conflicting=(Pair(mine, theirs, "different"),),
        reason=f"{theirs} where the reference has {mine}",
    )


def _choices(requested: Requested, reference: str, answer: str) -> Comparison | None:
    options = requested.options
    wanted = as_choice(reference)
    if not options:
        if (
            wanted is None
            or not (wanted.option or len(reference.strip(" ().:")) == 1)
            or requested.kind in ("number", "identifier")
        ):
            return None
        given = as_choice(answer)
        if given is None and wanted.option and answer.strip(" .").lower() == wanted.option.lower():
            return Comparison(
                outcome=Outcome.AGREE,
                confidence=0.97,
                decided=True,
                kind="choice",
                agreed=(Pair(reference, answer, "same"),),
                reason=f"{wanted.letter} is {wanted.option}",
            )
        if given is None and (
            hit := re.fullmatch(
                r"\W*(?:option|answer|choice)\s*:?\s*\(?([A-Ha-h])\W*", answer, re.IGNORECASE
            )
        ):
            given = as_choice(hit[1].upper())
        if given is None and (hit := re.fullmatch(r"\W*([a-h])\W*", answer)):
            given = as_choice(hit[1].upper())
        if given is None:
            return None
        same = given.letter == wanted.letter
        if (
            same
            and given.option
            and wanted.option
            and given.option.lower() != wanted.option.lower()
        ):
            return None
        return (
            _chose(wanted.letter, {given.letter}, reference, short=True)
            if same or given.letter
            else None
        )
    letter = letter_of(reference, options)
    if not letter:
        return None
    found = picked(answer, options)
    return _chose(letter, found, reference, short=len(answer.split()) <= 12) if found else None


def _chose(letter: str, found: set[str], reference: str, *, short: bool) -> Comparison:
    if found == {letter}:
        return Comparison(
            outcome=Outcome.AGREE,
            confidence=0.95 if short else 0.8,
            decided=True,
            kind="choice",
            agreed=(Pair(reference, letter, "same"),),
            reason=f"both choose {letter}",
        )
    if letter not in found and len(found) == 1:
        other = next(iter(found))
        pair = Pair(letter, other, "different")
        return Comparison(
            outcome=Outcome.CONFLICT,
            confidence=0.97 if short else 0.85,
            decided=True,
            kind="choice",
            conflicting=(pair,),
            reason=f"the answer chooses {other} where the reference has {letter}",
        )
    return Comparison(
        outcome=Outcome.NONE,
        kind="choice",
        reason=f"the answer names options {', '.join(sorted(found))}",
    )


def _years(values: Sequence[Value]) -> set[int]:
    return {one.year for one in values if isinstance(one, Date) and one.year is not None}


def _figures(value: Value) -> str:
    hit = re.search(r"\d[\d.,]*\d|\d", value.text)
    return hit[0] if hit and len(hit[0]) > 1 else ""


def _size(value: Amount) -> float:
    return value.base if isinstance(value, Quantity) else value.amount


def _rate(text: str, value: Value) -> str:
    """The period or thing after a value that it is given for ("per month"), '' where none is."""
    tail = text[value.end : value.end + 24]
    if isinstance(value, Money) and value.per:
        return value.per
    hit = _PER.match(tail)
    if not hit:
        return ""
    word = (hit["word"] or hit["adverb"]).lower().rstrip(".")
    word = PERIODS.get(word, word)
    return (
        word
        if word in _TIMED or re.match(r"\s*(?:/|per\b|(?:for )?each\b|(?:for )?every\b)", tail)
        else ""
    )


def _around(text: str, value: Value) -> tuple[str, str]:
    """The words of the clause just before and just after a value."""
    before = re.split(r"[.;:,!?()]\s", text[max(0, value.start - _BESIDE) : value.start])[-1]
    after = re.split(r"[.;:,!?()](?:\s|$)", text[value.end : value.end + _BESIDE])[0]
    return before, after


def _side(text: str, value: Value) -> int:
    ahead = text[max(0, value.start - 30) : value.start]
    return 1 if _UNTIL.search(ahead) else -1 if _SINCE.search(ahead) else 0


def _flat(values: Sequence[Value]) -> list[Value]:
    spread: list[Value] = []
    for one in values:
        spread.append(one)
        if isinstance(one, Range):
            spread.extend(side for side in (one.low, one.high) if side is not None)
    return spread


@dataclass
class _Case:
    """One reference with one answer whose values were read."""

    question: str
    requested: Requested
    reference: str
    answer: str
    wanted: list[Value]
    given: list[Value]
    share: float = 1.0

    def result(self) -> Comparison:
        targets = self.targets()
        if not targets:
            return _NOTHING
        kind = kind_of(targets[0])
        if not self.given:
            if (lacking := self.lacking_flags(targets)) is not None:
                return lacking
            if self.requested.kind and len(self.answer.split()) <= 40:
                return Comparison(
                    outcome=Outcome.MISSING,
                    confidence=0.3,
                    kind=kind,
                    missing=tuple(map(in_words, targets)),
                    reason=f"the answer gives no {kind}",
                )
            return Comparison(outcome=Outcome.NONE, kind=kind)
        if any(isinstance(one, Flag) for one in targets) and self.other_command():
            return Comparison(outcome=Outcome.NONE, kind=kind, reason="it is another command")
        found = [self.target(one) for one in targets]
        return self.joined(targets, found, kind)

    def other_command(self) -> bool:
        """Whether a bare command of the answer is not the reference's: `du -h` for `df -h`."""
        wanted, given = (
            re.match(r"[`$\s]*([a-z][\w.-]*(?: (?!-)[a-z][\w-]*)?)\b[^-]*\s-", text)
            for text in (self.reference, self.answer)
        )
        if not (wanted and given) or _PROSE & {*wanted[1].split(), *given[1].split()}:
            return False
        return wanted[1].split()[0] != given[1].split()[0] or (
            wanted[1].startswith("git ") and wanted[1] != given[1]
        )

    def lacking_flags(self, targets: list[Value]) -> Comparison | None:
        """The conflict where the answer is the reference's command without its options."""
        flags = [one for one in targets if isinstance(one, Flag)]
        if ":" in self.answer or "+" in self.answer:
            return None  # "git push origin :name" has the option in another form
        words = re.findall(r"[\w./-]+", self.answer.lower())
        command = re.match(r"[`$\s]*([a-z][\w.-]*)", self.reference.lower())
        if not flags or command is None or command[1] not in words or len(words) > _A_COMMAND:
            return None
        if any(one.name.lstrip("-").lower() in words for one in flags):
            return None  # written without the hyphen, as in "tar xzf"
        missing = tuple(map(in_words, flags))
        return Comparison(
            outcome=Outcome.CONFLICT,
            confidence=0.9,
            decided=True,
            kind="flag",
            missing=missing,
            reason=f"the command lacks {missing[0]}",
        )

    def kinds_wanted(self, values: list[Value]) -> tuple[type[Value], ...]:
        """The kinds that the question asks for, or the other ones that it may be answered by."""
        kinds = _KINDS.get(self.requested.kind, ())
        if self.requested.kind == "frequency" and not any(isinstance(one, kinds) for one in values):
            # "How often does it occur?" may be answered by a share.
            self.requested, kinds = replace(self.requested, kind="number"), _KINDS["number"]
        if self.requested.kind == "date" and self.relative(values):
            # "When does the trial end?" "14 days after sign-up."
            self.requested, kinds = replace(self.requested, kind="duration"), (Duration,)
        if self.requested.kind == "money" and all(isinstance(one, Percent) for one in values):
            # So may "What is the late fee?".
            self.requested, kinds = replace(self.requested, kind="percent"), (Percent,)
        return kinds

    def relative(self, values: list[Value]) -> bool:
        """Whether the reference is a time from something, and the answer one on the same side."""
        if len(values) != 1 or not isinstance(values[0], Duration):
            return False
        if any(isinstance(one, Range) for one in self.given):
            return False
        if len(self.reference.split()) > _RELATIVE or len(self.answer.split()) > 2 * _RELATIVE:
            return False
        mine, theirs = (
            tuple(bool(side.search(text)) for side in (_EARLIER, _LATER))
            for text in (self.reference, self.answer)
        )
        return mine == theirs and mine in ((True, False), (False, True))

    def targets(self) -> list[Value]:
        """The values of the reference that the answer is held to."""
        strong = [one for one in self.wanted if not one.weak and not one.denied]
        expressions = [one for one in strong if isinstance(one, Expression)]
        strong = [
            one
            for one in strong
            if isinstance(one, Expression)
            or not any(whole.start <= one.start and one.end <= whole.end for whole in expressions)
        ]
        if not strong:
            whole = self.wanted[0]
            if len(self.wanted) == 1 and whole.end - whole.start >= 0.6 * len(
                self.reference.strip(" .")
            ):
                strong = [replace(whole, weak=False)]
            else:
                return []
        kinds = self.kinds_wanted(strong)
        matched = (
            [
                one
                for one in strong
                if isinstance(one, kinds)
                or (isinstance(one, Range) and isinstance(one.low or one.high, kinds))
            ]
            if kinds
            else []
        )
        if self.requested.kind == "number" and len(matched) > 1:
            bare = [one for one in matched if not (isinstance(one, Number) and one.ordinal)]
            matched = bare or matched
        covered = sum(
            one.end - one.start + (len(one.noun) if isinstance(one, Number) else 0)
            for one in strong
        )
        if matched and self.requested.kind == "number" and len(matched) > 1:
            counts: list[Value] = [one for one in matched if isinstance(one, Number)]
            matched = counts[:1] if len(counts) == 1 else matched
        length = (
            len(
                re.sub(
                    r"\b(?:the|a|an|about|in|on|at|of|approximately|around|to|from|until|by|it|is|was|less|more|than|least|most|up|over|under|no|not|within|maximum|minimum|roughly|only|between|extra|older|younger|or|and)\b|\W",
                    "",
                    self.reference,
                )
            )
            or 1
        )
        self.share = share = covered / max(length, 1)
        if share < 0.5:
            matched = [
                one
                for one in matched
                if one.text.lower() not in ("one", "two", "first", "second", "a third")
            ]
        if matched:
            if len(matched) > 3 and share < 0.5:
                return []
            return _without_conversions(matched, self.reference, self.requested)
        matched = [
            one
            for one in matched
            if not (isinstance(one, Number) and _WHOLE.search(self.reference[: one.start][-24:]))
        ] or matched
        exact: list[Value] = [one for one in strong if isinstance(one, Version | Flag | Expression)]
        if self.requested.kind and not exact and share < 0.75:
            return []
        if share >= 0.55:
            return _without_conversions(strong, self.reference, self.requested)
        if exact and len(self.reference.split()) <= 12:
            return exact
        return []

    def target(self, target: Value) -> _Found:
        met: list[Value] = []
        open_: list[tuple[Value, Relation]] = []
        against: list[Value] = []
        aside: list[Value] = []
        for value in self.given:
            relation = relate(target, value, self.requested)
            if relation is Relation.APART:
                continue
            whole = (value.start, value.end) == (0, len(self.answer))
            rated = (
                isinstance(value, Money)
                and isinstance(target, Money)
                and bool(value.per)
                and not target.per
            )
            if relation in _MET and (rated or not whole):
                relation = self.in_context(target, value, relation)
            if relation in _MET:
                (aside if value.denied else met).append(value)
            elif relation is Relation.DIFFERENT:
                if self.other_rate(value) or self.other_thing(target, value):
                    continue
                if value.denied:
                    continue
                against.append(value)
            elif not (value.denied or value.weak):
                open_.append((value, relation))
        return _Found(target, met, open_, against, aside)

    def in_context(self, target: Value, value: Value, relation: Relation) -> Relation:
        """Unclear where the words around say another rate, or the other side of a date."""
        if self.other_thing(target, value):
            return Relation.UNCLEAR
        if contrary(_around(self.reference, target), _around(self.answer, value)):
            return Relation.DIFFERENT
        rate = _rate(self.answer, value)
        if rate:
            wanted = _rate(self.reference, target)
            daily = _DAILY.search(self.question)
            if (
                not wanted
                and daily
                and PERIODS.get(daily[0].lower(), "day") != rate
                and rate in _TIMED
            ):
                return Relation.UNCLEAR
            if rate in CARDINALS and rate != "one" and not wanted and not self.timed(value):
                return Relation.UNCLEAR  # per ten cycles
            if wanted and wanted != rate:
                return Relation.DIFFERENT
            if (
                not wanted
                and rate in _TIMED
                and not re.search(
                    rf"\b{rate}\b", self.question + " " + self.reference, re.IGNORECASE
                )
                and not isinstance(value, Money)
            ):
                return Relation.UNCLEAR
        ahead = self.answer[max(0, value.start - 40) : value.start]
        if (
            isinstance(target, Range)
            and (target.low is None or target.high is None)
            and _EXACTLY.search(ahead)
        ):
            return Relation.UNCLEAR
        if _ROSE_TO.search(ahead) and _BY.search(self.question):
            return Relation.UNCLEAR
        if isinstance(value, Date | ClockTime) or (
            isinstance(value, Range) and isinstance(value.low or value.high, Date)
        ):
            side, other = _side(self.reference, target), _side(self.answer, value)
            if side == 0:
                side = self.requested.bound
            if side * other < 0:
                return Relation.UNCLEAR
        return relation

    def timed(self, value: Value) -> bool:
        """Whether a frequency follows: the "every eight" of "0.5 g every eight hours"."""
        return any(
            isinstance(one, Frequency) and value.end <= one.start <= value.end + 3
            for one in self.given
        )

    def other_rate(self, value: Value) -> bool:
        """Whether a value is given per something that neither question nor reference names."""
        if isinstance(value, Money):
            return False
        rate = _rate(self.answer, value)
        known = f"{self.question} {self.reference}"
        return (
            bool(rate)
            and rate not in _TIMED
            and not re.search(rf"\b{rate}\b", known, re.IGNORECASE)
        )

    def other_thing(self, target: Value, value: Value) -> bool:
        """In another language than English: whether the words after two bare numbers differ."""
        if not (
            self.requested.foreign and isinstance(target, Number) and isinstance(value, Number)
        ):
            return False
        wanted = self.reference[target.end : target.end + 20].strip(" .,。")
        given = self.answer[value.end : value.end + 20].strip(" .,。")
        return bool(wanted and given) and not (wanted.startswith(given) or given.startswith(wanted))

    def serious(self, found: _Found) -> list[Value]:
        """The values against that claim the same role, not operands, echoes or asides."""
        echoed = typed_values(self.question) if self.question else []
        plain = [one for one in found.against if not one.weak and not self.operand(one)]
        if echoed and any(
            relate(echo, found.target, self.requested) is Relation.SAME for echo in _flat(echoed)
        ):
            return plain
        return [
            one
            for one in plain
            if not any(relate(echo, one, self.requested) is Relation.SAME for echo in _flat(echoed))
        ]

    def operand(self, value: Value) -> bool:
        if _OPERAND_AFTER.match(self.answer, value.end):
            return True
        if (
            isinstance(value, Number)
            and value.start > 0
            and _WHOLE.search(self.answer[max(0, value.start - 24) : value.start])
        ):
            return True
        return bool(_OPERAND_BEFORE.search(self.answer[max(0, value.start - 18) : value.start]))

    def joined(self, targets: list[Value], found: list[_Found], kind: str) -> Comparison:
        words = len(self.answer.split())
        agreed = tuple(
            Pair(
                in_words(one.target),
                in_words(one.met[0]),
                relate(one.target, one.met[0], self.requested).value,
            )
            for one in found
            if one.met
        )
        unmet = [one for one in found if not one.met]
        if not unmet:
            return self.all_met(found, agreed, kind, words)
        base = Comparison(outcome=Outcome.NONE, kind=kind, agreed=agreed)
        against = [(one, self.serious(one)) for one in unmet]
        if any(one.open for one in unmet):
            value, relation = next(one.open[0] for one in unmet if one.open)
            target = next(one.target for one in unmet if one.open)
            pair = Pair(in_words(target), in_words(value), relation.value)
            if relation is Relation.COARSER:
                exact = isinstance(target, Date) and self.requested.granularity == "day"
                if (
                    isinstance(target, Date)
                    and isinstance(value, Date)
                    and self.requested.granularity in _GRAINS
                ):
                    exact = _GRAINS.index(value.granularity) > _GRAINS.index(
                        self.requested.granularity
                    )
                if isinstance(target, Version | Expression) or _spans_years(target, value):
                    exact = True
                lacking = exact and words <= 12
                return replace(
                    base,
                    outcome=Outcome.MISSING if lacking else Outcome.NONE,
                    confidence=0.8 if lacking else 0.0,
                    granularity="coarser",
                    missing=(in_words(target),),
                    reason=f"{in_words(value)} is less exact than {in_words(target)}",
                )
            reason = f"{pair.answer} may be the same as {pair.reference}"
            if any(pair.answer == one.answer for one in agreed):  # It is another value's match.
                reason = f"{pair.answer} agrees; {pair.reference} is not clearly in the answer"
            return replace(base, outcome=Outcome.NONE, reason=reason)
        contested = [(one, values) for one, values in against if values]
        if not contested:
            return self.only_echoes(unmet, base, words)
        if len(targets) > 1 and (
            (words > 15 and agreed)
            or _count(self.given, contested[0][0].target) < _count(targets, contested[0][0].target)
        ):
            return replace(base, missing=tuple(in_words(one.target) for one in unmet))
        one, values = contested[0]
        if self.glued(one.target) or self.reached(one.target):
            return replace(base, reason=f"{in_words(one.target)} may be meant")
        chosen = self.claimed(values)
        pair = Pair(in_words(one.target), in_words(chosen), "different")
        certain = self.certainty(one.target, values, words)
        if certain <= 0:
            return replace(
                base,
                outcome=Outcome.NONE,
                conflicting=(pair,),
                reason=difference(one.target, chosen),
            )
        return replace(
            base,
            outcome=Outcome.CONFLICT,
            confidence=certain,
            decided=True,
            conflicting=(pair,),
            reason=difference(one.target, chosen),
        )

    def glued(self, target: Value) -> bool:
        """Whether the answer has the reference's figures with others stuck to them ("20181")."""
        if len(self.answer) < 40:
            return False
        figures = str(target.year) if isinstance(target, Date) and target.year else _figures(target)
        if not figures:
            return False
        return (
            re.search(
                r"(?<!\d)"
                + re.escape(figures)
                + r"(?:\d{1,2}(?!\d)|(?=[A-Za-z]))|(?<=[a-z])"
                + re.escape(figures)
                + r"(?!\d)",
                self.answer,
            )
            is not None
        )

    def reached(self, target: Value) -> bool:
        """Whether two amounts of the answer make the reference's by sum, difference or product."""
        if isinstance(target, Range) and target.low is not None:
            return False
        if not isinstance(target, Amount):
            return False
        wanted = abs(_size(target))
        amounts = [one for one in _flat(self.given) if isinstance(one, Amount) and not one.denied]
        sizes = [_size(one) for one in amounts if type(one) is type(target)]
        if not 2 <= len(sizes) <= 8:
            return False
        product = isinstance(target, Number)
        for place, one in enumerate(sizes):
            for two in sizes[place + 1 :]:
                made = (
                    (one + two, abs(one - two), one * two)
                    if product
                    else (one + two, abs(one - two))
                )
                if any(abs(value - wanted) <= 1e-9 * max(wanted, 1.0) for value in made):
                    return True
        return False

    def claimed(self, values: list[Value]) -> Value:
        """The value the answer most likely claims: after "so", "=", else the first."""
        for one in values:
            if _RESULT.search(self.answer[max(0, one.start - 40) : one.start]):
                return one
        return values[0]

    def certainty(self, target: Value, values: list[Value], words: int) -> float:
        if (self.requested.foreign and words > 12) or _YES_NO.match(self.question):
            return 0.0
        if (
            isinstance(target, Percent)
            and words > 2
            and any(
                isinstance(one, Percent) and abs(one.amount + target.amount - 100) < 1e-6
                for one in values
            )
        ):
            return 0.0  # the other share: 7% late, 93% on time
        if words <= 15:
            return 0.97
        if words <= 60:
            return 0.9 if len(values) <= 3 else 0.8
        return 0.0

    def only_echoes(self, unmet: list[_Found], base: Comparison, words: int) -> Comparison:
        plain = [
            one
            for found in unmet
            for one in found.against
            if not one.weak and not self.operand(one)
        ]
        if plain and words <= 6:
            pair = Pair(in_words(unmet[0].target), in_words(plain[0]), "different")
            return replace(
                base,
                outcome=Outcome.CONFLICT,
                confidence=0.9,
                decided=True,
                conflicting=(pair,),
                reason=difference(unmet[0].target, plain[0]),
            )
        missing = tuple(in_words(one.target) for one in unmet)
        return replace(
            base,
            outcome=Outcome.MISSING if words <= 40 else Outcome.NONE,
            confidence=0.3 if words <= 40 else 0.0,
            missing=missing,
            reason=f"the answer does not give {missing[0]}",
        )

    def all_met(
        self, found: list[_Found], agreed: tuple[Pair, ...], kind: str, words: int
    ) -> Comparison:
        finer = any(pair.relation == "finer" for pair in agreed)
        granularity = "finer" if finer and kind == "date" else ""
        others = [one for each in found for one in self.serious(each)]
        mets = [one for each in found for one in each.met]
        # A value may conflict with every target; it is compared once all the same.
        known = [*self.wanted, *(target.target for target in found)]
        apart = {
            id(one)
            for one in {id(one): one for one in others}.values()
            if not any(relate(value, one, self.requested) in _MET for value in known)
        }
        others = [one for one in others if id(one) in apart]
        reason = f"{agreed[0].answer} agrees with {agreed[0].reference}"
        if not others:
            weak = all(one.weak for one in mets)
            confidence = (0.95 if words <= 15 else 0.85 if words <= 40 else 0.7) - (
                0.3 if weak else 0.0
            )
            clear = (
                not weak
                and (self.share >= 0.25 or not isinstance(found[0].target, Number))
                and self.share >= 0.12
                and not (len(found) > 1 and len(self.reference.split()) > 12)
            )
            clear = clear and self.settles(found)
            confidence -= 0.0 if clear or weak else 0.25
            return Comparison(
                outcome=Outcome.AGREE,
                confidence=confidence,
                decided=clear,
                kind=kind,
                agreed=agreed,
                granularity=granularity,
                reason=reason,
            )
        pairs = tuple(Pair(agreed[0].reference, in_words(one), "different") for one in others)
        extra = tuple(pair.answer for pair in pairs)
        if words <= 20 and any(self.alternative(one, other) for one in mets for other in others):
            return Comparison(
                outcome=Outcome.CONFLICT,
                confidence=0.9,
                decided=True,
                kind=kind,
                agreed=agreed,
                conflicting=pairs,
                extra=extra,
                reason=f"the answer offers {pairs[0].answer} as well as {pairs[0].reference}",
            )
        return Comparison(
            outcome=Outcome.NONE,
            kind=kind,
            agreed=agreed,
            conflicting=pairs,
            granularity=granularity,
            extra=extra,
            reason=f"{reason}, but the answer also has {pairs[0].answer}",
        )

    def part_differs(self, found: list[_Found]) -> bool:
        """Whether a value of the reference that the question does not ask for is contradicted."""
        targets = [one.target for one in found]
        for known in self.wanted:
            if known.weak or known.denied or any(known is one for one in targets):
                continue
            relations = {relate(known, one, self.requested) for one in self.given if not one.weak}
            if Relation.DIFFERENT in relations and not relations & {*_MET, Relation.UNCLEAR}:
                return True
        return False

    def settles(self, found: list[_Found]) -> bool:
        """Whether meeting the values answers the question: it is no yes-or-no question, and no other year is given."""
        if _COMPOUND.search(self.question) or self.part_differs(found):
            return False
        if _YES_NO.match(self.question) or _REJECTED.search(self.answer):
            return False
        if self.requested.foreign and len(self.answer) > 40:
            return False
        if any(isinstance(value, Range) for one in found for value, _ in one.open):
            return False
        if any(isinstance(one.target, Date) for one in found):
            return True
        requested = _years(typed_values(self.question)) if self.question else set()
        given_years = _years(self.given)
        return not (requested and given_years) or bool(requested & given_years)

    def alternative(self, one: Value, other: Value) -> bool:
        first, second = sorted((one, other), key=lambda value: value.start)
        return _OR.fullmatch(self.answer[first.end : second.start]) is not None


@dataclass
class _Found:
    """What the answer has for one value of the reference."""

    target: Value
    met: list[Value]
    open: list[tuple[Value, Relation]]
    against: list[Value]
    aside: list[Value]


def _spans_years(target: Value, value: Value) -> bool:
    """Whether a decade or a century was given for a year."""
    return (
        isinstance(target, Date)
        and isinstance(value, Date)
        and value.granularity in ("decade", "century")
        and target.granularity not in ("decade", "century")
    )


def _count(values: Sequence[Value], like: Value) -> int:
    """Values of the kind of another."""
    return sum(type(one) is type(like) for one in values)


def _without_conversions(values: list[Value], text: str, requested: Requested) -> list[Value]:
    """Drop values that repeat an earlier one in another unit or writing, in brackets or after "or"."""
    retained: list[Value] = []
    for one in values:
        if any(
            relate(before, one, requested) in (*_MET, Relation.UNCLEAR)
            and type(before) is type(one)
            for before in retained
        ):
            continue
        before = text[retained[-1].end : one.start] if retained else ""
        if "(" in before:
            continue
        retained.append(one)
    return retained
