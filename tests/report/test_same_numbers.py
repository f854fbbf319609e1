"""Every number of a report is the one that its command gives."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.agreement import InMemory, open_run
from markscheme.reports.material import Material, read_material
from markscheme.reports.payload import payload
from markscheme.reports.section import Section
from markscheme.reports.sections.order import sections
from markscheme.results import p_text

JUDGES = ["exact_match", "contains"]


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory, example: Path) -> Path:
    """The bundled example judged, with the labels of a random half of its questions."""
    folder = tmp_path_factory.mktemp("half") / "run"
    rows = pl.read_ndjson(example)
    label = next(name for name in ("label", "human", "correct") if name in rows.columns)
    chosen = rows["question"].unique(maintain_order=True).sample(fraction=0.5, seed=7).implode()
    labels = pl.when(pl.col("question").is_in(chosen)).then(pl.col(label, "annotator_labels"))
    markscheme.judge(rows.with_columns(labels.name.keep()), JUDGES, out=folder)
    return folder


def _by_key(material: Material) -> dict[str, Section]:
    return {one.key: one for one in sections(material)}


def _numbers(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+\.\d+|-?\d+", text)]


def test_the_estimate_comes_first_and_is_that_of_the_command(half: Path) -> None:
    material = read_material(half)
    section = sections(material)[0]
    assert section.key == "people"
    found = markscheme.estimate(half, judge=JUDGES[-1], by="system")
    assert section.table == found.tables[0]


def test_accuracy_is_that_of_judging(half: Path, example: Path) -> None:
    section = _by_key(read_material(half))["accuracy"]
    summary = markscheme.judge(example, JUDGES).summary
    for system, *cells in section.table.rows:
        for judge, cell in zip(JUDGES, cells, strict=True):
            row = summary.filter(judge=judge, system=system).row(0, named=True)
            wanted = [100 * row[name] for name in ("accuracy", "accuracy_low", "accuracy_high")]
            assert _numbers(cell)[:3] == pytest.approx(wanted, abs=0.051)


@pytest.mark.parametrize("labelled", ["half", "all"])
def test_pairs_are_those_of_compare(labelled: str, half: Path, run_folder: Path) -> None:
    material = read_material(half if labelled == "half" else run_folder)
    rows = _by_key(material)["pairs"].table.rows
    if labelled == "half":
        found = markscheme.compare(half, systems=True, judges=JUDGES[-1])
        differences = [one.difference for one in found.people]
        chances = [one.p_holm for one in found.people]
    else:  # People's labels are compared as a judge's verdicts are.
        people = open_run(run_folder).answers.select(
            "question", "answer", "system", "answer_id", verdict=pl.col("label") > 0,
            judge=pl.lit("people"),
        )  # fmt: skip
        found = markscheme.compare(people, systems=True)
        differences = [one.difference for one in found.pairs]
        chances = [one.p_holm for one in found.pairs]
    assert [row[:2] for row in rows] == [(one.first, one.second) for one in found.pairs]
    for row, pair, difference, chance in zip(rows, found.pairs, differences, chances, strict=True):
        assert difference.value is not None
        assert _numbers(row[2])[0] == pytest.approx(100 * difference.value, abs=0.051)
        assert row[3:5] == (f"{pair.only_first:,}", f"{pair.only_second:,}")
        assert chance is not None
        assert row[5] == p_text(chance)


def test_tables_say_of_what_answers_and_by_whom(half: Path, run_folder: Path) -> None:
    found = _by_key(read_material(half))
    titles = [one.table.title for one in found.values()]
    assert len(titles) == len(set(titles))
    counts = ("only first right, by contains", "only second right, by contains", "p (Holm)")
    assert found["pairs"].table.header[3:] == counts
    counts = ("only first right", "only second right", "p (Holm)")
    assert _by_key(read_material(run_folder))["pairs"].table.header[3:] == counts


def test_unsure_is_what_the_summary_counts() -> None:
    """A verdict that is lacking is another filter's, and a near score is no word of the judge."""
    rows = [{"question": f"q{n}", "references": ["ten"], "answer": "nine"} for n in range(4)]
    found = markscheme.judge(rows, "exact_match")
    judgments = found.judgments.with_columns(
        verdict=pl.Series([True, True, None, False]),
        score=pl.Series([0.55, 0.58, None, 0.1]),
        explanation=pl.Series(["equivalent (0.55, unsure)", "equivalent (0.58)", None, "no"]),
        status=pl.Series(
            ["judged", "judged", "failed", "judged"], dtype=found.judgments["status"].dtype
        ),
        scope=pl.Series(["inside", "inside", None, "inside"]),
    )
    material = read_material(InMemory(judgments, open_run(found).answers))
    (one,) = payload(material, live=False)["judges"]
    assert one["unsure"] == [0]
    assert material.records[-1]["unsure"] == 1


def test_runs_are_those_of_diff(example: Path) -> None:
    found = markscheme.judge(example, "contains")
    answers, one = open_run(found).answers, found.judgments
    turned = pl.when(pl.int_range(pl.len()) % 7 == 0).then(~pl.col("verdict"))
    other = one.with_columns(turned.otherwise(pl.col("verdict")).alias("verdict"))
    sides = [InMemory(judgments, answers) for judgments in (one, other)]
    ((*_, difference, only_first, only_second, p, judge),) = _by_key(
        read_material(sides[0], compare=sides[1:])
    )["runs"].table.rows
    change = markscheme.diff(sides[1], sides[0])
    assert judge == change.judge
    assert change.comparison.difference.value
    wanted = [change.comparison.difference.value, change.comparison.difference.low,
              change.comparison.difference.high]  # fmt: skip
    assert _numbers(difference)[:3] == pytest.approx([100 * side for side in wanted], abs=0.051)
    assert [int(only_first), int(only_second)] == [change.counts["better"], change.counts["worse"]]
    assert p == p_text(change.comparison.p.value)


def test_agreement_is_that_of_agree(half: Path) -> None:
    table = _by_key(read_material(half))["agreement"].table
    found = markscheme.agree(half)
    by_command = {row[0]: row for row in found.tables[0].rows}
    header = found.tables[0].header
    for row in table.rows:
        other = dict(zip(header, by_command[row[0]], strict=True))
        for name, cell in zip(table.header[1:], row[1:], strict=True):
            if name in other:
                assert cell == other[name]


def test_errors_of_judges_and_modes_are_counted_as_by_failures(half: Path) -> None:
    material = read_material(half)
    found = markscheme.failures(half, labels=half, judge_errors=True).data
    names = ("judge", "error", "category")
    by_command = pl.DataFrame(found["judge_errors"]).group_by(names).len().sort(names)
    assert by_command.height > 1
    assert material.errors.group_by(names).len().sort(names).equals(by_command)
    modes = pl.DataFrame(found["modes"])
    assert material.modes["mode"].sort().to_list() == modes["mode"].sort().to_list()


def test_other_tools_judgments_are_reported_with_their_answers(
    example: Path, tmp_path: Path
) -> None:
    rows = pl.read_ndjson(example).head(40)
    judged = markscheme.judge(rows, "contains")
    bare = judged.judgments.select("answer_id", "verdict").join(
        judged.answers.select("answer_id", "question", "answer", "system"), on="answer_id"
    )
    bare.drop("answer_id").write_csv(tmp_path / "theirs.csv")
    rows.write_ndjson(tmp_path / "answers.jsonl")
    found = markscheme.report(
        tmp_path / "theirs.csv", tmp_path / "theirs.html", answers=tmp_path / "answers.jsonl"
    )
    assert found.answers == 40
    ours = markscheme.report(judged, tmp_path / "ours.html")
    names = ("system", "accuracy", "accuracy_low", "accuracy_high")
    assert found.frame.select(names).equals(ours.frame.select(names))


def test_a_judge_of_two_runs_has_its_own_threshold_in_both(example: Path, tmp_path: Path) -> None:
    rows = pl.read_ndjson(example).head(40)
    name = "token_f1(threshold=0.8)"
    for folder in ("a", "b"):
        markscheme.judge(rows, name, out=tmp_path / folder)
    alone = read_material(tmp_path / "a").errors.select("row", "category")
    both = read_material(tmp_path / "a", compare=[tmp_path / "b"])
    assert [one.name for one in both.judges] == [f"{name} (a)", f"{name} (b)"]
    for one in both.judges:
        assert both.errors.filter(judge=one.name).select("row", "category").equals(alone)
