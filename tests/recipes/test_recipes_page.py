"""recipes/README.md: every file of weights is on it, with its digest."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
