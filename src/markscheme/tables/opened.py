"""The bytes of a source: opened, decompressed and in UTF-8, and which format they are of."""

from __future__ import annotations

import bz2
import codecs
import difflib
import gzip
import io
import itertools
import lzma
import re
import signal
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson
import zstandard

from markscheme.errors import DataError, MissingExtraError
from markscheme.tables.limits import Blocks, Intake
from markscheme.tables.read_options import Format

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

SUFFIXES: Mapping[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xlsx",
    ".ods": "xlsx",
}
COMPRESSION_SUFFIXES = {".gz", ".bz2", ".xz", ".zst", ".zstd"}
_DECOMPRESSORS: Mapping[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda stream: zstandard.ZstdDecompressor().stream_reader(
        stream, read_across_frames=True
    ),
}
ARCHIVE = b"PK\x03\x04"
_BINARY: Mapping[bytes, Format] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream of Arrow, as Hugging Face keeps datasets
    ARCHIVE: "xlsx",
    b"\xd0\xcf\x11\xe0": "xlsx",  # .xls
}
"""How files begin that are no text, whatever they are called."""
BOM = b"\xef\xbb\xbf"
PEEK = 4096
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_LATIN = "cp1252"
_OTHERS = """
    cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 shift_jis euc_jp gb18030 big5 euc_kr koi8_r
    """.split()

_PDF = b"%PDF-"
_CONTROLS = bytes(sign for sign in range(32) if sign not in b"\t\n\r\f\x1b")
_MOST = 0.05
"""Control characters beyond this share of a file's beginning are no text's."""


def format_of(path: str, head: bytes) -> Format:
    """The format of a source: from its first bytes where these can only be one, else from its name,
    else from what its text looks like.

    Raises:
        DataError: neither tells.
    """
    binary = binary_format(head)
    if binary is not None:
        return binary
    suffixes = [suffix.lower() for suffix in bare_path(path).suffixes]
    while suffixes and suffixes[-1] in COMPRESSION_SUFFIXES:
        suffixes.pop()
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    text = head.removeprefix(BOM).lstrip()
    first = text.split(b"\n", 1)[0]
    if text.startswith(b"{"):
        try:
            orjson.loads(first)
        except orjson.JSONDecodeError:
            # An object that does not end on its line is one JSON document, unless the peek cut it.
            return "json" if b"\n" in text else "jsonl"
        return "jsonl"
    if text.startswith(b"["):
        return "json"
    if b"\t" in first:
        return "tsv"
    if any(mark in first for mark in (b",", b";", b"|")):
        return "csv"
    raise DataError(
        f"{shown(path)}: cannot tell the format from the name or the content; pass "
        f"--input-format with one of {', '.join(get_args(Format))}"
    )


def binary_format(head: bytes) -> Format | None:
    return next((kind for magic, kind in _BINARY.items() if head.startswith(magic)), None)


def shown(path: str) -> str:
    """A source's name as messages and lists of bad rows show it."""
    return "standard input" if path == "-" else without_secrets(path)


def without_secrets(location: str | Path) -> str:
    """A path, or the address of a file or a database, as it may be printed and saved.

    Of an address the password and every value of its query are masked: one may be a signature.
    """
    text = re.sub(r"(://[^/@:]*):(?:[^/]*|[^@]*)@", r"\1:***@", str(location))
    return re.sub(r"([?&#][^?&#=/]+=)[^&#]*", r"\1***", text) if ":/" in text else text


def redacted(error: object, location: str | Path) -> str:
    """What an error says, on one line, without the secrets of the address it is about."""
    text = " ".join(str(error).replace(str(location), without_secrets(location)).split())
    if is_address(location):  # Libraries write it with other escapes, or as a path.
        text = re.sub(r"([?&#][^?&#=/\s]+=)[^&#\s'\"<>]*", r"\1***", text)
    for secret in _passwords_in(str(location)):
        text = text.replace(secret, "[password]")
    return re.sub(r"password=[^\s&]+", "password=***", text)


def _passwords_in(address: str) -> list[str]:
    """The passwords that an address has, before the host or among its parameters."""
    if not is_address(address):
        return []
    parts = urlsplit(address)
    found = [unquote(parts.password or "")]
    found += [value for name, value in parse_qsl(parts.query) if name.endswith("password")]
    return [secret for secret in found if secret]


def bare_path(location: str | Path) -> Path:
    """The path of a file; of an address without its query, for its name and endings."""
    return Path(re.sub(r"(://[^?]*)\?[^?&#=/]+=.*", r"\1", str(location)))


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The bytes of a source, decompressed and in UTF-8, and what was guessed to have them so."""

    stream: BinaryIO
    head: bytes
    intake: Intake
    notes: tuple[str, ...] = ()


def file_system(path: str) -> tuple[AbstractFileSystem, str]:
    """The file system of a path or address, and the path in it.

    Raises:
        MissingExtraError: fsspec, or what it needs for this kind of address, is not installed.
        DataError: there is no such kind of address.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError(path, "ray") from None
    try:
        system, inside = url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise DataError(f"{shown(path)}: {redacted(error, path)}") from None
    return system, str(inside)


def is_address(location: str | Path) -> bool:
    """Whether it is an address, such as `s3://bucket/answers.jsonl` or a database's URL."""
    return "://" in str(location)


def _bytes_of(path: str) -> BinaryIO:
    if path == "-":
        # With the handler that Polars sets, reading would not end at Ctrl+C.
        signal.siginterrupt(signal.SIGINT, True)
        return sys.stdin.buffer
    if is_address(path):
        system, inside = file_system(path)
        return cast("BinaryIO", system.open(inside, "rb"))
    return Path(path).open("rb")


@contextmanager
def open_source(path: str, encoding: str | None) -> Iterator[Opened]:
    """A file, here or at an address, or standard input (`-`).

    Raises:
        DataError: no such file, a folder, or text that is not of its encoding.
    """
    closing = ExitStack()
    try:
        raw = _bytes_of(path)
        if path != "-":
            closing.enter_context(raw)
    except IsADirectoryError:
        raise DataError(
            f"{shown(path)} is a folder; name the files in it, or use a pattern"
        ) from None
    except OSError as error:
        raise DataError(
            f"cannot read {shown(path)}: {error.strerror or redacted(error, path)}{near_file(path)}"
        ) from None
    try:
        intake = Intake(shown(path), raw)
        plain = _decompressed(intake)
        start = plain.peek(PEEK)
        if binary_format(start) is None:
            other = encoding or _other_encoding(start)
            if other is not None and not _is_utf_8(other):
                recoded = io.BufferedReader(Blocks(_recoded(shown(path), plain, other)))
                note = (
                    f"{shown(path)} is not UTF-8 and was read as {other}; --encoding reads it "
                    "otherwise"
                )
                yield Opened(
                    stream=cast("BinaryIO", recoded),
                    head=recoded.peek(PEEK)[:PEEK],
                    intake=intake,
                    notes=(note,) if encoding is None else (),
                )
                return
        yield Opened(stream=cast("BinaryIO", plain), head=start[:PEEK], intake=intake)
    except (EOFError, OSError, lzma.LZMAError, zlib.error, zstandard.ZstdError) as error:
        # The decompressors raise OSError too, without a number of the system's.
        if isinstance(error, OSError) and error.errno is not None:
            raise DataError(f"cannot read {shown(path)}: {error.strerror}") from None
        raise DataError(f"{shown(path)}: the compressed file is damaged or cut: {error}") from None
    finally:
        closing.close()


def _is_utf_8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        raise DataError(
            f"no encoding named {encoding!r}; usual ones are utf-8, utf-16, cp1252, shift_jis, "
            "gb18030"
        ) from None


def _recoded(name: str, stream: io.BufferedReader, encoding: str) -> Iterator[bytes]:
    """A text of another encoding as UTF-8."""
    text = io.TextIOWrapper(stream, encoding=encoding, newline="")
    try:
        while block := text.read(1 << 16):
            yield block.encode()
    except UnicodeError as error:
        raise DataError(
            f"{name} is neither UTF-8 nor {encoding}: {error}; name its encoding with --encoding"
        ) from None


def _unpacked(intake: Intake, stream: Any) -> Iterator[bytes]:
    size = 0
    while block := stream.read(1 << 18):
        size += len(block)
        intake.check_unpacked(size)
        yield block


def _decompressed(intake: Intake) -> io.BufferedReader:
    stream: io.BufferedReader = io.BufferedReader(cast("Any", intake), buffer_size=1 << 20)
    start = stream.peek(8)
    for magic, decompressor in _DECOMPRESSORS.items():
        if start.startswith(magic):
            unpacked = _unpacked(intake, decompressor(stream))
            return io.BufferedReader(Blocks(unpacked), buffer_size=1 << 20)
    return stream


def near_file(path: str | Path) -> str:
    """`; did you mean 'X'?` for a path that is not there and is nearly another's, else ""."""
    wanted = Path(path)
    if wanted.exists():
        return ""
    with suppress(OSError):
        some = itertools.islice(wanted.parent.iterdir(), 10_000)
        beside = {one.name.lower(): one for one in some}
        near = difflib.get_close_matches(wanted.name.lower(), beside, n=1, cutoff=0.6)
        if near:
            return f"; did you mean {str(beside[near[0]])!r}?"
    return ""


def check_named(path: str, what: str = "file") -> None:
    """Raises DataError where a name is empty, which would be taken for this folder, or no text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise DataError(
            f"the name of the {what} {path!r} is not valid UTF-8, and cannot be written down; "
            "rename it"
        ) from None
    if not path.strip():
        raise DataError(
            f"the name of a {what} is empty (a variable that is not set?); give a {what}"
        )


def _other_encoding(start: bytes) -> str | None:
    """The encoding of a text by its first bytes, or None where they are UTF-8.

    Bytes that are no UTF-8 among others that are belong to a damaged file of UTF-8, whose rows the
    reader names; so for them it is None as well.
    """
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name
    wide = _wide(start)
    if wide is not None:
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        pass
    else:
        return None
    if b"\x00" in start or _SEQUENCE.search(start):
        return None
    return _eight_bit(start)


def _wide(start: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of Latin text is zero."""
    even, odd = start[0:400:2], start[1:400:2]
    if len(even) < 4 or len(odd) < 4:
        return None
    if odd.count(0) > 0.7 * len(odd) and not even.count(0):
        return "utf-16-le"
    if even.count(0) > 0.7 * len(even) and not odd.count(0):
        return "utf-16-be"
    return None


def _eight_bit(start: bytes) -> str | None:
    """Western European, unless the text is plainly of another script.

    A detector sees less in few foreign letters among many plain ones than the habit of Western
    spreadsheets tells, so it decides only where most letters are not ASCII.
    """
    letters = sum(byte >= 0x80 or chr(byte).isalpha() for byte in start)
    foreign = sum(byte >= 0x80 for byte in start)
    if foreign < 0.25 * max(letters, 1):
        return None if b"\xff" in start else _LATIN  # A broken byte, rather than its "ÿ".
    from charset_normalizer import from_bytes

    best = from_bytes(start[:200_000], cp_isolation=[_LATIN, *_OTHERS]).best()
    return best.encoding if best is not None else _LATIN


def is_text(head: bytes) -> bool:
    """Whether a file that begins so may be a text."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= _MOST * len(head) and not head.startswith(_PDF)
