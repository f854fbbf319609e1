"""Options of the public functions of this package; their help texts are the command line's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from markscheme.options import Columns, Option, ReferenceSeparator, Seed


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """How one judgment is explained.

    Attributes:
        weights: folder of a trained examiner; None for the one that ships.
        features: how many features the table shows; `frame` has all.
    """

    weights: Annotated[
        str | None, Option("Folder of an examiner trained by 'markscheme train'.")
    ] = None
    features: Annotated[int, Option("How many deciding features to show.", minimum=0)] = 6


@dataclass(frozen=True, kw_only=True)
class ProbeOptions:
    """Which probes are tried, and on how many answers.

    Attributes:
        probes: their names; () for all.
        limit: try at most this many answers, drawn at random; None for all.
        seed: of the draw, the order of references and the choice of injections.
        columns: columns with unusual names, ours to the file's.
        reference_separator: as for `ReadOptions`.
    """

    probes: Annotated[
        tuple[str, ...],
        Option("Only these probes, by comma. [default: all]", split=True),
    ] = ()
    limit: Annotated[
        int | None,
        Option(
            "Use so many answers at most, drawn at random (whole questions, for training).",
            minimum=1,
        ),
    ] = None
    seed: Seed = 0
    columns: Columns = field(default_factory=dict)
    reference_separator: ReferenceSeparator = "auto"
