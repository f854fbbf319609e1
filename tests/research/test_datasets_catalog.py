"""The catalogue: complete entries, counts and checksums that agree with the data, near names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from markscheme.errors import DataError, UnknownNameError
from markscheme.tables.answers import ANSWERS_SCHEMA
from markscheme_research.datasets import catalog, check, dataset, find, load, locate, options_of
from markscheme_research.datasets.catalogue import read_catalog
from markscheme_research.datasets.loading import FAMILIES
from markscheme_research.datasets.locations import cache_folder, data_folders

HERE = (
    "antique",
    "curatedtrec",
    "evouna-nq",
    "nq-open-predictions",
    "nq301",
    "trec-dl-nf",
    "webglm",
)
GRADED = ("beetle", "efficientqa", "saf-english", "scientsbank", "truthfulqa")
"""Answers that people graded; most are published in other forms, at their homepages."""
NAMES = (*HERE, *GRADED, "evouna-tq", "linkage-prompts", "nq-open", "triviaqa")


def test_catalogue_lists_every_dataset_with_source_licence_and_citation() -> None:
    assert set(catalog()) == set(NAMES)
    for entry in catalog().values():
        assert entry.format in FAMILIES
        assert entry.licence
        assert entry.homepage.startswith("https://")
        assert "@" in entry.citation
        assert "title" in entry.citation
        assert entry.counts
        assert any(file.address for file in entry.files) or entry.name in GRADED
        for file in entry.files:
            assert file.address.startswith("https://") or not file.address
            assert bool(file.sha256) == (file.size is not None)


def test_every_file_on_this_machine_has_its_checksum_recorded(
    given_data: Path, antique_dev: Path
) -> None:
    for name in HERE:
        local = locate(dataset(name), given_data)
        recorded = {file.name for file in local.dataset.files if file.sha256}
        assert set(local.files) <= recorded | {
            "NQ301_gpt-4.tsv",
            "ANTIQUE.json",
        }  # which we never held


@pytest.mark.parametrize("name", HERE)
def test_recorded_sizes_and_checksums_agree(name: str, antique_dev: Path) -> None:
    checks = check(name, data_dir=antique_dev)
    assert [item for item in checks if not item.ok] == []
    assert any(item.found is not None and item.what.startswith("sha256") for item in checks)
    assert any(item.found is not None and not item.what.startswith("sha256") for item in checks)


@pytest.mark.parametrize("name", HERE)
def test_every_loader_gives_an_answers_table(name: str, antique_dev: Path) -> None:
    answers = load(name, data_dir=antique_dev)
    assert dict(answers.schema) == ANSWERS_SCHEMA
    assert answers["answer_id"].n_unique() == answers.height
    assert answers["answer_id"].str.starts_with(f"{name}/").all()
    assert answers["question"].null_count() == 0
    assert answers["references"].list.len().min() > 0
    rows = dataset(name).rows
    assert rows is None or answers.height == rows


def test_unknown_names_suggest_near_ones(data_dir: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'evouna-nq'"):
        load("evouna_nq", data_dir=data_dir)
    with pytest.raises(UnknownNameError, match="did you mean 'include_improper'"):
        load("evouna-nq", data_dir=data_dir, include_impropr=True)
    with pytest.raises(DataError, match="split='dev' must be one of trec2002, full, train, test"):
        load("curatedtrec", data_dir=data_dir, split="dev")
    with pytest.raises(DataError, match="include_improper='maybe' must be true or false"):
        load("evouna-nq", data_dir=data_dir, include_improper="maybe")


def test_options_are_described_and_read_from_text(data_dir: Path) -> None:
    assert options_of("curatedtrec") == {
        "split": "one of trec2002, full, train, test (default trec2002)"
    }
    assert options_of("antique")["references_per_grade"] == "a whole number (default the paper's)"
    as_text = load("evouna-nq", data_dir=data_dir, include_improper="yes", labelled_only="false")
    assert as_text.height == 5 * 3610


def test_a_missing_dataset_says_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        load("evouna-tq", data_dir=tmp_path)
    message = str(error.value)
    assert f"TQ.json should be in {tmp_path / 'evouna'}" in message
    assert "markscheme research datasets fetch evouna-tq" in message
    assert "MARKSCHEME_DATA" in message


def test_a_folder_that_is_given_is_never_silently_replaced(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKSCHEME_DATA", str(data_dir))
    assert find(dataset("evouna-nq")) is not None
    assert find(dataset("evouna-nq"), tmp_path) is None


def test_folders_are_searched_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("MARKSCHEME_DATA", str(tmp_path / "named"))
    assert data_folders() == [tmp_path / "named", tmp_path / "cache" / "markscheme" / "data"]
    assert data_folders("given") == [Path("given")]
    monkeypatch.delenv("MARKSCHEME_DATA")
    assert data_folders() == [cache_folder()]


def test_files_are_found_as_downloaded_and_by_themselves(tmp_path: Path, data_dir: Path) -> None:
    cloned = tmp_path / "OpenQA-eval" / "data"
    shutil.copytree(data_dir / "openqa-eval", cloned)
    for place in (tmp_path, tmp_path / "OpenQA-eval", cloned):
        assert locate(dataset("nq301"), place).folder.resolve() == cloned.resolve()
    flat = tmp_path / "flat"
    shutil.copytree(cloned / "model_outputs", flat)
    assert load("nq-open-predictions", data_dir=flat).height == 36_100
    alone = tmp_path / "my-copy.json"
    shutil.copy(data_dir / "evouna" / "NQ.json", alone)
    assert load("evouna-nq", data_dir=alone).height == 15_099
    assert load("evouna-tq", data_dir=alone)["answer_id"][0] == "evouna-tq/1/fid"
    with pytest.raises(DataError, match="is one file, but dataset 'nq301' has 15"):
        load("nq301", data_dir=alone)


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "evouna" / "NQ.json"
    broken.parent.mkdir()
    for content in ("[{]", '[{"question": "who"}]', '"text"', ""):
        broken.write_text(content)
        with pytest.raises(DataError, match=r"NQ\.json is not a file of EVOUNA as published"):
            load("evouna-nq", data_dir=tmp_path)


def test_check_tells_a_tampered_copy(tmp_path: Path, data_dir: Path) -> None:
    folder = tmp_path / "curatedtrec"
    folder.mkdir()
    text = (data_dir / "curatedtrec" / "trec2002.tsv").read_text("utf-8")
    (folder / "trec2002.tsv").write_text(text.partition("\n")[2], "utf-8")
    wrong = [item.what for item in check("curatedtrec", data_dir=tmp_path) if not item.ok]
    assert wrong == ["sha256 of trec2002.tsv", "trec2002 questions"]


def test_a_malformed_catalogue_is_refused() -> None:
    with pytest.raises(DataError, match="dataset 'x' in the catalogue is malformed"):
        read_catalog('[x]\ntitle = "only a title"\nfolders = []\nfiles = []\n')
