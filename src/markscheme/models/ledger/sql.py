"""The SQL on the ledger's tables that more than one module needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markscheme.errors import ModelError
from markscheme.storage import Cursor, Row, Schema

SCHEMA = Schema(
    kind="ledger", package="markscheme.models.ledger", table="migrations", lock=7106204431,
    error=ModelError,
)  # fmt: skip
"""The ledger's tables."""

REPLY_COLUMNS = (
    "key, model, revision, request, reply, status, tokens_in, tokens_out, cost_usd, created_at"
)

_KEYS_A_QUERY = 500


def pieces(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many keys at a time as one query may name."""
    return (keys[at : at + _KEYS_A_QUERY] for at in range(0, len(keys), _KEYS_A_QUERY))


def insert_replies(cursor: Cursor, rows: Sequence[Row]) -> dict[str, str]:
    """Add the replies whose keys are new, in one order for all processes.

    Returns:
        Texts that the table now has, by key; empty if all were new, which needs no second look.
    """
    if not rows:
        return {}
    cursor.executemany(
        f"INSERT INTO replies ({REPLY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
        "ON CONFLICT (key) DO NOTHING",
        rows,
    )
    return {} if cursor.rowcount == len(rows) else dict(stored(cursor, [row[0] for row in rows]))


def stored(cursor: Cursor, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Key and text of the replies that are there."""
    for some in pieces(keys):
        marks = ",".join("?" * len(some))
        cursor.execute(f"SELECT key, reply FROM replies WHERE key IN ({marks})", some)  # noqa: S608
        yield from ((row[0], row[1]) for row in cursor.fetchall())


def delete_claims(cursor: Cursor, keys: Sequence[str], owner: str) -> None:
    """Drop claims of one owner."""
    if keys:
        cursor.executemany(
            "DELETE FROM claims WHERE key = ? AND owner = ?", [(key, owner) for key in keys]
        )
