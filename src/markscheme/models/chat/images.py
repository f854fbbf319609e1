"""Images from rows: found in one folder or written in the row, checked before they are sent.

A row is untrusted text. So a path in it is followed only below the folder that the user named, and
what lies there is sent only if it is an image of a kind and size that providers take.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
import struct
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from markscheme.contract import Image

MOST_BYTES = 3_932_160
"""Bytes of an image, at most: their base64 is the 5 MiB that Anthropic takes; others take more."""

MOST_PIXELS = 8_000
"""Pixels of an image's longer side, at most, as Anthropic takes; others scale larger ones down."""

KINDS = "PNG, JPEG, GIF or WebP"

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")

_DATA = re.compile(r"data:[^,;]*(;[^,;]*)*;base64,", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_SHOWN = 80


class UnusableImageError(Exception):
    """What a row names is no image that may be sent; says why."""


def image_at(text: str, folder: Path | None) -> Image:
    """The image that a cell names: a path below `folder`, or `data:image/png;base64,...`.

    Args:
        text: the cell.
        folder: where paths begin, and below which files must lie, links followed; None for none.

    Raises:
        UnusableImageError: there is no such image, it lies elsewhere, or it is of another kind or
            too large.
    """
    bare = text.strip()
    shown = repr(bare if len(bare) <= _SHOWN else f"{bare[:_SHOWN]}...")
    if _DATA.match(bare):
        return _inline(bare)
    if _ADDRESS.match(bare):
        raise UnusableImageError(
            f"{shown} is an address, and nothing is fetched; save the image below image_folder"
        )
    if folder is None:
        raise UnusableImageError(f"{shown} is a path; name its folder with image_folder='FOLDER'")
    try:
        top = folder.resolve(strict=True)
        path = (top / bare).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise UnusableImageError(f"there is no {shown} in {folder}") from None
    if not path.is_relative_to(top):
        raise UnusableImageError(f"{shown} is outside {folder}")
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UnusableImageError("is not a file")
        return _read(path, found.st_size, found.st_mtime_ns)
    except OSError as error:
        raise UnusableImageError(f"{shown} cannot be read: {error.strerror}") from None
    except UnusableImageError as error:
        raise UnusableImageError(f"{shown} {error}") from None


def images_below(folder: Path, *, most: int = 200_000) -> str:
    """A hash of the images in a folder: their paths in it and their bytes.

    Raises:
        UnusableImageError: the folder is none, or holds more than `most` files.
    """
    whole = sha256()
    for path in sorted(_files(folder, most)):
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                continue  # Reading a pipe would wait for ever.
            known = _hash_of(path, found.st_size, found.st_mtime_ns)
        except OSError:
            continue  # It can be sent for no row either.
        whole.update(f"{path.relative_to(folder).as_posix()}\0{known}\n".encode("utf-8", "replace"))
    return whole.hexdigest()[:16]


def _files(folder: Path, most: int) -> Iterator[Path]:
    if not folder.is_dir():
        raise UnusableImageError(f"there is no folder {folder}")
    seen = 0
    for place, _, names in os.walk(folder):
        seen += len(names)
        if seen > most:
            raise UnusableImageError(
                f"the folder {folder} holds more than {most:,} files; name the one of the images"
            )
        yield from (Path(place, name) for name in names if name.lower().endswith(ENDINGS))


@lru_cache(maxsize=1 << 18)
def _hash_of(path: Path, size: int, _changed: int) -> str:
    """The hash of a file; of one that is too large to be sent, its size."""
    return sha256(path.read_bytes()).hexdigest() if size <= MOST_BYTES else f"{size} bytes"


@lru_cache(maxsize=1 << 16)
def _read(path: Path, size: int, _changed: int) -> Image:
    if size > MOST_BYTES:
        raise UnusableImageError(_too_large(size))
    data = path.read_bytes()
    return _checked(data, path)


def _inline(text: str) -> Image:
    encoded = text[text.index(",") + 1 :]
    if len(encoded) > 2 * MOST_BYTES:
        raise UnusableImageError(f"the image in the row {_too_large(len(encoded) * 3 // 4)}")
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
        return _checked(data, data)
    except binascii.Error:
        raise UnusableImageError("the image in the row is not valid base64") from None
    except UnusableImageError as error:
        raise UnusableImageError(f"the image in the row {error}") from None


def _too_large(size: int) -> str:
    return f"has {size:,} bytes, and at most {MOST_BYTES:,} are sent; make it smaller"


def _checked(data: bytes, source: Path | bytes) -> Image:
    if len(data) > MOST_BYTES:
        raise UnusableImageError(_too_large(len(data)))
    found = kind_and_size(data)
    if found is None:
        raise UnusableImageError(f"is no {KINDS}, by its first bytes")
    kind, width, height = found
    if not 0 < max(width, height) <= MOST_PIXELS or not min(width, height):
        raise UnusableImageError(
            f"is {width:,} x {height:,} pixels, and at most {MOST_PIXELS:,} a side are sent"
        )
    return Image(
        media_type=f"image/{kind}",
        sha256=sha256(data).hexdigest(),
        size=len(data),
        width=width,
        height=height,
        source=source,
    )


def kind_and_size(data: bytes) -> tuple[str, int, int] | None:
    """Kind (`png`, `jpeg`, `gif`, `webp`), width and height as a file's header says; None if it is
    none of them."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return ("png", *struct.unpack_from(">II", data, 16))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return ("gif", *struct.unpack_from("<HH", data, 6))
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
    except (struct.error, IndexError):
        pass
    return None


def _webp(data: bytes) -> tuple[str, int, int] | None:
    chunk = data[12:16]
    if chunk == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return "webp", width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, 21)
        return "webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X" and len(data) >= 30:
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return "webp", width, height
    return None


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset((0x01, *range(0xD0, 0xD8)))


def _jpeg(data: bytes) -> tuple[str, int, int] | None:
    """The size in the first frame header; segments before it are passed over by their lengths."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF or marker in _BARE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return "jpeg", width, height
        (length,) = struct.unpack_from(">H", data, at + 2)
        if length < 2:
            return None
        at += 2 + length
    return None


def as_base64(image: Image) -> str:
    """The bytes of an image as protocols carry them.

    Raises:
        DataError: they cannot be read, or have changed.
    """
    return base64.b64encode(image.data()).decode()


def as_address(image: Image) -> str:
    """The image as a `data:` address.

    Raises:
        DataError: its bytes cannot be read, or have changed.
    """
    return f"data:{image.media_type};base64,{as_base64(image)}"
