"""What somebody edited who knows the formats is refused, or judged again, and never sealed."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from edits import FORMATS
from piece_edits import EDITS, KEY, NAMINGS, Runs, attempt, judged, verdicts

from markscheme.engine.run_folder import Bound, RunFolder
from markscheme.errors import RunError

FOUND = {"refused", "judged again", "warned", "harmless"}


@pytest.fixture(params=["signed", "unsigned"])
def signed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.delenv(KEY, raising=False)
    if request.param == "signed":
        monkeypatch.setenv(KEY, "secret")
    return bool(request.param == "signed")


@pytest.fixture
def runs(signed: bool, tmp_path: Path) -> tuple[Runs, bool]:
    return Runs.made(tmp_path), signed


def attempts(runs: Runs, signed: bool, work: Path, seeds: range) -> dict[str, Counter[str]]:
    """Outcomes by edit; no edit is accepted, but where every digest could be made again."""
    found: dict[str, Counter[str]] = {edit: Counter() for edit in EDITS}
    for seed in seeds:
        for place, edit in enumerate(EDITS):
            naming = NAMINGS[(seed + place) % len(NAMINGS)]
            outcome = attempt(seed, edit, naming, runs, work)
            if outcome == "accepted" and not signed and naming == NAMINGS[2]:
                outcome = "every digest made again"
            else:
                assert outcome in FOUND, f"{edit}, {naming}, seed {seed}: {outcome}"
            found[edit][outcome] += 1
    return found


@pytest.mark.parametrize("seed", range(3))
def test_edited_pieces_are_judged_again(runs: tuple[Runs, bool], tmp_path: Path, seed: int) -> None:
    found = sum(attempts(*runs, tmp_path / "work", range(seed, seed + 1)).values(), Counter())
    assert found["judged again"] > len(EDITS) / 2, found


def edits_of(name: str, signed: bool, folder: Path, seeds: range) -> Counter[str]:
    """Outcomes of edits of a format, each second one with every digest made again; none of them is
    accepted, but such a one where no secret is set."""
    folder.mkdir()
    attempt = FORMATS[name][1](folder)
    found: Counter[str] = Counter()
    for seed in seeds:
        forged = seed % 2 == 1
        outcome = attempt(random.Random(f"{name} {seed}"), forged)
        if outcome == "accepted" and forged and not signed:
            outcome = "every digest made again"
        else:
            assert outcome in FOUND, f"{name}, seed {seed}, forged: {forged}: {outcome}"
        found[outcome] += 1
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_edited_files_are_refused(name: str, signed: bool, tmp_path: Path) -> None:
    found = edits_of(name, signed, tmp_path / "edited", range(12))
    assert found["refused"] >= 4, found


@pytest.mark.timeout(1200)
@pytest.mark.proof(area="attacks")
def test_ten_thousand_edits(
    runs: tuple[Runs, bool], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """5,000 each, with a secret and without; records rows of a table of docs/robustness.md."""
    pieces = attempts(*runs, tmp_path / "work", range(100, 133))
    found = {"pieces of unfinished runs": sum(pieces.values(), Counter())}
    for name, (count, _) in FORMATS.items():
        found[name] = edits_of(name, runs[1], tmp_path / name, range(count))
    for name, of in found.items():
        refused = of["refused"] + of["judged again"]
        rest = f"{of['warned']} | {of['harmless']} | {of['every digest made again']}"
        secret = "yes" if runs[1] else "no"
        record_property("edit", f"{name} | {secret} | {of.total():,} | {refused:,} | {rest}")
    assert sum(of.total() for of in found.values()) == 5_000


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
