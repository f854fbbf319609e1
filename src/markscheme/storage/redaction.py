"""Addresses of databases and what drivers say of them, without passwords."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit


def is_url(location: str | Path) -> bool:
    """Whether it is a database's URL and not a file's path."""
    return "://" in str(location)


def is_postgres(location: str | Path) -> bool:
    """Whether it is a PostgreSQL URL."""
    return re.match(r"postgres(ql)?://", str(location)) is not None


def without_password(location: str | Path) -> str:
    """A path or URL as it may be printed."""
    text = re.sub(r"(://[^/@:]*):[^@]*@", r"\1:***@", str(location))
    return re.sub(r"([?&]\w*password=)[^&]*", r"\1***", text)


def redacted(error: object, location: str | Path) -> str:
    """What an error says, on one line, without the passwords of the address it is about."""
    text = " ".join(str(error).split())
    for secret in _secrets_in(str(location)):
        text = text.replace(secret, "[password]")
    return re.sub(r"password=\S+", "password=***", text)


def _secrets_in(url: str) -> list[str]:
    """The passwords that a URL carries, before the host or among its parameters."""
    if not is_url(url):
        return []
    parts = urlsplit(url)
    found = [unquote(parts.password or "")]
    found += [value for name, value in parse_qsl(parts.query) if name.endswith("password")]
    return [secret for secret in found if secret]
