"""What the judges by graded lists share: the list best first, asking, reading, adding up."""

from __future__ import annotations

import functools
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import polars as pl

from markscheme.contract import ChatReply, Needs
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import PATTERNS, has_patterns
from markscheme.judges.prompted import NEEDS, Call, Prompt, Prompted, Reader
from markscheme.tables import NO_REFERENCE
from markscheme.text.replies import Reading

# --- Prompt files as the authors of LINKAGE released them, read as they are -----------------------
# Their texts are public and have no licence, so none ships here: `markscheme research datasets
# fetch linkage-prompts` gets them from the authors. A placeholder such as `{#question}` becomes the
# text in braces, as the authors' own code (which replaces `#question`) sends it, and a list of
# references becomes `Answer 1:...` and so on, a line each.


_PLACEHOLDER = re.compile(r"\{?#(\w+)\}?")
_LIST = "{% for reference in references %}Answer {{ loop.index }}:{{ reference }}\n{% endfor %}"
_TEXTS: Mapping[str, str] = {
    "question": "{{ question }}",
    "candidate": "{{ answer }}",
    "ground": _LIST,
    "answer_a": "{{ references[0] }}",
    "answer_b": "{{ references[1] }}",
}
_NEEDED: Mapping[str, frozenset[str]] = {
    "rank": frozenset(("question", "ground", "candidate")),
    "pair": frozenset(("question", "answer_a", "answer_b")),
    "ten": frozenset(("question", "candidate")),
}
_ALLOWED = {**_NEEDED, "ten": _NEEDED["ten"] | {"ground"}}
_REPAIRS = {
    "rank": "I could not read a rank in your reply ({{ trouble }}). Reply with one whole number in "
    "double brackets, such as [[2]].",
    "pair": "I could not read a choice in your reply. Reply with [[A]], [[B]], or [[C]] for a tie.",
    "ten": "I could not read a mark in your reply. Reply with one whole number from 0 to 10 in "
    "double brackets, such as [[8]].",
}
MAX_TOKENS = 512
"""As in the authors' code: room for the explanation that comes first."""


def released_prompt(path: str, parser: str) -> Prompt:
    """A released file as a prompt.

    Args:
        path: of the text file.
        parser: `rank`, `pair` or `ten`: what its judge reads.

    Raises:
        JudgeError: it cannot be read, lacks a placeholder that its judge fills in, or has one that
            it does not.
    """
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeError(
            f"cannot read the prompt {path!r}: {error}; 'markscheme research datasets fetch "
            "linkage-prompts' gets the authors' files"
        ) from None
    found = set(_PLACEHOLDER.findall(text)) & {*_TEXTS, *_braced(text)}
    missing = _NEEDED[parser] - found
    if missing:
        raise JudgeError(
            f"the prompt {path!r} has no {{#{min(missing)}}}, which this judge fills in; it needs "
            f"{', '.join(f'{{#{name}}}' for name in sorted(_NEEDED[parser]))}"
        )
    other = found - _ALLOWED[parser]
    if other:
        raise JudgeError(
            f"the prompt {path!r} has {{#{min(other)}}}, which this judge does not fill in; is it "
            "the prompt of another judge?"
        )
    return Prompt(
        name=Path(path).stem,
        summary="",
        quoted=True,
        parser=parser,
        user=_template(text),
        repair=_REPAIRS[parser],
        max_tokens=MAX_TOKENS,
    )


def _braced(text: str) -> list[str]:
    return re.findall(r"\{#(\w+)\}", text)


def _template(text: str) -> str:
    """The file as a template; placeholders are filled in all at once, so that none is in a text."""
    parts, at = [], 0
    for found in _PLACEHOLDER.finditer(text):
        if found[1] in _TEXTS:
            opened, closed = found[0].startswith("{"), found[0].endswith("}")
            parts += [_literal(text[at : found.start()] + "{" * opened), _TEXTS[found[1]]]
            parts.append(_literal("}" * closed))
            at = found.end()
    return "".join([*parts, _literal(text[at:])])


def _literal(text: str) -> str:
    """Text that a template shows as it is."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"{{{{ '{quoted}' }}}}" if text else ""


# --- What the judges by graded lists share: the list best first, asking, reading, adding up -------


Order = Literal["best_first", "worst_first", "shuffled", "undisclosed"]
"""The order of a list, which the prompt states; `undisclosed` is best first and not stated."""

_ORDER_TEXT: Mapping[Order, str] = {
    "best_first": ", from best to worst",
    "worst_first": ", from worst to best",
    "shuffled": ", in no particular order",
    "undisclosed": "",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One row: references best first with their grades, all 0 where none are given."""

    question: str
    answer: str
    references: tuple[str, ...]
    grades: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class GradedList(Prompted):
    """Judges that compare an answer with a list of references of decreasing quality.

    Attributes:
        prompt: a prompt file of the paper's authors in place of ours; see `released_prompt`.
    """

    prompt: str | None = None

    @functools.cached_property
    def template(self) -> Prompt:
        """The prompt that ships, or the authors', read once a judge."""
        ours = super().template
        return ours if self.prompt is None else released_prompt(self.prompt, ours.parser)

    @property
    def needs(self) -> Needs:
        """A chat model; a row without references is skipped where it cannot be compared."""
        return NEEDS

    def validate(self) -> None:
        """Raises JudgeError as every prompted judge, and for what a prompt file cannot do."""
        super().validate()
        if self.prompt is not None:
            _ = self.template
            order, examples = getattr(self, "order", "best_first"), getattr(self, "examples", None)
            if order != "best_first" or examples is not None:
                what = "examples" if examples is not None else f"order={order}"
                raise JudgeError(
                    f"prompt={self.prompt!r} is the authors' text, which shows a list best first "
                    f"and no examples; leave out {what}"
                )
        if self.images or self.image_folder:
            raise JudgeError("images=... is for judges of one answer, not for graded lists")
        if self.sure is not None:
            raise JudgeError(f"sure={self.sure} is for judges that say yes or no, not for ranks")

    @abstractmethod
    def calls(self, item: Item, shots: Sequence[Mapping[str, Any]]) -> list[Call]:
        """The requests about one row; none where there is nothing to compare."""

    def _plan(
        self, answers: pl.DataFrame
    ) -> tuple[dict[int, dict[str, Any]], list[tuple[int, list[Call]]]]:
        """Rows with nothing to compare as skipped; the places of the others with their calls."""
        shots = self.shots(answers)
        patterns = answers.with_columns(patterns=has_patterns(answers))["patterns"]
        skipped: dict[int, dict[str, Any]] = {}
        pending: list[tuple[int, list[Call]]] = []
        for place, (item, pattern) in enumerate(zip(items(answers), patterns, strict=True)):
            calls = [] if pattern else self.calls(item, shots)
            if calls:
                pending.append((place, calls))
            else:
                why = PATTERNS if pattern else NO_REFERENCE
                skipped[place] = {"status": "skipped", "explanation": why}
        return skipped, pending

    def _scored(self, reader: Callable[..., Reading]) -> Reader:
        """A reader of scores as one of replies, with a verdict by the threshold."""

        def read(reply: ChatReply) -> Reading:
            reading = reader(reply.text or "", finished=reply.finished)
            if reading.score is None:
                return reading
            return replace(reading, verdict=reading.score >= self.accept_from)

        return read


def items(answers: pl.DataFrame) -> list[Item]:
    """Every row with its references best first; equal grades keep their order."""
    graded = "reference_grades" in answers.columns
    lists = answers["references"].to_list()
    grades = answers["reference_grades"].to_list() if graded else [None] * answers.height
    found = []
    for question, answer, listed, given in zip(
        answers["question"], answers["answer"], lists, grades, strict=True
    ):
        texts = list(listed or ())
        marks = list(given) if given is not None and len(given) == len(texts) else [0] * len(texts)
        pairs = [(mark or 0, text) for mark, text in zip(marks, texts, strict=True)]
        pairs.sort(key=lambda pair: -pair[0])
        found.append(
            Item(
                question=question,
                answer=answer,
                references=tuple(text for _, text in pairs),
                grades=tuple(mark for mark, _ in pairs),
            )
        )
    return found


def order_text(item: Item, order: Order) -> str:
    """What a prompt says of the order of an item's list; nothing where no grades differ."""
    return _ORDER_TEXT[order] if len(set(item.grades)) > 1 else ""


def laid_out(question: str, references: Sequence[str], order: Order) -> tuple[str, ...]:
    """References, given best first, as they are shown; shuffled ones the same way each time."""
    if order == "worst_first":
        return tuple(references[::-1])
    if order != "shuffled":
        return tuple(references)

    def place(reference: str) -> bytes:
        parts = "\x1f".join((question, reference))
        return blake2b(parts.encode("utf-8", "replace"), digest_size=8).digest()

    return tuple(sorted(references, key=place))
