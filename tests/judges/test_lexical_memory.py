"""A million rows stay within the memory of a small machine; `make bench` measures their speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof(area="attacks")

WRITE = "import sys; from pathlib import Path; from benchmarks.rows import write_rows as w"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "1m.parquet"
    code = f"{WRITE}; w(Path(sys.argv[1]), 1_000_000)"
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code, str(file)], check=True, cwd=root)
    return file


def test_a_million_rows_through_the_engine_in_less_than_a_gigabyte(root: Path, rows: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.jobs", "three through the engine", str(rows)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=root)
    assert json.loads(done.stdout)["peak_mb"] < 1000


GROWTH = """
import sys
from pathlib import Path
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.tables.answers import read_answers

judge, reference, count = sys.argv[1:4]
answer = "Jane Austen wrote it. " * 3_000
row = {"question": "Who?", "references": [reference.format(n) for n in range(int(count))]}
outcome = apply(parse_judge(judge), read_answers([row | {"answer": answer}]))
assert outcome["status"].to_list() == ["judged"], outcome
status = Path("/proc/self/status").read_text()
print(status.split("VmHWM:")[1].split()[0])
"""
MANY = 15_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("reference", ["*", "{}"])
@pytest.mark.parametrize(
    "judge", ["exact_match", "contains", "token_f1", "char_similarity", "rouge1", "rougeL", "bleu"]
)
def test_a_long_answer_is_not_copied_for_each_of_its_references(judge: str, reference: str) -> None:
    """Of 15,000 references to an answer of 66 kB, copies would take a gigabyte."""

    def megabytes(count: int) -> float:
        command = [sys.executable, "-c", GROWTH, judge, reference, str(count)]
        done = subprocess.run(command, check=True, capture_output=True, timeout=300)
        return int(done.stdout) / 1024

    assert megabytes(MANY) - megabytes(1) < 400
