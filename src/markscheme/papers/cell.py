"""A paper's figure beside ours, and what becomes of the comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Status = Literal["same", "known", "off", "not recoverable", "no figure"]
"""`same`: equal as printed. `known`: differs, for a reason that is recorded together with our
figure. `off`: differs without one. `not recoverable`: what it takes was never published.
`no figure`: the paper prints none, ours stands alone."""

DataDir: TypeAlias = "str | Path | None"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One figure of a paper.

    Attributes:
        row, column: where it stands in the paper's table, or what it is about.
        paper: as printed; None where the paper gives no figure.
        ours: computed from the released data and rounded as the paper rounds; None where the data
            were never released.
        digits: decimals printed.
        reason: why the two cannot be equal; empty where they should be.
        known: our figure when the reason was recorded, so that another one is noticed.
        within: how far from `known` ours may be, where the data were never here to compute it, or
            where rules of ours make the figure and may be refined.
    """

    row: str
    column: str
    paper: float | None
    ours: float | None
    digits: int = 1
    reason: str = ""
    known: float | None = None
    within: float = 0.0

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, to the printed digit."""
        if self.paper is None or self.ours is None:
            return None
        return round(self.ours - self.paper, self.digits)

    @property
    def status(self) -> Status:
        """Whether the figures are equal as printed, and if not, whether that is accounted for."""
        if self.paper is None:
            return "no figure"
        if self.ours is None:
            return "not recoverable" if self.reason and self.known is None else "off"
        if not self.difference:
            return "same"
        if not self.reason or self.known is None:
            return "off"
        apart = round(abs(self.ours - self.known), self.digits)
        return "known" if apart <= self.within else "off"

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit: what rounding alone can hide."""
        return 0.5 * 10.0**-self.digits


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table (or a group of figures) of a paper and the function that computes it.

    Attributes:
        name: as in `PAPER/TABLE` on the command line.
        compute: the cells, from a data folder. Raises DataError where data are not there.
        needs: a file that not everybody has; the table is then passed over, with a note, unless
            it was asked for by name. Empty for tables that should always be computed.
    """

    name: str
    title: str
    compute: Callable[[DataDir], list[Cell]]
    needs: str = ""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose figures can be computed again from released data."""

    name: str
    title: str
    tables: Sequence[PaperTable]
