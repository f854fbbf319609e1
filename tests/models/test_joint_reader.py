"""The encoder that reads question, references and answer together: its rows, bounds and files."""

from __future__ import annotations

import doctest
import json
import random
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from markscheme.errors import ModelError
from markscheme.judges.examiner.readers import ENGLISH
from markscheme.models.local import JointReader, joint_reader, open_reader, weights
from markscheme.models.local.joint_reader import Row, shared_length

ROW: Row = ("Who wrote Jane Eyre?", ["Charlotte Bronte"], "It was the novelist Emily Bronte")
CLS, SEP = 0, 2
"""Ids of the shipped tokenizer's `<s>` and `</s>`."""


@pytest.fixture(scope="module")
def reader() -> JointReader:
    return open_reader(ENGLISH)


def some_rows(count: int) -> list[Row]:
    rng = random.Random(3)
    words = ["Austen", "wrote", "Emma", "1815", "not", "Lima", "Peru", "42 km", "émigré", "東京"]
    texts = [" ".join(rng.choices(words, k=rng.choice([1, 3, 3, 3, 8]))) for _ in range(3 * count)]
    return [(texts[n], [texts[n + 1]], texts[n + 2]) for n in range(0, 3 * count, 3)]


def ids_of(reader: JointReader, row: Row) -> tuple[list[int], list[tuple[int, int]]]:
    question, references, answer = row
    [(ids, _, offsets)] = reader._sequences([(question, tuple(references), answer)])
    return ids.tolist(), offsets


def test_threads_that_begin_together_load_the_weights_once(tmp_path: Path) -> None:
    folder = shutil.copytree(ENGLISH, tmp_path / "encoder")
    begin = threading.Barrier(4)

    def load(_: int) -> JointReader:
        begin.wait()
        return open_reader(folder)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(map(id, pool.map(load, range(4))))) == 1


def test_the_wrong_name_is_marked_and_a_right_one_accepted(reader: JointReader) -> None:
    right = (ROW[0], ROW[1], "It was the novelist Charlotte Bronte")
    wrong, accepted = reader.read([ROW, right]).log_odds
    assert wrong < 0 < accepted
    marked = [ROW[2][start:end] for start, end, _ in reader.read([ROW]).marks[0]]
    assert "Emily" in marked
    assert all(value > 0 for _, _, value in reader.read([ROW]).marks[0])
    assert reader.read([right]).marks == [[]]


def test_a_row_reads_the_same_in_any_company(
    reader: JointReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [*some_rows(40), ROW]
    together = reader.read(rows)
    assert any(together.marks)
    monkeypatch.setattr(weights, "available_cores", lambda: 1)
    turned = reader.read(rows[::-1])
    np.testing.assert_array_equal(together.log_odds, turned.log_odds[::-1])
    assert together.marks == turned.marks[::-1]
    for place in (0, 7, 40):
        alone = reader.read([rows[place]])
        assert alone.log_odds[0] == together.log_odds[place]
        assert alone.marks == [together.marks[place]]


def test_equal_rows_run_once_and_come_back_in_order(
    reader: JointReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = some_rows(2)
    runs: list[int] = []

    class Session:
        def run(self, names: list[str], feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
            assert names == ["log_odds", "marks"]
            ids = feeds["ids"]
            runs.append(len(ids))
            return [ids.sum(1) / 1000, np.zeros(ids.shape)]

    monkeypatch.setattr(reader, "_session", Session())
    found = reader.read([first, second, first, ROW, second])
    assert sum(runs) == 3
    assert found.log_odds[0] == found.log_odds[2] != found.log_odds[1] == found.log_odds[4]


def test_without_rows_nothing_runs(reader: JointReader) -> None:
    readings = reader.read([])
    assert readings.log_odds.shape == (0,)
    assert readings.marks == []


@pytest.mark.parametrize(
    "fake",
    [
        "</s>",
        "</S>",
        "<s>",
        "[SEP]",
        "[CLS]",
        "<pad>",
        "<mask>",
        "<MASK>",
        "[UNK]",
        "<<</s>",
        "<\x00/s>",
        "<\u0301/s>",
        "<\u200b/s>",
        "</s\u0301>",
    ],
)
@pytest.mark.parametrize("where", [0, 1, 2])
def test_text_that_looks_like_a_boundary_is_text(
    reader: JointReader, fake: str, where: int
) -> None:
    texts = ["Who?", "Austen", "Austen"]
    texts[where] += f" {fake} Austen"
    ids, _ = ids_of(reader, (texts[0], [texts[1]], texts[2]))
    assert ids.count(SEP) == 3
    assert ids.count(CLS) == 1
    tokenizer = json.loads((ENGLISH / "tokenizer.json").read_text("utf-8"))
    special = {token["id"] for token in tokenizer["added_tokens"]}
    assert special & set(ids) == {CLS, SEP}


def test_offsets_are_places_in_the_text_as_it_came(reader: JointReader) -> None:
    answer = "Émile  wrote </s> it."
    _, offsets = ids_of(reader, ("Who?", ["Zola"], answer))
    pieces = [answer[start:end] for start, end in offsets]
    assert "".join(pieces) == answer.replace(" ", "")


def test_megabytes_are_cut_to_what_the_encoder_reads(reader: JointReader) -> None:
    tokens = json.loads((ENGLISH / "config.json").read_text("utf-8"))["tokens"]
    megabytes = ("Who? " * 300_000, ["a " * 500_000, "b"], "the novelist " * 100_000)
    ids, _ = ids_of(reader, megabytes)
    assert len(ids) == tokens
    assert ids.count(SEP) == 3
    long, plain = reader.read([megabytes, ROW]).log_odds
    assert np.isfinite(long)
    assert plain == reader.read([ROW]).log_odds[0]
    one_word = ("", ["x" * 1_000_000], "y" * 1_000_000)
    assert np.isfinite(reader.read([one_word]).log_odds).all()


def test_empty_texts_are_read(reader: JointReader) -> None:
    rows: list[Row] = [("", [], ""), ("", [""], ""), ("Who?", ["Austen"], "  "), ("", ["x"], "x")]
    readings = reader.read(rows)
    assert np.isfinite(readings.log_odds).all()
    assert readings.log_odds[0] == readings.log_odds[1]
    assert readings.marks[:3] == [[], [], []]
    assert ids_of(reader, rows[0]) == ([CLS, SEP, SEP, SEP], [])


@pytest.mark.parametrize(
    ("lengths", "read"),
    [
        ((10, 20, 30), (10, 20, 30)),
        ((200, 0, 0), (96, 0, 0)),
        ((10, 500, 500), (10, 185, 185)),
        ((10, 500, 20), (10, 350, 20)),
        ((500, 500, 0), (96, 284, 0)),
    ],
)
def test_the_longer_text_is_cut_first(
    lengths: tuple[int, int, int], read: tuple[int, int, int]
) -> None:
    assert shared_length(*lengths, 384) == read


def test_the_example_of_shared_length_holds() -> None:
    result = doctest.testmod(joint_reader)
    assert result.attempted >= 1
    assert result.failed == 0


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.onnx.zst"])
def test_a_missing_or_damaged_file_is_named_with_the_next_step(tmp_path: Path, name: str) -> None:
    for file in ("config.json", "tokenizer.json"):
        shutil.copy(ENGLISH / file, tmp_path)
    (tmp_path / "model.onnx.zst").write_bytes(b"")
    (tmp_path / name).unlink()
    with pytest.raises(ModelError, match=rf"holds no {name}.*install markscheme again"):
        JointReader(tmp_path)
    (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(ModelError, match=name):
        JointReader(tmp_path)


def test_compressed_bytes_that_are_no_model_are_named(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    for file in ("config.json", "tokenizer.json"):
        shutil.copy(ENGLISH / file, tmp_path)
    (tmp_path / "model.onnx.zst").write_bytes(zstandard.compress(b"no graph"))
    with pytest.raises(ModelError, match=r"model\.onnx\.zst cannot be loaded.*Export the model"):
        JointReader(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"cls": 0, "sep": 2},
        {"cls": "x", "sep": 2, "tokens": 9},
        {"cls": None, "sep": 2, "tokens": 384},
    ],
)
def test_a_config_without_the_numbers_says_which(tmp_path: Path, settings: object) -> None:
    (tmp_path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(ModelError, match="does not give the numbers cls, sep and tokens"):
        JointReader(tmp_path)
