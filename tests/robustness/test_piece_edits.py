"""Pieces of an unfinished run that somebody edited, who knows the format, never reach a seal."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from piece_edits import EDITS, KEY, NAMINGS, Runs, attempt, judged, verdicts

from markscheme.engine.run_folder import Bound, RunFolder
from markscheme.errors import RunError

FOUND = {"refused", "judged again", "harmless"}


@pytest.fixture(params=["signed", "unsigned"])
def runs(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Runs, bool]:
    signed = request.param == "signed"
    monkeypatch.delenv(KEY, raising=False)
    if signed:
        monkeypatch.setenv(KEY, "secret")
    return Runs.made(tmp_path), signed


def attempts(runs: Runs, signed: bool, work: Path, seeds: range) -> dict[str, Counter[str]]:
    """Outcomes by edit; no edit is accepted, but where every digest could be made again."""
    found: dict[str, Counter[str]] = {edit: Counter() for edit in EDITS}
    for seed in seeds:
        for edit in EDITS:
            naming = NAMINGS[seed % len(NAMINGS)]
            outcome = attempt(seed, edit, naming, runs, work)
            if outcome == "accepted" and not signed and naming == NAMINGS[2]:
                outcome = "every digest made again"
            else:
                assert outcome in FOUND, f"{edit}, {naming}, seed {seed}: {outcome}"
            found[edit][outcome] += 1
    return found


def test_edited_pieces_are_judged_again(runs: tuple[Runs, bool], tmp_path: Path) -> None:
    found = attempts(*runs, tmp_path / "work", range(3))
    assert (
        sum((Counter(one) for one in found.values()), Counter())["judged again"]
        > 2 * len(EDITS) - 8
    )


@pytest.mark.timeout(900)
@pytest.mark.proof(area="attacks")
def test_two_thousand_edits(runs: tuple[Runs, bool], tmp_path: Path) -> None:
    """1,008 edits each, with a secret and without."""
    found = attempts(*runs, tmp_path / "work", range(100, 163))
    assert sum(one.total() for one in found.values()) == 1008
    for edit, outcomes in found.items():
        print(f"{'signed' if runs[1] else 'unsigned'} | {edit} | {dict(sorted(outcomes.items()))}")


def test_what_is_whole_is_not_judged_again(runs: tuple[Runs, bool]) -> None:
    report = judged(runs[0].answers, runs[0].kept)
    assert report.resumed == 60 + 16
    assert report.damaged == []
    assert verdicts(runs[0].kept).equals(runs[0].right)


def test_a_run_goes_on_with_the_secret_it_was_begun_with(
    runs: tuple[Runs, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, signed = runs
    for secret in ("another", "") if signed else ("another",):
        monkeypatch.setenv(KEY, secret)
        with pytest.raises(RunError, match="was begun with another MARKSCHEME_SEAL_KEY"):
            judged(ours.answers, ours.kept)
    assert len(list((ours.kept / "parts").glob("judgments-*"))) == 3


def test_a_piece_that_is_changed_while_the_run_goes_on_is_one_error(
    runs: tuple[Runs, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, _ = runs
    joined = RunFolder.join_parts

    def changed(self: RunFolder, prefix: str, name: str) -> None:
        file = sorted(self.parts.glob("judgments-000000-000-*"))[0]
        pl.read_parquet(file).with_columns(verdict=pl.lit(value=True)).write_parquet(file)
        joined(self, prefix, name)

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "join_parts", changed)
        with pytest.raises(RunError, match="was changed during the run"):
            judged(ours.answers, ours.kept)
    assert judged(ours.answers, ours.kept).damaged == ["judgments-000000-000"]
    assert verdicts(ours.kept).equals(ours.right)


def test_a_run_that_an_early_version_began_is_judged_again(runs: tuple[Runs, bool]) -> None:
    ours, _ = runs
    plan = json.loads((ours.kept / "run.json").read_text())
    del plan["run"]
    (ours.kept / "run.json").write_text(json.dumps(plan))
    report = judged(ours.answers, ours.kept)
    assert report.resumed == 0
    assert "judgments-000000-000" in report.damaged
    assert verdicts(ours.kept).equals(ours.right)


def test_a_piece_is_bound_to_the_ledger_pieces_before_it(tmp_path: Path) -> None:
    frame, schema = pl.DataFrame({"key": ["k"]}), {"key": pl.String}

    def opened(used: int) -> RunFolder:
        folder = RunFolder(tmp_path)
        folder.run, folder.used = "id", used
        folder.list_parts()
        return folder

    folder = opened(1)
    with folder.writing():
        folder.write_part("judgments-000000-000", frame, Bound())
    assert opened(1).read_part("judgments-000000-000", Bound(), schema) is not None
    less = opened(0)
    assert less.read_part("judgments-000000-000", Bound(), schema) is None
    assert less.damaged == ["judgments-000000-000"]
