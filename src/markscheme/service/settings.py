"""Settings of the service, chosen by its operator, and the keys of its clients."""

from __future__ import annotations

import hmac
import os
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from markscheme.errors import DataError, MarkschemeError
from markscheme.flags import Option


def _limit(text: str, minimum: float = 1, maximum: float | None = None) -> Option:
    return Option(text, minimum=minimum, maximum=maximum, panel="Limits", rare=True)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one client, one job and the queue may have, as the options say. A client is a key.

    Attributes:
        row_seconds: of processor time that one answer may take.
        row_characters: of one answer with its question, references and context.
        open_requests: of one client under way at once.
    """

    max_rows: Annotated[int, _limit("Maximum number of answers in one request.")] = 1_000
    max_body_mb: Annotated[float, _limit("Maximum size of one request, in MB.", 0.01)] = 4.0
    max_upload_mb: Annotated[float, _limit("Maximum MB of a job's file (deprecated).", 0.01)] = 1e3
    max_job_rows: Annotated[int, _limit("Maximum rows of a job (deprecated).")] = 10_000_000
    keep_days: Annotated[
        float, _limit("Days until a finished job and its files go (deprecated).", 0.01, 100_000)
    ] = 30.0
    max_jobs: Annotated[int, _limit("Maximum unfinished jobs per key (deprecated).")] = 100
    request_seconds: Annotated[float, _limit("Seconds until a request is abandoned.", 0.1)] = 60.0
    queue_rows: Annotated[
        int, _limit("Maximum number of waiting answers per key; more are refused with status 429.")
    ] = 8_000
    row_seconds: float = 10.0
    row_characters: int = 200_000
    open_requests: int = 256

    def __post_init__(self) -> None:
        """Raises MarkschemeError where a request within its own limit would never be taken."""
        if self.queue_rows < self.max_rows:
            raise MarkschemeError(
                f"a queue of {self.queue_rows} rows cannot take a request of {self.max_rows}; "
                "raise --queue-rows or lower --max-rows"
            )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One service.

    Attributes:
        jobs: folder that stores the jobs.
        hosts: names under which requests are answered; None for any.
        processes: whether judges work in processes of their own, which can be ended; else in
            threads of this one, where native code is waited for.
    """

    jobs: Path
    hosts: frozenset[str] | None = None
    limits: Limits = field(default_factory=Limits)
    processes: bool = True


# --- Bearer keys: where they come from, and whether a request has one -----------------------------


SHORTEST = 16
"""Characters that a key has at least, so that it cannot be guessed."""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys that open the service; none at all opens it to everybody.

    Only digests are held, so that no dump or message can show a key.
    """

    digests: tuple[bytes, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        """Whether a key is required."""
        return bool(self.digests)

    def owner(self, authorization: str | None) -> str | None:
        """Who a request comes from, or None if it has no right to be answered.

        Takes equally long whichever key is tried: every digest is compared, in constant time.

        Args:
            authorization: the header of that name.

        Returns:
            A digest of the key, the same after a restart; "" where none is required.
        """
        if not self.digests:
            return ""
        scheme, _, key = (authorization or "").partition(" ")
        digest = sha256(key.strip().encode("utf-8", "replace")).digest()
        same = [hmac.compare_digest(digest, known) for known in self.digests]
        return digest.hex()[:32] if any(same) and scheme.lower() == "bearer" else None


def read_keys(file: Path | None, variable: str | None) -> Keys:
    """Keys from a file (one a line; blank lines and lines with # are left out) and a variable.

    Raises:
        DataError: the file cannot be read, the variable is empty, or a key is too short, or is none
            that a client can send; never shows a key.
    """
    found: list[tuple[str, str]] = []
    if file is not None:
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"the keys in {file} cannot be read: {error}") from None
        found += [(f"{file}, line {n}", line.strip()) for n, line in enumerate(lines, 1)]
        found = [(where, key) for where, key in found if key and not key.startswith("#")]
        if not found:
            raise DataError(f"{file} holds no key; write one a line, or pass --no-keys")
    if variable is not None:
        value = os.environ.get(variable, "").split()
        if not value:
            raise DataError(f"the environment variable {variable} holds no key")
        found += [(f"the environment variable {variable}", key) for key in value]
    for where, key in found:
        if len(key) < SHORTEST:
            raise DataError(
                f"{where}: a key needs at least {SHORTEST} characters; "
                "'openssl rand -hex 24' makes a good one"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise DataError(
                f"{where}: a key has printable ASCII characters only and no space; write a comment "
                "on a line of its own"
            )
    return Keys(digests=tuple(dict.fromkeys(sha256(key.encode()).digest() for _, key in found)))
