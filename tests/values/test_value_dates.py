"""Dates and times: writings of one day, ambiguity, granularity, eras."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.values import ClockTime, Date, Outcome, compare_values, parse_values

DAYS = st.dates(datetime.date(1000, 1, 1), datetime.date(2100, 12, 31))
WRITINGS = ("%d %B %Y", "%B %d, %Y", "%Y-%m-%d", "%d.%m.%Y", "the %dth of %B %Y", "%d %b %Y")


@given(DAYS, st.sampled_from(WRITINGS), st.sampled_from(WRITINGS))
def test_writings_of_a_day_agree(day: datetime.date, one: str, other: str) -> None:
    found = compare_values("When was it?", day.strftime(one), f"On {day.strftime(other)}.")
    assert found.outcome is Outcome.AGREE


@given(DAYS, DAYS, st.sampled_from(WRITINGS))
def test_other_days_conflict(day: datetime.date, other: datetime.date, writing: str) -> None:
    if day == other:
        return
    found = compare_values("When was it?", day.strftime(writing), other.strftime(writing))
    assert found.outcome is Outcome.CONFLICT


def test_us_and_european_order_stay_open() -> None:
    (found,) = parse_values("03/04/2021")
    assert isinstance(found, Date)
    assert found.alternatives
    for written in ("3 April 2021", "March 4, 2021"):
        assert compare_values("When?", written, "03/04/2021").outcome is Outcome.AGREE
    assert compare_values("When?", "5 April 2021", "03/04/2021").outcome is Outcome.CONFLICT


@pytest.mark.parametrize(
    ("text", "granularity"),
    [
        ("the 14th century", "century"),
        ("the 1880s", "decade"),
        ("44 BC", "year"),
        ("Q3 2021", "quarter"),
        ("March 1889", "month"),
        ("23 de junio de 2022", "day"),
        ("2024年3月5日", "day"),
    ],
)
def test_granularity(text: str, granularity: str) -> None:
    (found,) = parse_values(text)
    assert isinstance(found, Date)
    assert found.granularity == granularity


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("3:30 pm", 930),
        ("ten at night", 1320),
        ("eight minutes to seven in the morning", 412),
        ("6.52 a.m.", 412),
        ("noon", 720),
    ],
)
def test_clock_times(text: str, minutes: float) -> None:
    (found,) = parse_values(text)
    assert isinstance(found, ClockTime)
    assert found.minutes == (minutes,)


def test_zones_shift() -> None:
    assert compare_values("At what time?", "12:00 UTC", "13:00 CET").outcome is Outcome.AGREE
    assert compare_values("At what time?", "12:00 UTC", "12:00 CET").outcome is Outcome.CONFLICT


def test_the_reason_is_plain() -> None:
    found = compare_values("When?", "14 June 2021", "14 January 2021")
    assert found.reason == "January where the reference has June"
    assert found.conflicting[0].reference == "14 June 2021"
