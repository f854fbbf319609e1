"""The seal of a finished run: what it was made of, and a digest of every file it consists of.

`manifest.json` lists code, judges with signatures (which hold the hashes of weights and prompts),
options, input, ledger entries used, and the size and SHA-256 of each file. `run.json`, written
last, holds the manifest's own digest. So damage, and an edit by hand, is seen by whatever reads the
run. Somebody who rewrites all of it is seen only where runs are signed: with a secret in
MARKSCHEME_SEAL_KEY a run is signed (HMAC-SHA-256) when it is finished, and one that is not, or with
another secret, is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from markscheme.errors import KEY_VARIABLE, DataError, RunError, signature_of, signature_wanted
from markscheme.tables.answers import ANSWERS_SCHEMA
from markscheme.tables.judgments import JUDGMENTS_SCHEMA
from markscheme.tables.opened import near_file
from markscheme.tables.parquet import scan_parquet

MANIFEST = "manifest.json"
PLAN = "run.json"

TABLES = ("answers.parquet", "judgments.parquet", "bad_rows.jsonl")
SUMMARIES = ("summary.json", "summary.md")
OUTPUTS = (*TABLES, *SUMMARIES)
"""What a run's folder may hold, and a seal lists where it does."""

_SAME_IN_BOTH = ("format", "markscheme", "judges", "options", "engine", "command", "input")
"""What run.json and the manifest say alike."""

_SEALED_LINE = re.compile(rb'"seal"\s*:\s*"[0-9a-f]{64}"')

_NAMED = 3
"""Runs in a folder that a message names."""

_MEASURED = ("seconds",)
"""Columns that differ from one equal run to the next."""


def file_digest(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of a file; what `sha256sum` prints."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
        return {"bytes": os.fstat(stream.fileno()).st_size, "sha256": found}


def bytes_digest(content: bytes) -> dict[str, Any]:
    """`file_digest` of a file with this content."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def manifest_bytes(
    plan: Mapping[str, Any],
    files: Mapping[str, Mapping[str, Any]],
    *,
    ledger: Iterable[str] = (),
) -> bytes:
    """The manifest of a run.

    Args:
        plan: what `run.json` holds.
        files: digests by the files' names in the folder.
        ledger: keys of the ledger's entries that were used.
    """
    keys = sorted(set(ledger))
    listed = hashlib.sha256("".join(f"{key}\n" for key in keys).encode()).hexdigest()
    manifest = {
        **{name: plan[name] for name in _SAME_IN_BOTH if name in plan},
        "ledger": {"entries": len(keys), "sha256": listed if keys else None},
        "files": dict(sorted(files.items())),
    }
    return json_bytes(manifest)


def seal_of(manifest: bytes) -> dict[str, str]:
    """What `run.json` says of its manifest."""
    signature = signature_of(manifest)
    digest = hashlib.sha256(manifest).hexdigest()
    return {"manifest": digest, **({"signature": signature} if signature else {})}


def sealed(content: Mapping[str, Any]) -> bytes:
    """JSON of this, signed if what is written is to be."""
    return json_bytes({**content, "signature": signature_of(json_bytes(content))})


def read_sealed(file: Path) -> dict[str, Any]:
    """What `sealed` wrote.

    Raises:
        RunError: it cannot be read, or lacks a valid signature where one is required.
    """
    found = read_json(file)
    content = {name: value for name, value in found.items() if name != "signature"}
    if signature_wanted() and file.read_bytes() != sealed(content):
        raise RunError(f"{file} is not signed with the secret in {KEY_VARIABLE}, or was changed")
    return content


def check_exported(file: Path, seal: Path | None = None) -> dict[str, Any]:
    """What the seal of an exported file says, `FILE.seal.json` by default, or the seals of its
    lines; {} where there are none.

    Raises:
        RunError: the file is not as its seal has it, or the seal was changed.
    """
    found = seal or file.with_name(f"{file.name}.seal.json")
    if seal is None and not (found.is_file() and file.is_file()):
        return check_lines(file)
    said = read_sealed(found)
    if said.get("file") != file_digest(file):
        raise RunError(
            f"{file} was changed since it was exported; export it again, or remove its seal "
            f"{found.name} if the change is meant"
        )
    return said


def sealed_lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """JSONL of rows, each with a `seal` over it, the seal before it and how many rows there are."""
    written, before = [], ""
    for row in rows:
        before = mark_of({"row": row, "before": before, "rows": len(rows)})
        written.append(orjson.dumps({**row, "seal": before}) + b"\n")
    return b"".join(written)


def check_lines(file: Path) -> dict[str, Any]:
    """How many `rows` are in a file that `sealed_lines` wrote; {} where no line has a seal.

    Raises:
        RunError: a line is missing, or not as it was written with the secret set now.
    """
    if file.suffix != ".jsonl" or not file.is_file():
        return {}
    with file.open("rb") as stream:
        if not any(_SEALED_LINE.search(part) for part in iter(lambda: stream.read(2**20), b"")):
            return {}
    content = file.read_bytes()
    try:
        rows = [orjson.loads(line) for line in content.splitlines() if line.strip()]
        plain = [{name: row[name] for name in row if name != "seal"} for row in rows]
        if sealed_lines(plain) == content:
            return {"rows": len(plain)}
    except (orjson.JSONDecodeError, TypeError):
        pass  # No JSON, or none that we write.
    raise RunError(
        f"{file} was changed since the viewer wrote it, or written with another {KEY_VARIABLE}; "
        "remove `seal` from each line if the change is meant"
    )


def mark_of(value: Mapping[str, Any]) -> str:
    """64 hex digits over plain values; with the secret set, nobody can make them without it."""
    content = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return signature_of(content) or hashlib.sha256(content).hexdigest()


def check_run(folder: str | Path, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Compare a finished run's files with its seal, and return its manifest.

    Args:
        folder: the run.
        names: tables to check; None for everything.

    Raises:
        RunError: the run is not finished, is damaged or was changed, or lacks a valid signature
            where one is required; the message says which files.
    """
    path = Path(folder)
    manifest = read_manifest(path)
    found = damages(path, manifest, names)
    if found:
        shown = "; ".join(f"{name} {what}" for name, what in list(found.items())[:5])
        raise RunError(
            f"{path} is not as the run left it: {shown}. The command that made it judges it again "
            f"('markscheme verify {path}' checks everything)"
        )
    return manifest


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a finished run, once it is seen to be the run's own.

    Raises:
        RunError: see `check_run`.
    """
    if not any((folder / name).exists() for name in (PLAN, *TABLES)):
        raise RunError(no_run(folder))
    plan = read_json(folder / PLAN)
    if plan.get("state") != "done":
        raise RunError(
            f"{folder} holds an unfinished run; the command that began it resumes where it stopped"
        )
    again = f"judge again with 'markscheme judge ... --out {folder} --again'"
    if "manifest" not in plan:
        raise RunError(
            f"{folder} has no seal (an early version made it); judge again with another --out, "
            f"or copy {folder}/judgments.parquet elsewhere and give the copy"
        )
    try:
        content = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise RunError(f"{folder} lacks its seal, {MANIFEST} ({error.strerror}); {again}") from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != plan["manifest"]:
        raise RunError(f"{folder}: {MANIFEST} was changed since the run ended; {again}")
    manifest = _manifest_in(content)
    if manifest is None:
        raise RunError(f"{folder}: {MANIFEST} is not a manifest of a run; {again}")
    differing = [name for name in _SAME_IN_BOTH if manifest.get(name) != plan.get(name)]
    if differing:
        raise RunError(
            f"{folder}: {PLAN} was changed since the run ended ({', '.join(differing)}); {again}"
        )
    signature = signature_of(content)
    if signature and not hmac.compare_digest(str(plan.get("signature", "")), signature):
        what = "is not signed" if "signature" not in plan else "was signed with another secret"
        raise RunError(f"{folder} {what}, and {KEY_VARIABLE} is set; {again}, or unset it")
    return manifest


def _manifest_in(content: bytes) -> dict[str, Any] | None:
    """What a manifest says; None where it is none, since anybody can seal anything."""
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    wanted = {"files": dict, "judges": list, "options": dict}
    if not isinstance(found, dict) or {one: type(found.get(one)) for one in wanted} != wanted:
        return None
    for judge in found["judges"]:
        if not isinstance(judge, dict) or not isinstance(judge.get("name"), str):
            return None
    for name, listed in found["files"].items():
        parts = name.split("/")
        digest = isinstance(listed, dict) and {k: type(v) for k, v in listed.items()}
        if digest != {"bytes": int, "sha256": str} or not {"", ".", ".."}.isdisjoint(parts):
            return None
    return found


def damages(
    folder: Path, manifest: Mapping[str, Any], names: Iterable[str] | None = None
) -> dict[str, str]:
    """Files of a run that are not as the manifest says, each with what is wrong with it."""
    wanted = None if names is None else set(names)
    found: dict[str, str] = {}
    for name, listed in manifest["files"].items():
        if wanted is not None and name.partition("/")[0] not in wanted:
            continue
        file = folder / name
        try:
            if file.is_symlink() or not file.is_file():
                found[name] = "is missing"
            elif file_digest(file) != listed:
                found[name] = "was changed"
        except OSError as error:
            found[name] = f"cannot be read ({error.strerror})"
    for output in OUTPUTS:
        # A folder of parts is read whole: a file too many would be read with the others.
        place = folder / output
        there = sorted(place.iterdir()) if place.is_dir() else [place] if place.exists() else []
        for file in there if wanted is None or output in wanted else ():
            name = file.relative_to(folder).as_posix()
            if name not in manifest["files"]:
                found[name] = f"is not part of the run ({MANIFEST} does not list it)"
    return found or _unlike_tables(folder, manifest, wanted)


def _unlike_tables(
    folder: Path, manifest: Mapping[str, Any], wanted: set[str] | None
) -> dict[str, str]:
    """Tables of a run that are none, though they are what the manifest lists: anybody can seal
    anything, and what reads a run must not trip over it."""
    rows: dict[str, int] = {}
    found: dict[str, str] = {}
    for table, schema in _TABLES.items():
        if wanted is not None and table not in wanted:
            continue
        try:
            frame = scan_parquet(folder / table)
            columns = frame.collect_schema()
            odd = [name for name, dtype in schema.items() if columns.get(name) != dtype]
            gaps = [pl.col(name).is_null().any() for name in _GIVEN if name in schema]
            gaps += [pl.col("score").is_nan().any()] if "score" in schema else []
            if odd:
                found[table] = f"is not a table of a run (column {odd[0]})"
            else:
                named = (gap.alias(str(place)) for place, gap in enumerate(gaps))
                counted = frame.select(*named, pl.len()).collect(engine="streaming")
                *broken, rows[table] = counted.row(0)
                if any(broken):
                    found[table] = "is not a table of a run (values are missing)"
        except (DataError, pl.exceptions.PolarsError) as error:
            found[table] = f"cannot be read ({error})"
    judges = len(manifest["judges"])
    if len(rows) == 2 and rows["judgments.parquet"] != judges * rows["answers.parquet"]:
        found["judgments.parquet"] = "has not one row for each answer and judge"
    return found


def no_run(folder: Path) -> str:
    """What a folder is that is no run's, and what to name instead."""
    if not folder.is_dir():
        what = "no folder of a run" if folder.exists() else "not there"
        return f"{folder} is {what}{near_file(folder)}"
    inside = sorted(str(one.parent) for one in folder.glob(f"*/{PLAN}"))
    if inside:
        more = f", ... ({len(inside):,})" if len(inside) > _NAMED else ""
        return f"{folder} is a folder of runs; name one: {', '.join(inside[:_NAMED])}{more}"
    return (
        f"{folder} is a folder without judgments.parquet; "
        f"'markscheme judge FILE --out {folder}' makes one"
    )


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object from a file of a run.

    Raises:
        RunError: it cannot be read, or is none.
    """
    try:
        value = orjson.loads(file.read_bytes())
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise RunError(
            f"{file} is damaged ({error}); choose a new --out, or delete {file.parent}"
        ) from None
    if not isinstance(value, dict):
        raise RunError(
            f"{file} is damaged (no JSON object); choose a new --out, or delete {file.parent}"
        )
    return value


_GIVEN = ("answer_id", "question", "judge", "signature", "status", "system")
"""Columns without a gap."""

_TABLES: dict[str, dict[str, Any]] = {
    "answers.parquet": ANSWERS_SCHEMA,
    "judgments.parquet": {**JUDGMENTS_SCHEMA, "system": pl.String},
}


class ContentDigest:
    """A digest of a table's content: the same however its rows are cut into batches or files.

    Of each column, lengths, values and gaps go into digests of their own, row by row.
    """

    def __init__(self) -> None:
        self._hashes: dict[str, Any] = {}
        self.rows: int = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Take in more rows, which follow those before."""
        self.rows += frame.height
        for name in frame.columns:
            if name not in _MEASURED:
                self._add(name, frame[name])

    def _add(self, name: str, column: pl.Series) -> None:
        if isinstance(column.dtype, pl.List):
            self._feed(f"{name}.gaps", column.is_null())
            self._feed(f"{name}.lengths", column.list.len().fill_null(0).cast(pl.UInt32))
            self._add(f"{name}.items", column.explode(empty_as_null=False, keep_nulls=False))
            return
        self._feed(f"{name}.gaps", column.is_null())
        if isinstance(column.dtype, pl.String | pl.Enum | pl.Categorical):
            text = column.cast(pl.String).fill_null("")
            self._feed(f"{name}.lengths", text.str.len_bytes().cast(pl.UInt32))
            joined = text.str.join("").item() if len(text) else ""
            self._hash(f"{name}.text").update(joined.encode())
        elif column.dtype == pl.Boolean:
            self._feed(name, column.fill_null(value=False))
        elif len(column):
            self._feed(name, column.cast(pl.Float64).fill_null(0))

    def _feed(self, name: str, values: pl.Series) -> None:
        self._hash(name).update(np.ascontiguousarray(values.to_numpy()).tobytes())

    def _hash(self, name: str) -> Any:
        if name not in self._hashes:
            self._hashes[name] = hashlib.sha256()
        return self._hashes[name]

    def hexdigest(self) -> str:
        """The digest: 64 hex digits."""
        whole = hashlib.sha256(str(self.rows).encode())
        for name, one in sorted(self._hashes.items()):
            whole.update(f"{name}={one.hexdigest()}\n".encode())
        return whole.hexdigest()


def content_digests(
    answers: Iterable[pl.DataFrame], judgments: Iterable[pl.DataFrame]
) -> dict[str, Any]:
    """Digests of a run's content: of its answers, and of each judge's judgments in their order."""
    of_answers = ContentDigest()
    by_judge: dict[str, ContentDigest] = {}
    for frame in answers:
        of_answers.add(frame)
    for frame in judgments:
        for (judge,), rows in frame.group_by("judge", maintain_order=True):
            by_judge.setdefault(str(judge), ContentDigest()).add(rows)
    return {
        "answers": {"rows": of_answers.rows, "sha256": of_answers.hexdigest()},
        "judgments": {
            judge: {"rows": one.rows, "sha256": one.hexdigest()} for judge, one in by_judge.items()
        },
    }


def table_batches(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """A table in batches, in order.

    Raises:
        DataError: it cannot be read.
    """
    try:
        yield from frame.collect_batches(chunk_size=65_536, maintain_order=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"cannot be read as Parquet: {error}") from None


def json_bytes(value: Any) -> bytes:
    """JSON as a run's files hold it."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"
