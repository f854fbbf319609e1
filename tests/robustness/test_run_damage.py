"""A damaged run is detected or healed: no traceback, no wrong figure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from benchmarks.hostile import damages

import markscheme
from markscheme.cli import run
from markscheme.errors import RunError
from markscheme.tables.answers import AnswersReader
from markscheme.tables.read_options import ReadOptions
from markscheme.tables.seal import MANIFEST, bytes_digest, json_bytes, seal_of
from run_damage import JUDGES, Truth, answers, sealed_again, truth


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return answers(tmp_path_factory.mktemp("source") / "answers.jsonl")


@pytest.fixture(scope="module")
def finished(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    folder = tmp_path_factory.mktemp("finished") / "run"
    return folder, truth(source, folder)


@pytest.mark.proof(area="attacks")
@pytest.mark.timeout(1200)
def test_a_thousand_damages_are_detected_or_healed(
    record_property: Callable[[str, object], None],
) -> None:
    """Records a table of docs/robustness.md."""
    found = damages(1_000)
    for state, of in found.items():
        row = f"{state} | {of.total()} | {of['healed']} | {of['detected']} | {of['harmless']}"
        record_property("damage", row)
        assert of.total() == 500
    assert found["finished"]["healed"] + found["finished"]["detected"] > 250, found
    assert found["unfinished"]["healed"] > 125, found


def test_an_edited_summary_passes_no_gate(source: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "run"
    judge = ["judge", str(source), "-j", "exact_match", "-q", "-o", str(out)]
    assert run(judge) == 0
    summary = json.loads((out / "summary.json").read_text())
    for record in summary["figures"]:
        record["accuracy"] = 0.99
    (out / "summary.json").write_text(json.dumps(summary))
    capsys.readouterr()
    assert run([*judge, "--fail-under", "0.5"]) == 1
    said = capsys.readouterr()
    assert "gate FAILED" in said.err
    assert "summary.json" in said.err
    assert "99.0" not in said.out + said.err
    assert run(["verify", str(out)]) == 0


def test_commands_that_read_a_run_refuse_a_damaged_one(
    source: Path, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "run"
    markscheme.judge(source, JUDGES, out=out)
    for name, commands in {
        "judgments.parquet": (["agree", str(out)], ["compare", str(out)], ["report", str(out)]),
        "answers.parquet": (["agree", str(out)], ["report", str(out)]),
    }.items():
        content = (out / name).read_bytes()
        (out / name).write_bytes(content[:-20] + bytes(20))
        for command in commands:
            capsys.readouterr()
            assert run(command) == 2, command
            assert f"{name} was changed" in capsys.readouterr().err
        (out / name).write_bytes(content)
    assert run(["verify", str(out)]) == 0
    (out / "summary.md").write_text("x")
    assert run(["verify", str(out)]) == 1


@pytest.mark.parametrize("name", ["judgments.parquet", "answers.parquet", "summary.json"])
@pytest.mark.parametrize("sealed", [False, True])
def test_a_file_that_the_manifest_no_longer_lists_is_detected(
    name: str, sealed: bool, source: Path, tmp_path: Path, capsys: Any
) -> None:
    """Also where its line was taken out and the seal made anew, which needs no secret."""
    out = tmp_path / "run"
    judge = ["judge", str(source), "-j", "exact_match", "-q", "-o", str(out)]
    assert run(judge) == 0
    manifest = json.loads((out / MANIFEST).read_bytes())
    del manifest["files"][name]
    content = json_bytes(manifest)
    (out / MANIFEST).write_bytes(content)
    if sealed:
        plan = json.loads((out / "run.json").read_bytes())
        (out / "run.json").write_bytes(json_bytes(plan | seal_of(content)))
    capsys.readouterr()
    for command in (["verify", str(out)], ["agree", str(out)], ["report", str(out)]):
        if sealed and name == "summary.json" and command[0] != "verify":
            continue  # They compute the figures and never read that file.
        assert run(command) in (1, 2), command
        said = " ".join("".join(capsys.readouterr()).split())
        assert "was changed" in said or "is not part of" in said, said
    assert run(judge) == 0
    assert run(["verify", str(out)]) == (1 if sealed and name == "summary.json" else 0)


def test_a_signed_run_is_wanted_where_a_secret_is_set(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    markscheme.judge(source, JUDGES, out=out)
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    with pytest.raises(RunError, match="is not signed"):
        markscheme.verify(out)
    with pytest.raises(RunError, match="is not signed"):
        markscheme.judge(source, JUDGES, out=out)
    signed = tmp_path / "signed"
    markscheme.judge(source, JUDGES, out=signed)
    assert markscheme.verify(signed).data["signature"] == "valid"
    assert "secret" not in "".join(
        file.read_text(errors="replace") for file in signed.iterdir() if file.is_file()
    )
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "another")
    with pytest.raises(RunError, match="another secret"):
        markscheme.verify(signed)


def test_a_run_without_a_signature_is_judged_again_with_one(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As the error says that refuses it."""
    out = tmp_path / "run"
    judge = ["judge", str(source), "-j", "contains", "-q", "--out", str(out)]
    assert run(judge) == 0
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    capsys.readouterr()
    assert run(judge) == 2
    assert f"--out {out} --again'" in capsys.readouterr().err.replace("\n", " ")
    assert run([*judge, "--again"]) == 0
    assert markscheme.verify(out).data["signature"] == "valid"
    assert run(judge) == 0


def test_the_content_digest_does_not_depend_on_batches_or_kills(
    source: Path, finished: tuple[Path, Truth], tmp_path: Path
) -> None:
    kept, _ = finished
    wanted = markscheme.verify(kept).data["content"]
    markscheme.judge(source, JUDGES, out=tmp_path / "again")
    assert markscheme.verify(tmp_path / "again").data["content"] == wanted
    small = AnswersReader([source], ReadOptions(batch_rows=70))
    from markscheme.api import run as run_judges

    run_judges(small, [markscheme.parse_judge(name) for name in JUDGES], out=tmp_path / "small")
    assert markscheme.verify(tmp_path / "small").data["content"] == wanted


def test_a_run_that_failed_while_reading_leaves_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"question": "q"\n')
    with pytest.raises(markscheme.MarkschemeError):
        markscheme.judge(path, "exact_match", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


FORGERIES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "no judge": lambda table: table.drop("judge"),
    "words as verdicts": lambda table: table.with_columns(verdict=pl.lit("yes")),
    "a status of its own": lambda table: table.with_columns(status=pl.lit("odd")),
    "no rows": lambda table: table.clear(),
    "fewer rows": lambda table: table.head(1),
    "no ids": lambda table: table.with_columns(answer_id=pl.lit(None, dtype=pl.String)),
    "scores that are no numbers": lambda table: table.with_columns(score=pl.lit(float("nan"))),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_sealed_table_that_is_none_is_one_error_and_healed(
    forgery: str, source: Path, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "run"
    judge = ["judge", str(source), "-j", "exact_match", "-q", "-o", str(out)]
    assert run(judge) == 0
    right = (out / "judgments.parquet").read_bytes()
    FORGERIES[forgery](pl.read_parquet(out / "judgments.parquet")).write_parquet(
        out / "judgments.parquet"
    )
    sealed_again(out)
    assert run(["verify", str(out)]) == 1
    assert run(["report", str(out), "-o", str(tmp_path / "page.html")]) == 2
    assert "judgments.parquet" in capsys.readouterr().err
    assert run(judge) == 0
    assert (out / "judgments.parquet").read_bytes() == right
    assert run(["verify", str(out)]) == 0


@pytest.mark.parametrize(
    "manifest",
    ["[]", "7", '{"files": {}}', '{"files": {"a": 5}, "judges": [{"name": "x"}], "options": {}}'],
)
def test_a_sealed_manifest_that_is_none_is_one_error_and_healed(
    manifest: str, source: Path, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "run"
    judge = ["judge", str(source), "-j", "exact_match", "-q", "-o", str(out)]
    assert run(judge) == 0
    plan = json.loads((out / "run.json").read_text())
    plan["manifest"] = bytes_digest(manifest.encode())["sha256"]
    (out / "run.json").write_text(json.dumps(plan))
    (out / "manifest.json").write_text(manifest)
    assert run(["verify", str(out)]) == 2
    assert "is not a manifest of a run" in capsys.readouterr().err
    assert run(judge) == 0
    assert run(["verify", str(out)]) == 0


@pytest.mark.parametrize("name", ["accuracy", "accuracy_low", "interval"])
def test_figures_that_were_taken_out_are_missed(source: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "run"
    markscheme.judge(source, JUDGES, out=out)

    def without(*names: str) -> bool:
        summary = json.loads((out / "summary.json").read_text())
        for record in summary["figures"]:
            for one in names:
                record.pop(one, None)
        content = json.dumps(summary).encode()
        (out / "summary.json").write_bytes(content)
        plan, manifest = (json.loads((out / one).read_text()) for one in ("run.json", MANIFEST))
        files = manifest["files"] | {"summary.json": bytes_digest(content)}
        sealed = json.dumps({**manifest, "files": files}).encode()
        (out / MANIFEST).write_bytes(sealed)
        (out / "run.json").write_text(json.dumps({**plan, **seal_of(sealed)}))
        return markscheme.verify(out).passed

    assert without()
    assert not without(name)
