"""Rows that differ have different keys, whatever their texts hold; equal rows have equal keys."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.errors import DataError
from markscheme.tables import content_ids, read_answers, row_texts

Row = tuple[str | None, list[str | None] | None, str | None]

PIECES = [
    "", "a", "b", "ab", "n", "\x00", "\x1e", "\x1f", "a\x1eb", "\x1ea", "a\x1f", "1", "true",
    "s1:a", "1:a", "l1:s1:a", "l0:", ";", ":", "ä", "a\u0308", "😀", "\u202e", "\x1f\x00\x1f",
]  # fmt: skip
SCHEMA = {"question": pl.String, "references": pl.List(pl.String), "answer": pl.String}


def drawn(rng: random.Random) -> Row:
    """A row made of texts that a careless encoding takes for its own signs."""

    def text() -> str | None:
        return None if rng.random() < 0.1 else rng.choice(PIECES) + rng.choice(PIECES)

    listed = [text() for _ in range(rng.randrange(4))]
    return text(), None if rng.random() < 0.1 else listed, text()


def unchanged(row: Row) -> Row:
    return row


def null_as_its_sign(row: Row) -> Row:
    question, references, answer = row
    return question, references, "\x00" if answer is None else None


def list_as_one_text(row: Row) -> Row:
    question, references, answer = row
    return question, ["\x1e".join(text or "" for text in references or [])], answer


def text_as_list(row: Row) -> Row:
    question, references, answer = row
    parts = [part for text in references or [] for part in (text or "").split("\x1e")]
    return question, list(parts), answer


def no_list(row: Row) -> Row:
    question, references, answer = row
    kinds: list[list[str | None] | None] = [None, [], [""], [None], ["", ""]]
    place = kinds.index(references) if references in kinds else 0
    return question, kinds[(place + 1) % len(kinds)], answer


def reference_in_the_question(row: Row) -> Row:
    question, references, answer = row
    first, *others = references or [""]
    return f"{question}\x1f{first}", list(others), answer


def next_cell_in_the_question(row: Row) -> Row:
    """What the encoding itself writes for the list, as the end of the text before it."""
    question, references, answer = row
    listed = pl.DataFrame({"r": [references]}, schema={"r": pl.List(pl.String)})
    return f"{question}{row_texts(listed)[0]}", references, answer


def a_letter_further(row: Row) -> Row:
    question, references, answer = row
    return (question or "")[:-1], references, (question or "")[-1:] + (answer or "")


def another_order(row: Row) -> Row:
    question, references, answer = row
    return question, None if references is None else references[::-1], answer


CHEAP: list[Callable[[Row], Row]] = [
    unchanged, null_as_its_sign, list_as_one_text, text_as_list, no_list,
    reference_in_the_question, a_letter_further, another_order,
]  # fmt: skip
"""Ways to make a row that a careless encoding writes as the one before."""


def check_pairs(count: int, seed: int) -> tuple[int, int]:
    """Compare keys with equality of rows; how many pairs were equal, and how many different."""
    rng = random.Random(seed)
    left = [drawn(rng) for _ in range(count)]
    right = [rng.choice(CHEAP)(row) for row in left]
    keys = [row_texts(pl.DataFrame(side, schema=SCHEMA, orient="row")) for side in (left, right)]
    equal = pl.Series([one == other for one, other in zip(left, right, strict=True)])
    wrong = ((keys[0] == keys[1]) != equal).arg_true()
    assert wrong.is_empty(), (left[wrong[0]], right[wrong[0]])
    return int(equal.sum()), int((~equal).sum())


def test_keys_are_equal_where_rows_are() -> None:
    same, different = check_pairs(10_000, seed=1)
    assert same > 1000
    assert different > 5000


@pytest.mark.proof(area="attacks")
def test_keys_are_equal_where_rows_are_in_a_million_pairs() -> None:
    counts = [check_pairs(100_000, seed=seed) for seed in range(2, 12)]
    assert sum(same for same, _ in counts) > 100_000
    assert sum(different for _, different in counts) > 500_000


def test_a_text_cannot_hold_the_next_cell() -> None:
    rows = list(dict.fromkeys((one, two) for one in PIECES for two in PIECES))
    pairs: list[Row] = [(one, [two], two) for one, two in rows]
    forged = [next_cell_in_the_question(row) for row in pairs]
    different = {repr(row) for row in (*pairs, *forged)}
    keys = row_texts(pl.DataFrame([*pairs, *forged], schema=SCHEMA, orient="row"))
    assert keys.n_unique() == len(different) > 1.9 * len(pairs)


CELLS: list[tuple[str, Any, Any]] = [
    ("null", None, pl.String),
    *((f"text {text!r}", text, pl.String) for text in (*PIECES, "1.0", "[]", "null", "2026-01-02")),
    *((f"list of {text!r}", [text], pl.List(pl.String)) for text in ("", "a", None, "\x00")),
    ("empty list", [], pl.List(pl.String)),
    ("two texts", ["a", "b"], pl.List(pl.String)),
    ("two nulls", [None, None], pl.List(pl.String)),
    ("list of an empty list", [[]], pl.List(pl.List(pl.String))),
    ("list of a list", [["a"]], pl.List(pl.List(pl.String))),
    ("two lists", [["a"], ["b"]], pl.List(pl.List(pl.String))),
    ("list of two", [["a", "b"]], pl.List(pl.List(pl.String))),
    ("list of an empty text", [[""]], pl.List(pl.List(pl.String))),
    ("whole numbers", [1, 2], pl.List(pl.Int64)),
    ("0", 0, pl.Int64), ("1", 1, pl.Int64), ("-1", -1, pl.Int64), ("12", 12, pl.Int64),
]  # fmt: skip


def key_of(value: Any, dtype: Any) -> str:
    return str(row_texts(pl.DataFrame({"cell": [value]}, schema={"cell": dtype}))[0])


def test_cells_of_other_kinds_have_other_keys() -> None:
    keys = {name: key_of(value, dtype) for name, value, dtype in CELLS}
    shared = [pair for pair in itertools.combinations(keys, 2) if keys[pair[0]] == keys[pair[1]]]
    assert shared == []
    assert len(keys) == len(CELLS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((5, pl.Int8), (5, pl.UInt64)),
        ((None, pl.String), (None, pl.Null)),
        ((None, pl.List(pl.String)), (None, pl.Int64)),
        (([], pl.List(pl.String)), ([], pl.List(pl.Int64))),
        (([1, 2], pl.List(pl.Int64)), ([1, 2], pl.List(pl.Int8))),
        (([None], pl.List(pl.Null)), ([None], pl.List(pl.String))),
    ],
)
def test_equal_cells_of_other_types_have_one_key(one: Any, other: Any) -> None:
    assert key_of(*one) == key_of(*other)


def test_keys_do_not_change() -> None:
    """They are stored, so a change here breaks users' files."""
    row: Row = ("Who wrote Emma?", ["Jane Austen", "Austen"], None)
    frame = pl.DataFrame([row], schema=SCHEMA, orient="row")
    assert row_texts(frame).to_list() == ["s15:Who wrote Emma?l2:s11:Jane Austens6:Austenn"]


def test_columns_are_chosen_and_their_names_do_not_count() -> None:
    frame = pl.DataFrame({"a": ["x", "x"], "b": ["y", "z"]})
    assert row_texts(frame, ["a"]).n_unique() == 1
    assert row_texts(frame, ["a", "b"]).equals(row_texts(frame.rename({"b": "c"})))
    assert not row_texts(frame, ["b", "a"]).equals(row_texts(frame))
    assert row_texts(frame.clear()).to_list() == []


def test_what_has_no_identity_is_refused() -> None:
    with pytest.raises(DataError, match="without columns"):
        row_texts(pl.DataFrame({"a": ["x"]}), [])
    with pytest.raises(DataError, match="Object"):
        row_texts(pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}))


FORGED: list[tuple[Row, Row]] = [
    (("q", ["a", "b"], "c"), ("q", ["a\x1eb"], "c")),
    (("q", ["a"], None), ("q", ["a"], "\x00")),
    (("q", [], "c"), ("q", [""], "c")),
    (("q", ["a", None], "c"), ("q", ["a"], "c")),
    (("q\x1fa", ["b"], "c"), ("q", ["a\x1fb"], "c")),
    (("q", ["b"], "c\x1fs"), ("q", ["b\x1fc"], "s")),
]


@pytest.mark.parametrize(("one", "other"), FORGED)
def test_ids_of_other_contents_are_others(one: Row, other: Row) -> None:
    frame = pl.DataFrame([one, other, one], schema=SCHEMA, orient="row")
    ids = content_ids(frame.with_columns(system=pl.lit("s")))
    assert ids[0] == ids[2] != ids[1]
    assert ids.str.contains("^[0-9a-f]{24}$").all()


def test_ids_of_0_1_0_stay_where_only_one_row_has_them() -> None:
    """As 04ebccb made them, with an answer of each kind that it could tell from all others."""
    rows: list[Row] = [
        ("q", ["a", "b"], "c"), ("q", ["a"], None), ("q", [], "c"), ("q", ["", "a"], "c"),
        ("ä😀", ["a\u0308"], ""), ("s1:a", ["l0:"], "a\x00b"),
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(system=pl.lit("s"))
    assert content_ids(frame).to_list() == [
        "c37c0ae28ab33d7907637070", "703876f0e75be7ecebd092be", "e9e777f0690b02aa18360ed9",
        "56eeebbb8987b7845d8ff4bf", "87f7ea3768029ed7a8507045", "f48dd2225bf8adc9ceb15cbc",
    ]  # fmt: skip


def test_rows_that_were_one_have_verdicts_of_their_own() -> None:
    row = {"question": "Which letter?", "answer": "b"}
    rows = [{**row, "references": ["d", "b"]}, {**row, "references": ["d\x1eb"]}]
    for some in (rows, rows[::-1], rows * 3):
        result = markscheme.judge(some, "exact_match").judgments
        assert result["verdict"].to_list() == [one is rows[0] for one in some]
    assert markscheme.judge(rows, "exact_match").judgments["answer_id"].n_unique() == 2


def test_an_answer_that_is_the_sign_of_a_null_is_no_null() -> None:
    row = {"question": "Which letter?", "references": ["b"]}
    rows = [{**row, "answer": None}, {**row, "answer": "\x00"}]
    result = markscheme.judge(rows, "exact_match", on_bad_row="skip")
    assert result.judgments["explanation"].to_list() == ["no answer was given"]
    assert result.judgments["answer_id"].to_list() == read_answers(rows[:1])["answer_id"].to_list()
