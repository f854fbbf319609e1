"""A paper's figure against ours, and the outcome of the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from markscheme.contract import ModelSource

Status = Literal[
    "same", "known", "off", "not recoverable", "no figure",
    "needs a model", "needs a GPU", "needs data", "other inputs",
]  # fmt: skip
"""`same`: equal as printed. `known`: differs, for a reason that is recorded together with our
figure. `off`: differs without one. `not recoverable`: what it takes was never published.
`no figure`: the paper prints none, ours is alone. `needs a model`, `needs a GPU`, `needs data`:
not computed until there is one. `other inputs`: computed with a model or with answers that the
user named, which are not the paper's."""

Needs = Literal["", "model", "GPU", "data"]
"""What a figure lacks: a language model or other weights, a GPU to train or run them, a file
that is public elsewhere."""

_NEEDS: dict[str, Status] = {
    "model": "needs a model", "GPU": "needs a GPU", "data": "needs data",
}  # fmt: skip

DataDir: TypeAlias = "str | Path | None"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One figure of a paper.

    Attributes:
        row, column: its place in the paper's table, or what it is about.
        paper: as printed; None where the paper gives no figure.
        ours: computed from the released data and rounded as the paper rounds; None where the data
            were never released.
        digits: decimals printed.
        reason: why the two cannot be equal; empty where they should be.
        known: our figure when the reason was recorded, so that another one is noticed.
        within: how far from `known` ours may be, where the data were never here to compute it, or
            where rules of ours make the figure and may be refined.
        needs: what it takes to compute ours, where that is not available.
        notebook: the value in the authors' released notebooks, where it differs from print.
        asked: whether ours was made with a model or with answers that the user named.
    """

    row: str
    column: str
    paper: float | None
    ours: float | None
    digits: int = 1
    reason: str = ""
    known: float | None = None
    within: float = 0.0
    needs: Needs = ""
    notebook: float | None = None
    asked: bool = False

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
        if self.ours is None and self.needs:
            return _NEEDS[self.needs]
        if self.ours is None:
            return "not recoverable" if self.reason and self.known is None else "off"
        if not self.difference:
            return "same"
        if self.asked:
            return "other inputs"
        if not self.reason or self.known is None:
            return "off"
        apart = round(abs(self.ours - self.known), self.digits)
        return "known" if apart <= self.within else "off"

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit: what rounding alone can hide."""
        return 0.5 * 10.0**-self.digits


def filled(cell: Cell, ours: float | None) -> Cell:
    """A printed cell with a figure computed by the user's model; as it is where there is none."""
    if ours is None:
        return cell
    return replace(cell, ours=round(ours, cell.digits), asked=True)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the user names beyond the released data.

    Attributes:
        data_dir: folder with the data.
        models: where a language model comes from; None for none.
        predictions: a file of answers by systems of the user's; None for none.
        questions: at most so many questions, the first ones; None for all.
    """

    data_dir: DataDir = None
    models: ModelSource | None = None
    predictions: str | Path | None = None
    questions: int | None = None


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table (or a group of figures) of a paper and the function that computes it.

    Attributes:
        name: as in `PAPER/TABLE` on the command line.
        compute: the cells, from a data folder. Raises DataError where data are not there.
        needs: a file that not everybody has, or an option; the table is then passed over, with a
            note, unless it is requested by name. Empty for tables that should always be computed.
        item: which table, figure or section of the paper it belongs to.
        printed: the paper's cells, for the page of someone who lacks the data.
        run: the command that computes what is not computed here.
        by_model: the cells when the user names a language model.
        by_predictions: the cells when the user names a file of answers.
    """

    name: str
    title: str
    compute: Callable[[DataDir], list[Cell]]
    needs: str = ""
    item: str = ""
    printed: Callable[[], list[Cell]] | None = None
    run: str = ""
    by_model: Callable[[Asked], list[Cell]] | None = None
    by_predictions: Callable[[Asked], list[Cell]] | None = None

    def cells(self, asked: Asked) -> list[Cell]:
        """The cells, computed with what the user named where this table can use it."""
        if asked.predictions is not None and self.by_predictions is not None:
            return self.by_predictions(asked)
        if asked.models is not None and self.by_model is not None:
            return self.by_model(asked)
        return self.compute(asked.data_dir)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose figures can be computed again from released data.

    Attributes:
        items: every table, figure and section with figures, in the paper's order, each with what
            there is to say of it; the tables belong to them by `PaperTable.item`.
    """

    name: str
    title: str
    tables: Sequence[PaperTable]
    items: Mapping[str, str] = field(default_factory=dict)
