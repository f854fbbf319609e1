"""Regular expressions with the meaning of Python's `re`, run in linear time wherever RE2 can.

RE2 never backtracks, so no pattern and no text can make it slow. Its dialect differs from Python's
in places: `to_re2` rewrites what can be rewritten and gives up on the rest, and `Pattern.decides`
knows the texts on which the two would differ.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import re2

from markscheme.errors import MarkschemeError

_SPACE = r"\t-\r\x1c- \x85\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_INSIDE = {"s": _SPACE, "d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "D": r"\P{Nd}"}
_OUTSIDE = {
    "s": f"[{_SPACE}]",
    "S": f"[^{_SPACE}]",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"[\p{L}\p{N}_]",
    "W": r"[^\p{L}\p{N}_]",
    "b": r"\b",
    "B": r"\B",
    "A": r"\A",
}
_CONTROLS = "nrtfv"

# "{,3}" repeats in Python and is literal in RE2; "[:alpha:]" the other way round; and switching
# a flag off would change what "$" means.
_OTHER_MEANING = re.compile(r"\{,|\[[^]]*\[:|\(\?[a-z]*-")
_QUARREL = ("\u0130", "\u0131", "\u0345")
"""Dotted I, dotless i, combining iota: ignoring case, Python and RE2 take them differently."""


def to_re2(pattern: str) -> str | None:
    r"""A valid Python pattern in RE2's dialect with the same meaning, or None where there is none.

    `\s`, `\d` and `\w` are ASCII in RE2 and Unicode here, as in Python. `\b` stays, and agrees with
    Python on ASCII text only.
    """
    if _OTHER_MEANING.search(pattern):
        return None
    parts: list[str] = []
    inside = False
    place = 0
    while place < len(pattern):
        character = pattern[place]
        place += 1
        if character == "\\":
            escaped = _escape(pattern[place : place + 3], inside=inside)
            if escaped is None:
                return None
            parts.append(escaped)
            place += 3 if pattern[place] == "x" else 1
            continue
        if character == "[" and not inside:
            inside = True
            opening = re.compile(r"\^?\]?").match(pattern, place)
            start = opening.group() if opening else ""
            parts.append("[" + start.replace("]", r"\]"))
            place += len(start)
            continue
        if character == "]" and inside:
            inside = False
        parts.append(r"\[" if character == "[" else character)
    return "".join(parts)


def _escape(following: str, *, inside: bool) -> str | None:
    letter = following[0]
    if letter == "x":
        return "\\" + following
    if letter in _CONTROLS:
        return "\\" + letter
    if not letter.isascii():
        return letter
    if not letter.isalnum():
        return "\\" + letter if letter not in "_\n" else letter
    return (_INSIDE if inside else _OUTSIDE).get(letter)


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A reference read as a regular expression.

    Attributes:
        source: as written.
        flags: of Python's `re`.
        error: why Python cannot read it, or empty.
        fast: the RE2 object, or None if RE2 cannot replace it.
    """

    source: str
    flags: int
    error: str
    fast: Any

    def decides(self, text: str) -> bool:
        """Whether RE2 says of `text` what Python's engine would say."""
        if self.fast is None:
            return False
        if text.isascii():
            # Python before 3.14 finds no \B in an empty text.
            return bool(text) or r"\B" not in self.source
        if self.flags & re.IGNORECASE and _quarrels(text):
            return False
        return r"\b" not in self.source and r"\B" not in self.source

    def found_in(self, text: str) -> bool:
        """Whether RE2 finds the pattern anywhere in `text`, in time linear in its length."""
        return self.fast.search(_encoded(text)) is not None


@lru_cache(maxsize=1)
def _quarrels(text: str) -> bool:
    """Whether Python and RE2 differ on a letter of a text. Its patterns follow one another."""
    return any(letter in text for letter in _QUARREL)


@lru_cache(maxsize=1)
def _encoded(text: str) -> bytes:
    return text.encode()


_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True

_LONGEST = 2_000
"""Characters of a pattern that RE2 runs: its time grows with the pattern's length too, and it
cannot be ended."""


@lru_cache(maxsize=4096)
def read_pattern(source: str, *, ignore_case: bool) -> Pattern:
    """`source` as a pattern in which `^` and `$` also match at line ends."""
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(source, flags)
    except (re.error, OverflowError, RecursionError) as error:
        return Pattern(source=source, flags=flags, error=str(error) or "too deep", fast=None)
    fast = None
    translated = to_re2(source)
    unsafe = ignore_case and any(letter in source for letter in _QUARREL)
    if translated is not None and not unsafe and len(source) <= _LONGEST:
        letters = "im" if ignore_case else "m"
        try:
            fast = re2.compile(f"(?{letters}:{translated})", _OPTIONS)
        except re2.error:
            fast = None
    return Pattern(source=source, flags=flags, error="", fast=fast)


# --- Python's `re.search` with a time limit, in another process that can be killed ----------------


_WORKER = Path(__file__).with_name("re_worker.py")
_START_SECONDS = 60.0
_PATIENCE = 10.0
"""Times the limit, in seconds of the clock, after which the process is killed in any case: Windows
limits no processor time."""


class TimedSearch:
    """Searches one text at a time; the process starts at the first one and runs until `close`.

    `limit` is in seconds of processor time for each text.
    """

    def __init__(self, *, limit: float) -> None:
        self.limit = limit
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """Stop the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def search(self, patterns: Sequence[Pattern], text: str) -> list[bool]:
        """Whether each pattern is found in `text`, up to the first that is; of fewer where the time
        ran out.

        Raises:
            MarkschemeError: the process does not start.
        """
        process = self._process or self._start()
        each = [[pattern.source, pattern.flags] for pattern in patterns]
        request = json.dumps([each, text, self.limit]).encode() + b"\n"
        found: list[bool] = []
        with _killed_after(process, _PATIENCE * self.limit):
            replies = _replies(process, request)
            for reply in itertools.islice(replies, len(patterns)):
                found.append(reply == b"1\n")
                if found[-1]:
                    break
        if process.poll() is not None or (len(found) < len(patterns) and not any(found)):
            self.close()
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._process = process
        with _killed_after(process, _START_SECONDS):
            ready = next(_replies(process, b""), b"")
        if ready != b"ready\n":
            self.close()
            raise MarkschemeError(
                f"the process that searches slow patterns did not start ({sys.executable}); "
                "check that this Python can start another, or use patterns that RE2 accepts"
            )
        return process


@contextmanager
def _killed_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    watchdog = threading.Timer(seconds, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()
        watchdog.join()


def _replies(process: subprocess.Popen[bytes], request: bytes) -> Iterator[bytes]:
    """Lines of reply to a request, until the process ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):  # It has ended.
        process.stdin.write(request)
        process.stdin.flush()
        yield from iter(process.stdout.readline, b"")
