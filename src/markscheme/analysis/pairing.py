"""Two sets of judgments of the same questions, side by side: base and new."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from markscheme.errors import AgreementError

CHANGES = ("worse", "better", "same", "not compared")
"""What became of a pair: rejected now, accepted now, the same verdict, or a verdict is missing."""


def paired(base: pl.DataFrame, new: pl.DataFrame, *, slices: Sequence[str] = ()) -> pl.DataFrame:
    """Pairs of answers to the same question, one judge's verdicts on both.

    Systems are paired by name where both sides have several, or one of the same name; else each
    side must have one. A question that occurs several times is paired in order, first among rows
    that have the same references too.

    Args:
        base, new: as `judged_answers` gives them, by the same judge, with the row's number in
            `place`.
        slices: columns of the new side.

    Returns:
        `question`, `references` (of the new side), `system`, the slices; for each side, after
        `base_` and `new_`: `answer`, `verdict`, `score`, `explanation`, `relation`, `status`,
        `place` (the row's number); and `change`, one of `CHANGES`. In the order of the new side.

    Raises:
        AgreementError: the systems cannot be paired, or no question is on both sides.
    """
    key = _systems(base, new)
    left, right = _numbered(base, "base", key), _numbered(new, "new", key)
    by_references = [*key, "question", "_references", "_number"]
    sides = [_counted(side, [*key, "question", "_references"]) for side in (left, right)]
    exact = sides[1].join(sides[0], on=by_references, how="inner", nulls_equal=True)
    rest = [
        _counted(side.join(exact, on=f"{name}_place", how="anti"), [*key, "question"])
        for side, name in ((left, "base"), (right, "new"))
    ]
    loose = rest[1].join(rest[0], on=[*key, "question", "_number"], how="inner", nulls_equal=True)
    table = pl.concat([exact, loose], how="diagonal_relaxed").sort("new_place")
    if table.is_empty():
        raise AgreementError(
            f"no question of the new answers is among those of the base: {new['question'][0]!r}, "
            f"for instance, where the base has {base['question'][0]!r}"
        )
    one, two = pl.col("base_verdict"), pl.col("new_verdict")
    known = [pl.col(f"new_{name}").alias(name) for name in slices if name not in _OURS]
    system = pl.col("system") if key else pl.col("new_system")
    return table.select(
        "question",
        pl.col("new_references").alias("references"),
        system.alias("system"),
        pl.col("new_reference_kind").alias("reference_kind"),
        *known,
        *(f"{side}_{name}" for side in ("base", "new") for name in _OF_A_SIDE),
        change=pl.when(one.is_null() | two.is_null())
        .then(pl.lit("not compared"))
        .when(one & ~two)
        .then(pl.lit("worse"))
        .when(~one & two)
        .then(pl.lit("better"))
        .otherwise(pl.lit("same")),
    )


_OURS = ("question", "references", "system", "reference_kind")
_OF_A_SIDE = ("answer", "verdict", "score", "explanation", "relation", "status", "place")


def _systems(base: pl.DataFrame, new: pl.DataFrame) -> list[str]:
    """The columns by which systems are paired: none where each side is one system."""
    one, two = (side["system"].unique(maintain_order=True).to_list() for side in (base, new))
    if len(one) == len(two) == 1:
        return []
    if not set(one) & set(two):
        raise AgreementError(
            f"the base has the systems {', '.join(map(repr, one))}, the new answers "
            f"{', '.join(map(repr, two))}: none is in both. Name one of each with "
            "--base-system and --new-system"
        )
    return ["system"]


def _numbered(side: pl.DataFrame, name: str, key: list[str]) -> pl.DataFrame:
    own = [column for column in side.columns if column not in ("question", *key)]
    return side.select(
        *key,
        "question",
        pl.col("references").list.sort().list.join("\x1e").fill_null("").alias("_references"),
        *(pl.col(column).alias(f"{name}_{column}") for column in own),
    )


def _counted(side: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Rows with the number of each among those that are equal in the keys."""
    bare = side.drop("_number", strict=False)
    return bare.with_columns(pl.int_range(pl.len()).over(keys).alias("_number"))
