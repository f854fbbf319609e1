"""How amounts relate to each other: rounding, units, rates, shares, lengths of time."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import Enum

from markscheme.text import Tolerance
from markscheme.values.currency import same_currency
from markscheme.values.kinds import Amount, Duration, Money, Number, Percent, Quantity, Unit
from markscheme.values.requested import Requested
from markscheme.values.units import SECONDS


class Relation(Enum):
    """How a value of the answer relates to the reference's."""

    SAME = "same"
    FINER = "finer"
    """Within the reference's, and more exact."""
    COARSER = "coarser"
    """Holds the reference's, and less exact."""
    UNCLEAR = "unclear"
    """Close, or of readings that cannot be distinguished."""
    DIFFERENT = "different"
    APART = "apart"
    """Of another kind: says nothing for or against."""


SAME, FINER, COARSER = Relation.SAME, Relation.FINER, Relation.COARSER
UNCLEAR, DIFFERENT, APART = Relation.UNCLEAR, Relation.DIFFERENT, Relation.APART
_PLAIN, _HUNDRED = Unit("", (), 1.0), Unit("", (), 100.0)
_SECOND, _POUND = Unit("s", (("time", 1),), 1.0), Unit("lb", (("mass", 1),), 0.45359237)
_TIMES = frozenset(["volte", "mal", "veces", "fois", "vezes", "keer", "раз", "раза", "kez", "kali"])
"""Times, which are no unit of duration: "due volte alla settimana"."""
_COUNTED_IN = ("s", "min", "h", "d", "business day", "week", "month", "year")
_SIZES = tuple(SECONDS[unit] for unit in _COUNTED_IN)
"""Seconds of what durations are counted in."""


def _short_of_all(reference: Percent, answer: Percent) -> bool:
    """Whether shares near 100 per cent leave different rests: 99.9% for 99.95%."""
    rests = 100.0 - reference.amount, 100.0 - answer.amount
    if not (min(rests) > 0 and max(rests) < Tolerance.NEARLY_ALL):
        return False
    return abs(rests[0] - rests[1]) > Tolerance.CONVERTED * max(rests)


def relate_amounts(reference: Amount, answer: Amount, requested: Requested) -> Relation:  # noqa: PLR0912
    if isinstance(reference, Duration) and isinstance(answer, Duration):
        return _durations(reference, answer)
    if isinstance(reference, Money) and isinstance(answer, Money):
        if not same_currency(reference.currency, answer.currency):
            return DIFFERENT
        found = _scaled(reference, answer, requested)
        if reference.per and answer.per and reference.per != answer.per:
            return _other_period(reference, answer, found)
        return found
    if isinstance(reference, Quantity) and isinstance(answer, Quantity):
        return _quantities(reference, answer, requested)
    if isinstance(reference, Percent) and isinstance(answer, Percent):
        found = _compare(reference, answer, requested)
        if found is SAME and _short_of_all(reference, answer):
            return COARSER
        if found in (SAME, FINER) and reference.points != answer.points:
            return UNCLEAR
        return found
    if isinstance(reference, Percent) and isinstance(answer, Number):
        return _share(reference, answer, requested)
    if isinstance(reference, Number) and isinstance(answer, Percent):
        return _share_wanted(reference, answer, requested)
    if isinstance(reference, Number) and isinstance(answer, Number):
        share = 0 < abs(reference.amount) < 1 and reference.quantum == 0
        if share and abs(answer.amount) > 1 and answer.quantum:
            return APART  # a share against a count; 4/3 is none
        if _leading_zero(reference) or _leading_zero(answer):
            return SAME if reference.text.strip() == answer.text.strip() else UNCLEAR
        same = reference.amount == answer.amount
        nouns = bool(reference.noun) and requested.foreign and reference.noun != answer.noun
        if same and answer.noun and (nouns or requested.kind == "duration"):
            return UNCLEAR
        if reference.ordinal != answer.ordinal:
            return UNCLEAR if same else APART
        return _scaled(reference, answer, requested)
    if isinstance(answer, Number) and not answer.ordinal:
        return _bare_answer(reference, answer, requested)
    if isinstance(reference, Number) and not reference.ordinal:
        return _bare_reference(reference, answer, requested)
    if isinstance(reference, Quantity) and isinstance(answer, Money):
        return _pounds(reference, answer, requested)
    if (
        isinstance(reference, Money)
        and isinstance(answer, Quantity)
        and reference.currency in ("pound", "GBP")
    ):
        return UNCLEAR if reference.amount == answer.amount else APART
    if isinstance(reference, Duration | Quantity) and isinstance(answer, Duration | Quantity):
        return (
            DIFFERENT
            if reference.amount == answer.amount
            and _unit_name(reference) != _unit_name(answer)
            and requested.unit is None
            else APART
        )
    return APART


_A_YEAR = {"year": 1, "quarter": 4, "month": 12, "week": 52, "day": 365}
"""Periods of a year for which money is paid."""


def _other_period(reference: Money, answer: Money, found: Relation) -> Relation:
    """Money per month against money per year, converted."""
    if found in (SAME, FINER):
        return DIFFERENT
    one, other = _A_YEAR.get(reference.per), _A_YEAR.get(answer.per)
    if one is None or other is None:
        return UNCLEAR
    wanted, given = reference.amount * one, answer.amount * other
    if _close(wanted, given):
        return SAME
    return UNCLEAR if wanted and abs(given / wanted - 1) < Tolerance.CONVERTED else DIFFERENT


def _leading_zero(value: Number) -> bool:
    text = value.text.strip()
    return len(text) > 1 and text[0] == "0" and text.isdigit()


def _unit_name(value: Amount) -> str:
    return value.unit.name if isinstance(value, Quantity) else "time"


def _pounds(reference: Quantity, answer: Money, requested: Requested) -> Relation:
    """Pounds of weight that were read as money."""
    if answer.currency == "pound" and reference.unit.dimensions == (("mass", 1),):
        return _compare(reference, answer, requested, one=reference.unit, other=_POUND)
    return APART


def _share(reference: Percent, answer: Number, requested: Requested) -> Relation:
    if answer.ordinal:
        return APART
    plain = _compare(reference, answer, requested)
    part = _compare(reference, answer, requested, other=_HUNDRED)
    if abs(answer.amount) <= 1 and part in (SAME, FINER):
        return SAME
    if plain in (SAME, FINER):
        return (
            SAME
            if not answer.noun and (abs(answer.amount) > 1 or requested.kind == "percent")
            else UNCLEAR
        )
    if part is COARSER:
        return UNCLEAR
    if abs(answer.amount) < 1 and answer.amount != 0 and not answer.weak:
        return DIFFERENT
    return DIFFERENT if not answer.noun and not answer.weak and not answer.year else APART


def _share_wanted(reference: Number, answer: Percent, requested: Requested) -> Relation:
    if reference.ordinal:
        return APART
    part = _compare(reference, answer, requested, one=_HUNDRED)
    if abs(reference.amount) <= 1 and part in (SAME, FINER, COARSER):
        return (
            SAME
            if part is not COARSER or abs(reference.amount * 100 - answer.amount) < Tolerance.POINTS
            else UNCLEAR
        )
    if part is UNCLEAR and (reference.approximate or answer.approximate):
        near = abs(reference.amount * 100 - answer.amount) <= Tolerance.ABOUT_POINTS
        return SAME if near else UNCLEAR
    plain = _compare(reference, answer, requested)
    if plain in (SAME, FINER):
        if 0 < abs(reference.amount) < 1:
            return DIFFERENT
        return SAME if requested.kind == "percent" else UNCLEAR
    return DIFFERENT if 0 < abs(reference.amount) < 1 else APART


def _bare_answer(reference: Amount, answer: Number, requested: Requested) -> Relation:
    """The reference has a unit, the answer a bare number: the unit is understood."""
    if isinstance(reference, Duration):
        best = UNCLEAR if answer.noun else DIFFERENT
        for size in (*_SIZES, SECONDS["decade"], SECONDS["century"]):
            if _counted(reference.amount / size, answer.amount):
                written = _written_size(reference, size) or requested.unit is not None
                return SAME if written and answer.noun not in _TIMES else UNCLEAR
        return best if not answer.weak and not answer.year else APART
    found = _scaled(reference, answer, requested)
    if found in (SAME, FINER) and answer.noun and isinstance(reference, Quantity):
        return UNCLEAR
    if found is DIFFERENT and (answer.noun or answer.weak or answer.year):
        return APART if answer.noun and not isinstance(reference, Money) else UNCLEAR
    if (
        found is DIFFERENT
        and isinstance(reference, Quantity)
        and requested.unit is not None
        and requested.unit.dimensions == reference.unit.dimensions
    ):
        return _compare(reference, answer, requested, one=reference.unit, other=requested.unit)
    return found


def _written_size(reference: Duration, size: float) -> bool:
    return reference.quantum == 0.0 or _is_size(reference.quantum, size) or reference.quantum < size


def _counted(counted: float, amount: float) -> bool:
    """Whether so many units are the amount."""
    return abs(counted - amount) < Tolerance.COUNTED * max(1.0, amount)


def _is_size(quantum: float, size: float) -> bool:
    return abs(quantum - size) < Tolerance.COUNTED * size


def _bare_reference(reference: Number, answer: Amount, requested: Requested) -> Relation:
    """The answer has a unit, the reference a bare number, whose unit the question may state."""
    unit = requested.unit
    if isinstance(answer, Duration) and answer.amount == reference.amount * SECONDS["business day"]:
        return UNCLEAR  # 25 working days, where the reference says 25 without a unit
    if (
        isinstance(answer, Money)
        and requested.currency
        and not same_currency(requested.currency, answer.currency)
    ):
        return DIFFERENT
    if unit is not None and isinstance(answer, Duration | Quantity):
        other = _SECOND if isinstance(answer, Duration) else answer.unit
        if other.dimensions == unit.dimensions:
            return _compare(reference, answer, requested, one=unit, other=other)
    if isinstance(answer, Duration):
        for size in _SIZES:
            if _counted(answer.amount / size, reference.amount):
                return SAME if _is_size(answer.quantum, size) else UNCLEAR
        return UNCLEAR
    found = _scaled(reference, answer, requested)
    return found if found in (SAME, FINER) else UNCLEAR


def _quantities(reference: Quantity, answer: Quantity, requested: Requested) -> Relation:
    wanted, given = reference.unit, answer.unit
    if wanted.dimensions == given.dimensions:
        if wanted.name == given.name:
            return _compare(reference, answer, requested)
        found = _compare(reference, answer, requested, one=wanted, other=given)
        if found is DIFFERENT:  # or converted and rounded
            if wanted.offset or given.offset:
                near = abs(answer.base - reference.base) < Tolerance.KELVINS
            else:
                share = answer.base / reference.base if reference.base else 0.0
                near = abs(share - 1) < Tolerance.CONVERTED
            return UNCLEAR if near else DIFFERENT
        return SAME if found is FINER else found
    degrees = (("degree", 1),)
    if degrees in (wanted.dimensions, given.dimensions) and (("temperature", 1),) in (
        wanted.dimensions,
        given.dimensions,
    ):
        return _compare(reference, answer, requested)
    if _rate_only(wanted, given) and reference.amount == answer.amount:
        return UNCLEAR  # "per day" left out
    if (
        _base_powers(wanted.dimensions) & _base_powers(given.dimensions)
        and reference.amount == answer.amount
    ):
        return DIFFERENT  # 8 m² against 8 m
    return APART if _base_powers(wanted.dimensions) != _base_powers(given.dimensions) else UNCLEAR


def _rate_only(left: Unit, right: Unit) -> bool:
    """Whether two units differ only by a time that one leaves out, as 54 Mbit and 54 Mbit/s."""
    one, other = dict(left.dimensions), dict(right.dimensions)
    times = one.pop("time", 0), other.pop("time", 0)
    return one == other and 0 in times


def _base_powers(dimensions: tuple[tuple[str, int], ...]) -> set[str]:
    return {name for name, _ in dimensions}


def _durations(reference: Duration, answer: Duration) -> Relation:
    if (reference.months is None) != (answer.months is None):
        largest = max(reference.amount, answer.amount)
        ratio = abs(reference.amount - answer.amount) / largest if largest else 0.0
        return UNCLEAR if ratio < Tolerance.UNSURE else DIFFERENT
    return _compare(_in_months(reference), _in_months(answer), Requested())


def _in_months(length: Duration) -> Amount:
    """A length that was given in months or years, in months."""
    if length.months is None:
        return length
    step = length.quantum / SECONDS["month"]
    return replace(length, amount=length.months, quantum=step, alternatives=())


def _scaled(reference: Amount, answer: Amount, requested: Requested) -> Relation:
    found = _compare(reference, answer, requested)
    if found is DIFFERENT and requested.scale != 1.0:
        scale = Unit("", (), requested.scale)
        for one, other in ((_PLAIN, scale), (scale, _PLAIN)):
            again = _compare(reference, answer, requested, one=one, other=other)
            if again is not DIFFERENT:
                return again
    return found


def _close(left: float, right: float) -> bool:
    return abs(left - right) <= Tolerance.EQUAL * max(abs(left), abs(right), 1e-300)


def _rounds_to(exact: float, rounded: float, step: float) -> bool:
    """Whether an exact amount rounds to another at a step (half either way)."""
    half = step / 2 * (1 + Tolerance.EQUAL) + Tolerance.NOISE * abs(exact)
    return step > 0 and abs(exact - rounded) <= half


def _compare(  # noqa: PLR0912
    reference: Amount,
    answer: Amount,
    requested: Requested,
    *,
    one: Unit = _PLAIN,
    other: Unit = _PLAIN,
) -> Relation:
    """Compare the written amounts, the reference's in units of `one`, the answer's of `other`.

    The steps to which they were written say what is a rounding.
    """
    wanted = reference.amount * one.factor + one.offset
    given = answer.amount * other.factor + other.offset
    step, own = reference.quantum * one.factor, answer.quantum * other.factor
    if _close(wanted, given):
        if (
            requested.direction * answer.direction < 0
            and not reference.direction
            and not (reference.signed or answer.signed)
        ):
            return DIFFERENT  # "fell by 12%" where the question asks by how much it grew
        if (reference.direction < 0 and answer.signed) or (
            answer.direction < 0 and reference.signed
        ):
            return DIFFERENT  # "+1.2%" for "a decrease of 1.2%"
        if reference.direction * answer.direction < 0 and not (reference.signed or answer.signed):
            return DIFFERENT
        if (
            requested.direction != reference.direction
            and reference.direction
            and not answer.direction
            and not answer.signed
        ):
            return UNCLEAR
        if (
            isinstance(answer, Percent)
            and answer.direction
            and not reference.direction
            and not requested.direction
            and not reference.signed
        ):
            return UNCLEAR
        return SAME
    plain = wanted == reference.amount and given == answer.amount
    if plain and any(_close(reading, given) for reading in reference.alternatives):
        return UNCLEAR
    if plain and any(_close(wanted, reading) for reading in answer.alternatives):
        return SAME if answer.quantum == 0.0 else UNCLEAR
    if wanted * given < 0 and _close(abs(wanted), abs(given)):
        return _opposite(reference, answer, requested)
    if not (math.isfinite(wanted) and math.isfinite(given)):
        return UNCLEAR
    if wanted * given < 0:
        return DIFFERENT
    size = max(abs(wanted), abs(given))
    off = abs(wanted - given) / size
    whole = wanted == int(wanted) and abs(wanted) < 1000 and step >= 1
    if _rounds_to(given, wanted, step) and own < step:
        if (
            whole
            and not reference.approximate
            and (off > Tolerance.UNSURE or isinstance(reference, Number | Money))
        ):
            return DIFFERENT  # 72.5 is not 72: a count or a price has no more exact form
        return FINER if off < Tolerance.FINER or reference.approximate else UNCLEAR
    if step == 0.0 and own and _rounds_to(wanted, given, own):  # the reference is a fraction
        return SAME if off < Tolerance.DECIMAL else UNCLEAR
    if own == 0.0 and _rounds_to(given, wanted, step):
        return SAME
    if own == 0.0 and off < Tolerance.FRACTION:  # a fraction in words
        return UNCLEAR
    if _rounds_to(wanted, given, own) and own > step > 0:
        if off < Tolerance.ROUNDED or (answer.approximate and off < Tolerance.ABOUT_NUMBER):
            return SAME
        return COARSER
    trailing = _trailing(given)
    if whole and not answer.approximate and not reference.approximate:
        return DIFFERENT
    if trailing > max(own, 1.0) and _rounds_to(wanted, given, trailing) and off < Tolerance.UNSURE:
        return COARSER if answer.approximate and off < Tolerance.ABOUT else UNCLEAR
    if reference.approximate and off < Tolerance.ABOUT:
        return FINER
    trailing = _trailing(wanted)
    rounds = trailing > max(step, 1.0) and _rounds_to(given, wanted, trailing)
    if (
        (rounds and off < Tolerance.ABOUT_NUMBER)
        or (reference.approximate and off < Tolerance.UNSURE)
        or (answer.approximate and off < Tolerance.ABOUT_ANSWER)
        or (off < Tolerance.LARGE and abs(wanted) >= 1000)
    ):
        return UNCLEAR
    return DIFFERENT


def _trailing(value: float) -> float:
    """The step suggested by the trailing zeros of a whole number: 1000 for 47000."""
    if value != int(value) or value == 0 or abs(value) > 1e300:
        return 1.0
    digits = f"{int(abs(value))}"
    return float(10 ** (len(digits) - len(digits.rstrip("0"))))


def _opposite(reference: Amount, answer: Amount, requested: Requested) -> Relation:
    """Equal but for the sign: the words or the question may carry it."""
    written, other = (reference, answer) if reference.amount < 0 else (answer, reference)
    if other.direction < 0:
        return SAME
    if requested.direction == 1 and not other.direction:
        return DIFFERENT  # a loss where the question asks for growth
    if requested.direction == -1 and not other.signed and other.direction == 0:
        return UNCLEAR
    if written.direction < 0:
        return UNCLEAR
    return DIFFERENT
