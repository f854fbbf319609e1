"""A colleague's labels in a column of the answers: offered, read, and every advice obeyed."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from markscheme import agree, estimate
from markscheme.cli import run
from markscheme.tables import AnswersReader, ReadOptions

Cli = Callable[..., tuple[str, str]]

CITIES = ("Paris", "Rome", "Oslo", "Bern", "Wien", "Prague", "Lisbon", "Madrid", "Dublin", "Riga")
SYSTEMS = ("alpha", "beta", "gamma")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, code: int = 0) -> tuple[str, str]:
        ended = run([str(one) for one in arguments])
        printed = capsys.readouterr()
        assert ended == code, printed.err
        return printed.out, printed.err

    return call


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """360 answers under names of their own, 60 drawn and called right or wrong."""
    path = tmp_path / "answers.csv"
    drawn = set(random.Random(4).sample(range(360), 60))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "gold", "model", "response", "colleague", "note"])
        for n in range(360):
            question, system = divmod(n, len(SYSTEMS))
            city = CITIES[question % len(CITIES)]
            right = (question + system) % 3 > 0
            answer = f"It is {city}." if right else f"Not {city} but {CITIES[question % 7 - 3]}."
            said = ("right" if right else "wrong") if n in drawn else ""
            row = [f"City {question}?", city, SYSTEMS[system], answer, said, f"n{n}"]
            writer.writerow(row)
    return path


@pytest.fixture
def told(file: Path) -> pl.DataFrame:
    """The rows that the colleague labelled."""
    return pl.read_csv(file).filter(pl.col("colleague").is_not_null())


def test_a_column_of_verdicts_is_offered_and_reading_it_leads_on(cli: Cli, file: Path) -> None:
    _, said = cli("judge", file, "-j", "contains", "-o", "runs/plain")
    offer = re.search(r"colleague: (\S+) on (\d+) of (\d+) rows.*(--columns \S+)", said)
    assert offer is not None
    assert offer.groups()[:3] == ("right/wrong", "60", "360")
    assert "agree" not in said
    columns = shlex.split(offer[4])
    _, said = cli("judge", file, "-j", "contains", "-o", "runs/labelled", *columns)
    assert "people's labels?" not in said
    advised = re.findall(r"markscheme (\w+ runs/labelled[^\n]*?)  # ", said)
    assert [line.split()[0] for line in advised] == ["agree", "estimate", "failures", "report"]
    for line in advised:
        shown, _ = cli(*shlex.split(line))
        assert shown


def test_labels_that_are_not_in_the_run_are_asked_for_so_that_it_works(
    cli: Cli, file: Path
) -> None:
    cli("judge", file, "-j", "contains", "-o", "runs/plain", "-q")
    wants = (("agree", ()), ("estimate", ()), ("failures", ("--judge-errors",)))
    for command, options in wants:
        for given in ((), ("--label-column", "colleague")):
            if command == "failures" and not given:
                continue  # without labels it lists what is rejected
            _, said = cli(command, "runs/plain", *options, *given, code=2)
            advice = re.search(r"--labels FILE( --label-column \S+)?", said)
            assert advice is not None, said
            named = shlex.split(advice[0].replace("FILE", str(file)))
            named += [] if given else ["--label-column", "colleague"]
            shown, _ = cli(command, "runs/plain", *options, *named)
            assert shown
            again = re.search(r"--columns label=\S+", said)
            assert again is not None, said
            cli("judge", file, "-j", "contains", "-o", f"runs/{command}{len(given)}", "-q",
                *shlex.split(again[0].replace("COLUMN", "colleague").rstrip(",")))  # fmt: skip


def test_the_answer_comes_first_and_the_errors_can_be_read(
    cli: Cli, file: Path, told: pl.DataFrame
) -> None:
    cli("judge", file, "-j", "contains", "-o", "runs/r", "-q", "--columns", "label=colleague")
    shown, _ = cli("agree", "runs/r", "--errors", "errors.csv")
    wrong = told.filter(pl.col("colleague") == "wrong").height
    first = shown.splitlines()[0]
    assert re.fullmatch(
        rf"contains agrees with people on \d+% \(\d+ to \d+\) of 60 answers: it accepts {wrong} of "
        rf"the {wrong} that they reject, and rejects 0 of the {60 - wrong} that they accept", first
    ), first  # fmt: skip
    assert "Wrong answers that contains accepts" in shown
    one = pl.read_csv("errors.csv")["system"][0]
    result = agree("runs/r")
    joined = result.errors
    assert joined is not None
    assert joined["system"].n_unique() == 3
    alone = pl.read_csv(file).with_columns(
        colleague=pl.when(pl.col("model") == one).then("colleague")
        .when(pl.col("colleague").is_not_null()).then(pl.lit("right"))
    )  # fmt: skip
    alone.write_csv("alone.csv")
    cli("judge", "alone.csv", "-j", "contains", "-o", "runs/alone", "-q", "--columns",
        "label=colleague")  # fmt: skip
    table = next(each for each in agree("runs/alone").tables if each.title.startswith("Wrong"))
    assert [row[0] for row in table.rows] == [one] * len(table.rows)
    assert table.header[0] == "system"
    errors = pl.read_csv("errors.csv")
    assert errors["judge_error"].to_list() == ["false pass"] * wrong
    assert errors["answer"].str.starts_with("Not ").all()
    assert json.loads(errors["references"][0]) == [errors["answer"][0].split()[1]]
    found = agree("runs/r")
    assert found.errors is not None
    assert found.errors.height == wrong


def test_every_system_has_what_its_own_labels_say(cli: Cli, file: Path, told: pl.DataFrame) -> None:
    cli("judge", file, "-j", "contains", "-o", "runs/r", "-q", "--columns", "label=colleague")
    shown, _ = cli("estimate", "runs/r", "--by", "system")
    lead = shown.splitlines()[:4]
    assert re.match(
        r"People would accept \d+% \(\d+ to \d+\) of the 360 answers and others like them, "
        "by the labels alone; contains's scores alone say 100%$",
        lead[0],
    )
    assert "(all): the judge adds nothing here" in shown
    for line, system in zip(lead[1:], SYSTEMS, strict=True):
        count = told.filter(pl.col("model") == system).height
        assert line.endswith("; contains's scores alone say 100%")
        if count < 20:
            assert line.startswith(
                f"Too few labels for a share of {system}'s answers ({count}; 20 "
            )
        else:
            assert f"of {system}'s answers and others like them, by the labels alone; " in line
            assert f"{system}: the judge adds nothing here" in shown
    table = estimate("runs/r", by="system").tables[0]
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=True))
        few = int(cells["labelled"]) < 20
        assert (cells["people would say"] == "too few labels") is few
        assert re.match(r"\d+\.\d \[", cells["by labels alone"])
        assert few or cells["people would say"] == cells["by labels alone"]
    shown, _ = cli("compare", "runs/r", "--systems")
    assert "What people would say" in shown
    assert "what its own few labels say" not in shown  # All have labels of ten questions.
    assert "needed are labels of" not in shown


@pytest.mark.parametrize(
    ("cells", "offered"),
    [
        (["yes", "no", None, "Yes"], True),
        ([True, False, None, None], True),
        ([1, 0, 1, None], True),
        ([1.0, 0.0, None, None], True),
        (["richtig", "falsch", "", "?"], True),
        (["1", "1", "1", "1"], False),
        (["a", "no", "yes", "no"], False),
        ([1, 2, 3, 0], False),
        ([["yes"], ["no"], [], []], False),
        ([None, None, None, None], False),
    ],
)
def test_what_is_offered_as_labels(cells: list[object], offered: bool) -> None:
    rows = [
        {"question": f"q{n}", "references": ["a"], "answer": "a", "colleague": cell}
        for n, cell in enumerate(cells)
    ]
    reader = AnswersReader([rows])
    assert len(list(reader)) == 1
    assert bool(reader.met.offered) is offered
    labelled = AnswersReader([[row | {"label": 1} for row in rows]])
    assert list(labelled)
    assert not labelled.met.offered


def test_a_label_column_without_a_label_is_named() -> None:
    row = {"question": "q", "references": ["a"], "answer": "a"}
    reader = AnswersReader([[row | {"human": None}, row | {"human": ""}]],
                           ReadOptions(columns={"label": "human"}))  # fmt: skip
    assert list(reader)
    assert reader.met.offered == ["human: no row has a label"]
