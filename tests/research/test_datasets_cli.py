"""`markscheme research datasets`: what a user sees."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from markscheme.cli import run
from markscheme_research.datasets.catalogue import Dataset


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["datasets", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_list_shows_every_dataset_and_whether_it_is_here(
    capsys: pytest.CaptureFixture[str], data_dir: Path
) -> None:
    code, out, _ = said(capsys, "--data-dir", str(data_dir))
    assert code == 0
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert " yes " in rows["evouna-nq"]
    assert "15,099" in rows["evouna-nq"]
    assert " no " in rows["triviaqa"]


def test_a_name_shows_its_details(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    code, out, _ = said(capsys, "nq301", "--data-dir", str(data_dir))
    assert code == 0
    for expected in ("MIT", str(data_dir / "openqa-eval"), "1,490", "@inproceedings", "rows"):
        assert expected in out
    code, before, _ = said(capsys, "--data-dir", str(data_dir), "nq301")
    assert code == 0
    assert before == out


def test_an_absent_dataset_shows_where_it_was_looked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = said(capsys, "evouna-tq", "--data-dir", str(tmp_path))
    assert code == 0
    assert f"no; looked in {tmp_path / 'evouna'}" in out


def test_an_unknown_name_suggests_and_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "curatedtrek")
    assert code == 2
    assert "did you mean 'curatedtrec'?" in err


def test_check_exits_with_1_where_a_copy_differs(
    capsys: pytest.CaptureFixture[str], data_dir: Path, tmp_path: Path
) -> None:
    code, out, _ = said(capsys, "check", "curatedtrec", "--data-dir", str(data_dir))
    assert code == 0
    assert "same" in out
    (tmp_path / "trec2002.tsv").write_text("1\tfactoid\tWho?\tNobody\n")
    code, out, err = said(capsys, "check", "curatedtrec", "--data-dir", str(tmp_path))
    assert code == 1
    assert "DIFFERENT" in out
    assert "2 of" in err


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_export_writes_what_read_answers_reads(
    ending: str, capsys: pytest.CaptureFixture[str], data_dir: Path, tmp_path: Path
) -> None:
    from markscheme.tables.answers import read_answers
    from markscheme_research.datasets import load

    out = tmp_path / f"evouna.{ending}"
    code, text, _ = said(
        capsys, "export", "evouna-nq", "--out", str(out), "--data-dir", str(data_dir)
    )
    assert code == 0
    assert "15,099 rows" in text
    columns = ["answer_id", "question", "references", "system", "label"]
    expected = load("evouna-nq", data_dir=data_dir)
    back = read_answers(str(out))
    assert back.select(columns).equals(expected.select(columns))


def test_export_takes_options_and_refuses_nonsense(
    capsys: pytest.CaptureFixture[str], data_dir: Path, tmp_path: Path
) -> None:
    out = tmp_path / "train.parquet"
    where = ["--data-dir", str(data_dir)]
    code, _, _ = said(
        capsys, "export", "curatedtrec", "--out", str(out), "--option", "split=train", *where
    )
    assert code == 0
    assert pl.read_parquet(out).height == 430
    for bad in (["--option", "split"], ["--option", "spilt=train"]):
        code, _, err = said(capsys, "export", "curatedtrec", "--out", str(out), *bad, *where)
        assert code == 2
        assert "split" in err
    out = tmp_path / "new" / "x.csv"
    assert said(capsys, "export", "curatedtrec", "--out", str(out), *where)[0] == 0
    assert out.is_file()


def test_fetch_without_a_network_says_what_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    code, _, err = said(capsys, "fetch", "webglm", "--data-dir", str(tmp_path))
    assert code == 2
    assert "cannot download https://raw.githubusercontent.com/" in err.replace("\n", "")
    assert list((tmp_path / "linkage").iterdir()) == []


def test_fetch_takes_several_names_and_names_the_first_it_cannot_get(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def download(entry: Dataset, *, data_dir: Path, **_: object) -> list[Path]:
        fetched.append(entry.name)
        return [data_dir / entry.folders[0]]

    monkeypatch.setattr("markscheme_research.datasets.fetch", download)
    code, out, err = said(capsys, "fetch", "webglm", "nq301", "--data-dir", str(tmp_path))
    assert code == 0
    assert fetched == ["webglm", "nq301"]
    assert out.splitlines() == [str(tmp_path / "linkage"), str(tmp_path / "openqa-eval")]
    assert "licence: MIT" in err
    code, _, err = said(capsys, "fetch", "webglm", "nq310", "--data-dir", str(tmp_path))
    assert code == 2
    assert "did you mean 'nq301'" in err.replace("\n", " ")
    assert len(fetched) == 2, "no name is fetched where another is wrong"
    code, _, err = said(capsys, "fetch", "webglm", "nq301", "--file", "NQ301_BEM.tsv")
    assert code == 2
    assert "of one dataset" in err
