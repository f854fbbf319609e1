"""Digests of files: of weights in recipes/README.md, of frozen tests in that of training data."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from recipes.labelled import rows_of

ROOT = Path(__file__).parents[2]
TRAINING = ROOT / "recipes" / "training-data"
MADE = {".npy", ".npz", ".onnx", ".safetensors", ".zst"}


def test_every_file_that_is_made_is_on_the_page_with_its_digest() -> None:
    page = (ROOT / "recipes" / "README.md").read_text("utf-8")
    told = dict(
        re.findall(
            r"`((?:src|packages|recipes/encoder/trained)/[^`]+)` \|.*`([0-9a-f]{16})` \|$",
            page,
            re.MULTILINE,
        )
    )
    made = {
        path.relative_to(ROOT).as_posix()
        for home in ("src", "packages", "recipes/encoder/trained")
        for path in (ROOT / home).rglob("*")
        if path.suffix in MADE
    }
    assert len(made) > 10
    assert made <= set(told)
    for path, digest in told.items():
        assert sha256((ROOT / path).read_bytes()).hexdigest().startswith(digest), path


FROZEN = {
    "contrast-test.jsonl.zst": ["x1", "x2"],
    "contrast-test-second.jsonl.zst": ["y1", "y2", "y3", "y4"],
    "contrast-test-languages.jsonl.zst": ["z1"],
    "contrast-test-reports.jsonl.zst": ["g1"],
}
FIELDS = ("group", "kind", "language", "question", "references", "answer", "label")
"""In the order in which the rows were first written; the fields of the first file are sorted."""


@pytest.mark.parametrize(("name", "writers"), FROZEN.items())
def test_rows_of_frozen_tests_are_as_they_were_frozen(name: str, writers: list[str]) -> None:
    page = (TRAINING / "README.md").read_text("utf-8")
    recorded = dict(re.findall(r"\b([a-z]\d) `([0-9a-f]{64})`", page))
    by_writer: dict[str, list[str]] = {}
    for row in rows_of(TRAINING / name):
        line = json.dumps({field: row[field] for field in FIELDS}, ensure_ascii=False)
        by_writer.setdefault(row["group"].split("-")[0], []).append(f"{line}\n")
    digests = {one: sha256("".join(rows).encode()) for one, rows in by_writer.items()}
    assert {one: digest.hexdigest() for one, digest in digests.items()} == {
        one: recorded[one] for one in writers
    }


@pytest.mark.parametrize("name", ["wrappings-test.toml", "wrappings-test-second.toml"])
def test_frozen_wrappings_are_as_recorded(name: str) -> None:
    page = (TRAINING / "README.md").read_text("utf-8")
    [line] = (line for line in page.splitlines() if line.startswith(f"| `{name}`"))
    assert f"`{sha256((TRAINING / name).read_bytes()).hexdigest()[:16]}`" in line
