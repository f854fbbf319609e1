"""Several judges who vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.contract import Judge, ModelSource, check_range, judge_name, register, run_judge
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import COMBINED, Vote, decided
from markscheme.judges.prompted import total
from markscheme.tables import (
    INSIDE,
    JUDGMENTS_SCHEMA,
    LEARNED,
    NEW,
    OUTCOME,
    OUTSIDE,
    SPENT,
    UNKNOWN,
)

Row = Mapping[str, Any]
Weigher = Callable[[Sequence[float | None]], float]
"""The score of an answer from the members' scores, None for who did not judge it."""


@register(
    "panel",
    paper="Verga et al. 2024 (panels of judges)",
    needs=COMBINED,
    example="panel(judges=[exact_match, token_f1, contains])",
)
@dataclass(frozen=True, kw_only=True)
class Panel:
    """Several judges vote, by majority or by mean score.

    The score is the mean of the members' (of a verdict without score, 1 or 0). A member that
    did not judge an answer has no vote on it, and the explanation says so; where none did, the
    answer has the status most of them gave. A tie of verdicts is decided by the mean score, and is
    `unparsed` where that is a half too.

    Attributes:
        judges: the members, at least two, none twice.
        vote: `majority` of verdicts, or `mean` score against the threshold.
        threshold: of the mean score.
    """

    judges: tuple[Judge, ...]
    vote: Vote = "majority"
    threshold: float = 0.5

    def validate(self) -> None:
        """A panel has two members or more, all different.

        Raises:
            JudgeError: it has not, or the threshold is out of range.
        """
        if len(self.judges) < 2 or len(set(self.judges)) < len(self.judges):
            raise JudgeError("panel: judges must be two or more, none of them twice")
        check_range("threshold", self.threshold, 0, 1)

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Ask every member about every row, and count."""
        tables = [run_judge(member, answers, models) for member in self.judges]
        names = [judge_name(member) for member in self.judges]
        weigh = self.weigher(names)
        rows = zip(*(table.iter_rows(named=True) for table in tables), strict=True)
        return pl.DataFrame(
            [self._vote(row, names, weigh) for row in rows],
            schema={name: JUDGMENTS_SCHEMA[name] for name in OUTCOME},
        )

    def weigher(self, names: Sequence[str]) -> Weigher | None:
        """What weighs the scores of the members with these names; None where all count alike."""
        del names
        return None

    def _vote(
        self, members: Sequence[Row], names: Sequence[str], weigh: Weigher | None
    ) -> dict[str, Any]:
        votes = "; ".join(
            f"{name}: {_vote_text(one)}" for name, one in zip(names, members, strict=True)
        )
        outcome = _spent(members) | {"scope": _scope(members)}
        judged = [one for one in members if one["status"] == "judged"]
        if not judged:
            status = Counter(one["status"] for one in members).most_common(1)[0][0]
            return outcome | {"status": status, "explanation": votes}
        opinions = [
            (
                _score(one) >= self.threshold if one["verdict"] is None else one["verdict"],
                _score(one),
                one["relation"],
                one["marks"],
            )
            for one in judged
        ]
        scores = [_score(one) if one["status"] == "judged" else None for one in members]
        counted = weigh is None and self.vote == "majority"
        found = decided(
            opinions,
            vote="majority" if counted else "mean",
            accept_from=self.threshold,
            score=None if weigh is None else weigh(scores),
        )
        agree = sum(own for own, *_ in opinions)
        said = f"{agree} of {len(judged)} accept"
        if found["status"] != "judged":
            said = "a tie"
        elif not counted or 2 * agree == len(judged):
            score = "mean score" if weigh is None else "probability by the weights"
            said += f", and the {score} of {found['score']:.2f} decides"
        return outcome | found | {"explanation": f"{said}: {votes}"}


def _spent(members: Sequence[Row]) -> dict[str, Any]:
    """Sums of cost, tokens and time; None where no member gives the figure."""
    return {name: total(one[name] for one in members) for name in SPENT}


def _scope(members: Sequence[Row]) -> str | None:
    """The scope that weighs most: what trained one member flatters the panel."""
    scopes = [one["scope"] for one in members if one["scope"] is not None]
    return min(scopes, key=lambda scope: _WEIGHTY.index(scope.split(":")[0]), default=None)


_WEIGHTY = (LEARNED, UNKNOWN, OUTSIDE, NEW, INSIDE)


def _score(one: Row) -> float:
    return float(one["verdict"] if one["score"] is None else one["score"])


def _vote_text(one: Row) -> str:
    if one["status"] != "judged":
        return str(one["status"])
    if one["verdict"] is None:
        return f"{one['score']:.2f}"
    word = "yes" if one["verdict"] else "no"
    return word if one["score"] in (None, 0, 1) else f"{word} ({one['score']:.2f})"
