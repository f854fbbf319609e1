"""Pairwise marking of non-factoid answers: against each reference by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal

from markscheme.contract import register
from markscheme.errors import JudgeError
from markscheme.judges.listwise.replies import read_pair
from markscheme.judges.listwise.requests import GradedList, Item
from markscheme.judges.prompted import NEEDS, Call, Sample, outcome
from markscheme.tables import SPENT
from markscheme.text.replies import Reading

Positions = Literal["random", "both", "answer_first", "answer_last"]


@register("pairwise", paper="Yang et al. 2024, equations 3 and 4, Figure 6", needs=NEEDS)
@dataclass(frozen=True, kw_only=True)
class Pairwise(GradedList):
    """A model compares a non-factoid answer with each reference: win, lose or tie, by grade.

    The score is the weighted mean of the comparisons, from 0 (all lost) to 1 (all won); a
    reference weighs one more than its grade above the lowest in the list. A row one of whose
    comparisons could not be read is not judged.

    Attributes:
        prompt: a file of the authors (`pairwise_comparison.txt`) in place of our wording.
        positions: who comes first: at `random` (the same each time for the same texts), `both`
            ways (twice the calls), or always one.
        positions_seed: of the random positions.
    """

    PROMPT = "linkage_pairwise"

    positions: Positions = "random"
    positions_seed: int = 0

    def validate(self) -> None:
        """Raises JudgeError as every prompted judge, and for several samples."""
        super().validate()
        if self.samples != 1:
            raise JudgeError(f"pairwise: samples={self.samples} must be 1; repeat the run instead")

    def calls(self, item: Item, shots: Sequence[Mapping[str, Any]]) -> list[Call]:
        """A call for each reference, two with both positions."""
        lowest = min(item.grades, default=0)
        found = []
        for reference, grade in zip(item.references, item.grades, strict=True):
            for first in self._answer_first(item, reference):
                pair = (item.answer, reference) if first else (reference, item.answer)
                turns = self.template.messages(
                    question=item.question, references=pair, answer=item.answer, examples=shots
                )
                reader = self._scored(read_pair if first else _read_swapped)
                found += [
                    Call(request=request, reader=reader, weight=1.0 + grade - lowest)
                    for request in self._samples(turns)
                ]
        return found

    def combine(self, samples: Sequence[Sample], weights: Sequence[float]) -> dict[str, Any]:
        """The weighted mean of all comparisons, if every one was read."""
        if any(sample.status != "judged" for sample in samples):
            bad = [sample for sample in samples if sample.status != "judged"]
            row = outcome(bad[:1], vote=self.vote, accept_from=self.accept_from)
            spent = outcome(samples, vote=self.vote, accept_from=self.accept_from)
            costs = {key: spent[key] for key in SPENT}
            why = f"{len(bad)} of {len(samples)} comparisons were not read: {bad[0].reason}"
            return row | costs | {"raw": spent["raw"], "explanation": why}
        row = outcome(samples, vote="mean", accept_from=self.accept_from)
        points = math.fsum(
            weight * (sample.score or 0.0) for sample, weight in zip(samples, weights, strict=True)
        )
        score = points / math.fsum(weights)
        scores = [sample.score for sample in samples]
        tally = f"wins {scores.count(1.0)}, ties {scores.count(0.5)}, loses {scores.count(0.0)}"
        return row | {
            "score": score, "verdict": score >= self.accept_from, "explanation": tally
        }  # fmt: skip

    def _answer_first(self, item: Item, reference: str) -> tuple[bool, ...]:
        if self.positions == "both":
            return (True, False)
        if self.positions == "random":
            parts = (str(self.positions_seed), item.question, item.answer, reference)
            digest = blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=1).digest()
            return (digest[0] % 2 == 0,)
        return (self.positions == "answer_first",)


def _read_swapped(reply: str, *, finished: bool = True) -> Reading:
    """The reading where the answer is B."""
    found = read_pair(reply, finished=finished)
    return found if found.score is None else replace(found, score=1.0 - found.score)
