# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""`compare_values`: whether the typed values of an answer agree with a reference's.

A conflict is reported only where it is certain, since it vetoes; agreement only where the value
that the question asks for is met and nothing of the same role contradicts it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from markscheme.text import Tolerance, without_latex
from markscheme.values.amounts import Relation
from markscheme.values.choices import compare_choices
from markscheme.values.exact_names import compare_exact_names
from markscheme.values.formulae import compare_formulae, formula_of, is_formula
from markscheme.values.kinds import (
    ClockTime,
    Date,
    Duration,
    Identifier,
    Money,
    Number,
    Percent,
    Quantity,
    Range,
    Value,
)
from markscheme.values.lists import compare_lists
from markscheme.values.outcome import Comparison, Outcome, Pair, difference, in_words, kind_of
from markscheme.values.parse import parse_values
from markscheme.values.relation import relate
from markscheme.values.requested import Requested, read_question
from markscheme.values.units import read_unit

_NOTHING = Comparison(outcome=Outcome.NONE)
_MET = (Relation.SAME, Relation.FINER)
_LONGEST = 20_000
_MOST_PAIRS, _MOST_OF_ALL = 10_000, 20_000
"""Pairs of readings of values, of the answer with a reference and of the question with both, or of
items of lists; and the same for all references together. More are long texts, and no typed answer."""
_KINDS: dict[str, tuple[type[Value], ...]] = {
    "number": (Number, Percent, Quantity, Duration, Money),
    "percent": (Percent, Number),
    "money": (Money, Number, Quantity),
    "duration": (Duration, Number),
    "date": (Date,),
    "time": (ClockTime,),
    "version": (Identifier, Number),
    "identifier": (Identifier, Number),
}
_UNKNOWN = re.compile(
    r"\b(?:does not (?:say|state|mention|give|specify)|doesn't (?:say|state|mention|give|specify)|not (?:stated|known|mentioned|given|specified)|unknown|cannot be (?:known|determined)|no information)\b",
    re.IGNORECASE,
)
_COMPOUND = re.compile(
    r"\b(?:when|where|who|what|which|why|how)\b.*\band (?:\w+ )?(?:when|where|who|what|which|why|how)\b",
    re.IGNORECASE | re.DOTALL,
)
_YES_NO = re.compile(
    r"(?:is|are|was|were|will|would|does|do|did|can|could|may|must|should|has|have|had)\b(?!.*\bor\b)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(?:the|a|an|about|in|on|at|of|approximately|around|to|from|until|by|it|is|was|less|more|than|least|most|up|over|under|no|not|within|maximum|minimum|roughly|only|between|extra|older|younger|or|and)\b|\W"
)
"""What a reference has around its values that says nothing else."""
_REJECTED = re.compile(
    r"\b(?:voted down|rejected|not adopted|so there is none|under discussion|originally planned|was proposed but)\b",
    re.IGNORECASE,
)
_GRAINS = ("day", "month", "quarter", "year", "decade", "century")


def pairs_for_each(texts: int) -> int:
    """How many pairs of readings of values are compared of each of so many pairs of texts of a row.

    >>> pairs_for_each(1), pairs_for_each(100)
    (10000, 200)
    """
    return min(_MOST_PAIRS, _MOST_OF_ALL // max(1, texts))


def compare_values(
    question: str, reference: str | Sequence[str], answer: str, *, most: int | None = None
) -> Comparison:
    """How the typed values of an answer relate to those of a reference.

    Args:
        question: decides which value counts, its scale, unit and granularity.
        reference: the reference, or several of which any will do.
        answer: the answer, of any length; time is near-linear in it.
        most: pairs of readings of values that are compared with each reference; by default, as
            many as `pairs_for_each` says of their number.

    >>> compare_values("When did it open?", "5 June 2021", "On 5 January 2021.").reason
    'January where the reference has June'
    """
    question, answer = _read(question), _read(answer)
    requested = read_question(question)
    references = [reference] if isinstance(reference, str) else reference
    most = pairs_for_each(len(references)) if most is None else most
    found = [_compare(question, requested, _read(one), answer, most) for one in references]
    return _best(found) if found else _NOTHING


def _read(text: str) -> str:
    """What is read of a text."""
    return without_latex(text[:_LONGEST])


def _best(found: Sequence[Comparison]) -> Comparison:
    """The most favourable comparison; a conflict only where no reference leaves it open."""
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


def _compare(
    question: str, requested: Requested, reference: str, answer: str, most: int
) -> Comparison:
    if not reference.strip() or not answer.strip() or _UNKNOWN.search(reference):
        return _NOTHING
    if (chosen := compare_choices(requested, reference, answer)) is not None:
        return chosen
    if (wanted := _bare_unit(reference)) and (given := _bare_unit(answer)):
        return _Case(question, requested, reference, answer, wanted, given, []).result()
    for compare in (compare_formulae, compare_exact_names):
        if (compared := compare(question, reference, answer)) is not None:
            return compared
    if is_formula(formula_of(reference)):
        return _NOTHING  # never by a number that is pulled out of it
    wanted = parse_values(reference, question=question)
    listed = compare_lists(requested, reference, answer, typed=bool(wanted), most=most)
    if listed is not None:
        return listed
    if not wanted:
        return _NOTHING
    given = parse_values(answer, question=question)
    echoed = parse_values(question)
    ours, theirs = _readings(wanted), _readings(given)
    if ours * theirs + _readings(echoed) * (ours + theirs) > most:
        return _NOTHING
    return _Case(question, requested, reference, answer, wanted, given, echoed).result()


def _bare_unit(text: str) -> list[Value]:
    """A text that is a unit of measure and nothing else, as one of it; none of a single letter."""
    unit, end = read_unit(text, 0) or (None, 0)
    if unit is None or not end == len(text) > 1:
        return []
    return [Quantity(start=0, end=end, text=text, amount=1.0, quantum=1.0, unit=unit)]


def _years(values: Sequence[Value]) -> set[int]:
    return {one.year for one in values if isinstance(one, Date) and one.year is not None}


def _figures(value: Value) -> str:
    hit = re.search(r"\d[\d.,]*\d|\d", value.text)
    return hit[0] if hit and len(hit[0]) > 1 else ""


def _flat(values: Sequence[Value]) -> list[Value]:
    spread: list[Value] = []
    for one in values:
        spread.append(one)
        if isinstance(one, Range):
            spread.extend(side for side in (one.low, one.high) if side is not None)
    return spread


def _readings(values: Sequence[Value]) -> int:
    """As how many values they are compared: both ends of a range, each date that may be meant."""
    ends = [one for one in _flat(values) if not isinstance(one, Range)]
    return len(ends) + sum(len(one.alternatives) for one in ends if isinstance(one, Date))


@dataclass
class _Case:
    """One reference with one answer whose values were read."""

    question: str
    requested: Requested
    reference: str
    answer: str
    wanted: list[Value]
    given: list[Value]
    echoed: list[Value]
    """Those of the question."""
    share: float = 1.0

    def result(self) -> Comparison:
        targets = self.targets()
        if not targets:
            return _NOTHING
        kind = kind_of(targets[0])
        if not self.given:
            if self.requested.kind and len(self.answer.split()) <= 40:
                return Comparison(
                    outcome=Outcome.MISSING,
                    confidence=0.3,
                    kind=kind,
                    missing=tuple(map(in_words, targets)),
                    reason=f"the answer gives no {kind}",
                )
            return Comparison(outcome=Outcome.NONE, kind=kind)
        found = [self.target(one) for one in targets]
        return self.joined(targets, found, kind)

    def kinds_wanted(self, values: list[Value]) -> tuple[type[Value], ...]:
        """The kinds that the question asks for, or the other ones that it may be answered by."""
        kinds = _KINDS.get(self.requested.kind, ())
        if self.requested.kind == "money" and all(isinstance(one, Percent) for one in values):
            # "What is the late fee?" may be answered by a share.
            self.requested, kinds = replace(self.requested, kind="percent"), (Percent,)
        return kinds

    def targets(self) -> list[Value]:
        """The values of the reference that the answer is held to."""
        strong = [one for one in self.wanted if not one.weak and not one.denied]
        if not strong:
            whole = self.wanted[0]
            if len(self.wanted) == 1 and whole.end - whole.start >= 0.6 * len(
                self.reference.strip(" .")
            ):
                strong = [replace(whole, weak=False)]
            else:
                return []
        kinds = self.kinds_wanted(strong)
        matched = [
            one
            for one in strong
            if isinstance(one, kinds)
            or (isinstance(one, Range) and isinstance(one.low or one.high, kinds))
        ]
        if self.requested.kind == "number" and len(matched) > 1:
            bare = [one for one in matched if not (isinstance(one, Number) and one.ordinal)]
            matched = bare or matched
            counts: list[Value] = [one for one in matched if isinstance(one, Number)]
            matched = counts if len(counts) == 1 else matched
        covered = sum(
            one.end - one.start + (len(one.noun) if isinstance(one, Number) else 0)
            for one in strong
        )
        self.share = share = covered / max(len(_ASIDE.sub("", self.reference)), 1)
        if share < 0.5:
            matched = [
                one
                for one in matched
                if one.text.lower() not in ("one", "two", "first", "second", "a third")
            ]
        if matched:
            return [] if len(matched) > 3 and share < 0.5 else matched
        exact: list[Value] = [one for one in strong if isinstance(one, Identifier)]
        if self.requested.kind and not exact and share < 0.75:
            return []
        if share >= 0.55:
            return strong
        if exact and len(self.reference.split()) <= 12:
            return exact
        return []

    def target(self, target: Value) -> _Found:
        met: list[Value] = []
        open_: list[tuple[Value, Relation]] = []
        against: list[Value] = []
        for value in self.given:
            relation = relate(target, value, self.requested)
            if relation is Relation.APART or value.denied:
                continue
            if relation in _MET:
                met.append(value)
            elif relation is Relation.DIFFERENT:
                against.append(value)
            elif not value.weak:
                open_.append((value, relation))
        return _Found(target, met, open_, against)

    def serious(self, found: _Found) -> list[Value]:
        """The values against that claim the same role: no weak ones, and no echoes of the question."""
        plain = [one for one in found.against if not one.weak]
        if not plain or self.is_echo(found.target):
            return plain
        echoes = self.echoes
        return [one for one in plain if id(one) not in echoes]

    def is_echo(self, value: Value) -> bool:
        """Whether the question has the value too."""
        return any(relate(echo, value, self.requested) is Relation.SAME for echo in self.all_echoed)

    @cached_property
    def all_echoed(self) -> list[Value]:
        """The values of the question, and the ends of its ranges."""
        return _flat(self.echoed)

    @cached_property
    def echoes(self) -> set[int]:
        """The values of the answer, by identity, that the question has too."""
        return {id(one) for one in self.given if self.is_echo(one)}

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
        if (unsure := next((one for one in unmet if one.open), None)) is not None:
            value, relation = unsure.open[0]
            mine, theirs = in_words(unsure.target), in_words(value)
            if relation is Relation.COARSER:
                lacking = words <= 12 and self.too_coarse(unsure.target, value)
                return replace(
                    base,
                    outcome=Outcome.MISSING if lacking else Outcome.NONE,
                    confidence=0.8 if lacking else 0.0,
                    granularity="coarser",
                    missing=(mine,),
                    reason=f"{theirs} is less exact than {mine}",
                )
            reason = f"{theirs} may be the same as {mine}"
            if any(theirs == one.answer for one in agreed):  # It is another value's match.
                reason = f"{theirs} agrees; {mine} is not clearly in the answer"
            return replace(base, reason=reason)
        contested = [(one, values) for one, values in against if values]
        if not contested:
            return self.only_echoes(unmet, base, words)
        if len(targets) > 1 and (
            (words > 15 and agreed)
            or _count(self.given, contested[0][0].target) < _count(targets, contested[0][0].target)
        ):
            return replace(base, missing=tuple(in_words(one.target) for one in unmet))
        one, values = contested[0]
        if self.glued(one.target):
            return replace(base, reason=f"{in_words(one.target)} may be meant")
        return _against(base, one.target, values[0], self.certainty(one.target, values, words))

    def too_coarse(self, target: Value, value: Value) -> bool:
        """Whether a value that is less exact than the reference's does not answer the question."""
        asked = self.requested.granularity
        if isinstance(target, Date) and isinstance(value, Date):
            spans = {"decade", "century"}
            if value.granularity in spans and target.granularity not in spans:
                return True
            if asked in _GRAINS:
                return _GRAINS.index(value.granularity) > _GRAINS.index(asked)
        return isinstance(target, Identifier) or (isinstance(target, Date) and asked == "day")

    def glued(self, target: Value) -> bool:
        """Whether the answer has the reference's figures with others stuck to them ("20181")."""
        if len(self.answer) < 40:
            return False
        figures = str(target.year) if isinstance(target, Date) and target.year else _figures(target)
        plain = re.escape(figures)
        stuck = rf"(?<!\d){plain}(?:\d{{1,2}}(?!\d)|(?=[A-Za-z]))|(?<=[a-z]){plain}(?!\d)"
        return bool(figures) and re.search(stuck, self.answer) is not None

    def certainty(self, target: Value, values: list[Value], words: int) -> float:
        if (self.requested.foreign and words > 12) or _YES_NO.match(self.question):
            return 0.0
        if (
            isinstance(target, Percent)
            and words > 2
            and any(
                isinstance(one, Percent)
                and abs(one.amount + target.amount - 100) < Tolerance.COUNTED
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
        plain = [one for found in unmet for one in found.against if not one.weak]
        if plain and words <= 6:
            return _against(base, unmet[0].target, plain[0], 0.9)
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
        return Comparison(
            outcome=Outcome.NONE,
            kind=kind,
            agreed=agreed,
            conflicting=pairs,
            granularity=granularity,
            extra=extra,
            reason=f"{reason}, but the answer also has {pairs[0].answer}",
        )

    def settles(self, found: list[_Found]) -> bool:
        """Whether meeting the values answers the question: it is no yes-or-no question, and no other year is given."""
        if _COMPOUND.search(self.question):
            return False
        if _YES_NO.match(self.question) or _REJECTED.search(self.answer):
            return False
        if self.requested.foreign and len(self.answer) > 40:
            return False
        if any(isinstance(value, Range) for one in found for value, _ in one.open):
            return False
        if any(isinstance(one.target, Date) for one in found):
            return True
        requested = _years(self.echoed)
        given_years = _years(self.given)
        return not (requested and given_years) or bool(requested & given_years)


@dataclass
class _Found:
    """What the answer has for one value of the reference."""

    target: Value
    met: list[Value]
    open: list[tuple[Value, Relation]]
    against: list[Value]


def _against(base: Comparison, target: Value, other: Value, confidence: float) -> Comparison:
    """The conflict of two values; undecided where there is no confidence in it."""
    certain = confidence > 0
    return replace(
        base,
        outcome=Outcome.CONFLICT if certain else Outcome.NONE,
        confidence=confidence,
        decided=certain,
        conflicting=(Pair(in_words(target), in_words(other), "different"),),
        reason=difference(target, other),
    )


def _count(values: Sequence[Value], like: Value) -> int:
    """Values of the kind of another."""
    return sum(type(one) is type(like) for one in values)
