"""Prompt files as papers' authors released them: fetched and found like data, read by judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from markscheme.errors import DataError
from markscheme_research.datasets.locations import Local
from markscheme_research.datasets.rows import Family


@dataclass(frozen=True, kw_only=True)
class Options:
    """None: there are no rows to choose."""


def _load(local: Local, options: Options) -> NoReturn:
    del options
    path = next(iter(local.files.values()))
    raise DataError(
        f"{local.dataset.name} holds prompts, not answers; give a file to its judge, as in "
        f"listwise(prompt='{path}')"
    )


FAMILY = Family(options=Options, load=_load, counts=lambda local: {"files": len(local.files)})
