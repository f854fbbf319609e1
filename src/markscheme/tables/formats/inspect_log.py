"""inspect_ai: logs of `inspect eval`, as .eval archives and as .json."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import zstandard

from markscheme.errors import DataError
from markscheme.tables.formats.foreign import ForeignFormat, Record
from markscheme.tables.limits import Intake, values_of_json
from markscheme.tables.list_literals import parse_json
from markscheme.tables.paths import message_text

COLUMNS = ({"input", "target", "output", "epoch"},)

_ZSTANDARD = 93
"""The number of the compression in archives, which Python's zipfile knows from 3.14."""

_MODEL = "eval.model"


def inspect_archive(content: bytes, intake: Intake) -> dict[str, Any] | None:
    """The document that an .eval archive holds in pieces, or None where it is another archive.

    Raises:
        DataError: it is damaged, or its pieces are too large or hold too many values.
    """
    values = 0

    def read(name: str) -> Any:
        nonlocal values
        found = _member(content, archive, archive.getinfo(name))
        values += values_of_json(found)
        intake.check_values(values)
        return parse_json(found)

    with intake.archive(content) as archive:
        names = archive.namelist()
        pieces = [name for name in names if name.startswith("samples/")]
        head = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
        if head is None:
            return None
        header: dict[str, Any] = read(head)
        samples = [read(name) for name in pieces]
    return header | {"samples": samples}


def _member(content: bytes, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type != _ZSTANDARD:
        with archive.open(info) as member:  # `archive.read` unpacks first, then looks at the size
            return member.read(info.file_size)
    name, extra = struct.unpack_from("<HH", content, info.header_offset + 26)
    start = info.header_offset + 30 + name + extra
    packed = io.BytesIO(content[start : start + info.compress_size])
    stream = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    return stream.read(info.file_size)


def _records(document: Any) -> Sequence[Record] | None:
    if not isinstance(document, Mapping) or not isinstance(document.get("eval"), Mapping):
        return None
    if not {"version", "plan"} <= set(document):
        return None
    samples = document.get("samples")
    if not isinstance(samples, list) or not samples:
        raise DataError(
            "the inspect log holds no samples (it was written with --no-log-samples, or did not "
            "come to an end); 'inspect log dump' shows what it has"
        )
    model = document["eval"].get("model")
    return [{**sample, _MODEL: model} for sample in samples]


def _ours(record: Record) -> Record:
    asked = record["input"]
    output = record["output"] if isinstance(record["output"], Mapping) else {}
    answer = output.get("completion")
    if not answer:
        choices = output.get("choices") or ()
        messages = [one["message"] for one in choices if isinstance(one.get("message"), Mapping)]
        answer = message_text(messages, "assistant")
    name, epoch = record.get("id"), record.get("epoch") or 1
    found: dict[str, Any] = {
        # With --epochs a sample occurs several times under one id.
        "answer_id": name if epoch == 1 else f"{name}-epoch{epoch}",
        "question": message_text(asked, "user") if isinstance(asked, list) else asked,
        "references": record["target"],
        "answer": None if record.get("error") and not answer else answer or "",
        "answer_error": _error(record.get("error")) if not answer else None,
    }
    model = record.get(_MODEL) or output.get("model")
    return found | ({"system": model} if model else {})


def _error(error: Any) -> str | None:
    if not error:
        return None
    return str(error.get("message") or error) if isinstance(error, Mapping) else str(error)


FORMAT = ForeignFormat(
    name="inspect_ai log",
    ours=_ours,
    records=_records,
    places={
        "question": "input",
        "references": "target",
        "answer": "output.completion",
        "system": "eval.model",
        "answer_id": "id",
    },
)
