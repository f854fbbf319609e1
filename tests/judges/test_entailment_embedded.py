"""The embedded entailment test: directions it must know, offline, whatever stands beside a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.errors import ModelError
from markscheme.features.entailment import containment
from markscheme.features.entailment.containment import (
    _gazetteer,
    containers,
    extents,
    place_within,
    places,
    within,
)
from markscheme.features.entailment.features import NAMES, entailment_features
from markscheme.judges.entailment.embedded import SHIPPED, EmbeddedEntailment, EntailmentWeights
from markscheme.judges.entailment.tests import entailment_test
from markscheme.tables.answers import read_answers
from markscheme.values import compare, lists

Row = tuple[str, str, str]


def table(*rows: Row) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question": [row[0] for row in rows],
            "premise": [None] * len(rows),
            "hypothesis": [None] * len(rows),
            "premise_answer": [row[1] for row in rows],
            "hypothesis_answer": [row[2] for row in rows],
        },
        schema=dict.fromkeys(
            ("question", "premise", "hypothesis", "premise_answer", "hypothesis_answer"), pl.String
        ),
    )


def entailed(*rows: Row) -> list[bool | None]:
    return EmbeddedEntailment().test(table(*rows), None)["entailed"].to_list()


ONE_WAY = [
    ("when did the bridge open", "May 12, 2001", "2001"),
    ("when did the bridge open", "12 May 2001", "May 2001"),
    ("who were the two founders of the firm", "Anna Bell and Otto Karlsen", "Otto Karlsen"),
    (
        "who designed the old theatre",
        "Anna Bell, who was born in 1850 and studied in Vienna with Otto Karlsen",
        "Anna Bell",
    ),
]  # fmt: skip
SAME = [
    ("who designed the old theatre", "It was Anna Bell.", "Anna Bell"),
    ("when did the bridge open", "May 12, 2001", "12 May 2001"),
    ("how many strings does it have", "4", "four"),
    ("who designed the old theatre", "I believe it was Anna Bell.",
     "Anna Bell"),
]  # fmt: skip
NEITHER = [
    ("who designed the old theatre", "Otto Karlsen", "Anna Bell"),
    ("when did the bridge open", "1998", "2001"),
    ("who designed the old theatre", "I do not know.", "Anna Bell"),
    ("how many strings does it have", "six", "four"),
]


NOT_YET: tuple[Row, ...] = ()


def marked(rows: list[Row]) -> list[Any]:
    """The rows as parameters, those that the shipped weights get wrong as strict failures."""
    wrong = pytest.mark.xfail(strict=True, reason="docs/entailment.md, limits of the test")
    return [pytest.param(*row, marks=wrong) if row in NOT_YET else row for row in rows]


@pytest.mark.parametrize(("question", "more", "less"), marked(ONE_WAY))
def test_more_entails_less_and_not_the_reverse(question: str, more: str, less: str) -> None:
    assert entailed((question, more, less), (question, less, more)) == [True, False]


@pytest.mark.parametrize(("question", "one", "other"), marked(SAME))
def test_the_same_in_other_words_entails_both_ways(question: str, one: str, other: str) -> None:
    assert entailed((question, one, other), (question, other, one)) == [True, True]


@pytest.mark.parametrize(("question", "one", "other"), NEITHER)
def test_something_else_entails_neither_way(question: str, one: str, other: str) -> None:
    assert entailed((question, one, other), (question, other, one)) == [False, False]


def test_a_score_depends_on_its_pair_alone() -> None:
    rows = [*ONE_WAY, *SAME, *NEITHER]
    together = EmbeddedEntailment().test(table(*rows, *rows), None)
    assert together["score"].is_between(0, 1).all()
    assert together["status"].unique().to_list() == ["judged"]
    half = len(rows)
    assert together["score"][:half].equals(together["score"][half:])
    alone = [EmbeddedEntailment().test(table(row), None)["score"][0] for row in rows]
    assert together["score"][:half].to_list() == alone


def test_statements_stand_in_for_missing_answers_and_blanks_are_skipped() -> None:
    pairs = table(("when", "May 12, 2001", "2001"), ("when", "x", " "), ("when", "x", "y"))
    stated = pairs.with_columns(
        premise="premise_answer",
        hypothesis="hypothesis_answer",
        premise_answer=pl.lit(None, pl.String),
        hypothesis_answer=pl.lit(None, pl.String),
    )
    for given in (stated, stated.drop("premise_answer", "hypothesis_answer")):
        found = EmbeddedEntailment().test(given, None)
        assert found.columns[: given.width] == given.columns
        assert found["status"].to_list() == ["judged", "skipped", "judged"]
        assert found["entailed"].to_list()[:2] == [True, None]
    assert EmbeddedEntailment().test(pairs[:0], None).height == 0


@pytest.mark.parametrize("text", ["🙂" * 50, "\ud7ff\u202e", "1," * 200_000, "a " * 400_000])
def test_any_text_gets_a_score(text: str) -> None:
    found = EmbeddedEntailment().test(table(("who", text, "Anna Bell")), None)
    assert found["status"].to_list() == ["judged"]


def test_the_bundled_examples_relations(example: Path) -> None:
    """A floor under what the model card states, so that it cannot rot unseen."""
    answers = read_answers(example)
    relation = pl.read_ndjson(example)["relation"]
    rows = answers.with_row_index("row").explode("references")
    q, a, r = (rows[name].to_list() for name in ("question", "answer", "references"))
    one = [*zip(q, a, r, strict=True)]
    other = [*zip(q, r, a, strict=True)]
    said = pl.Series(entailed(*one, *other))
    both = (
        rows.select("row", up=said[: len(one)], down=said[len(one) :])
        .group_by("row", maintain_order=True)
        .agg(pl.col("up", "down").any())
    )
    found = both.select(
        pl.when("up", "down")
        .then(pl.lit("equivalent"))
        .when("up")
        .then(pl.lit("superior"))
        .when("down")
        .then(pl.lit("inferior"))
        .otherwise(pl.lit("incorrect"))
    ).to_series()
    assert (found == relation).mean() >= FLOOR  # type: ignore[operator]


FLOOR = 0.75


def test_weights_are_small_and_name_their_features() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 600_000
    weights = EntailmentWeights.open()
    assert set(weights.stored["features"]) <= set(NAMES)
    assert len(weights.revision) == 12
    found = entailment_test("embedded").identity(None)
    assert found["trained"] == weights.revision
    assert any(key.startswith("examiner.") for key in found)


def test_features_that_are_gone_are_named(tmp_path: Path) -> None:
    for file in SHIPPED.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "manifest.json").unlink()
    settings = (tmp_path / "entailment.json").read_text()
    (tmp_path / "entailment.json").write_text(settings.replace('"recall"', '"recollection"'))
    with pytest.raises(ModelError, match=r"recollection.*markscheme research train entailment"):
        entailment_test(f"embedded:{tmp_path}").test(table(SAME[0]), None)
    with pytest.raises(ModelError, match="holds no rarity"):
        entailment_test(f"embedded:{tmp_path / 'nowhere'}").test(table(SAME[0]), None)


def test_features_have_two_sides_that_mirror_each_other() -> None:
    rarity = EntailmentWeights.open().rarity
    one, other = "Anna Bell, born in Vienna in 1850", "Bell"
    matrix = entailment_features(["who", "who"], [one, other], [other, one], rarity)
    half = len(NAMES) // 2
    assert matrix.shape == (2, len(NAMES))
    assert (matrix[0, :half] == matrix[1, half:]).all()
    assert (matrix[1, :half] == matrix[0, half:]).all()
    adds = NAMES.index("adds_words")
    assert matrix[0, adds] >= 3
    assert matrix[1, adds] == 0


@pytest.mark.parametrize(
    ("item", "between"),
    [("from {} to {} km", " "), ("{}-{}", ", "), ("{} to {} fox", ", "), ("{}/{}", " ")],
)
def test_the_references_of_a_row_share_what_is_compared(
    monkeypatch: pytest.MonkeyPatch, item: str, between: str
) -> None:
    calls = 0

    def counted(compare: Any) -> Any:
        def compared(*pair: Any) -> Any:
            nonlocal calls
            calls += 1
            return compare(*pair)

        return compared

    for module, name in ((compare, "relate"), (lists, "same_item"), (containment, "_fits")):
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    many = [
        between.join(item.format(7 * n + start, 7 * n + start + 91) for n in range(30))
        for start in range(101)
    ]
    row = {"question": "What is it?", "references": many[:100], "answer": many[100]}
    assert apply(parse_judge("entailment"), read_answers([row]))["status"].to_list() == ["judged"]
    assert calls <= 50_000


def test_an_ordinary_row_with_many_references_is_compared() -> None:
    row = {
        "question": "When was it built?",
        "references": [f"between {year} and {year + 8}" for year in range(1500, 1600, 10)],
        "answer": "1543",
    }
    outcome = apply(parse_judge("entailment"), read_answers([row]))
    assert outcome["relation"].to_list() == ["superior"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("between 4,000 and 5,000 metres", [(4000, 5000)]),
        ("more than 2 million", [(2e6, float("inf"))]),
        ("at most 12", [(float("-inf"), 12)]),
        ("about 100", [(95, 105)]),
        ("after 1975", [(1975, float("inf"))]),
        ("4,808 m", []),
        ("in 1975", []),
        ("nobody knows", []),
    ],
)
def test_ranges_are_read(text: str, found: list[tuple[float, float]]) -> None:
    assert [ends[""] for ends, ranged in extents(text) if ranged] == found


def test_what_lies_within_a_range() -> None:
    rows = [
        ("1889", "in the nineteenth century", 1, 0), ("1912", "in the nineteenth century", -1, 0),
        ("1975", "some time in the 1970s", 1, 0), ("1980", "some time in the 1970s", -1, 0),
        ("2001", "the 21st century", 1, 0), ("1995", "1992-96", 1, 0),
        ("1890", "between 1885 and 1890", 1, 0), ("1890", "before 1885", -1, 0),
        ("5 km", "more than 4,000 m", 1, 0), ("3,000 m", "more than 4 km", -1, 0),
        ("4,808", "more than 4,000 metres", 1, 0), ("2000", "at most 2,000", 1, 0),
        ("31 March 1889", "the spring of 1889", 0, 1), ("31 July 1889", "the spring", 0, -1),
        ("between 3 and 5", "more than 2", 1, 0), ("Rome", "about 100", -1, 0),
        ("1889", "1889", 0, 0),
    ]  # fmt: skip
    found = within([row[0] for row in rows], [row[1] for row in rows], [1] * len(rows))
    assert found.tolist() == [[float(row[2]), float(row[3])] for row in rows]


def test_no_place_lies_within_itself() -> None:
    """`containers` climbs until nothing holds a place: a circle would take all memory."""
    _, within = _gazetteer()
    above = dict(within)
    while above:  # Each step takes away the places that hold no other.
        left = {inner: outer for inner, outer in above.items() if inner in set(above.values())}
        assert len(left) < len(above), left
        above = left
    assert containers("antarctica") == ()
    assert containers("south georgia and the south sandwich islands") == ("antarctica",)


def test_places_lie_within_places() -> None:
    assert containers("houston") == ("texas", "united states", "north america")
    assert places("in Kraków or the USA") == {"united states"} | places("Krakow")
    assert places("polish") == frozenset()
    rows = [
        ("Warsaw", "Poland", 1), ("Poland", "Warsaw", -1), ("Paris", "Germany", -1),
        ("Houston", "somewhere in North America", 1), ("Anna Bell", "Poland", 0),
    ]  # fmt: skip
    found = place_within(["where"] * 5, [row[0] for row in rows], [row[1] for row in rows])
    assert found.tolist() == [float(row[2]) for row in rows]
