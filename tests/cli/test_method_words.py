"""Every interval and p-value that is printed says how it was made, in a word that docs explain.

And every table with intervals says of what population, unit and labels they speak.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from scripts.make_cli_reference import commands

import markscheme
from markscheme.agreement import drift
from markscheme.cli import run
from markscheme.models import ModelOptions, Models
from markscheme.models.chat import ScriptedChat
from markscheme.results import METHODS, PAIRED, by_judges, by_labels, population
from with_research import cases, needs_research

DOCS = Path(__file__).parents[2] / "docs"

INTERVAL = re.compile(
    r"[-+\d.]+ \[[-+]?\d[\d.]*, [-+]?\d[\d.]*\]"  # 80.6 [73.9, 86.0]
    r"|\([-+]?\d[\d.]* to [-+]?\d[\d.]*[,)]"  # 0.85 (0.80 to 0.90)
    r"|interval(?s:.{0,500}?)[-+\s|]\d[\d.]* to [-+]?\d"  # a column of its own
    r"|at least \d"
)
"""An interval as tables and sentences show it."""
SPEAKS = re.compile(
    r"(?:intervals \([^\n]+\) are for|bounds are for|\([\w-]+\), of)\s"
    r"(?:further (?:question|answer)s like these[ \d]*(?:, (?:counted|paired) by question)?"
    r"|these [\d,]+ answers alone),\s"
    r"(?:of these \d+ systems )?according to (?:[\w()=., ]+)"
)
"""The sentence that says of what population, unit and labels a table's intervals speak."""
TEST = re.compile(r"\bp\b|\bHolm\b")
WORD = re.compile(
    # `t`, `exact` and `score` are words of English too, and stand in brackets.
    r"\((?:exact|score|t)\)|, t\)"
    rf"|(?<![\w-])(?:{'|'.join(w for w in METHODS if w not in ('t', 'exact', 'score'))})(?![\w-])"
)

RUN = "runs/words"
COMMANDS: dict[str, list[str]] = {
    "judge": ["-j", "contains", "--out", "runs/judged", "--fail-under", "0.2",
              "--confidence", "0.95", "--slices", "topic", "{answers}"],
    "agree": [RUN, "--by", "system", "--annotators"],
    "compare": [RUN],
    "compare --systems": [RUN, "--systems", "--judge", "token_f1", "--slices", "topic"],
    "compare --systems without labels": ["{unlabelled}", "--systems", "--slices", "topic"],
    "estimate": [RUN, "--judge", "token_f1", "--labels", "{some}"],
    "estimate --by system": [RUN, "--judge", "token_f1", "--labels", "{some}", "--by", "system"],
    "estimate --about these": [RUN, "--judge", "token_f1", "--labels", "{some}", "--about",
                               "these"],
    "compare --systems with labels": ["{unlabelled}", "--systems", "--labels", "{some}"],
    "calibrate": [RUN, "--judge", "token_f1", "--labels", "{answers}"],
    "estimate --anytime": [RUN, "--judge", "token_f1", "--labels", "{some}", "--anytime"],
    "diff": ["{base}", "{new}", "--judge", "contains"],
    "research probe": ["contains", "{answers}", "--limit", "40"],
    "research jury": [RUN],
    "research may-replace": [RUN],
    "rank": [RUN],
    "research hierarchy": ["{related}"],
    "research cascade": [RUN, "--labels", "{answers}", "--first", "token_f1", "--then",
                         "contains", "--calls", "0.6"],
    "research tune-judge": ["{answers}", "-j", "token_f1", "-j", "contains"],
}  # fmt: skip
"""What prints intervals or p-values, and how it is called."""

NONE = {
    "annotate", "annotate-export", "columns", "explain", "failures", "init", "judges",
    "llm batch read", "llm batch write", "llm ledger export", "llm ledger import",
    "llm ledger stats", "plan-labels", "report", "research amend", "research bench",
    "research claims", "research datasets check", "research datasets export",
    "research datasets fetch", "research datasets show", "research entail", "research examples",
    "research references apply", "research references build", "research references draw",
    "research references expand", "research references shots", "research reliability",
    "research reproduce", "research statements", "research study cost", "research study lists",
    "research study order", "research study seeds", "research study shots", "research tags",
    "research train entailment", "research train learned", "research train listwise",
    "research train question-kind", "serve", "train examiner", "verify", "view",
}  # fmt: skip
"""What prints neither; pages (`annotate`, `report`, `view`) have tests of their own."""


ELSEWHERE = {"llm drift"}
"""What prints them and asks a model, which `test_drift_says_its_method` plays."""


@pytest.fixture(scope="module")
def files(example: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The bundled example, judged; with some labels only, with none, and by system."""
    folder = tmp_path_factory.mktemp("words")
    rows = [json.loads(line) for line in example.read_text("utf-8").splitlines()]
    for place, row in enumerate(rows):
        row["topic"] = "early" if place < len(rows) / 2 else "late"
    bare = [{key: value for key, value in row.items() if "label" not in key} for row in rows]
    said = [row | {"verdict": place % 3 > 0} for place, row in enumerate(bare)]
    tables = {
        "answers": rows,
        "some": random.Random(0).sample(rows, 120),
        "unlabelled": said,
        "base": [row for row in rows if row["system"] == "terse"],
        "new": [row for row in rows if row["system"] == "chatty"],
        "related": [row | {"verdict": row["label"] > 0, "judge": "one"} for row in rows],
    }
    made = {}
    for name, table in tables.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in table), "utf-8")
        made[name] = str(path)
    markscheme.judge(
        made["answers"], judges=["contains", "token_f1"], slices=["topic"], out=folder / RUN
    )
    return made


def tables_of(text: str) -> list[str]:
    """What was printed, a part for each table with its notes; the lead is of the first table."""
    lead, *tables = re.split(r"^### ", text, flags=re.MULTILINE)
    return [lead + tables[0], *tables[1:]] if tables else [lead]


def plain(markdown: str) -> str:
    """Without the backslashes before signs."""
    return re.sub(r"\\([^\w\s])", r"\1", markdown)


def unspoken(text: str) -> list[str]:
    """The parts that show an interval and do not say of what it speaks."""
    spoken = [(part, SPEAKS.search(" ".join(part.split()))) for part in tables_of(text)]
    return [part for part, sentence in spoken if INTERVAL.search(part) and not sentence]


def unexplained(text: str) -> list[str]:
    """The parts that show an interval or a test and no method."""
    return [
        part
        for part in tables_of(text)
        if (INTERVAL.search(part) or TEST.search(part)) and not WORD.search(part)
    ]


@pytest.mark.parametrize("name", cases(COMMANDS))
def test_what_is_printed_says_its_method(
    name: str,
    files: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(files["answers"]).parent)
    command = re.split(r" (?:--|without)", name)[0]
    words = [one.format(**files) for one in COMMANDS[name]]
    as_text = [] if command == "judge" else ["--format", "markdown"]
    code = run([*command.split(), *words, *as_text])
    out, err = capsys.readouterr()
    assert code == (1 if command == "judge" else 0), err
    shown = out + err if command == "judge" else plain(out)
    assert INTERVAL.search(shown) or TEST.search(shown), shown
    assert unexplained(shown) == []
    assert unspoken(shown) == []


def test_a_table_without_a_method_is_found() -> None:
    assert unexplained("### Agreement\n| a | 80.6 [73.9, 86.0] |\n")
    assert unexplained("### Agreement\n| a | 80.6 (73.9 to 86.0) |\n")
    assert unexplained("### Flips\n| probe | 95% interval |\n|---|---|\n| a | 0.0 to 11.9 |\n")
    assert unexplained("### Tests\n| judge | p |\n")
    table = "### Agreement\n| a | 80.6 [73.9, 86.0] |\n"
    assert unspoken(f"{table}\n95% intervals: wilson\n")
    about = "further questions like these 62, according to the labels"
    spoken = f"95% intervals (wilson) are for {about}"
    assert not unexplained(f"{table}\n{spoken} (all 62 answers)\n")
    assert not unspoken(f"{table}\n{spoken} (all 62 answers)\n")


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ({}, "further questions like these, according to a"),
        ({"questions": 62}, "further questions like these 62, according to a"),
        ({"questions": 62, "answers": 62}, "further questions like these 62, according to a"),
        ({"questions": 62, "answers": 1240},
         "further questions like these 62, counted by question, according to a"),
        ({"questions": 1062, "answers": 2124, "unit": PAIRED},
         "further questions like these 1,062, paired by question, according to a"),
        ({"answers": 1240}, "further answers like these 1,240, according to a"),
        ({"questions": 62, "answers": 1240, "further": False},
         "these 1,240 answers alone, according to a"),
        ({"questions": 1}, "further questions like this one, according to a"),
        ({"answers": 1, "further": False}, "this answer alone, according to a"),
    ],
)  # fmt: skip
def test_a_population_is_said_by_what_is_known(numbers: dict[str, Any], sentence: str) -> None:
    assert population(by_judges(["a"]), **numbers) == sentence


def test_by_whose_word() -> None:
    assert by_judges(["a", "a"]) == "according to a"
    assert by_judges(["a", "b"]) == "according to each judge"
    assert by_labels(120, 1248) == "according to the labels (120 of 1,248 answers)"
    assert by_labels(1248, 1248) == "according to the labels (all 1,248 answers)"


@needs_research
def test_every_command_is_called_or_known_to_print_none() -> None:
    called = {re.split(r" (?:--|without)", name)[0] for name in COMMANDS}
    assert called | NONE | ELSEWHERE == set(commands())
    assert not called & NONE


@pytest.mark.proof(area="statistics")
def test_a_report_says_the_methods(files: dict[str, str], tmp_path: Path) -> None:
    rows = Path(files["answers"]).read_text("utf-8").splitlines()[:60]
    (tmp_path / "few.jsonl").write_text("\n".join(rows), "utf-8")
    markscheme.judge(tmp_path / "few.jsonl", judges=["token_f1"], out=tmp_path / "few")
    made = markscheme.report(tmp_path / "few", tmp_path / "report.html")
    for table in made.tables:
        assert unexplained(plain(table.markdown())) == []
        assert unspoken(plain(table.markdown())) == []
    assert any(INTERVAL.search(plain(table.markdown())) for table in made.tables)


def test_drift_says_its_method(tmp_path: Path) -> None:
    rows = [
        {"question": f"Number {n}?", "references": ["x"], "answer": f"a {n}", "label": 1}
        for n in range(20)
    ]
    models = Models(chat=ScriptedChat(replies=lambda _: "Yes", name="gpt"), options=ModelOptions())
    start = datetime(2026, 11, 1, tzinfo=UTC)
    for day in range(2):
        found = drift(rows, judges=["llm_kamalloo"], models=models, folder=tmp_path,
                      now=start + timedelta(days=day))  # fmt: skip
    shown = found.to_markdown()
    assert TEST.search(shown)
    assert unexplained(shown) == []


def test_the_documents_explain_every_word() -> None:
    words = (DOCS / "coverage.md").read_text("utf-8").split("## The words")[1].split("\n## ")[0]
    first = re.findall(r"^\| (`[^|]+`) \|", words, flags=re.MULTILINE)
    explained = {word for cell in first for word in re.findall(r"`([\w-]+)`", cell)}
    assert explained == set(METHODS)


@pytest.mark.parametrize(
    "call",
    [
        lambda files: markscheme.agree(files["run"]),
        lambda files: markscheme.compare(files["run"]),
        lambda files: markscheme.estimate(files["run"], files["some"], judge="token_f1"),
        lambda files: markscheme.diff(files["base"], files["new"], judge="contains"),
        lambda files: markscheme.rank(files["run"]),
    ],
)
def test_result_objects_say_the_method_of_every_interval(
    call: Callable[[dict[str, str]], Any], files: dict[str, str]
) -> None:
    run = str(Path(files["answers"]).parent / RUN)
    data = json.loads(call(files | {"run": run}).to_json())
    found = list(bounded(data))
    assert found
    assert [one for one in found if one.get("method", one.get("interval")) not in METHODS] == []


def bounded(value: Any) -> Iterator[dict[str, Any]]:
    """The objects that have an interval."""
    if isinstance(value, dict):
        if value.get("low") is not None:
            yield value
        for part in value.values():
            yield from bounded(part)
    elif isinstance(value, list):
        for part in value:
            yield from bounded(part)
