"""Random damage to the folder of a run, and what must be true after it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import markscheme
from markscheme.analysis import verify
from markscheme.errors import MarkschemeError
from markscheme.tables.judgment_files import judgments_file, load_judgments

JUDGES = ["exact_match", "token_f1"]


@dataclass(frozen=True)
class Truth:
    """What undamaged judging gives: the files, and the figures."""

    source: Path
    files: dict[str, bytes]
    verdicts: list[bool | None]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def truth(source: Path, folder: Path) -> Truth:
    result = markscheme.judge(source, JUDGES, out=folder)
    found = files_of(folder)
    return Truth(source, found, result.judgments["verdict"].to_list())


def _bytes(change: Callable[[random.Random, bytearray], bytearray]) -> Callable[..., None]:
    def damage(chance: random.Random, file: Path) -> None:
        file.write_bytes(change(chance, bytearray(file.read_bytes())))

    return damage


def _flip(chance: random.Random, content: bytearray) -> bytearray:
    for _ in range(chance.choice((1, 1, 1, 8))):
        if content:
            place = chance.randrange(len(content))
            content[place] ^= 1 << chance.randrange(8)
    return content


def _cut(chance: random.Random, content: bytearray) -> bytearray:
    return content[: chance.randrange(len(content) + 1)]


def _blank(chance: random.Random, content: bytearray) -> bytearray:
    place = chance.randrange(len(content) + 1)
    length = len(content[place : place + 512])
    content[place : place + length] = bytes(length)
    return content


def _grown(chance: random.Random, content: bytearray) -> bytearray:
    place = chance.choice((len(content), chance.randrange(len(content) + 1)))
    content[place:place] = chance.randbytes(chance.randrange(1, 64))
    return content


def _digit(chance: random.Random, content: bytearray) -> bytearray:
    """Another digit, which text files take without complaint."""
    places = [place for place, byte in enumerate(content) if 48 <= byte <= 57]
    if places:
        content[chance.choice(places)] = 48 + chance.randrange(10)
    return content


def _remove(chance: random.Random, file: Path) -> None:
    file.unlink()


def _swap(chance: random.Random, file: Path) -> None:
    """Another file of the run in its place."""
    others = [one for one in file.parent.iterdir() if one.is_file() and one != file]
    if others:
        shutil.copy(chance.choice(sorted(others)), file)


def _folder(chance: random.Random, file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: tuple[Callable[[random.Random, Path], None], ...] = (
    _bytes(_flip), _bytes(_flip), _bytes(_cut), _bytes(_blank), _bytes(_grown), _bytes(_digit),
    _bytes(_digit), _remove, _swap, _folder,
)  # fmt: skip


def damage_once(seed: int, kept: Path, work: Path, right: Truth) -> str:
    """Damage a copy of a run, then read it and run its command again.

    Returns:
        `harmless`, `detected` or `healed`; anything else is an AssertionError.
    """
    chance = random.Random(seed)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(kept, work)
    before = files_of(work)
    file = chance.choice(sorted(one for one in work.rglob("*") if one.is_file()))
    chance.choice(DAMAGES)(chance, file)
    touched = files_of(work) != before or not file.is_file()
    # Readers: the right judgments, or an error that we raise on purpose.
    try:
        read = load_judgments(judgments_file(work))
    except MarkschemeError:
        pass
    else:
        assert read["verdict"].to_list() == right.verdicts, f"wrong judgments after {file.name}"
    try:
        if verify(work):
            now = files_of(work)
            for name in ("judgments.parquet", "answers.parquet", "summary.json", "summary.md"):
                assert now[name] == right.files[name], f"{name} passed verification"
    except MarkschemeError:
        pass
    # The same command again.
    try:
        result = markscheme.judge(right.source, JUDGES, out=work)
    except MarkschemeError:
        return "detected"
    assert result.judgments["verdict"].to_list() == right.verdicts
    now = files_of(work)
    for name in ("judgments.parquet", "answers.parquet", "summary.json"):
        assert now.get(name) == right.files[name], f"{name} is wrong after damage to {file.name}"
    assert verify(work), f"not verified after damage to {file.name}"
    return "healed" if touched and result.run.damaged else "harmless"
