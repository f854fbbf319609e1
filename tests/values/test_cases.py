"""The cases that must hold, one row each: question, reference, answer, outcome."""

from __future__ import annotations

import pytest

from markscheme.values import Outcome, compare_values

AGREE = [
    ("How long is the review?", "10 business days", "two weeks"),
    ("How many days of leave do new employees get?", "25 working days", "25"),
    ("What is the late fee?", "5% of the invoice", "five percent of the invoice amount"),
    ("How did the share price change on Tuesday?", "It rose by 2.1%.", "+2.1 %"),
    (
        "Who broke the records?",
        "Malcolm and Donald Campbell",
        "Malcolm Campbell and Donald Campbell",
    ),
    ("Which brothers flew first?", "Orville and Wilbur Wright", "Wilbur Wright and Orville Wright"),
    ("", "2021-03-14", "14 March 2021"),
    ("", "v2.3", "2.3"),
    ("What was revenue, in USD millions?", "$5,409 million", "$5409"),
    ("", "11.67", "11.7"),
    ("", "0.165", "16.5%"),
    ("", "180 g/mol", "180 g/mole"),
    ("", "5.97m", "5.97 m (19 ft 7 in)"),
    ("", "20132 MeV", "20.132 GeV"),
    ("", "twelve gross", "1,728"),
    ("In which order do the letters come?", "C, A, B", "First C, next A, and B at the end"),
    ("", "C, A, B", "First C, next A, and B at the end"),
    ("Which animals?", "Goats, geese and a donkey", "goats, geese, donkey. goats, geese, donkey"),
    ("", "B) Paris", "B"),
    ("", "B) Paris", "(b)"),
    ("", "B) Paris", "Paris"),
    ("", "B) Paris", "option B"),
    ("", "1944", "6 June 1944"),
    ("", "3:30 pm", "15:30"),
    ("", "2 hours", "120 minutes"),
    ("", "Q3 2021", "July to September 2021"),
    ("", "12,5 kg", "12.5 kg"),
    ("", "12", "１２"),
    ("", "12", "١٢"),
    ("", "12", "१२"),
    (
        "How often does the board meet?",
        "at least four times a year",
        "four meetings per year or more",
    ),
    ("What does it cost?", "$29 per month", "$348 per year"),
    ("What does it cost?", "$29", "$29.00"),
    ("What does it cost?", "about $29", "$29.50"),
    ("What share voted for it?", "about two thirds", "66%"),
    ("How often do headaches occur?", "more than 1 in 10 people", "more than a tenth of users"),
    ("What is Avogadro's number?", "6.022 x 10^23", "6.022 × 10²³"),
    ("", "9.807 m/s²", "9.81 m/s²"),
    ("", "1.234 km²", "1.234 square kilometres"),
    ("", "2.345 µm", "2.345 micrometres"),
    ("", "2.345 kΩ", "2.345 kiloohms"),
    ("When was the Battle of Actium?", "31 BC", "2 September 31 BC"),
    ("When did Vesuvius erupt?", "79 AD", "August 24, 79 AD"),
    ("When did the Titanic sink?", "April 15, 1912", "4/15/12"),
    ("When did the Titanic sink?", "April 1912", "April '12"),
    ("When did it open?", "April 15, 2012", "4/15/12"),
    ("", "90 minutes", "1 hrs 30 mins"),
    ("How many hours?", "24", "24 hrs"),
    ("At what time?", "19:00 GMT", "20:00 hrs CET"),
    ("", "70–85 million", "between 70 million and 85 million"),
    ("", "two to three million", "2-3 million"),
    ("", "one hundred to two hundred thousand", "100,000 to 200,000"),
    ("", "5 to a million", "from 5 to 1,000,000"),
    ("", "1 to 1.5 years", "12 to 18 months"),
    ("What does it cost?", "$5 to $10 million", "$5 million to $10 million"),
    ("What does it cost?", "1-1.5 million dollars", "$1 million to $1.5 million"),
    ("How many people use it?", "1.5 million", "1.5M people"),
    ("How many people live there?", "67 million", "67 M"),
    ("How many users are there?", "300M", "300 million"),
    ("What is its revenue?", "$1.4 billion", "1.4b"),
    ("How tall is he?", "6 ft 9 in", "6'9\""),
    ("How tall is he?", "206 cm", "6′9″"),
    ("How tall is he?", "6 feet 9.5 inches", "a 6' 9½\" forward"),
    ("How tall is he?", "6 ft 9 in", "6-foot-9"),
    ("How tall is he?", "6'9", "6 ft 9 in"),
    ("How long is it?", "12 ft", "It's 12' long"),
    ("", '12"', "1 foot"),
    ("", "300M", "300 million"),
    ("", "100 °C", "100C"),
    ("How warm was it?", "68 F", "20 C"),
    ("What is the charge?", "2 C", "2 coulombs"),
    ("What is its acceleration?", "9.8 m/s^2", "9.8 metres per second squared"),
    ("In what unit is it measured?", "m/s^2", "metres per second squared"),
    ("When is the call?", "3 PM ET", "12 PM PT"),
    ("When is the call?", "3 PM ET", "3 PM EDT"),
    ("When is it?", "first Monday in May", "the first Monday of May"),
    ("When did it open?", "autumn 1999", "the fall of 1999"),
    ("In which year did it open?", "winter 1999", "summer 1999"),
    ("When did it start?", "early 1990s", "1991"),
    ("When did it start?", "late 2000s", "2008"),
]
CONFLICT = [
    ("How do I end process 31 at once?", "kill -9 31", "kill -15 31"),
    ("How long do I have to return an item?", "30 days", "30 business days"),
    ("How long do I have to return an item?", "30 business days", "30 days"),
    ("By what percentage did it change?", "A decrease of 1.2%", "+1.2%"),
    ("How did the share price change on Tuesday?", "It rose by 2.1%.", "It gave up 2.1 per cent."),
    ("", "$200", "-$200"),
    ("", "5%", "-5%"),
    ("", "2021-03-14", "April 14, 2021"),
    ("", "v2.3", "2.30"),
    ("", "3x^2", "x^2/3"),
    ("", "at least 15 weeks", "15 months or older"),
    ("", "B) Paris", "C"),
    ("What does it cost?", "$29 per month", "$29 per year"),
    ("What does it cost?", "$29", "$29.50"),
    ("What does it cost?", "€120", "€120.60"),
    ("By what percentage did revenue grow?", "12%", "It fell by 12 per cent."),
    ("What was the growth rate?", "5%", "-5%"),
    ("", "x = (-b + sqrt(b^2 - 4ac)) / (2a)", "x = (-b + sqrt(b^2 + 4ac)) / (2a)"),
    ("When was it?", "October 29, 1812", "10/29/12"),
    ("When was World War II?", "1 September 1939 – 2 September 1945", "1938–1945"),
    ("", "70–85 million", "5 million"),
    ("How many are there?", "2.9B", "2.9M"),
    ("Which seat is it?", "4B", "4A"),
    ("How tall is he?", "6 ft 2 in", "6'3\""),
    ("", "12'", "12 inches"),
    ("How warm was it?", "20 C", "20 F"),
    ("", "9.8 m/s", "9.8 m/s²"),
    ("In what unit is it measured?", "m/s", "metres per second squared"),
    ("In what unit is it measured?", "km/h", "km/s"),
    ("How much does it use?", "5 kWh", "5 kW"),
    ("What is the server's address?", "192.168.100.200", "192.168.100.201"),
    ("When is the call?", "3 PM ET", "3 PM PT"),
    ("When is it?", "first Monday in May", "last Monday in May"),
    ("When is it?", "first Monday in May", "first Tuesday in May"),
    ("When did it start?", "early 1990s", "late 1990s"),
    ("When did it start?", "early 1990s", "1998"),
    ("When did it start?", "the beginning of 2022", "the end of 2022"),
    ("When did it open?", "winter 1999", "summer 1999"),
    ("Which two vitamins?", "vitamin C and vitamin D", "vitamin C, vitamin D and vitamin E"),
    ("Which language?", "C", "C++"),
    ("Which language?", "C#", "C"),
]
UNDECIDED = [
    ("Who beat whom?", "Uruguay beat Ghana.", "Ghana did not lose to Uruguay."),
    ("Is the mean above or below the median?", "above", "The median is above the mean."),
    ("Who taught whom: Rehm or Ferrante?", "Ferrante taught Rehm.", "Rehm, by Ferrante"),
    ("Is the licence per user or per device?", "Per user", "It costs 30 euros."),
    ("How do I see free disk space?", "df -h", "du -h"),
    ("When was it founded?", "1998", "in the late 1990s"),
    ("Where do people eat more beef than elsewhere?", "Argentina", "The US eats more than others."),
    ("How do I free the port?", "kill -9 4312", "pkill node"),
    ("Which command shows a log as it grows?", "tail -f file", "tail --follow app.log"),
    ("Which SQL empties it?", "TRUNCATE TABLE t;", "DELETE FROM t;"),
    ("How should I sort them?", "sort by name", "sort by date"),
    ("", "The new one is faster than the old.", "The old one is not slower than the new."),
    ("Why does it float?", "It is lighter than water.", "Its price is lower than that of water."),
    ("How many people came?", "more than 10,000", "12,400"),
    (
        "What does the code say about gifts?",
        "Decline gifts of more than 40 pounds.",
        "Declare gifts of more than 40 pounds.",
    ),
    ("When was World War II?", "1 September 1939 – 2 September 1945", "1939–1945"),
    ("What years was he president?", "January 20, 1961 – November 22, 1963", "1961 to 1963"),
    ("", "2.9 billion", "2.9B"),
    ("How strong is the field?", "1.5 tesla", "1.5T"),
    ("Which bus is it?", "14X", "14"),
    ("When will it end?", "It will end in 2027", "October 2027"),
    ("When did it last?", "late 1990 to 1995", "1991"),
    ("Which kings were they?", "George V and George VI", "George IV and George VI"),
]
"""Pairs about which typed values alone decide nothing."""


@pytest.mark.parametrize(("question", "reference", "answer"), UNDECIDED)
def test_decides_nothing(question: str, reference: str, answer: str) -> None:
    found = compare_values(question, reference, answer)
    assert not found.decided, found


@pytest.mark.parametrize(("question", "reference", "answer"), AGREE)
def test_agrees(question: str, reference: str, answer: str) -> None:
    found = compare_values(question, reference, answer)
    assert found.outcome is Outcome.AGREE, found
    assert found.decided


@pytest.mark.parametrize(("question", "reference", "answer"), CONFLICT)
def test_conflicts(question: str, reference: str, answer: str) -> None:
    found = compare_values(question, reference, answer)
    assert found.outcome is Outcome.CONFLICT, found
    assert found.reason


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("x = 3 or x = -3", "x = 3"),
        ("Brazil, Colombia and Ecuador", "Ecuador, Peru, Bolivia"),
        ("Brazil, Colombia and Ecuador", "Ecuador and Brazil"),
    ],
)
def test_misses_or_conflicts(reference: str, answer: str) -> None:
    found = compare_values("", reference, answer)
    assert found.outcome in (Outcome.MISSING, Outcome.CONFLICT), found


def test_leaves_open_what_is_open() -> None:
    assert compare_values("", "30 days", "one month").outcome is Outcome.NONE
    assert compare_values("", "1815", "in 1815 or 1816").outcome is not Outcome.AGREE


def test_granularity() -> None:
    coarser = compare_values("When was D-Day?", "6 June 1944", "June 1944")
    assert coarser.granularity == "coarser"
    assert coarser.outcome is not Outcome.AGREE
    finer = compare_values("When was D-Day?", "1944", "6 June 1944")
    assert (finer.outcome, finer.granularity) == (Outcome.AGREE, "finer")


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("How many stores will close?", "17", "17 of its 142 stores."),
        ("What share came in time?", "93%", "Only 7% of them came late."),
        ("When and where was it signed?", "On 9 May 2022 in Leeds", "On 9 May 2022"),
        ("What was the headcount in 2020?", "1,870", "1,870 at the end of 2019"),
    ],
)
def test_no_conflict_and_no_false_certainty(question: str, reference: str, answer: str) -> None:
    found = compare_values(question, reference, answer)
    assert found.outcome is not Outcome.CONFLICT
    if "142" not in answer:
        assert not found.decided


def test_any_of_several_references_will_do() -> None:
    assert compare_values("When?", ["1776", "4 July 1776"], "4 July 1776").outcome is Outcome.AGREE
    assert compare_values("When?", ["1776", "1777"], "1812").outcome is Outcome.CONFLICT
    assert compare_values("When?", [], "1812").outcome is Outcome.NONE


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("```" + "x" * 20_000, "`" * 30_000),
        ("=SUM(A1:A2)", "=SUM(" * 9_000),
        ("wc -l f", "wc " * 9_000),
        ("git reset --soft HEAD~1", "`git reset` " * 8_000),
        ("Tay", "so " * 20_000),
    ],
)
def test_hostile_texts_end_undecided(reference: str, answer: str) -> None:
    """Their work once grew with the square of their length; only a beginning is read for code."""
    assert not compare_values("Which is deeper, Lorn or Tay?", reference, answer).decided
