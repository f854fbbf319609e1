"""What a judge needs, as values: a chat model, extras, weights, references, the question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Use = Literal["required", "optional", "unused"]
"""`required`: without it a row is not judged. `optional`: it is used where it is there. `unused`:
it cannot change an outcome."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What must be available for a judge, and what it reads.

    Attributes:
        chat: whether the judge may ask a chat model. None, the default, is "not declared", which
            counts as "may ask": such a judge is budgeted, stays in the parent process when a run
            has several workers, and is not served over HTTP unless it is named. A judge that
            declares False and asks anyway is stopped with a JudgeError.
        extras: optional dependencies by the name of their extra, such as `hf`.
        weights: weights or other files that the user must supply.
        references, question: whether the judge reads them.
        columns: columns of the user's own that the judge reads, such as those that a prompt names.
        apart: whether a chat model is sent each row by itself, so that rows share neither
            requests nor work: a run then gives the judge small tables, many at the same time.
        note: shown to people in place of the sentence made of the fields above; decides nothing.

    Example:
        >>> print(Needs(chat=False)), print(Needs(chat=True)), print(Needs())
        nothing
        a chat model (--model)
        not declared, so treated as a judge that may ask a chat model
        (None, None, None)
    """

    chat: bool | None = None
    extras: tuple[str, ...] = ()
    weights: Use = "unused"
    references: Use = "optional"
    question: Use = "optional"
    columns: tuple[str, ...] = ()
    apart: bool = False
    note: str = ""

    @property
    def may_ask_chat(self) -> bool:
        """Whether a chat model may be used: declared, or not declared at all."""
        return self.chat is not False

    @property
    def nothing(self) -> bool:
        """Whether the judge works with an installed package alone: no model, extra or file."""
        return self.chat is False and not self.extras and self.weights != "required"

    def __str__(self) -> str:
        """A sentence for people: the note, or what the fields say."""
        if self.note:
            undeclared = "" if self.chat is not None else " (not declared as values)"
            return self.note + undeclared
        if self.chat is None:
            return "not declared, so treated as a judge that may ask a chat model"
        found = [f"the extra {name}" for name in self.extras]
        found += ["a chat model (--model)"] if self.chat else []
        found += ["weights or a file of yours"] if self.weights == "required" else []
        return ", and ".join(found) or "nothing"


UNDECLARED = Needs()
"""What counts for a judge that declares nothing."""


def combined(needs: Iterable[Needs]) -> Needs:
    """What several judges need together.

    `chat` is True if one asks, else None if one declares nothing; extras add up; weights are
    required if one requires them. References and question are required if all that read them
    require them, since another may judge a row that one of them leaves out.
    """
    every = list(needs)
    asks = [one.chat for one in every]
    weights = {one.weights for one in every}
    return Needs(
        chat=True if True in asks else None if None in asks else False,
        extras=tuple(dict.fromkeys(extra for one in every for extra in one.extras)),
        weights=next((use for use in _BY_NEED if use in weights), "unused"),
        references=_read(one.references for one in every),
        question=_read(one.question for one in every),
        columns=tuple(dict.fromkeys(name for one in every for name in one.columns)),
        apart=bool(every) and all(one.apart for one in every),
        note="; ".join(dict.fromkeys(one.note for one in every if one.note)),
    )


_BY_NEED: tuple[Use, ...] = ("required", "optional")


def _read(uses: Iterable[Use]) -> Use:
    reading = set(uses) - {"unused"}
    if not reading:
        return "unused"
    return "required" if reading == {"required"} else "optional"
