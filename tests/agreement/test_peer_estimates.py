"""How the laboratory calls ppi_py, glide-py and truescore, and the table that it wrote of them."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from markscheme.stats import Sample

needs_peers = pytest.mark.proof(area="statistics")  # ppi_py compiles for seconds when imported


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("markscheme_research")  # the laboratory reads its data sets
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    return importlib.import_module("benchmarks.peer_estimates")


def drawn(peers: Any, *, each: int, labels: str) -> Sample:
    _, sample = peers.labelled_answers(
        np.random.default_rng(4), answers=400, each=each, alike=0.4 if each > 1 else 0.0,
        labels=labels, accuracy=0.7, judge=(0.9, 0.8),
    )  # fmt: skip
    assert int(sample.labelled.sum()) == 100
    return sample


def too_little(peers: Any, rate: float, draws: int) -> bool:
    cell = peers.Cell(part="", world="", method="", rate=rate, alarm=False, draws=draws)
    return bool(peers.covers_too_little(cell))


def test_labels_by_question_leave_no_question_half_labelled(peers: Any) -> None:
    sample = drawn(peers, each=5, labels="100 by question")
    by_question = sample.labelled.reshape(-1, 5)
    assert int(by_question.all(axis=1).sum()) == 20
    assert (by_question.all(axis=1) == by_question.any(axis=1)).all()
    assert len(peers.whole_questions(sample).labels) == 400


def test_only_unlabelled_answers_to_partly_labelled_questions_are_dropped(peers: Any) -> None:
    sample = drawn(peers, each=5, labels="100")
    rest = peers.whole_questions(sample)
    labelled, unlabelled = rest.clusters[rest.labelled], rest.clusters[~rest.labelled]
    assert sorted(labelled) == sorted(sample.clusters[sample.labelled])
    assert not set(labelled) & set(unlabelled)
    assert set(labelled) | set(unlabelled) == set(range(80))
    assert peers.whole_questions(drawn(peers, each=200, labels="100")) is None


@needs_peers
def test_the_packages_agree_on_single_answers(peers: Any) -> None:
    """They divide variances by n or n - 1; points are those of one formula."""
    pytest.importorskip("ppi_py")
    pytest.importorskip("truescore")
    sample = drawn(peers, each=1, labels="100")
    low, high = peers.ppi_py_interval(sample)
    assert peers.truescore_interval(sample) == pytest.approx((low, high), abs=0.003)
    assert sum(peers.truescore_interval(sample)) == pytest.approx(low + high, abs=1e-9)


@needs_peers
def test_glide_agrees_with_ppi_py_on_single_answers(peers: Any) -> None:
    pytest.importorskip("glide")
    pytest.importorskip("ppi_py")
    sample = drawn(peers, each=1, labels="100")
    found = peers.glide_interval(sample)
    assert found == pytest.approx(peers.ppi_py_interval(sample), abs=0.003)
    assert peers.glide_interval(sample, clustered=True) == pytest.approx(found, abs=1e-9)


@needs_peers
@pytest.mark.parametrize(("package", "name"), [("glide", "glide"), ("truescore", "truescore")])
def test_clusters_widen_the_intervals_of_others(peers: Any, package: str, name: str) -> None:
    pytest.importorskip(package)
    interval = getattr(peers, f"{name}_interval")
    sample = drawn(peers, each=10, labels="100 by question")
    (low, high), (least, most) = interval(sample), interval(sample, clustered=True)
    assert high - low < most - least
    few = drawn(peers, each=80, labels="100")  # labels of all five questions: none is left
    labels = few.labels[few.labelled]
    assert np.mean(interval(few, clustered=True)) == pytest.approx(
        np.mean([labels[few.clusters[few.labelled] == question].mean() for question in range(5)])
        if package == "glide" else labels.mean(), abs=1e-9,
    )  # fmt: skip


def test_a_refused_interval_is_not_counted(peers: Any) -> None:
    def refuses(_sample: Sample) -> tuple[float, float]:
        raise ValueError("constant")

    from benchmarks.worlds import Tally

    tally, design = Tally(), peers.DESIGNS[0]
    methods = {"refuses": refuses, "unknown": lambda _: (np.nan, np.nan), "Wald": peers.wald}
    peers.note_intervals(tally, np.random.default_rng(0), design=design, methods=methods)
    assert set(tally.seen) == {*peers.OURS.values(), "Wald"}


def test_too_little_is_below_the_bound_by_more_than_the_chance_of_the_draws(peers: Any) -> None:
    assert not too_little(peers, 0.927, 300)
    assert not too_little(peers, 0.92, 1000)
    assert too_little(peers, 0.91, 1000)
    assert too_little(peers, 0.92, 10_000)


def test_the_page_has_a_row_a_world_and_a_column_a_method(peers: Any) -> None:
    page = (peers.DOCS / "coverage.md").read_text()
    made = page.split("<!-- peer estimates -->\n")[1].split("<!-- end of peer estimates -->")[0]
    rows = [line[2:-2].split(" | ") for line in made.splitlines() if line.startswith("| ")]
    assert rows[0] == ["world", *peers.COLUMNS]
    assert len(rows) - 1 == len(peers.DESIGNS) <= 16
    draws = int(re.search(r"; ([\d,]+) draws", made)[1].replace(",", ""))  # type: ignore[index]
    for design, (world, *entries) in zip(peers.DESIGNS, rows[1:], strict=True):
        assert world == design.name.replace("|", ", ")
        for name, entry in zip(peers.COLUMNS, entries, strict=True):
            if not design.suits(name):
                assert entry == "-"
                continue
            shape = r"(\*\*)?(\d+\.\d)(\*\*)? / \d+\.\d( \(none (\d+\.\d)%\))?"
            found = re.fullmatch(shape, entry)
            assert found, entry
            used = round(draws * (1 - float(found[5] or 0) / 100))
            near = (float(found[2]) + rounded for rounded in (-0.05, 0.05))
            assert bool(found[1]) in {too_little(peers, rate / 100, used) for rate in near}, entry
    for name in peers.COLUMNS:
        assert f"- {name}: too low in " in made
    assert peers.page_part(peers.read_cells(peers.FILE), draws) in made
    for peer in peers.PACKAGES:
        assert re.search(rf"{peer.package} \d+\.\d+", made)


@needs_peers
def test_the_row_of_these_answers_comes_out_as_the_page_says(peers: Any) -> None:
    """The draws are those of the page, whatever packages are installed."""
    row = peers.DESIGNS[-1].name
    (world,) = (world for world in peers.worlds(()) if world.name == row)
    page = (peers.DOCS / "coverage.md").read_text()
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {peers._plain(row)} |"))
    shown = dict(zip(peers.COLUMNS, line[2:-2].split(" | ")[1:], strict=True))
    drawn = {
        cell.method: peers._entry(cell, peers.DRAWS) for cell in world.draw(peers.DRAWS, peers.SEED)
    }
    assert drawn.keys() == {*peers.OURS.values(), *peers.SIMPLE}
    assert drawn == {name: shown[name] for name in drawn}
