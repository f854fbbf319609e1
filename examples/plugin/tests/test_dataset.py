"""The data set is read as answers, from the package and from a folder, and by its name."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest
from markscheme_numbers.dataset import FILE, load

import markscheme
from markscheme.errors import DataError
from markscheme.tables import read_answers

INSTALLED = any(one.name == "sums" for one in entry_points(group="markscheme.datasets"))


def test_every_row_is_an_answer() -> None:
    answers = read_answers(load("sums"))
    assert answers.height == 8
    assert answers["answer_id"][0] == "sums/1"
    assert answers["references"].to_list()[0] == ["42"]
    assert set(answers["system"]) == {"abacus", "slide rule"}


def test_a_folder_of_ones_own_is_read(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("question,reference,answer,system\n1 + 1?,2,Two,mine\n")
    assert load("sums", data_dir=tmp_path)["answer"].to_list() == ["Two"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"sums\.csv, which is not in"):
        load("sums", data_dir=tmp_path)


@pytest.mark.skipif(not INSTALLED, reason="the plugin is not installed")
def test_its_name_stands_for_a_file() -> None:
    judged = markscheme.judge("dataset:sums", "same_numbers").judgments
    assert judged["verdict"].sum() == 4
