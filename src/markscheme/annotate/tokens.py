"""Secrets: personal links, sessions, and proof that a form came from our own page.

A token is `ID.SECRET`. The database holds only a hash of the secret, which needs no salt or
stretching since the secret has 256 random bits; the row is found by its id and the hash compared in
constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, repr=False)
class Token:
    """A fresh secret: what the person gets, and the hash to keep."""

    secret: str
    hash: str


def fresh() -> Token:
    """A secret of 256 random bits."""
    secret = secrets.token_urlsafe(32)
    return Token(secret=secret, hash=hash_of(secret))


def hash_of(secret: str) -> str:
    """SHA-256 in hex digits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def matches(secret: str, kept: str) -> bool:
    """Whether a secret has the stored hash; takes as long whatever differs."""
    return hmac.compare_digest(hash_of(secret), kept)


def split(token: str) -> tuple[str, str]:
    """Id and secret of a token; both empty where it is none."""
    identity, dot, secret = token.partition(".")
    return (identity, secret) if dot and len(token) <= 200 else ("", "")


def csrf_of(session: str) -> str:
    """What forms carry to prove that they were made for this session."""
    return hmac.new(session.encode(), b"markscheme forms", hashlib.sha256).hexdigest()


def csrf_matches(session: str, given: str) -> bool:
    """Whether a form's proof belongs to the session; constant time."""
    return hmac.compare_digest(csrf_of(session).encode(), given.encode())
