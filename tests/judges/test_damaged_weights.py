"""Damaged weights are one error that names the file, whatever is damaged and how."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import orjson
import pytest
import zstandard

import markscheme
from markscheme.contract.grammar import parse_judge, signature
from markscheme.engine.execute import apply
from markscheme.errors import ModelError
from markscheme.judges.entailment.embedded import EntailmentWeights
from markscheme.judges.examiner.readers import ENGLISH
from markscheme.judges.examiner.weight_files import Weights
from markscheme.judges.listwise import question_kind
from markscheme.judges.listwise.listwise_examiner import ListwiseWeights
from markscheme.judges.weight_folder import WeightFolder
from markscheme.manifests import MANIFEST, verified, write_manifest
from markscheme.text import frames

JUDGES: dict[type[WeightFolder], str] = {
    Weights: "examiner(depth=fast, weights='{}')",
    EntailmentWeights: "entailment(test=embedded(weights='{}'))",
    ListwiseWeights: "listwise_examiner(encoder=never, weights='{}')",
}
ROWS = markscheme.read_answers(
    [
        {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": answer}
        for answer in ("Jane Austen", "Charles Dickens in 1859")
    ]
)
READ = [
    (family, name)
    for family in JUDGES
    for name in family.files
    if name not in ("listwise_style.npz", "listwise_trees.onnx.zst")  # of the encoder alone
]


def _edited(content: bytes) -> bytes:
    """Another value, in a file that can still be read."""
    if content.startswith(b"{"):
        found = orjson.loads(content)
        for name, value in found.items():
            if isinstance(value, list) and value and not isinstance(value[0], str):
                found[name] = [2 * one for one in value]
        return orjson.dumps(found)
    return content + b"\0"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "other bytes": lambda content: random.Random(3).randbytes(500),
    "no JSON object": lambda content: b"[]",
    "nothing in it": lambda content: zstandard.compress(b"") if content[:1] == b"\x28" else b"{}",
    "a bit": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    "edited": _edited,
}


def copied(family: type[WeightFolder], folder: Path) -> Path:
    shutil.copytree(family.shipped, folder, ignore=shutil.ignore_patterns("encoder"))
    return folder


def scores(family: type[WeightFolder], folder: Path) -> list[float]:
    return apply(parse_judge(JUDGES[family].format(folder)), ROWS)["score"].to_list()


@pytest.mark.parametrize(("family", "name"), READ)
def test_damaged_weights_are_one_error(
    family: type[WeightFolder], name: str, tmp_path: Path
) -> None:
    """With a manifest every change is found; without one, what cannot be read."""
    for number, (damage, change) in enumerate(DAMAGES.items()):
        for listed in (True, False):
            folder = copied(family, tmp_path / f"{number}{listed}")
            if not listed:
                (folder / MANIFEST).unlink()
            file = folder / name
            file.write_bytes(change(file.read_bytes()))
            if not listed and damage in ("a bit", "edited"):
                continue
            with pytest.raises(ModelError, match=name):
                scores(family, folder)


@pytest.mark.parametrize("family", JUDGES)
def test_a_folder_without_a_manifest_is_used(family: type[WeightFolder], tmp_path: Path) -> None:
    folder = copied(family, tmp_path / "weights")
    wanted = scores(family, family.shipped)
    (folder / MANIFEST).unlink()
    assert scores(family, folder) == wanted


@pytest.mark.parametrize("family", JUDGES)
def test_weights_that_were_trained_again_are_opened_again(
    family: type[WeightFolder], tmp_path: Path
) -> None:
    folder = copied(family, tmp_path / "weights")
    judge = parse_judge(JUDGES[family].format(folder))
    before, made = signature(judge), scores(family, folder)
    file = folder / family.files[0]
    file.write_bytes(_edited(file.read_bytes()))
    write_manifest(folder)
    assert scores(family, folder) == made  # A run under way has the weights of its signature.
    assert signature(judge) != before
    assert scores(family, folder) != made


@pytest.mark.parametrize("family", JUDGES)
def test_with_a_secret_trained_weights_are_signed_or_refused(
    family: type[WeightFolder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with every digest made again, without a manifest, and by another secret; the weights
    that ship are used as they are."""
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    wanted = scores(family, family.shipped)
    folder = copied(family, tmp_path / "weights")
    refused = "signed with the secret in MARKSCHEME_SEAL_KEY"
    with pytest.raises(ModelError, match=refused):
        verified(folder / family.files[0])
    write_manifest(folder)
    assert scores(family, folder) == wanted

    def again(*, secret: str) -> None:
        monkeypatch.setenv("MARKSCHEME_SEAL_KEY", secret)
        write_manifest(folder)
        monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")

    signed = (folder / MANIFEST).read_bytes()
    file = folder / family.files[0]
    file.write_bytes(_edited(file.read_bytes()))
    for secret in ("", "another"):
        again(secret=secret)
        with pytest.raises(ModelError, match=refused):
            family(folder).path(file.name)
    (folder / MANIFEST).unlink()
    with pytest.raises(ModelError, match=refused):
        family(folder).path(file.name)
    (folder / MANIFEST).write_bytes(signed)
    with pytest.raises(ModelError, match="is not the file that"):
        family(folder).path(file.name)
    monkeypatch.delenv("MARKSCHEME_SEAL_KEY")
    write_manifest(folder)
    family(folder).path(file.name)


@pytest.mark.parametrize("folder", [*(family.shipped for family in JUDGES), ENGLISH])
def test_the_manifests_that_ship_list_every_file(folder: Path, tmp_path: Path) -> None:
    names = {file.name for file in folder.iterdir() if file.is_file()} - {MANIFEST}
    assert set(orjson.loads((folder / MANIFEST).read_bytes())["files"]) == names
    for name in names:
        verified(folder / name)


@pytest.mark.parametrize(
    ("module", "read"), [(frames, frames._weights), (question_kind, question_kind._weights)]
)
def test_weights_that_lie_between_modules_are_one_error_too(
    module: ModuleType, read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped: Path = module.WEIGHTS
    for name in (shipped.name, MANIFEST):
        shutil.copy(shipped.parent / name, tmp_path)
    monkeypatch.setattr(module, "WEIGHTS", tmp_path / shipped.name)
    content = shipped.read_bytes()
    read.cache_clear()
    try:
        for change in DAMAGES.values():
            (tmp_path / shipped.name).write_bytes(change(content))
            with pytest.raises(ModelError, match=shipped.name):
                read()
        (tmp_path / shipped.name).write_bytes(content)
        read()
    finally:
        read.cache_clear()


def test_a_damaged_file_of_frames_ends_no_command_with_a_traceback(tmp_path: Path) -> None:
    copy = tmp_path / "markscheme"
    shutil.copytree(
        Path(markscheme.__file__).parent, copy, ignore=shutil.ignore_patterns("*.onnx*", "page")
    )
    weights = copy / "text" / "frames.npz"
    weights.write_bytes(weights.read_bytes()[:20_000])
    rows = tmp_path / "a.jsonl"
    answer = "Sure! The answer is Jane Austen. Let me know if you need more."
    row = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": answer}
    rows.write_bytes(orjson.dumps(row))
    done = subprocess.run(
        [sys.executable, "-m", "markscheme", "judge", str(rows), "--judge", "exact_match"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "frames.npz" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_manifest_of_another_tool_is_none_of_ours(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    for number, text in enumerate(("[]", '{"files": ["a.npy"]}', "{}")):
        folder = tmp_path / str(number)
        folder.mkdir(exist_ok=True)
        (folder / MANIFEST).write_text(text)
        shutil.copy(tmp_path / "a.npy", folder)
        verified(folder / "a.npy")
    write_manifest(tmp_path)
    verified(tmp_path / "a.npy")
