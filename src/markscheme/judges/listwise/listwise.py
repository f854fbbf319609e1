"""Marking of non-factoid answers by a model: rank in a list (LINKAGE), pairs, a mark by itself."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal

import polars as pl

from markscheme.contract import ModelSource, check_range, register
from markscheme.errors import JudgeError
from markscheme.judges.listwise.replies import read_rank, read_ten
from markscheme.judges.listwise.requests import (
    GradedList,
    Item,
    Order,
    items,
    laid_out,
    order_text,
)
from markscheme.judges.outcomes import in_order
from markscheme.judges.prompted import NEEDS, PAIR, Call, Sample, compared, read_examples
from markscheme.text.replies import Reading

# --- Pairwise marking of non-factoid answers: against each reference by itself --------------------


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
                reader = self._scored(_better)
                found += self._calls(
                    turns,
                    reader if first else self._reversed(reader),
                    weight=1.0 + grade - lowest,
                )
        return found

    def _outcome(self, samples: Sequence[Sample], calls: Sequence[Call]) -> dict[str, Any]:
        """The weighted mean of all comparisons, if every one was read."""
        row = compared(samples, accept_from=self.accept_from)
        if row["status"] != "judged":
            return row
        points = math.fsum(
            call.weight * (sample.score or 0.0) for sample, call in zip(samples, calls, strict=True)
        )
        score = points / math.fsum(call.weight for call in calls)
        scores = [sample.score for sample in samples]
        tally = f"wins {scores.count(1.0)}, ties {scores.count(0.5)}, loses {scores.count(0.0)}"
        return row | {"score": score, "verdict": score >= self.accept_from, "explanation": tally}

    def _answer_first(self, item: Item, reference: str) -> tuple[bool, ...]:
        if self.positions == "both":
            return (True, False)
        if self.positions == "random":
            parts = (str(self.positions_seed), item.question, item.answer, reference)
            digest = blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=1).digest()
            return (digest[0] % 2 == 0,)
        return (self.positions == "answer_first",)


_BETTER = {"A": "the first is better", "B": "the second is better", "C": "a tie", "tie": "a tie"}


def _better(reply: str, *, finished: bool) -> Reading:
    """Which of the two is better, in words that need no letters."""
    found = PAIR(reply, finished=finished)
    return replace(found, reason=_BETTER.get(found.reason, found.reason))


# --- Listwise marking of non-factoid answers: the rank in a list of references (LINKAGE) ----------


@register("listwise", paper="Yang et al. 2024 (LINKAGE), equation 5, Figure 7", needs=NEEDS)
@dataclass(frozen=True, kw_only=True)
class Listwise(GradedList):
    """A model says where a non-factoid answer ranks in a list of references of falling quality.

    One call an answer. The score is 1 for rank 1 and 0 for the last. With a single reference it is
    `pairwise`, unless the prompt is the authors'; a row without references is skipped.

    Attributes:
        prompt: a file of the authors (`LINKAGE.txt`) in place of our wording.
        examples: JSONL file of solved examples (`question`, `references` best first, `answer`,
            `rank`), for few-shot; none for zero-shot.
        shown: how many of them are shown; all if none.
        order: of the list, and whether the prompt states it, which it does where grades differ;
            rank 1 is always the best. For the position-bias probe.
        positions: who comes first where there is one reference.
    """

    PROMPT = "linkage_listwise"

    examples: str | None = None
    shown: int | None = None
    order: Order = "best_first"
    positions: Positions = "random"

    def validate(self) -> None:
        """Raises JudgeError as every prompted judge, and for `shown` where there is no example."""
        super().validate()
        check_range("shown", self.shown, 0)
        if self.shown is not None and self.examples is None:
            raise JudgeError(f"shown={self.shown} without examples; name their file, examples=FILE")

    @functools.cached_property
    def _solved(self) -> Sequence[Mapping[str, Any]]:
        if self.examples is None:
            return ()
        return read_examples(self.examples, "rank")[: self.shown]

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Also the prompt for single references."""
        found = super().identity(models)
        if self.prompt is not None:
            return found
        return {**found, "pair_prompt": self._pairwise().template.hash}

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Rows with a single reference by `pairwise`, unless the prompt is the authors'.

        Raises:
            ModelError: no chat model was given.
        """
        if self.prompt is not None:
            return super().judge(answers, models)
        single = pl.Series([len(item.references) == 1 for item in items(answers)], dtype=pl.Boolean)
        return in_order(
            (single, self._pairwise().judge(answers.filter(single), models)),
            (~single, super().judge(answers.filter(~single), models)),
        )

    def calls(self, item: Item, shots: Sequence[Mapping[str, Any]]) -> list[Call]:
        """One call, none without references."""
        if not item.references:
            return []
        turns = self.template.messages(
            question=item.question,
            answer=item.answer,
            context=order_text(item, self.order),
            references=laid_out(item.question, item.references, self.order),
            examples=[self._example(shot) for shot in shots],
        )
        reader = functools.partial(read_rank, references=len(item.references))
        return self._calls(turns, self._scored(reader))

    def _example(self, shot: Mapping[str, Any]) -> Mapping[str, Any]:
        """A solved example with its list in the same order as the list to rank in."""
        references = laid_out(shot["question"], shot["references"], self.order)
        return {**shot, "references": references}

    def _pairwise(self) -> Pairwise:
        return Pairwise(
            model=self.model,
            samples=self.samples,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
            threshold=self.threshold,
            repair=self.repair,
            positions=self.positions,
        )


# --- Pointwise marking of non-factoid answers: a mark from 1 to 10 --------------------------------


@register("pointwise", paper="Yang et al. 2024, Figures 4 and 5", needs=NEEDS)
@dataclass(frozen=True, kw_only=True)
class Pointwise(GradedList):
    """A model gives a non-factoid answer a mark from 1 to 10, with the reference list or without.

    Attributes:
        prompt: a file of the authors (`with_ref_point_score.txt`, `no_ref_point_score.txt`) in
            place of our wording; the scale is then from 0 to 10.
        references: `shown` for orientation, or `hidden`.
        order: the order of the list, and whether the prompt states it where grades differ.
    """

    PROMPT = "linkage_pointwise"

    references: Literal["shown", "hidden"] = "shown"
    order: Order = "best_first"

    def validate(self) -> None:
        """Raises JudgeError as every prompted judge, and for the order of a list that is hidden."""
        super().validate()
        if self.references == "hidden" and self.order != "best_first":
            raise JudgeError(
                f"pointwise: references=hidden shows no list; leave out order={self.order}"
            )

    def calls(self, item: Item, shots: Sequence[Mapping[str, Any]]) -> list[Call]:
        """One call; rows without references are marked too."""
        shown = item.references if self.references == "shown" else ()
        turns = self.template.messages(
            question=item.question,
            answer=item.answer,
            examples=shots,
            references=laid_out(item.question, shown, self.order),
            context=order_text(item, self.order),
        )
        low = 1 if self.prompt is None else 0
        return self._calls(turns, self._scored(functools.partial(read_ten, low=low)))
