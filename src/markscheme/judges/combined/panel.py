"""Several judges who vote."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.contract import Judge, ModelSource, check_range, judge_name, register, run_judge
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import COMBINED, Vote, content_hash, decided, read_file
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
    replace_file,
)

Array = npt.NDArray[np.float64]
Row = Mapping[str, Any]


@register(
    "panel",
    paper="Verga et al. 2024 (panels of judges)",
    needs=COMBINED,
    example="panel(judges=[exact_match, token_f1, contains])",
)
@dataclass(frozen=True, kw_only=True)
class Panel:
    """Several judges vote, by majority or by mean score.

    With `weights` (a jury's, measured on labels by `markscheme research jury`) the score is the
    probability that people accept, from all members' scores by their weights; the verdict
    follows it.
    Without, score is the mean of the members' (of a verdict without score, 1 or 0). A member that
    did not judge an answer has no vote on it, and the explanation says so; where none did, the
    answer has the status most of them gave. A tie of verdicts is decided by the mean score, and is
    `unparsed` where that is a half too.

    Attributes:
        judges: the members, at least two, none twice.
        vote: `majority` of verdicts, or `mean` score against the threshold.
        threshold: of the mean score, or of a jury's probability.
        weights: JSON file of a jury's weights; none counts all alike.
    """

    judges: tuple[Judge, ...]
    vote: Vote = "majority"
    threshold: float = 0.5
    weights: str | None = None

    def validate(self) -> None:
        """A panel has two members or more, all different.

        Raises:
            JudgeError: it has not, or the threshold is out of range.
        """
        if len(self.judges) < 2 or len(set(self.judges)) < len(self.judges):
            raise JudgeError("panel: judges must be two or more, none of them twice")
        check_range("threshold", self.threshold, 0, 1)
        if self.weights is not None and self.vote != "majority":
            raise JudgeError("panel: weights decide by themselves; leave out vote")

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: a hash of the weights, since their file may change."""
        if self.weights is None:
            return {}
        return {"weights": content_hash(_content(self.weights))}

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Ask every member about every row, and count."""
        tables = [run_judge(member, answers, models) for member in self.judges]
        names = [judge_name(member) for member in self.judges]
        jury = None if self.weights is None else _jury(self.weights, names)
        rows = zip(*(table.iter_rows(named=True) for table in tables), strict=True)
        return pl.DataFrame(
            [self._vote(row, names, jury) for row in rows],
            schema={name: JUDGMENTS_SCHEMA[name] for name in OUTCOME},
        )

    def _vote(
        self, members: Sequence[Row], names: Sequence[str], jury: JuryWeights | None
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
        found = decided(
            opinions,
            vote=self.vote if jury is None else "mean",
            accept_from=self.threshold,
            score=None if jury is None else jury.probability(members),
        )
        tally = f"{sum(own for own, *_ in opinions)} of {len(judged)} accept"
        said = tally if found["status"] == "judged" else "a tie"
        return outcome | found | {"explanation": f"{said}: {votes}"}


@dataclass(frozen=True, kw_only=True)
class JuryWeights:
    """What each judge's vote is worth.

    Attributes:
        weights: by judge; 0 or more. A vote is 2 * score - 1, from -1 to 1; no vote is 0.
        intercept: what favours acceptance before any vote.
        answers: labelled answers they were fitted on; 0 where it is not known.
    """

    weights: Mapping[str, float]
    intercept: float
    answers: int = 0

    def __call__(self, votes: Array) -> Array:
        """Probability that people accept, of votes of shape (..., judges)."""
        from scipy.special import expit  # loaded when used: it would slow every command's start

        weights = np.array(list(self.weights.values()))
        return np.asarray(expit(votes @ weights + self.intercept), dtype=np.float64)

    def probability(self, members: Sequence[Row]) -> float:
        """Probability that people accept one answer, from the judges' outcomes in their order."""
        votes = [2 * _score(one) - 1 if one["status"] == "judged" else 0.0 for one in members]
        return float(self(np.array(votes)))

    def save(self, path: str | Path) -> Path:
        """Write them as JSON, whole or not at all, for `panel(judges=[...], weights="FILE")`.

        Raises:
            DataError: they cannot be written.
        """
        content = {
            "markscheme_jury": 1,
            "judges": dict(self.weights),
            "intercept": self.intercept,
            "answers": self.answers,
        }
        replace_file(Path(path), orjson.dumps(content, option=orjson.OPT_INDENT_2))
        return Path(path)


def _content(path: str) -> bytes:
    command = "markscheme research jury RUN --labels FILE --save-weights FILE"
    return read_file(path, "the weights", command)


def _jury(path: str, names: Sequence[str]) -> JuryWeights:
    try:
        content = orjson.loads(_content(path))
        known = content["judges"] if content["markscheme_jury"] == 1 else {}
        intercept = float(content["intercept"])
        weights = {str(name): float(weight) for name, weight in known.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise JudgeError(
            f"{path!r} is not a file of weights; 'markscheme research jury' writes them"
        ) from None
    missing = [name for name in names if name not in weights]
    if missing or len(weights) > len(names):
        other = missing[0] if missing else next(name for name in weights if name not in names)
        raise JudgeError(
            f"the weights {path!r} are of the judges {', '.join(weights)}, and the panel has "
            f"{', '.join(names)}: {other!r} is in one of them only; weigh these judges with "
            "'markscheme research jury'"
        )
    if not all(math.isfinite(one) for one in (intercept, *weights.values())):
        raise JudgeError(f"{path!r} has a weight that is not a number")
    return JuryWeights(weights={name: weights[name] for name in names}, intercept=intercept)


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
