"""Several judges who vote by weights measured on labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from markscheme.contract import ModelSource, register
from markscheme.errors import JudgeError
from markscheme.judges import COMBINED, Panel, content_hash, read_file
from markscheme.tables import replace_file

Array = npt.NDArray[np.float64]


@register(
    "jury",
    paper="Verga et al. 2024 (panels of judges); weights ours",
    needs=replace(
        COMBINED,
        extras=("research",),
        weights="required",
        note="weights written by 'markscheme research jury'",
    ),
    example="jury(judges=[exact_match, token_f1, contains], weights='jury.json')",
)
@dataclass(frozen=True, kw_only=True)
class Jury(Panel):
    """Several judges vote by weights measured on labels, which `markscheme research jury` writes.

    The score is the probability that people accept, from all members' scores by their weights; the
    verdict follows it. A member that did not judge an answer has no vote on it.

    Attributes:
        judges: the members, at least two, none twice; those that were weighed.
        threshold: of the probability.
        weights: JSON file of the weights.
    """

    weights: str

    def validate(self) -> None:
        """A jury is a panel whose vote is by weights.

        Raises:
            JudgeError: its judges are no panel's, the threshold is out of range, or it has a vote.
        """
        super().validate()
        if self.vote != "majority":
            raise JudgeError("jury: weights decide by themselves; leave out vote")

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: a hash of the weights, since their file may change."""
        return {"weights": content_hash(_content(self.weights))}

    def weigher(self, names: Sequence[str]) -> JuryWeights:
        """The weights of the members with these names.

        Raises:
            JudgeError: the file cannot be read, or is of other judges.
        """
        return _read(self.weights, names)


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

    def probabilities(self, votes: Array) -> Array:
        """Probability that people accept, of votes of shape (..., judges)."""
        from scipy.special import expit  # loaded when used: it would slow every command's start

        weights = np.array(list(self.weights.values()))
        return np.asarray(expit(votes @ weights + self.intercept), dtype=np.float64)

    def __call__(self, scores: Sequence[float | None]) -> float:
        """Probability that people accept one answer, from the judges' scores in their order."""
        votes = [0.0 if score is None else 2 * score - 1 for score in scores]
        return float(self.probabilities(np.array(votes)))

    def save(self, path: str | Path) -> Path:
        """Write them as JSON, whole or not at all, for `jury(judges=[...], weights="FILE")`.

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


def _read(path: str, names: Sequence[str]) -> JuryWeights:
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
            f"the weights {path!r} are of the judges {', '.join(weights)}, and the jury has "
            f"{', '.join(names)}: {other!r} is in one of them only; weigh these judges with "
            "'markscheme research jury'"
        )
    if not all(math.isfinite(one) for one in (intercept, *weights.values())):
        raise JudgeError(f"{path!r} has a weight that is not a number")
    return JuryWeights(weights={name: weights[name] for name in names}, intercept=intercept)
