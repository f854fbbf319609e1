"""The project's tables for queries; `migrations/` makes them, and a test compares the two."""

from __future__ import annotations

from typing import Any, TypeAlias

from sqlalchemy import Column, Float, Integer, MetaData, Row, String, Table

AnyRow: TypeAlias = "Row[*tuple[Any, ...]]"
"""A row of any query."""

metadata = MetaData()


def _table(
    name: str, keys: str, texts: str = "", whole: str = "", real: str = "", *, optional: str = ""
) -> Table:
    """Columns by type; those of `optional` can be null."""
    kinds: dict[str, type[String] | type[Integer] | type[Float[float]]] = {
        **dict.fromkeys(texts.split(), String),
        **dict.fromkeys(whole.split(), Integer),
        **dict.fromkeys(real.split(), Float),
    }
    columns = [
        Column(n, kind, primary_key=n in keys.split(), nullable=n in optional.split())
        for n, kind in kinds.items()
    ]
    return Table(name, metadata, *columns)


settings = _table("settings", "name", "name value")
people = _table(
    "people",
    "id",
    "name role token_hash",
    "id active rated first_rated skipped since_gold",
    "pace_seconds created_at",
    optional="pace_seconds",
)
sessions = _table("sessions", "id", "id secret_hash", "person_id", "expires_at")
items = _table(
    "items",
    "id",
    "question texts refs context stage",
    "id place taken rated third_id",
    "gold final score draw_weight draw_key",
    optional="context third_id gold final score draw_weight draw_key",
)
sources = _table(
    "sources",
    "",
    "answer_id system refs stratum",
    "item_id text_place row_place",
    "inclusion_probability",
    optional="system stratum inclusion_probability",
)
suggestions = _table(
    "suggestions",
    "item_id",
    "judge said explanation",
    "item_id",
    "value",
    optional="explanation value",
)
ratings = _table(
    "ratings",
    "item_id person_id",
    "part state ranks note",
    "item_id person_id suggested version",
    "value value_before shown_at saved_at seconds",
    optional="ranks value value_before saved_at seconds",
)
events = _table(
    "events",
    "id",
    "action submission detail digest",
    "id person_id item_id",
    "at",
    optional="submission digest person_id item_id",
)
trail = _table("trail", "id", "digest signature", "id start last")

FIXED = {
    name: [metadata.tables[name].c[column] for column in columns.split()]
    for name, columns in {
        "settings": "name value",
        "people": "id name role token_hash active created_at",
        "items": "id place question texts refs context gold score draw_weight draw_key",
        "sources": "item_id text_place row_place answer_id system refs stratum "
        "inclusion_probability",
        "suggestions": " ".join(suggestions.c.keys()),
    }.items()
}
"""What labelling itself changes in no table; the trail has digests of it."""
