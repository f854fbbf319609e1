"""Inputs far larger than usual, and the memory that they may take."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import markscheme
from markscheme.contract.registry import judges
from markscheme.errors import BadRowsError
from markscheme.tables.answers import ReadOptions, read_answers

pytestmark = pytest.mark.proof(area="attacks")

OFFLINE = [name for name, found in judges().items() if found.needs.nothing]
WITH_ENCODER = ("listwise_examiner(encoder=always)", "examiner(depth=full)")
MANY = 100_000
MEGABYTES_AT_MOST = 2_000

SCRIPT = """
import json, sys
from pathlib import Path
from markscheme.tables.answers import ReadOptions, read_answers
from markscheme.engine.execute import apply
from markscheme.contract.grammar import parse_judge
from markscheme.contract.registry import judges

answers = read_answers(sys.argv[1], ReadOptions(max_bytes=30_000_000))
outcomes = apply(parse_judge(judges()[sys.argv[2]].example), answers)
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
print(json.dumps({"peak": peak, "status": outcomes["status"].cast(str).to_list(),
                  "verdict": outcomes["verdict"].to_list()}))
"""


def measured(path: Path, name: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), name], check=True, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout)
    return found


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def many_references(tmp_path_factory: pytest.TempPathFactory) -> Path:
    row = {"question": "Which number?", "references": [f"number {n} of many" for n in range(MANY)]}
    said = ("number 77777 of many", "something else")
    folder = tmp_path_factory.mktemp("many")
    return write(folder / "many.jsonl", [{**row, "answer": answer} for answer in said])


@pytest.fixture(scope="module")
def long_answer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    row = {"question": "What is the capital of France?", "references": ["Paris in France"]}
    answer = "Paris in France. " + "Word und anderes, 12 km. " * 420_000
    assert len(answer) > 10_000_000
    return write(tmp_path_factory.mktemp("long") / "long.jsonl", [{**row, "answer": answer}])


@pytest.mark.parametrize("name", ["exact_match", "token_f1"])
def test_a_hundred_thousand_references(many_references: Path, name: str) -> None:
    found = measured(many_references, name)
    assert found["verdict"] == [True, False]
    assert found["peak"] < MEGABYTES_AT_MOST


@pytest.mark.proof(area="attacks")
@pytest.mark.parametrize("name", sorted(set(OFFLINE) - {"exact_match", "token_f1", "regex"}))
def test_a_hundred_thousand_references_for_every_judge(many_references: Path, name: str) -> None:
    found = measured(many_references, name)
    assert found["verdict"] == [True, False]
    assert found["peak"] < MEGABYTES_AT_MOST


@pytest.mark.parametrize("name", ["contains", "examiner"])
def test_an_answer_of_ten_megabytes(long_answer: Path, name: str) -> None:
    found = measured(long_answer, name)
    assert found["status"] == ["judged"]
    assert found["peak"] < MEGABYTES_AT_MOST


@pytest.mark.proof(area="attacks")
@pytest.mark.parametrize("name", sorted(set(OFFLINE) - {"contains", "examiner"}))
def test_an_answer_of_ten_megabytes_for_every_judge(long_answer: Path, name: str) -> None:
    found = measured(long_answer, name)
    assert found["status"] == ["judged"]
    assert found["peak"] < MEGABYTES_AT_MOST


def test_an_answer_over_the_limit_is_named_and_can_be_let_through(long_answer: Path) -> None:
    with pytest.raises(BadRowsError, match=r"line 1: the answer has 10,500,017 bytes.*--max-bytes"):
        read_answers(long_answer)
    assert read_answers(long_answer, ReadOptions(max_bytes=11_000_000)).height == 1


def test_a_deep_document_is_refused(tmp_path: Path) -> None:
    """Nesting that would exhaust the stack, alone and inside a row."""
    from markscheme.errors import DataError

    for content in ("[" * 200_000, '{"question": ' + "[" * 200_000):
        for ending in ("json", "jsonl"):
            path = tmp_path / f"deep.{ending}"
            path.write_text(content)
            with pytest.raises(DataError, match="not valid JSON"):
                read_answers(path)


def numbered(count: int) -> str:
    return " ".join(f"word{n}" for n in range(count))


LONG_TEXTS: dict[str, Callable[[int], str]] = {
    "one sentence": numbered,
    "one word": lambda words: "cat " * words,
    "quantities": lambda words: " ".join(f"{n} km" for n in range(words // 2)),
    "denials": lambda words: " ".join(f"word{n} is not {n}." for n in range(words // 4)),
}


def least_seconds(name: str, text: str, *, shuffled: bool = False) -> float:
    """Of three answers that are a text and one more word each, the processor time of the fastest:
    what else the machine does only adds to it. `shuffled`: the text's words in another order."""
    took = []
    for last in "abc":
        words = text.split()
        if shuffled:
            random.Random(last).shuffle(words)
        said = " ".join([*words, last])
        row = {"question": "What is it?", "references": [text], "answer": said}
        began = time.process_time()
        result = markscheme.judge([row], name)
        took.append(time.process_time() - began)
        assert result.judgments["status"].to_list() == ["judged"]
    return min(took)


@pytest.mark.parametrize("name", ["entailment", "examiner(depth=fast)", "claims"])
def test_the_time_does_not_grow_with_the_square_of_the_words(name: str) -> None:
    """Against as many; the encoder of the examiner reads the same of 500 and of 2,000 words."""
    least_seconds(name, numbered(100))  # Loads what the judge needs.
    for kind, text in LONG_TEXTS.items():
        few, many = (least_seconds(name, text(words)) for words in (500, 2_000))
        assert many < 10 * few, kind  # The square of four is sixteen.


@pytest.mark.parametrize("name", sorted({*OFFLINE, *WITH_ENCODER} - {"regex"}))
def test_two_thousand_words_against_as_many(name: str) -> None:
    """Measured only here, in a proof. What the examiner's encoder reads takes longest."""
    example = judges()[name].example if name in OFFLINE else name
    least_seconds(example, numbered(100))  # Loads what the judge needs.
    for kind, text in LONG_TEXTS.items():
        for shuffled in (False, True):
            took = least_seconds(example, text(2_000), shuffled=shuffled)
            assert took < (2 if name.startswith("examiner") else 1), (kind, shuffled)
