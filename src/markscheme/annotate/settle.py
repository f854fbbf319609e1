"""What an item's label is, given what people said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markscheme.annotate.scales import Scale

Stage = Literal["open", "disagreed", "settled"]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """Where an item stands. `final` is null while it does not stand, or where nobody can tell."""

    stage: Stage
    final: float | None = None


def settle(
    firsts: Sequence[float | None],
    third: Sequence[float | None],
    scale: Scale,
    *,
    wanted: int,
    adjudicate: bool,
) -> Settled:
    """The label that follows from the ratings of one item; null is "cannot tell".

    What most of the first annotators said stands, if that is more than half of them; on a scale of
    grades, neighbouring grades agree and their mean stands. Otherwise the third person's word
    stands; for two annotators and two values that is the majority vote of Kamalloo et al. (2023,
    section 4.3). With no third person to ask, a disagreement settles without a label.

    Args:
        firsts: by the item's first annotators.
        third: by who was asked to settle it; the first of them counts.
        scale: decides what agreement is.
        wanted: first annotators an item.
        adjudicate: whether disagreements go to a third person.
    """
    if len(firsts) < wanted:
        return Settled(stage="open")
    if scale.name == "rank":
        return Settled(stage="settled")
    value, votes = Counter(firsts).most_common(1)[0]
    if 2 * votes > len(firsts):
        return Settled(stage="settled", final=value)
    told = [first for first in firsts if first is not None]
    if scale.near and len(told) == len(firsts) and max(told) - min(told) <= scale.near:
        return Settled(stage="settled", final=sum(told) / len(told))
    if third:
        return Settled(stage="settled", final=third[0])
    return Settled(stage="disagreed" if adjudicate else "settled")
