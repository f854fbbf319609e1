"""Random damage to the folder of a run, and what must be true after it."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import markscheme
from markscheme.analysis import verify
from markscheme.engine.run_folder import RunFolder
from markscheme.errors import MarkschemeError, RunError
from markscheme.tables.judgment_files import judgments_file, load_judgments
from markscheme.tables.seal import bytes_digest, file_digest

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


def answers(path: Path, rows: int = 300, *, seed: int = 5, ids: bool = False) -> Path:
    """A file of answers of three systems, with ids or without."""
    chance = random.Random(seed)
    words = ["paris", "london", "the", "of", "1984", "jane", "austen"]
    lines = [
        ({"id": f"a{row}"} if ids else {})
        | {
            "question": f"question {row // 3}",
            "references": [" ".join(chance.choices(words, k=2))],
            "answer": " ".join(chance.choices(words, k=chance.randint(0, 4))),
            "system": f"s{row % 3}",
        }
        for row in range(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def stopped(source: Path, folder: Path) -> Path:
    """A run that stopped just before its pieces were put together."""

    def stop(*_: object) -> None:
        raise RunError("stopped")

    with patch.object(RunFolder, "join_parts", stop), suppress(RunError):
        markscheme.judge(source, JUDGES, out=folder)
    assert list(folder.glob("parts/judgments-*.parquet"))
    return folder


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


_digit_of, flip_file = _bytes(_digit), _bytes(_flip)


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


def _empty(chance: random.Random, file: Path) -> None:
    file.write_bytes(b"")


def change_json(chance: random.Random, file: Path) -> None:
    """Valid JSON that says something else; another digit in another file."""
    if file.suffix != ".json":
        _digit_of(chance, file)
        return
    file.write_text(json.dumps(changed(chance, json.loads(file.read_bytes()))))


def changed(chance: random.Random, root: Any) -> Any:
    """What JSON held, with a value changed, of another type, gone or added."""
    holder = root
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        deeper = [key for key in keys if isinstance(holder[key], dict | list) and holder[key]]
        if not deeper or chance.random() < 0.3:
            break
        holder = holder[chance.choice(deeper)]
    key = chance.choice(keys)
    match chance.choice(("other", "gone", "added", "number")):
        case "other":
            holder[key] = chance.choice([None, 0.99, -1, "", "x", [], {}, True, 1e308, [[{}]]])
        case "gone":
            del holder[key]
        case "added" if isinstance(holder, dict):
            holder["added"] = chance.random()
        case _:
            holder[key] = holder[key] * 2 if isinstance(holder[key], int | float) else 7
    return root


def _closed(chance: random.Random, file: Path) -> None:
    """Nobody may read it (which stops everybody but root)."""
    file.chmod(0)


DAMAGES: tuple[Callable[[random.Random, Path], None], ...] = (
    flip_file, flip_file, _bytes(_cut), _bytes(_blank), _bytes(_grown), _digit_of, _digit_of,
    _remove, _swap, _folder, _empty, change_json, change_json, _closed,
)  # fmt: skip


def sealed_again(folder: Path) -> None:
    """What somebody does who changes a run and makes its seal anew."""
    manifest, plan = (
        json.loads((folder / name).read_text()) for name in ("manifest.json", "run.json")
    )
    manifest |= {key: plan[key] for key in manifest if key in plan}
    manifest["files"] = {name: file_digest(folder / name) for name in manifest["files"]}
    content = json.dumps(manifest).encode()
    (folder / "manifest.json").write_bytes(content)
    plan["manifest"] = bytes_digest(content)["sha256"]
    (folder / "run.json").write_text(json.dumps(plan))


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
        read = load_judgments(judgments_file(work)[0])
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
