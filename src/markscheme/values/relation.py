"""How one value of an answer stands to one value of a reference."""

from __future__ import annotations

import math
from enum import Enum

from markscheme.values.asked import Asked
from markscheme.values.codes import code_of, version_parts
from markscheme.values.currency import same_currency
from markscheme.values.dates import interval
from markscheme.values.expressions import relate as relate_expressions
from markscheme.values.kinds import (
    Amount,
    ClockTime,
    Date,
    Duration,
    Expression,
    Flag,
    Identifier,
    Money,
    Number,
    Percent,
    Quantity,
    Range,
    Unit,
    Value,
    Version,
)


class Relation(Enum):
    """How a value of the answer stands to the reference's."""

    SAME = "same"
    FINER = "finer"
    """Within the reference's, and more exact."""
    COARSER = "coarser"
    """Holds the reference's, and less exact."""
    UNCLEAR = "unclear"
    """Close, or of readings that cannot be told apart."""
    DIFFERENT = "different"
    APART = "apart"
    """Of another kind: says nothing for or against."""


SAME, FINER, COARSER = Relation.SAME, Relation.FINER, Relation.COARSER
UNCLEAR, DIFFERENT, APART = Relation.UNCLEAR, Relation.DIFFERENT, Relation.APART

_MONTH = 31_556_952.0 / 12


def relate(reference: Value, answer: Value, asked: Asked) -> Relation:
    """How the answer's value stands to the reference's, given what the question asks."""
    if isinstance(reference, Range) or isinstance(answer, Range):
        return _ranges(reference, answer, asked)
    if isinstance(reference, Flag) or isinstance(answer, Flag):
        return (SAME if reference.name == answer.name else DIFFERENT) if isinstance(reference, Flag) and isinstance(answer, Flag) else APART
    if isinstance(reference, Expression) or isinstance(answer, Expression):
        return _expressions(reference, answer)
    if isinstance(reference, Version) or isinstance(answer, Version):
        return _versions(reference, answer)
    if isinstance(reference, Identifier) or isinstance(answer, Identifier):
        return _identifiers(reference, answer)
    if isinstance(reference, ClockTime) or isinstance(answer, ClockTime):
        return _times(reference, answer)
    if isinstance(reference, Date) or isinstance(answer, Date):
        return _dates(reference, answer, asked)
    if isinstance(reference, Amount) and isinstance(answer, Amount):
        return _amounts(reference, answer, asked)
    return APART


def _expressions(reference: Value, answer: Value) -> Relation:
    if isinstance(reference, Expression) and isinstance(answer, Expression):
        found = relate_expressions(reference.source, answer.source)
        return {"equal": SAME, "missing": COARSER, "different": DIFFERENT, "unknown": UNCLEAR}[found]
    return APART


def _versions(reference: Value, answer: Value) -> Relation:
    if not isinstance(reference, Version) and not isinstance(answer, Version):
        return APART
    if isinstance(reference, Amount | Version | Identifier | Date) and isinstance(answer, Amount | Version | Identifier | Date):
        wanted = reference.parts if isinstance(reference, Version) else version_parts(reference.text)
        given = answer.parts if isinstance(answer, Version) else version_parts(answer.text)
        if wanted == given:
            return SAME
        if not isinstance(answer, Version | Number) or not isinstance(reference, Version | Number):
            return APART
        if len(given) == 1 and len(wanted) > 1 and not isinstance(answer, Version):
            return APART
        short, long = sorted((wanted, given), key=len)
        if long[: len(short)] == short and set(long[len(short) :]) == {"0"}:
            return UNCLEAR
        if len(given) > len(wanted) and given[: len(wanted)] == wanted:
            return DIFFERENT if len(wanted) >= 2 else UNCLEAR
        if len(given) < len(wanted) and wanted[: len(given)] == given:
            return COARSER
        return DIFFERENT
    return APART


def _identifiers(reference: Value, answer: Value) -> Relation:
    if isinstance(reference, Identifier) and isinstance(answer, Identifier):
        if ":" in reference.code or ":" in answer.code:
            if reference.code == answer.code:
                return SAME if reference.name == answer.name else DIFFERENT
            return DIFFERENT if reference.name == answer.name or ":" in answer.code else APART
        if reference.code == answer.code:
            if reference.name == answer.name or not reference.name or not answer.name:
                return SAME
            names = reference.text.split()[0], answer.text.split()[0]
            return DIFFERENT if all(name.isupper() and len(name) > 1 for name in names) else UNCLEAR
        if reference.name and reference.name == answer.name:
            return DIFFERENT
        if not reference.name and not answer.name:
            return DIFFERENT if _shape(reference.code) == _shape(answer.code) or _pattern(reference.code) == _pattern(answer.code) else APART
        joined = {code_of(reference.name + reference.code), reference.code} & {code_of(answer.name + answer.code), answer.code}
        return SAME if joined else APART
    one, other = (reference, answer) if isinstance(reference, Identifier) else (answer, reference)
    if not isinstance(one, Identifier):
        return APART
    if ":" in one.code:
        if isinstance(other, ClockTime):
            written = other.text.strip()
            return SAME if written == one.code else DIFFERENT
        return APART
    if isinstance(other, Number):
        if one is answer and not (one.code.isdigit() and float(one.code) == other.amount):
            return APART
        if one.code == code_of(other.text) or (one.code.isdigit() and float(one.code) == other.amount):
            alone = len(other.text.strip()) + 2 >= other.end and not other.noun
            return SAME if (one is reference and alone) or (one is not reference) else UNCLEAR
        return UNCLEAR if not one.code.isdigit() else (DIFFERENT if one is reference and other.start == 0 and not other.noun and not other.weak else UNCLEAR)
    if isinstance(other, Amount) and one.code.isdigit() and isinstance(other, Duration):
        return UNCLEAR
    if code_of(other.text) == one.code:
        return SAME
    return APART


def _shape(code: str) -> str:
    """Letters kept, figures as #: codes of one family."""
    return "".join("#" if char.isdigit() else char for char in code).strip("#") or "#"


def _pattern(code: str) -> str:
    """A for a letter, 0 for a figure."""
    return "".join("A" if char.isalpha() else "0" if char.isdigit() else char for char in code)


def _times(reference: Value, answer: Value) -> Relation:
    if not (isinstance(reference, ClockTime) and isinstance(answer, ClockTime)):
        return APART
    shift = 0
    if reference.offset is not None and answer.offset is not None:
        shift = reference.offset - answer.offset
    for wanted in reference.minutes:
        for given in answer.minutes:
            if abs((given + shift - wanted) % 1440) < 0.01 or abs((given + shift - wanted) % 1440 - 1440) < 0.01:
                both = len(reference.minutes) == len(answer.minutes)
                return SAME if both or len(reference.minutes) == 2 or len(answer.minutes) == 1 or True else UNCLEAR
    if answer.approximate and any(abs(given + shift - wanted) <= 30 for wanted in reference.minutes for given in answer.minutes):
        return COARSER
    return DIFFERENT


def _as_date(value: Value, asked: Asked) -> Date | None:
    if isinstance(value, Date):
        return value
    if isinstance(value, Number) and not value.ordinal and value.amount == int(value.amount) and 1 <= value.amount <= 2100:
        if value.year or (asked.kind == "date" and not value.noun and 100 <= value.amount):
            return Date(start=value.start, end=value.end, text=value.text, year=int(value.amount), number=True)
    return None


def _dates(reference: Value, answer: Value, asked: Asked) -> Relation:
    if isinstance(reference, Amount) and isinstance(answer, Date) and answer.number and answer.year is not None:
        found = Number(start=answer.start, end=answer.end, text=answer.text, amount=float(answer.year), quantum=1.0)
        if isinstance(reference, Number) and not reference.year and asked.kind != "date":
            same = _amounts(reference, found, asked)
            return same if same is SAME else UNCLEAR
    if isinstance(answer, Amount) and isinstance(reference, Date) and reference.number and reference.year is not None and asked.kind != "date":
        wanted = Number(start=0, end=0, text=reference.text, amount=float(reference.year), quantum=1.0)
        if isinstance(answer, Number) and not answer.year:
            same = _amounts(wanted, answer, asked)
            return same if same is SAME else UNCLEAR
    one, other = _as_date(reference, asked), _as_date(answer, asked)
    if one is None or other is None:
        return APART
    return relate_dates(one, other, asked.granularity)


def relate_dates(reference: Date, answer: Date, granularity: str = "") -> Relation:
    """How a date stands to the reference's, down to the granularity asked for."""
    readings = [reference, *(_reading(reference, one) for one in reference.alternatives)]
    given = [answer, *(_reading(answer, one) for one in answer.alternatives)]
    found = [_relate_dates(one, two, granularity) for one in readings for two in given]
    best = min(found, key=(SAME, FINER, UNCLEAR, COARSER, DIFFERENT, APART).index)
    return best


def _reading(date: Date, reading: tuple[int | None, int, int]) -> Date:
    year, month, day = reading
    return Date(start=date.start, end=date.end, text=date.text, year=year, month=month, day=day)


def _relate_dates(reference: Date, answer: Date, granularity: str) -> Relation:
    if reference.year is not None and answer.year is not None:
        wanted, given = interval(reference), interval(answer)
        if wanted is None or given is None:
            return UNCLEAR
        if granularity in ("year", "decade", "century") and reference.last_year is None:
            width = {"year": 1, "decade": 10, "century": 100}[granularity]
            last = answer.last_year if answer.last_year is not None else answer.year
            if answer.year // width == reference.year // width and last // width == reference.year // width:
                return SAME
        if _century(wanted, given):
            return SAME
        if wanted == given:
            return SAME
        if wanted[0] <= given[0] and given[1] <= wanted[1]:
            return UNCLEAR if reference.approximate else FINER
        if given[0] <= wanted[0] and wanted[1] <= given[1]:
            return COARSER
        shared = min(given[1], wanted[1]) - max(given[0], wanted[0])
        slight = shared <= 372 and min(wanted[1] - wanted[0], given[1] - given[0]) > 50 * 372
        if shared >= 0 and not slight:
            return UNCLEAR
        if (reference.approximate or answer.approximate) and abs(reference.year - answer.year) <= max(3, abs(reference.year) // 200):
            return UNCLEAR
        return DIFFERENT
    # One has no year: what both give must be the same.
    if reference.month is not None and answer.month is not None:
        if reference.month != answer.month and not (reference.last_month or answer.last_month):
            return DIFFERENT
        if reference.day is not None and answer.day is not None:
            if reference.day != answer.day:
                return DIFFERENT
        elif reference.day is not None:
            return COARSER
        if reference.year is not None and answer.year is None:
            return COARSER if reference.day is None or granularity == "year" else UNCLEAR
        return FINER if (answer.year, answer.day) != (reference.year, reference.day) else SAME
    return APART if reference.month is None and answer.month is None else UNCLEAR


def _century(wanted: tuple[int, int], given: tuple[int, int]) -> bool:
    """1301 to 1400 and 1300 to 1399 are one century."""
    wide = 98 * 372
    return wanted[1] - wanted[0] > wide and given[1] - given[0] > wide and abs(wanted[0] - given[0]) <= 372


def _amounts(reference: Amount, answer: Amount, asked: Asked) -> Relation:
    if isinstance(reference, Duration) and isinstance(answer, Duration):
        return _durations(reference, answer)
    if isinstance(reference, Money) and isinstance(answer, Money):
        if not same_currency(reference.currency, answer.currency):
            return DIFFERENT
        found = _scaled(reference, answer, asked)
        if found in (SAME, FINER) and reference.per and answer.per and reference.per != answer.per:
            return DIFFERENT
        return found
    if isinstance(reference, Quantity) and isinstance(answer, Quantity):
        return _quantities(reference, answer, asked)
    if isinstance(reference, Percent) and isinstance(answer, Percent):
        found = _compare(reference, answer, reference.amount, answer.amount, reference.quantum, answer.quantum, asked)
        if found in (SAME, FINER) and reference.points != answer.points:
            return UNCLEAR
        return found
    if isinstance(reference, Percent) and isinstance(answer, Number):
        return _share(reference, answer, asked)
    if isinstance(reference, Number) and isinstance(answer, Percent):
        return _share_wanted(reference, answer, asked)
    if isinstance(reference, Number) and isinstance(answer, Number):
        if 0 < abs(reference.amount) < 1 and reference.quantum == 0 and abs(answer.amount) > 1:
            return APART  # a share against a count
        if _leading_zero(reference) or _leading_zero(answer):
            return SAME if reference.text.strip() == answer.text.strip() else UNCLEAR
        if asked.foreign and reference.noun and answer.noun and reference.noun != answer.noun and reference.amount == answer.amount:
            return UNCLEAR
        if asked.kind == "duration" and answer.noun and reference.amount == answer.amount:
            return UNCLEAR
        if reference.ordinal != answer.ordinal and (reference.ordinal or answer.ordinal):
            return UNCLEAR if reference.amount == answer.amount else APART
        return _scaled(reference, answer, asked)
    if isinstance(answer, Number) and not answer.ordinal:
        return _bare_answer(reference, answer, asked)
    if isinstance(reference, Number) and not reference.ordinal:
        return _bare_reference(reference, answer, asked)
    if isinstance(reference, Quantity) and isinstance(answer, Money):
        return _pounds(reference, answer, asked)
    if isinstance(reference, Money) and isinstance(answer, Quantity) and reference.currency in ("pound", "GBP"):
        return UNCLEAR if reference.amount == answer.amount else APART
    if isinstance(reference, Duration | Quantity) and isinstance(answer, Duration | Quantity):
        return DIFFERENT if reference.amount == answer.amount and _unit_name(reference) != _unit_name(answer) and asked.unit is None else APART
    return APART


def _leading_zero(value: Number) -> bool:
    text = value.text.strip()
    return len(text) > 1 and text[0] == "0" and text.isdigit()


def _unit_name(value: Amount) -> str:
    return value.unit.name if isinstance(value, Quantity) else "time"


def _pounds(reference: Quantity, answer: Money, asked: Asked) -> Relation:
    """Pounds of weight that were read as money."""
    if answer.currency == "pound" and reference.unit.dimensions == (("mass", 1),):
        mass = answer.amount * 0.45359237
        found = _compare(reference, answer, reference.base, mass, reference.quantum * reference.unit.factor, answer.quantum * 0.45, asked)
        return found
    return APART


def _share(reference: Percent, answer: Number, asked: Asked) -> Relation:
    if answer.ordinal:
        return APART
    plain = _compare(reference, answer, reference.amount, answer.amount, reference.quantum, answer.quantum, asked)
    part = _compare(reference, answer, reference.amount, answer.amount * 100, reference.quantum, answer.quantum * 100, asked)
    if abs(answer.amount) <= 1 and part in (SAME, FINER):
        return SAME
    if plain in (SAME, FINER):
        return SAME if not answer.noun and abs(answer.amount) > 1 or asked.kind == "percent" else UNCLEAR
    if part is COARSER:
        return UNCLEAR
    if abs(answer.amount) < 1 and answer.amount != 0 and not answer.weak:
        return DIFFERENT
    return DIFFERENT if not answer.noun and not answer.weak and not answer.year else APART


def _share_wanted(reference: Number, answer: Percent, asked: Asked) -> Relation:
    if reference.ordinal:
        return APART
    part = _compare(reference, answer, reference.amount * 100, answer.amount, reference.quantum * 100, answer.quantum, asked)
    if abs(reference.amount) <= 1 and part in (SAME, FINER, COARSER):
        return SAME if part is not COARSER or abs(reference.amount * 100 - answer.amount) < 0.5 else UNCLEAR
    plain = _compare(reference, answer, reference.amount, answer.amount, reference.quantum, answer.quantum, asked)
    if plain in (SAME, FINER):
        return SAME if asked.kind == "percent" else UNCLEAR
    return DIFFERENT if 0 < abs(reference.amount) < 1 else APART


def _bare_answer(reference: Amount, answer: Number, asked: Asked) -> Relation:
    """The reference has a unit, the answer a bare number: the unit is understood."""
    if isinstance(reference, Duration):
        best = UNCLEAR if answer.noun else DIFFERENT
        for size in (1.0, 60.0, 3600.0, 86400.0, 604800.0, _MONTH, 12 * _MONTH, 10 * 12 * _MONTH, 1200 * _MONTH):
            if abs(reference.amount / size - answer.amount) < 1e-6 * max(1.0, answer.amount):
                return SAME if _written_size(reference, size) or asked.unit is not None else UNCLEAR
        return best if not answer.weak and not answer.year else APART
    found = _scaled(reference, answer, asked)
    if found in (SAME, FINER) and answer.noun and isinstance(reference, Quantity):
        return UNCLEAR
    if found is DIFFERENT and (answer.noun or answer.weak or answer.year):
        return APART if answer.noun and not isinstance(reference, Money) else UNCLEAR
    if found is DIFFERENT and isinstance(reference, Quantity) and asked.unit is not None and asked.unit.dimensions == reference.unit.dimensions:
        base = answer.amount * asked.unit.factor + asked.unit.offset
        return _compare(reference, answer, reference.base, base, reference.quantum * reference.unit.factor, answer.quantum * asked.unit.factor, asked)
    return found


def _written_size(reference: Duration, size: float) -> bool:
    return reference.quantum == 0.0 or abs(reference.quantum - size) < 1e-6 * size or reference.quantum < size


def _bare_reference(reference: Number, answer: Amount, asked: Asked) -> Relation:
    """The answer has a unit, the reference a bare number, whose unit the question may state."""
    unit = asked.unit
    if unit is not None and isinstance(answer, Duration | Quantity):
        given = answer.amount if isinstance(answer, Duration) else answer.base
        dimensions = (("time", 1),) if isinstance(answer, Duration) else answer.unit.dimensions
        if dimensions == unit.dimensions:
            base = reference.amount * unit.factor + unit.offset
            step = answer.quantum * (1.0 if isinstance(answer, Duration) else answer.unit.factor)
            return _compare(reference, answer, base, given, reference.quantum * unit.factor, step, asked)
    if isinstance(answer, Duration):
        for size in (1.0, 60.0, 3600.0, 86400.0, 604800.0, _MONTH, 12 * _MONTH):
            if abs(answer.amount / size - reference.amount) < 1e-6 * max(1.0, reference.amount):
                return SAME if abs(answer.quantum - size) < 1e-6 * size else UNCLEAR
        return UNCLEAR
    found = _scaled(reference, answer, asked)
    return found if found in (SAME, FINER) else UNCLEAR


def _quantities(reference: Quantity, answer: Quantity, asked: Asked) -> Relation:
    wanted, given = reference.unit, answer.unit
    if wanted.dimensions == given.dimensions:
        if wanted.name == given.name:
            return _compare(reference, answer, reference.amount, answer.amount, reference.quantum, answer.quantum, asked)
        found = _compare(reference, answer, reference.base, answer.base, reference.quantum * wanted.factor, answer.quantum * given.factor, asked)
        if found is DIFFERENT and not (wanted.offset or given.offset) and reference.base and abs(answer.base / reference.base - 1) < 0.02:
            return UNCLEAR  # converted and rounded
        if found is DIFFERENT and (wanted.offset or given.offset) and abs(answer.base - reference.base) < 0.6:
            return UNCLEAR
        return SAME if found is FINER else found
    degrees = (("degree", 1),)
    if degrees in (wanted.dimensions, given.dimensions) and (("temperature", 1),) in (wanted.dimensions, given.dimensions):
        return _compare(reference, answer, reference.amount, answer.amount, reference.quantum, answer.quantum, asked)
    if _rate_only(wanted, given) and reference.amount == answer.amount:
        return UNCLEAR  # "per day" left out
    if _base_powers(wanted.dimensions) & _base_powers(given.dimensions) and reference.amount == answer.amount:
        return DIFFERENT  # 8 m² against 8 m
    return APART if _base_powers(wanted.dimensions) != _base_powers(given.dimensions) else UNCLEAR


def _rate_only(left: Unit, right: Unit) -> bool:
    """Whether two units differ only by a time, as 54 Mbit and 54 Mbit/s."""
    one, other = dict(left.dimensions), dict(right.dimensions)
    one.pop("time", None)
    other.pop("time", None)
    return one == other and "length" not in one


def _base_powers(dimensions: tuple[tuple[str, int], ...]) -> set[str]:
    return {name for name, _ in dimensions}


def _durations(reference: Duration, answer: Duration) -> Relation:
    if reference.months is not None and answer.months is not None:
        found = _near(reference, answer, reference.months, answer.months, reference.quantum / _MONTH, answer.quantum / _MONTH)
        return found
    if (reference.months is None) == (answer.months is None):
        return _near(reference, answer, reference.amount, answer.amount, reference.quantum, answer.quantum)
    largest = max(reference.amount, answer.amount)
    ratio = abs(reference.amount - answer.amount) / largest if largest else 0.0
    if ratio < 0.1:
        return UNCLEAR
    return DIFFERENT


def _near(reference: Amount, answer: Amount, wanted: float, given: float, step: float, own: float) -> Relation:
    return _compare(reference, answer, wanted, given, step, own, Asked())


def _scaled(reference: Amount, answer: Amount, asked: Asked) -> Relation:
    found = _compare(reference, answer, reference.amount, answer.amount, reference.quantum, answer.quantum, asked)
    if found is DIFFERENT and asked.scale != 1.0:
        for one, other in ((1.0, asked.scale), (asked.scale, 1.0)):
            again = _compare(
                reference, answer, reference.amount * one, answer.amount * other, reference.quantum * one, answer.quantum * other, asked
            )
            if again is not DIFFERENT:
                return again
    return found


def _close(left: float, right: float) -> bool:
    return abs(left - right) <= 1e-9 * max(abs(left), abs(right), 1e-300)


def _rounds_to(exact: float, rounded: float, step: float) -> bool:
    """Whether an exact amount rounds to another at a step (half either way)."""
    return step > 0 and abs(exact - rounded) <= step / 2 * (1 + 1e-9) + 1e-12 * abs(exact)


def _compare(reference: Amount, answer: Amount, wanted: float, given: float, step: float, own: float, asked: Asked) -> Relation:
    """Compare two amounts in the same unit by the steps they were written to."""
    if _close(wanted, given):
        if reference.direction * answer.direction < 0 and not (reference.signed or answer.signed):
            return DIFFERENT
        if asked.direction == 2 and reference.direction and not answer.direction and not answer.signed:
            return UNCLEAR
        if isinstance(answer, Percent) and answer.direction and not reference.direction and not asked.direction and not reference.signed:
            return UNCLEAR
        return SAME
    plain = wanted == reference.amount and given == answer.amount
    for other in reference.alternatives if plain else ():
        if _close(other, given):
            return UNCLEAR
    for other in answer.alternatives if plain else ():
        if _close(wanted, other):
            return SAME if asked.foreign or answer.quantum == 0.0 else UNCLEAR
    if wanted * given < 0 and _close(abs(wanted), abs(given)):
        return _opposite(reference, answer, asked)
    if not (math.isfinite(wanted) and math.isfinite(given)):
        return UNCLEAR
    if wanted * given < 0:
        return DIFFERENT
    size = max(abs(wanted), abs(given))
    off = abs(wanted - given) / size
    whole = wanted == int(wanted) and abs(wanted) < 1000 and step >= 1
    if _rounds_to(given, wanted, step) and own < step:
        if whole and off > 0.1 and not reference.approximate:
            return DIFFERENT
        return FINER if (off < 0.02 or reference.approximate) and not asked.step else UNCLEAR
    if asked.step and _rounds_to(given, wanted, asked.step) and own < asked.step and given % asked.step:
        return UNCLEAR
    if step == 0.0 and own and _rounds_to(wanted, given, own):  # the reference is a fraction
        return SAME if off < 0.01 else UNCLEAR
    if own == 0.0 and _rounds_to(given, wanted, step):
        return SAME
    if own == 0.0 and off < 0.03:  # a fraction in words
        return UNCLEAR
    if _rounds_to(wanted, given, own) and own > step > 0:
        if asked.step and own > asked.step:
            return COARSER
        if off < 0.005 or (answer.approximate and off < 0.05):
            return SAME
        return COARSER
    trailing = _trailing(given)
    if whole and not answer.approximate and not reference.approximate:
        return DIFFERENT
    if trailing > max(own, 1.0) and _rounds_to(wanted, given, trailing) and off < 0.1:
        return UNCLEAR if not (answer.approximate and off < 0.02) else COARSER
    trailing = _trailing(wanted)
    if trailing > max(step, 1.0) and _rounds_to(given, wanted, trailing) and off < 0.05:
        return UNCLEAR
    if (answer.approximate or reference.approximate) and off < (0.1 if reference.approximate else 0.06):
        return UNCLEAR
    if off < 0.002 and abs(wanted) >= 1000:
        return UNCLEAR
    return DIFFERENT


def _trailing(value: float) -> float:
    """The step suggested by the trailing zeros of a whole number: 1000 for 47000."""
    if value != int(value) or value == 0 or abs(value) > 1e300:
        return 1.0
    digits = f"{int(abs(value))}"
    return float(10 ** (len(digits) - len(digits.rstrip("0"))))


def _opposite(reference: Amount, answer: Amount, asked: Asked) -> Relation:
    """Equal but for the sign: the words or the question may carry it."""
    written, other = (reference, answer) if reference.amount < 0 else (answer, reference)
    if other.direction < 0:
        return SAME
    if asked.direction in (-1, 1) and not other.signed and other.direction == 0:
        return UNCLEAR
    if written.direction < 0:
        return UNCLEAR
    return DIFFERENT


def _ranges(reference: Value, answer: Value, asked: Asked) -> Relation:
    if isinstance(reference, Range) and isinstance(answer, Range):
        return _two_ranges(reference, answer, asked)
    if isinstance(reference, Range):
        return _wanted_range(reference, answer, asked)
    if isinstance(answer, Range):
        return _given_range(reference, answer, asked)
    return APART


def _two_ranges(reference: Range, answer: Range, asked: Asked) -> Relation:
    lows = relate(reference.low, answer.low, asked) if reference.low and answer.low else None
    highs = relate(reference.high, answer.high, asked) if reference.high and answer.high else None
    if lows is None and highs is None:
        mine = reference.low or reference.high
        theirs = answer.low or answer.high
        if mine is None or theirs is None:
            return APART
        crossed = relate(mine, theirs, asked)
        if crossed in (SAME, FINER):
            if reference.open_low != answer.open_high or reference.open_high != answer.open_low:
                return DIFFERENT
            return DIFFERENT
        return crossed if crossed is APART else DIFFERENT
    found = [one for one in (lows, highs) if one is not None]
    if APART in found:
        return APART
    if DIFFERENT in found:
        if _meets(reference, answer.low or answer.high):
            return UNCLEAR
        return UNCLEAR if (reference.approximate or answer.approximate) and _roughly(reference, answer) else DIFFERENT
    if reference.open_low != answer.open_low or reference.open_high != answer.open_high:
        return UNCLEAR
    half = (reference.low is None) != (answer.low is None) or (reference.high is None) != (answer.high is None)
    if half:
        return UNCLEAR
    return SAME if all(one in (SAME, FINER) for one in found) else UNCLEAR


def _wanted_range(reference: Range, answer: Value, asked: Asked) -> Relation:
    if reference.low is not None and reference.high is not None:
        low, high = relate(reference.low, answer, asked), relate(reference.high, answer, asked)
        if APART in (low, high):
            return APART
        if low in (SAME, FINER) or high in (SAME, FINER):
            return COARSER
        return UNCLEAR if _within(reference, answer) else DIFFERENT
    bound = reference.low or reference.high
    if bound is None:
        return APART
    found = relate(bound, answer, asked)
    return UNCLEAR if found is DIFFERENT and _meets(reference, answer) else found


def _given_range(reference: Value, answer: Range, asked: Asked) -> Relation:
    if answer.low is not None and answer.high is not None:
        low, high = relate(reference, answer.low, asked), relate(reference, answer.high, asked)
        if APART in (low, high):
            return APART
        if low is not DIFFERENT or high is not DIFFERENT:
            return UNCLEAR
        return UNCLEAR if _within(answer, reference) else DIFFERENT
    bound = answer.low or answer.high
    if bound is None:
        return APART
    found = relate(reference, bound, asked)
    if found in (SAME, FINER):
        if asked.bound and ((answer.low is not None and asked.bound > 0) or (answer.high is not None and asked.bound < 0)):
            return DIFFERENT if answer.open_low or answer.open_high or asked.bound else UNCLEAR
        return UNCLEAR if answer.open_low or answer.open_high else SAME
    if found is DIFFERENT and (answer.open_low or answer.open_high) and _beyond(reference, answer):
        return UNCLEAR  # "over 1,200" for 1,250
    return found


def _size(value: Value | None) -> float | None:
    if isinstance(value, Quantity):
        return value.base
    if isinstance(value, Amount):
        return value.amount
    if isinstance(value, Date):
        span = interval(value)
        return float(span[0]) if span else None
    if isinstance(value, ClockTime):
        return value.minutes[0]
    return None


def _meets(bound: Range, value: Value | None) -> bool:
    """Whether a value is just within an open bound: 1,100 for "more than 1,000"."""
    size, low, high = _size(value), _size(bound.low), _size(bound.high)
    if size is None or not (bound.open_low or bound.open_high):
        return False
    if low is not None and high is None:
        return low <= size <= low * 1.25
    return low is None and high is not None and high * 0.75 <= size <= high


def _roughly(left: Range, right: Range) -> bool:
    for one, other in ((left.low, right.low), (left.high, right.high)):
        first, second = _size(one), _size(other)
        if first is not None and second is not None and abs(first - second) > 0.1 * max(abs(first), abs(second)):
            return False
    return True


def _within(outer: Range, inner: Value) -> bool:
    low, high, size = _size(outer.low), _size(outer.high), _size(inner)
    if low is None or high is None or size is None:
        return True
    if isinstance(outer.low, Percent) and isinstance(inner, Number) and 0 < size < 1:
        size *= 100
    return low <= size <= high


def _beyond(reference: Value, answer: Range) -> bool:
    size, low, high = _size(reference), _size(answer.low), _size(answer.high)
    if size is None:
        return True
    if low is not None:
        return low <= size <= low * 1.25
    return high is not None and high * 0.75 <= size <= high
