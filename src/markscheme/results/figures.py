"""One figure of a table: a number with its interval, or the reason why there is none.

How figures, shares, counts, p-values and money are written is here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.stats import share_evidence, share_interval
from markscheme.text import excerpt

if TYPE_CHECKING:
    from markscheme.tables import Joined

METHODS = tuple(
    """
    wilson wilson-t clopper-pearson t fisher-z betting ppi-tango tango jackknife-t exchange
    pairs exact score fisher-exact brunner-munzel newcombe
    """.split()
)
"""How an interval or a p-value was made, in a word; `docs/coverage.md` explains each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A statistic, or the reason it is undefined. Exactly one of `value` and `reason` is set.

    `low` and `high` bound the interval where one was requested, and `method` says in a word of
    `METHODS` how it (or a p-value) was made.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError("a figure has either a value or a reason why there is none")
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is not None and math.isnan(number):
                raise ValueError(f"a figure's {name} is never NaN; give the reason instead")
        if self.low is not None and self.method is None:
            raise ValueError("a figure with an interval says its method")
        if self.method is not None and self.method not in METHODS:
            raise ValueError(f"no method {self.method!r}; there are {', '.join(METHODS)}")

    def text(
        self,
        *,
        scale: float = 1.0,
        digits: int = 3,
        signed: bool = False,
        words: bool = False,
        unit: str = "",
    ) -> str:
        """The figure as a table shows it: `0.806 [0.784, 0.827]` or `n/a (reason)`.

        Args:
            scale: what all numbers are multiplied by: 100 for per cent.
            digits: decimals.
            signed: a plus before what is above 0.
            words: as in a sentence or a short table: `0.806 (0.784 to 0.827)` or `n/a`.
            unit: what follows the value: `%`.
        """
        if self.value is None:
            return "n/a" if words else f"n/a ({self.reason})"
        shown, *ends = (
            number_text(number, scale=scale, digits=digits, signed=signed)
            for number in (self.value, self.low, self.high)
            if number is not None
        )
        if len(ends) < 2:
            return f"{shown}{unit}"
        return f"{shown}{unit} " + ("({} to {})" if words else "[{}, {}]").format(*ends)


def figure(value: float, reason: str) -> Figure:
    """`value` as a figure, or `reason` where the value is NaN or infinite."""
    number = float(value)
    return Figure(value=number) if math.isfinite(number) else Figure(reason=reason)


def share_figure(
    right: npt.ArrayLike, answers: npt.ArrayLike, *, confidence: float = 0.95
) -> Figure:
    """A share with its interval (`stats.share_interval`).

    Args:
        right: (questions,) right answers to each question.
        answers: (questions,) answers to each; not all 0.
        confidence: of the interval.
    """
    evidence = share_evidence(right, answers)
    share = float(np.asarray(right).sum()) / float(np.asarray(answers).sum())
    low, high = share_interval(share, evidence, confidence=confidence)
    return Figure(value=share, low=low, high=high, method=evidence.method)


def methods_of(figures: Iterable[Figure]) -> str:
    """The words for how their intervals and p-values were made: `wilson-t, fisher-z`."""
    return ", ".join(dict.fromkeys(one.method for one in figures if one.method))


def population(
    by: str,
    *,
    questions: int | None = None,
    answers: int | None = None,
    unit: str = "",
    further: bool = True,
) -> str:
    """Of what an interval speaks: population, unit, and by whose word.

    Args:
        by: `according to contains` (`by_judges`, `by_labels`).
        questions: how many are answered; None where that is not known or not one number.
        answers: how many answers to them; more than questions are counted by question.
        unit: what is counted, where the numbers do not say it: `PAIRED`.
        further: of further questions of the kind; else of these answers alone.

    Example:
        >>> population("according to contains", questions=62, answers=248)
        'further questions like these 62, counted by question, according to contains'
    """
    if not further:
        many = f"these {answers:,} answers" if answers else "these answers"
        return f"{'this answer' if answers == 1 else many} alone, {by}"
    kind = "answers" if answers and questions is None else "questions"
    count = answers if questions is None else questions
    these = "this one" if count == 1 else "these" + (f" {count:,}" if count else "")
    like = f"further {kind} like {these}"
    if answers and questions and answers > questions:
        unit = unit or COUNTED
    return ", ".join(part for part in (like, unit, by) if part)


COUNTED, PAIRED = "counted by question", "paired by question"
"""Units of an interval: all answers to a question as one, or two of them against each other."""

BY_ANNOTATORS = "according to these annotators"
"""By whose word figures between annotators are."""


def by_judges(names: Iterable[str]) -> str:
    """By whose word: `according to contains`, `according to each judge`."""
    several = tuple(dict.fromkeys(names))
    return f"according to {several[0] if len(several) == 1 else 'each judge'}"


def by_labels(labelled: int, answers: int) -> str:
    """By whose word: `according to the labels (120 of 248 answers)`."""
    count = f"all {answers:,}" if labelled == answers else out_of(labelled, answers)
    return f"according to the labels ({count} answers)"


def of_labels(joined: Joined) -> str:
    """The `population` of figures from judgments with their labels."""
    answers, by = joined.labelled, by_labels(joined.labelled, joined.answers)
    questions = joined.rows["cluster"].n_unique() if joined.clustered else None
    return population(by, questions=questions, answers=answers)


def interval_note(
    figures: Iterable[tuple[str, Figure]], about: str, confidence: float = 0.95
) -> tuple[str, ...]:
    """The sentence below a table of figures with their names; nothing where none has an interval.

    `95% intervals (wilson-t) are for further questions like these 62, ...`, or where the way is
    not the same for all `95% intervals (wilson-t: accuracy, recall; fisher-z: kappa) are for ...`.

    Args:
        figures: each with the name of its column, or an empty one.
        about: of what they speak: their `population`.
        confidence: of the intervals.
    """
    names: dict[str, dict[str, None]] = {}
    for name, one in figures:
        if one.low is not None and one.method is not None:
            names.setdefault(one.method, {})[name] = None
    words = [
        f"{word}: {', '.join(whose)}" if len(names) > 1 and all(whose) else word
        for word, whose in names.items()
    ]
    made = ("; " if any(":" in word for word in words) else ", ").join(words)
    return (f"{100 * confidence:g}% intervals ({made}) are for {about}",) if words else ()


def number_text(value: float, *, scale: float = 1.0, digits: int = 3, signed: bool = False) -> str:
    """A number with so many decimals: midway to the even digit. What rounds to 0 has no sign.

    The ninth decimal is where computing leaves its traces (100 x (0.725 - 0.5) is just below 22.5),
    so that equal figures are equal texts however they were computed.
    """
    text = f"{round(scale * value, 9):z.{digits}f}"
    return f"+{text}" if signed and float(text) > 0 else text


def share_text(
    value: float | None, *, digits: int = 1, signed: bool = False, missing: str = "-"
) -> str:
    """A share as a percentage, with one decimal by default; `missing` for None."""
    return missing if value is None else number_text(value, scale=100, digits=digits, signed=signed)


def out_of(part: int, whole: int) -> str:
    """Two counts: `3 of 1,200`."""
    return f"{part:,} of {whole:,}"


def interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Two shares as percentages: `61.2 to 68.9`; n/a where one is None."""
    if low is None or high is None:
        return "n/a"
    return f"{share_text(low, signed=signed)} to {share_text(high, signed=signed)}"


def percent(share: float | None, *, unit: str = "") -> str:
    """A share as a percentage with one decimal and perhaps its sign; n/a for None."""
    return "n/a" if share is None else f"{share_text(share)}{unit}"


def p_text(value: float | None, reason: str | None = None) -> str:
    """A p-value as papers print it: `0.034`, `2.1e-05`, `n/a (reason)`."""
    if value is None:
        return f"n/a ({reason})" if reason else "-"
    if not value:
        return "<1e-300"
    return f"{value:.1e}" if value < 0.001 else f"{value:.3f}"


@dataclass(frozen=True, slots=True)
class Format:
    """How the cells of a column are written. A text in place of a number stays as it is.

    Attributes:
        write: the cell of a value.
        missing: the cell of a row without one.
        numeric: the column is aligned to the right.
    """

    write: Callable[[Any], str]
    missing: str = ""
    numeric: bool = True


def number(digits: int, *, scale: float = 1.0, signed: bool = False, words: bool = False) -> Format:
    """Numbers, or figures with their intervals; see `Figure.text`."""

    def write(value: Any) -> str:
        if isinstance(value, Figure):
            return value.text(scale=scale, digits=digits, signed=signed, words=words)
        return number_text(value, scale=scale, digits=digits, signed=signed)

    return Format(write, missing="-")


def excerpts(most: int) -> Format:
    """Texts on one line, of `most` characters at most; of a list the first three."""

    def write(value: Any) -> str:
        texts = [value] if isinstance(value, str) else value[:3]
        return " | ".join(excerpt(text, most) for text in texts)

    return Format(write, numeric=False)


def _p(value: Any) -> str:
    return p_text(value.value, value.reason) if isinstance(value, Figure) else p_text(value)


FORMATS: Mapping[str, Format] = {
    "text": Format(str, numeric=False),
    "right": Format(str),
    "count": Format("{:,.0f}".format),
    "share": number(1, scale=100),
    "change": number(1, scale=100, signed=True),
    "p": Format(_p, missing="-"),
    "money": Format("${:,.4f}".format),
}
"""`right` is text that is read as a number is, such as `3 of 4`; `share` is in per cent, `change` a
difference of shares in points, `money` in US dollars."""

Form = Format | int | Literal["text", "right", "count", "share", "change", "p", "money"]
"""How a column is written: one of `FORMATS` by its name, or numbers with so many decimals."""


def format_of(form: Form) -> Format:
    """The format that is meant."""
    if isinstance(form, int):
        return number(form)
    return FORMATS[form] if isinstance(form, str) else form


def cell(form: Form, value: Any, missing: str | None = None) -> str:
    """A value as a table shows it; without one `missing`, or what the format has for that."""
    made = format_of(form)
    if value is None:
        return made.missing if missing is None else missing
    return value if made.numeric and isinstance(value, str) else made.write(value)


def plain(value: Any) -> Any:
    """Any result of this package as plain values for JSON.

    A figure becomes an object with `value` (null where undefined) and those of `low`, `high`,
    `reason` and `method` that it has; a table becomes a list of its rows.
    """
    if isinstance(value, Figure):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: part for name, part in parts.items() if part is not None or name == "value"}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(part) for part in value]
    return value
