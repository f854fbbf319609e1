"""What a judge returns is checked: an error names the judge, the column, the value and the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract.registry import JUDGES, register
from markscheme.errors import JudgeError

ROWS = [{"question": "q", "references": ["r"], "answer": text} for text in ("one", "two", "three")]

RETURNED: dict[str, Callable[[pl.DataFrame], Any]] = {}


@dataclass(frozen=True, kw_only=True)
class Returns:
    """Returns what a test wants."""

    what: str = ""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return RETURNED[self.what](answers)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register("returns")(Returns)
    yield
    del JUDGES.known["returns"]


def judged(returned: Callable[[pl.DataFrame], Any]) -> pl.DataFrame:
    RETURNED["case"] = returned
    return markscheme.judge(ROWS, Returns(what="case")).judgments


def column(name: str, *values: Any, **more: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda _: pl.DataFrame({name: list(values), **more})


GOOD = {"status": ["judged"] * 3, "verdict": [True] * 3}


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            column("score", 0.5, 7.0, 9.0),
            "returned score=7.0 in row 1 (answer 'two'), and 1 more: it must lie between 0 and 1",
        ),
        (column("score", 0.5, -0.1, 1.0), "score=-0.1 in row 1"),
        (column("score", 0.5, float("nan"), 1.0), "score=nan in row 1"),
        (column("score", 0.5, float("inf"), 1.0), "score=inf in row 1"),
        (column("score", "high", "low", "low"), "score='high' in row 0 (answer 'one'), and 2 more"),
        (column("score", True, True, False), "score=True in row 0"),
        (column("marks", 1.0, 2.5, 0.0, **GOOD), "marks=2.5 in row 1"),
        (column("veridct", True, True, False), "a column 'veridct', which judgments do not have; "
         "did you mean 'verdict'?"),
        (column("zzz", 1, 2, 3), "The columns are status, score, verdict"),
        (column("verdict", "yes", "no", "no"), "returned verdict='yes' in row 0 (answer 'one'), "
         "and 2 more: it must be true or false (Boolean), not String"),
        (column("verdict", 1, 0, 0), "verdict=1 in row 0"),
        (column("verdict", True, False), "returned 2 rows for 3 answers"),
        (column("status", "judged", "done", "judged", score=[1.0] * 3),
         "status='done' in row 1 (answer 'two'): it must be one of judged, unparsed"),
        (column("status", "judged", None, "judged", score=[1.0] * 3),
         "status=None in row 1 (answer 'two'): every row needs a status"),
        (column("status", None, None, None), "status=None in row 0"),
        (column("relation", "same", None, None, **GOOD),
         "relation='same' in row 0"),
        (column("status", "failed", "judged", "judged", verdict=[True] * 3),
         "verdict=True (status 'failed') in row 0 (answer 'one'): only a judged row may have"),
        (column("status", "judged", "judged", "judged", verdict=[True, None, True]),
         "status='judged' in row 1 (answer 'two'): a judged row needs a verdict or a score"),
        (column("cost_usd", 0.1, -1.0, 0.0, **GOOD), "cost_usd=-1.0 in row 1"),
        (column("tokens_in", 1.0, 2.5, 0.0, **GOOD), "tokens_in=2.5 in row 1"),
        (column("explanation", 1, 2, 3, **GOOD), "explanation=1 in row 0"),
        (column("explanation", "a", "b", "c"), "neither 'verdict' nor 'score' nor 'status'"),
        (lambda _: None, "returned a NoneType; a judge returns a Polars DataFrame"),
        (lambda rows: rows.lazy(), "returned a LazyFrame"),
        (lambda rows: rows.reverse().with_columns(verdict=pl.lit(value=True)),
         "returned answer='three' in row 0, where it was given 'one'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(returned: Callable[[pl.DataFrame], Any], message: str) -> None:
    with pytest.raises(JudgeError) as caught:
        judged(returned)
    assert str(caught.value).startswith("returns(what=case) returned")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "returned",
    [
        column("score", 0, 1, 1),
        column("verdict", True, None, False),
        column("marks", 2.0, 1.05, 0.0, **GOOD),
        column("tokens_in", 1.0, 2.0, None, **GOOD),
        lambda rows: rows.with_columns(verdict=pl.lit(value=True)),
        lambda rows: rows.with_columns(status=pl.lit("refused"), verdict=None, score=None),
    ],
)
def test_what_is_right_passes(returned: Callable[[pl.DataFrame], Any]) -> None:
    assert judged(returned).height == 3


def test_a_judge_inside_another_is_checked_and_named() -> None:
    RETURNED["case"] = column("score", 0.5, 7.0, 9.0)
    with pytest.raises(JudgeError, match=r"^returns\(what=case\) returned score=7.0 in row 1"):
        markscheme.judge(ROWS, "panel(judges=[exact_match, returns(what=case)])")


def test_long_answers_are_cut_in_the_message() -> None:
    RETURNED["case"] = column("score", 7.0)
    row = {"question": "q", "references": ["r"], "answer": "x" * 10_000}
    with pytest.raises(JudgeError) as caught:
        markscheme.judge([row], Returns(what="case"))
    assert len(str(caught.value)) < 300
