"""Listwise marking of non-factoid answers: the rank in a list of references (LINKAGE)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from markscheme.contract import Lineage, ModelSource, register
from markscheme.errors import JudgeError
from markscheme.judges.listwise.pairwise import Pairwise, Positions
from markscheme.judges.listwise.replies import read_rank
from markscheme.judges.listwise.requests import (
    ORDER_TEXT,
    GradedList,
    Item,
    Order,
    items,
    laid_out,
)
from markscheme.judges.prompted import NEEDS, Call, check_apart


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
        order: of the list, and whether the prompt states it; rank 1 is always the best. For
            the position-bias probe.
        positions: who comes first where there is one reference.
    """

    PROMPT = "linkage_listwise"

    examples: str | None = None
    shown: int | None = None
    order: Order = "best_first"
    positions: Positions = "random"

    def shots(self, answers: pl.DataFrame) -> Sequence[Mapping[str, Any]]:
        """The file's examples, none of which is among the answers.

        Raises:
            JudgeError: the file cannot be read, or an example's question is among those judged.
        """
        if self.examples is None:
            return ()
        found = read_shots(self.examples)[: self.shown]
        check_apart(found, answers["question"], self.examples)
        return found

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Also the prompt for single references, and the hash of the examples."""
        found = dict(super().identity(models))
        if self.prompt is None:
            found["pair_prompt"] = self._pairwise().template.hash
        if self.examples is not None:
            content = orjson.dumps(read_shots(self.examples))
            found["shots"] = blake2b(content, digest_size=8).hexdigest()
        return found

    def lineage(self) -> Lineage | None:
        """The questions of its solved examples; None without any."""
        if self.examples is None or self.shown == 0:
            return None
        return Lineage.of(shot["question"] for shot in read_shots(self.examples)[: self.shown])

    def calls(self, item: Item, shots: Sequence[Mapping[str, Any]]) -> list[Call]:
        """One call, none without references."""
        if not item.references:
            return []
        if len(item.references) == 1 and self.prompt is None:
            return self._pairwise().calls(item, ())
        turns = self.template.messages(
            question=item.question, answer=item.answer, context=ORDER_TEXT[self.order],
            references=laid_out(item.question, item.references, self.order),
            examples=[self._example(shot) for shot in shots],
        )  # fmt: skip
        reader = functools.partial(read_rank, references=len(item.references))
        return [
            Call(request=request, reader=self._scored(reader)) for request in self._samples(turns)
        ]

    def _example(self, shot: Mapping[str, Any]) -> Mapping[str, Any]:
        """A solved example with its list in the same order as the list to rank in."""
        references = laid_out(shot["question"], shot["references"], self.order)
        return {**shot, "references": references}

    def _pairwise(self) -> Pairwise:
        return Pairwise(
            model=self.model, temperature=self.temperature, max_tokens=self.max_tokens,
            seed=self.seed, threshold=self.threshold, repair=self.repair, positions=self.positions,
        )  # fmt: skip


@functools.lru_cache(maxsize=16)
def read_shots(path: str) -> tuple[Mapping[str, Any], ...]:
    """Solved examples of a JSONL file.

    Raises:
        JudgeError: it cannot be read, or a line lacks something or has a rank outside its list.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        found = tuple(orjson.loads(line) for line in lines if line.strip())
    except (OSError, UnicodeDecodeError, orjson.JSONDecodeError) as error:
        raise JudgeError(f"cannot read the examples {path!r}: {error}") from None
    for number, one in enumerate(found, start=1):
        good = isinstance(one, dict) and {"question", "references", "answer", "rank"} <= set(one)
        if not good or not 1 <= one["rank"] <= len(one["references"]) + 1:
            raise JudgeError(
                f"{path}, line {number}: an example needs question, references (best first), "
                "answer, and a rank from 1 to one more than there are references"
            )
    if not found:
        raise JudgeError(f"the examples {path!r} are empty")
    return found


def solved_examples(answers: pl.DataFrame, *, count: int, seed: int = 0) -> pl.DataFrame:
    """Solved examples out of labelled candidates with graded references.

    The rank of a candidate is 1 plus the references of a higher grade than its label. Examples
    come from different questions and their labels spread evenly, so that no rank is favoured.

    Raises:
        JudgeError: fewer questions than examples.
    """
    usable = answers.filter(
        pl.col("label").is_not_null() & (pl.col("references").list.len() > 1)
    ).sample(fraction=1.0, shuffle=True, seed=seed)
    labels = usable["label"].unique().sort(descending=True).to_list()
    chosen: list[dict[str, Any]] = []
    for turn in range(count):
        taken = [row["question"] for row in chosen]
        left = usable.filter(~pl.col("question").is_in(taken))
        wanted = left.filter(pl.col("label") == labels[turn % len(labels)]) if labels else left
        part = wanted if wanted.height else left
        if part.is_empty():
            raise JudgeError(f"{count} examples need as many questions; there are {turn}")
        item, label = items(part[:1])[0], float(part["label"][0])
        rank = 1 + sum(grade > label for grade in item.grades)
        chosen.append(
            {"question": item.question, "references": list(item.references),
             "answer": item.answer, "rank": rank}
        )  # fmt: skip
    return pl.DataFrame(chosen)
