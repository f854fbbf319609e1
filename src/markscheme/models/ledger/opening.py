"""Opening the ledger that an option names."""

from __future__ import annotations

from pathlib import Path

from markscheme.errors import ModelError
from markscheme.models.ledger.ledger import Ledger
from markscheme.storage import is_postgres


def open_ledger(place: str | None = None, *, must_exist: bool = False) -> Ledger:
    """The ledger at a path or PostgreSQL URL, or the default one.

    Raises:
        ModelError: it cannot be opened, or must exist and does not.
    """
    from markscheme.models import default_ledger

    where = place or default_ledger()
    if must_exist and not is_postgres(where) and not Path(where).is_file():
        raise ModelError(
            f"there is no ledger {where}; a run with a language model makes one, --ledger names "
            "another"
        )
    return Ledger(where)
