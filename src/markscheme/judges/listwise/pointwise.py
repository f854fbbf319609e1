"""Pointwise marking of non-factoid answers: a mark from 1 to 10."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markscheme.contract import register
from markscheme.judges.listwise.replies import read_ten
from markscheme.judges.listwise.requests import ORDER_TEXT, GradedList, Item, Order, laid_out
from markscheme.judges.prompted import NEEDS, Call


@register("pointwise", paper="Yang et al. 2024, Figures 4 and 5", needs=NEEDS)
@dataclass(frozen=True, kw_only=True)
class Pointwise(GradedList):
    """A model gives a non-factoid answer a mark from 1 to 10, with the reference list or without.

    Attributes:
        prompt: a file of the authors (`with_ref_point_score.txt`, `no_ref_point_score.txt`) in
            place of our wording; the scale is then from 0 to 10.
        references: `shown` for orientation, or `hidden`.
        order: the order of the list, and whether the prompt states it.
    """

    PROMPT = "linkage_pointwise"

    references: Literal["shown", "hidden"] = "shown"
    order: Order = "best_first"

    def calls(self, item: Item, shots: Sequence[Mapping[str, Any]]) -> list[Call]:
        """One call; rows without references are marked too."""
        shown = item.references if self.references == "shown" else ()
        turns = self.template.messages(
            question=item.question, answer=item.answer, examples=shots,
            references=laid_out(item.question, shown, self.order),
            context=ORDER_TEXT[self.order] if len(set(item.grades)) > 1 else "",
        )  # fmt: skip
        low = 1 if self.prompt is None else 0
        reader = self._scored(functools.partial(read_ten, low=low))
        return [Call(request=request, reader=reader) for request in self._samples(turns)]
