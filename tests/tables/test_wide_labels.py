"""Labels of wide tables: of one system each, and never of all."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.errors import AgreementError, DataError
from markscheme.tables import AnswersReader, ReadOptions, load_labels

SYSTEMS = ("gpt-4o", "llama-3")


def table(**columns: Any) -> pl.DataFrame:
    rows = 12
    made = {"question": [f"Who wrote book {n}?" for n in range(rows)],
            "gold": [f"Author {n}" for n in range(rows)],
            "gpt-4o": [f"Author {n}" for n in range(rows)],
            "llama-3": ["x"] * rows}  # fmt: skip
    cells = [("richtig", "falsch", None)[n % 3] for n in range(rows)]
    return pl.DataFrame({**made, **dict.fromkeys(columns.values(), cells)})


def labels(data: pl.DataFrame | Path, **columns: str) -> dict[str, int]:
    found = pl.concat(AnswersReader([data], ReadOptions(columns=columns)))
    counted = found.group_by("system").agg(pl.col("label").count())
    return {name: count for name, count in counted.iter_rows() if count}


@pytest.mark.parametrize("name", ["gpt-4o_label", "label gpt-4o", "Label (gpt-4o)", "gpt-4o human"])
def test_a_column_called_after_a_system_has_its_labels(name: str) -> None:
    assert labels(table(a=name)) == {"gpt-4o": 8}


def test_each_system_may_have_a_column() -> None:
    assert labels(table(a="gpt-4o_label", b="llama-3_label")) == dict.fromkeys(SYSTEMS, 8)


@pytest.mark.parametrize("name", ["gpt-4o Karl", "Meinung Karl (gpt-4o)"])
def test_verdicts_on_a_system_are_no_system(name: str) -> None:
    reader = AnswersReader([table(a=name)])
    assert set(pl.concat(reader)["system"]) == set(SYSTEMS)
    (offer,) = reader.met.offered
    assert f"--columns 'label:gpt-4o={name}' reads them" in offer
    assert labels(table(a=name), **{"label:gpt-4o": name}) == {"gpt-4o": 8}


@pytest.mark.parametrize("name", ["ok_gpt", "gpt ok?"])
def test_labels_that_are_named_are_no_system_of_their_own(name: str) -> None:
    named = {"label:gpt-4o": name, "label:llama-3": "ok_llama"}
    read = AnswersReader([table(a=name, b="ok_llama")], ReadOptions(columns=named))
    assert set(pl.concat(read)["system"]) == set(SYSTEMS)
    assert labels(table(a=name, b="ok_llama"), **named) == dict.fromkeys(SYSTEMS, 8)


@pytest.mark.parametrize("said", [("yes", "no"), ("True", "False")])
@pytest.mark.parametrize(
    "systems", [("gpt-4", "gpt-4o"), ("llama-3-8b", "llama-3-8b-instruct"), ("o1", "o1-mini")]
)
def test_answers_of_a_yes_no_task_are_no_labels(
    said: tuple[str, str], systems: tuple[str, str], tmp_path: Path
) -> None:
    columns = {"question": [f"Is {n} prime?" for n in range(6)], "gold": [*said] * 3}
    answers = dict(zip(systems, ([*said] * 3, [*said[::-1]] * 3), strict=True))
    file = tmp_path / "wide.csv"
    pl.DataFrame({**columns, **answers}).write_csv(file)
    reader = AnswersReader([file])
    assert set(pl.concat(reader)["system"]) == {*systems}
    assert not reader.met.offered
    people = {f"{systems[0]} human": ["yes", "yes", "no"] * 2}
    pl.DataFrame({**columns, **answers, **people}).write_csv(file)
    assert labels(file) == {systems[0]: 6}


@pytest.mark.parametrize("label", ["label_{}", "answer_{} ok?", "{} human"])
def test_labels_that_are_texts_are_read_as_numbers_are(label: str, tmp_path: Path) -> None:
    rows = [{"question": f"q{n}", "gold": "a", "answer_gpt4": "a", "answer_claude": "b",
             label.format("gpt4"): n % 2, label.format("claude"): 0} for n in range(6)]  # fmt: skip
    file = tmp_path / "wide.csv"
    pl.DataFrame(rows).write_csv(file)
    assert labels(file) == labels(pl.DataFrame(rows)) == {"gpt4": 6, "claude": 6}


def test_a_column_of_verdicts_is_offered_for_the_system_that_its_name_says() -> None:
    rows = [{"question": f"q{n}", "gold": "a", "answer_fid": "a", "answer_gpt35": "b",
             "judge_fid": bool(n % 2), "judge_gpt35": n % 3 == 0} for n in range(6)]  # fmt: skip
    reader = AnswersReader([pl.DataFrame(rows)])
    assert set(pl.concat(reader)["system"]) == {"fid", "gpt35"}
    offers = " ".join(reader.met.offered)
    for system in ("fid", "gpt35"):
        assert f"--columns label:{system}=judge_{system} reads them" in offers


def test_labels_are_offered_for_the_system_with_which_they_share_a_word() -> None:
    rows = [{"question": f"q{n}", "gold": "a", "Bot v1": "a", "Bot v2": "b",
             "v1 ok?": ("yes", "no")[n % 2], "v2 ok?": ("ja", "nein")[n % 3 == 0],
             "Bot ok?": ("yes", "no")[n % 2]} for n in range(6)]  # fmt: skip
    reader = AnswersReader([pl.DataFrame(rows)], ReadOptions(answer_columns=("Bot v1", "Bot v2")))
    assert list(reader)
    typed = [shlex.split(offer.partition("labels? ")[2])[:2] for offer in reader.met.offered]
    assert typed == [
        ["--columns", "label:Bot v1=v1 ok?"],
        ["--columns", "label:Bot v2=v2 ok?"],
        ["--columns", "label:SYSTEM=Bot ok?"],
    ]


def test_what_is_advised_reads_labels_of_one_system() -> None:
    data = table(a="Urteil")
    (offer,) = (reader := AnswersReader([data])).met.offered or ([*reader] and reader.met.offered)
    assert "--columns label:SYSTEM=Urteil" in offer
    assert labels(data, **{"label:llama-3": "Urteil"}) == {"llama-3": 8}
    result = markscheme.judge(data, "exact_match", columns={"label:gpt-4o": "Urteil"})
    assert result.agree().frame["answers"].to_list() == [8]


@pytest.mark.parametrize("columns", [{}, {"label": "label"}])
def test_one_label_of_several_systems_is_refused(columns: dict[str, str]) -> None:
    with pytest.raises(DataError, match="say whose it is, as in --columns label:SYSTEM=label"):
        labels(table(a="label"), **columns)


def test_labels_of_a_system_that_there_is_not() -> None:
    with pytest.raises(DataError, match="no answers of 'bard'; it has those of gpt-4o, llama-3"):
        labels(table(a="Urteil"), **{"label:bard": "Urteil"})


@pytest.mark.parametrize("name", ["incorrect", "is_wrong", "Error", "hallucination", "answerable"])
def test_columns_of_errors_are_not_offered_as_labels(name: str) -> None:
    reader = AnswersReader([table(a=name)])
    assert list(reader)
    assert not reader.met.offered


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("response ({})", "label ({})"),
        ("{} (output)", "{} ok?"),
        ("answer_{}", "OK? - {}"),
        ("{}-output", "human label: {}"),
    ],
)
def test_answers_and_labels_name_their_system_by_one_rule(answer: str, label: str) -> None:
    systems = ("gpt-4o", "Bot")
    asked = {"id": IDS[:6], "question": [f"q{n}" for n in range(6)], "gold": ["a"] * 6}
    answers = {answer.format(name): ["a", "a", "a", "b", "b", "b"] for name in systems}
    people = {label.format(name): ["yes", "yes", "no"] * 2 for name in systems}
    together = pl.DataFrame({**asked, **answers, **people})
    assert labels(together) == dict.fromkeys(systems, 6)
    within = markscheme.judge(together, "exact_match").agree(by="system")
    result = markscheme.judge(pl.DataFrame({**asked, **answers}), "exact_match")
    apart = markscheme.agree(result, pl.DataFrame({**asked, **people}), by="system")
    assert apart.frame.equals(within.frame)
    assert set(apart.frame["system"]) >= {*systems}


# Labels in a file of their own, known by the ids of a wide table's rows.

IDS = [f"q{n}" for n in range(12)]
TRUTH = [int(n % 4 != 0) for n in range(12)]


def run() -> markscheme.Result:
    answers = table().with_columns(id=pl.Series(IDS))
    return markscheme.judge(answers, "exact_match")


@pytest.mark.parametrize(
    ("first", "second"),
    [("gpt-4o_label", "llama-3_label"), ("label gpt-4o", "label llama-3"),
     ("Label (gpt-4o)", "Label (llama-3)"), ("gpt-4o correct", "llama-3 correct")],
)  # fmt: skip
def test_labels_apart_have_a_column_a_system_too(first: str, second: str) -> None:
    apart = pl.DataFrame({"id": IDS, first: TRUTH, second: [0] * 12})
    found = markscheme.agree(run(), apart).frame
    assert found["answers"].to_list() == [24]
    people = markscheme.estimate(run(), apart, by="system").frame
    shares = dict(people.select("system", "figure").iter_rows())
    assert shares["gpt-4o"] == pytest.approx(0.75)
    assert shares["llama-3"] == 0


def test_labels_apart_whose_columns_are_given() -> None:
    apart = pl.DataFrame({"id": IDS, "Anna": TRUTH, "Ben": [0] * 12})
    with pytest.raises(DataError, match="--columns label:SYSTEM=NAME"):
        markscheme.agree(run(), apart)
    given = {"label:gpt-4o": "Anna", "label:llama-3": "Ben"}
    assert markscheme.agree(run(), apart, columns=given).frame["answers"].to_list() == [24]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([bool(one) for one in TRUTH], [0] * 12),
        ([bool(one) for one in TRUTH], ["no"] * 12),
        (TRUTH, ["no"] * 12),
        ([float(one) for one in TRUTH], [False] * 12),
        (TRUTH, [None] * 12),
        ([None] * 12, TRUTH),
    ],
)
def test_labels_apart_may_be_written_differently_for_each_system(
    first: list[Any], second: list[Any], tmp_path: Path
) -> None:
    file = tmp_path / "labels.jsonl"
    pl.DataFrame({"id": IDS, "gpt-4o_label": first, "llama-3_label": second}).write_ndjson(file)
    people = load_labels(file).filter(pl.col("label").is_not_null())
    assert people["label"].to_list() == [*TRUTH, *[0] * 12][: people.height]
    assert markscheme.agree(run(), file).frame["answers"].to_list() == [people.height]


def test_labels_apart_with_a_row_a_system() -> None:
    apart = pl.DataFrame({"id": IDS * 2, "system": [name for name in SYSTEMS for _ in IDS],
                          "label": [1] * 12 + TRUTH})  # fmt: skip
    assert markscheme.agree(run(), apart).frame["answers"].to_list() == [24]
    modes = markscheme.failures(run(), labels=apart)
    assert modes.frame.height == 9  # what people accept of llama-3, and exact match rejects
    with pytest.raises(AgreementError, match="labels need a column 'system'"):
        markscheme.agree(run(), apart.filter(pl.col("system") == "gpt-4o").drop("system"))
