"""What is judged in a row does not depend on the other rows of its file, whatever its answer is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import markscheme

JUDGES = ["examiner(depth=fast)", "contains", "exact_match"]
NAMES = st.sampled_from(
    "answer alternatives text label system question references output role content value".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
    | st.sampled_from(["Lima", "Quito", "", "assistant", "yes", "1,000", "a b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
ODD = VALUES.map(json.dumps) | VALUES.map(repr) | st.sampled_from(
    ["'Lima'", "“Lima”", "007", "1e3", "{Lima}", "[Lima", "{}", "[]", "<b>Lima</b>", "a,b\tc"]
)  # fmt: skip
OPENED = [
    '{"answer": "Quito", "alternatives": ["Lima"]}',
    '[{"role": "assistant", "content": "x"}]',
]


def row(answer: str) -> dict[str, Any]:
    return {"question": "Which city is it?", "references": ["Lima"], "answer": answer}


def judged(answers: list[str]) -> list[list[Any]]:
    """For each judge, the scores of the answers, judged in one table."""
    rows = [{**row(answer), "answer_id": str(place)} for place, answer in enumerate(answers)]
    found = markscheme.judge(rows, judges=JUDGES).judgments
    return [one["score"].to_list() for one in found.partition_by("judge", maintain_order=True)]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ODD.filter(lambda text: bool(text.strip())), min_size=1, max_size=3, unique=True))
def test_any_answer_is_judged_alone_as_it_is_next_to_others(answers: list[str]) -> None:
    together = judged([*answers, "Cusco"])
    for place, answer in enumerate(answers):
        assert [one[0] for one in judged([answer])] == [one[place] for one in together], answer


@pytest.mark.parametrize("name", ["answer", "prediction", "response"])
@pytest.mark.parametrize("answer", OPENED)
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_files_of_one_and_of_two_rows_give_the_same_verdict(
    tmp_path: Path, name: str, answer: str, ending: str
) -> None:
    scores = []
    for rows in ([row(answer)], [row(answer), row("Lima")]):
        table = pl.DataFrame(rows).rename({"answer": name}).with_row_index("answer_id")
        path = tmp_path / f"{len(rows)}.{ending}"
        if ending == "csv":
            table.with_columns(pl.col("references").list.join("")).write_csv(path)
        elif ending == "jsonl":
            table.write_ndjson(path)
        else:
            table.write_parquet(path)
        found = markscheme.judge(path, judges=JUDGES).judgments
        scores.append(found.filter(pl.col("answer_id") == "0")["score"].to_list())
    assert scores[0] == scores[1]
    marked = markscheme.mark("Which city is it?", ["Lima"], answer, judge=JUDGES[0])
    assert scores[0][0] == marked.score


def test_another_field_does_not_make_up_for_a_wrong_answer() -> None:
    assert judged([OPENED[0]])[0][0] < 0.5
