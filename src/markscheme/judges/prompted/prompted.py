"""The one class behind every judge that is a prompt: fill in, ask, read, repair once, vote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.contract import (
    ChatModel,
    ChatReply,
    Image,
    Lineage,
    ModelSource,
    Needs,
    check_range,
)
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import PATTERNS, Vote, has_patterns
from markscheme.judges.prompted.asking import AsksChat, Call, Reader, Sample, request_of
from markscheme.judges.prompted.examples import check_apart, examples_hash
from markscheme.judges.prompted.outcomes import VERDICTS, compared, further, outcome, read_reply
from markscheme.models.chat import UnusableImageError, image_at, images_below
from markscheme.tables import ANSWERS_SCHEMA, JUDGMENTS_SCHEMA, NO_REFERENCE, OUTCOME
from markscheme.text.replies import Reading

NEEDS = Needs(chat=True)


@dataclass(frozen=True, kw_only=True)
class Prompted(AsksChat):
    """What prompted judges share. Subclasses name their prompt in `PROMPT`.

    Attributes:
        samples: how many times to ask; more than one needs a temperature.
        sure: ask for no more samples of an item once its verdict is this certain, as
            `markscheme.judges.prompted.outcomes` computes it; none asks for all of them.
        vote: of several samples, the `majority` of verdicts or the `mean` score decides.
        temperature, max_tokens: the prompt's if none.
        seed: of the first sample, the next ones counting up; none sends none.
        threshold: score from which an answer is accepted, where replies are scores or the vote is
            by mean (elsewhere it is refused); the prompt's if none.
        repair: ask once more where a reply cannot be read.
        images: columns of the answers that name images, which are sent before the prompt's text;
            the prompt's own if none. A cell is a path, a `data:` address, or a list of them.
        image_folder: where paths of images begin, and outside which none is read.
        short_circuit: gone; `cascade(first=exact_match, then=JUDGE, reject=-1)` does that.
    """

    samples: int = 1
    sure: float | None = None
    vote: Vote = "majority"
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    threshold: float | None = None
    repair: bool = True
    images: tuple[str, ...] = ()
    image_folder: str | None = None
    short_circuit: InitVar[bool | None] = None

    def __post_init__(self, short_circuit: bool | None) -> None:
        """Raises JudgeError where a parameter of 0.1.0 is used that was taken out."""
        if short_circuit:
            raise JudgeError(
                "short_circuit=true is a cascade now: cascade(first=exact_match, then=JUDGE, "
                "reject=-1) accepts answers equal to a reference without asking JUDGE"
            )

    @property
    def accept_from(self) -> float:
        """Score from which an answer is accepted."""
        return self.template.accept_from if self.threshold is None else self.threshold

    @property
    def _temperature(self) -> float:
        return self.template.temperature if self.temperature is None else self.temperature

    def validate(self) -> None:
        """Check what the types do not say.

        Raises:
            JudgeError: a number out of range, several samples of a model that always says the
                same, or a parameter that would change nothing.
        """
        check_range("samples", self.samples, 1, 1000)
        check_range("temperature", self.temperature, 0, 5)
        check_range("max_tokens", self.max_tokens, 1)
        check_range("threshold", self.threshold, 0, 1)
        if self.samples > 1 and not self._temperature:
            raise JudgeError(
                f"samples={self.samples} at temperature 0 would be {self.samples} times the same; "
                "add a temperature, as in temperature=0.7"
            )
        if self.vote == "mean" and self.samples < 2:
            raise JudgeError("vote=mean needs samples to take the mean of, as in samples=5")
        verdicts = self.template.parser in VERDICTS and not self.template.swap
        if self.threshold is not None and verdicts and self.vote != "mean":
            raise JudgeError(
                f"threshold={self.threshold} is for replies that are scores, not verdicts; "
                "leave it out, or have 'markscheme calibrate' write a map of the scores for "
                "calibrated(base=JUDGE, map=FILE, threshold=...)"
            )
        if self.sure is not None:
            self._validate_sure(self.sure)
        ours = [name for name in self.image_columns if name in ANSWERS_SCHEMA]
        if ours:
            raise JudgeError(f"images={ours[0]} is a column of texts; name the one of the images")
        if self.image_folder is not None:
            if not self.image_columns:
                raise JudgeError(
                    f"image_folder={self.image_folder!r} without images; name their column, as in "
                    "images=[chart]"
                )
            if not Path(self.image_folder).is_dir():
                raise JudgeError(f"image_folder={self.image_folder!r} is not a folder")

    def _validate_sure(self, sure: float) -> None:
        if not 0.5 < sure < 1:
            raise JudgeError(f"sure={sure} must lie between 0.5 and 1, as in sure=0.95")
        if self.samples < 2:
            raise JudgeError(f"sure={sure} needs samples to stop at, as in samples=9")
        if self.vote != "majority":
            raise JudgeError(f"sure={sure} is about a majority; it does not go with vote=mean")
        if self.template.swap:
            raise JudgeError(f"sure={sure}: a prompt that is sent in both orders cannot stop early")

    @property
    def image_columns(self) -> tuple[str, ...]:
        """Columns whose images are sent."""
        return self.images or tuple(self.template.images)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Also the hash of the solved examples, and that of the images that may be sent.

        Another path to the same examples is the same judge.

        Raises:
            JudgeError: the examples cannot be read, or the folder of images cannot be read or holds
                far too much.
        """
        found = dict(super().identity(models))
        solved = self._solved
        if solved:
            found["shots"] = examples_hash(solved)
        if self.image_folder is None:
            return found
        try:
            return {**found, "images": images_below(Path(self.image_folder))}
        except UnusableImageError as error:
            raise JudgeError(f"image_folder={self.image_folder!r}: {error}") from None

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Ask the model about every row, all at once, and read what it says.

        Raises:
            ModelError: no chat model was given.
        """
        by_place, pending = self._plan(answers)
        if pending:
            found = self._sampled(self._chat(models), [mine for _, mine in pending])
            for (place, mine), samples in zip(pending, found, strict=True):
                by_place[place] = self._outcome(samples, mine)
        return pl.DataFrame(
            [by_place[place] for place in range(answers.height)],
            schema={name: JUDGMENTS_SCHEMA[name] for name in OUTCOME},
        )

    def _sampled(self, chat: ChatModel, pending: Sequence[Sequence[Call]]) -> list[list[Sample]]:
        """Samples of every item; where `sure` is set, as many as it takes.

        A dry run, whose replies tell nothing, comes to ask for all of them.
        """
        found: list[list[Sample]] = [[] for _ in pending]
        while True:
            wanted = [
                calls[len(mine) : len(mine) + self._wanted(mine, most=len(calls))]
                for calls, mine in zip(pending, found, strict=True)
            ]
            calls = [call for some in wanted for call in some]
            if not calls:
                return found
            samples = iter(self._ask(chat, calls, repair=self.repair))
            for mine, some in zip(found, wanted, strict=True):
                mine.extend(next(samples) for _ in some)

    def _wanted(self, samples: Sequence[Sample], *, most: int) -> int:
        """How many samples to request in addition to those that are there."""
        if self.sure is None:
            return most - len(samples)
        verdicts = [sample.verdict for sample in samples if sample.verdict is not None]
        return further(
            sum(verdicts), len(verdicts) - sum(verdicts), left=most - len(samples), sure=self.sure
        )

    @property
    def _solved(self) -> Sequence[Mapping[str, Any]]:
        """Solved examples for the prompt; a subclass that has some reads them from `examples`.

        Raises:
            JudgeError: their file cannot be read.
        """
        return ()

    def shots(self, answers: pl.DataFrame) -> Sequence[Mapping[str, Any]]:
        """Solved examples for the prompt, none of which is among the answers.

        Raises:
            JudgeError: their file cannot be read, or an example's question is among those judged.
        """
        found = self._solved
        if found:
            check_apart(found, answers["question"], getattr(self, "examples", ""))
        return found

    def lineage(self) -> Lineage | None:
        """The questions of its solved examples; what trained the model is not known here.

        None without examples.
        """
        found = self._solved
        return Lineage.of(shot["question"] for shot in found) if found else None

    def _plan(
        self, answers: pl.DataFrame
    ) -> tuple[dict[int, dict[str, Any]], list[tuple[int, list[Call]]]]:
        """Rows that need no model with their outcomes; the places of the others with their calls.

        A prompt that swaps two texts is sent both ways, the scores of the second way reversed.
        """
        prompt = self.template
        columns = answers.columns
        contexts = answers["context"].to_list() if "context" in columns else [None] * answers.height
        patterns = answers.with_columns(patterns=has_patterns(answers))["patterns"].to_list()
        shots = self.shots(answers)
        own = {
            name: answers[name].cast(pl.String).to_list() if name in columns else None
            for name in (*prompt.columns, *self.image_columns)
        }
        rows = zip(
            answers["question"],
            answers["references"].to_list(),
            answers["answer"],
            contexts,
            strict=True,
        )
        by_place: dict[int, dict[str, Any]] = {}
        pending: list[tuple[int, list[Call]]] = []
        for place, (question, listed, answer, context) in enumerate(rows):
            references = [one for one in listed or () if one is not None]
            mine = {name: None if column is None else column[place] for name, column in own.items()}
            lacking = self._lacking(references, context, mine, patterns=patterns[place])
            images: tuple[Image, ...] = ()
            if not lacking:
                try:
                    images = self._images(mine)
                except UnusableImageError as error:
                    lacking = f"no image to send: {error}"
            if lacking:
                by_place[place] = {"status": "skipped", "explanation": lacking}
                continue
            given = {"question": question, "answer": answer, "context": context, **mine}
            ways: list[tuple[dict[str, Any], Reader]] = [(given, self._read)]
            if prompt.swap:
                one, other = prompt.swap
                turned = {**given, one: given[other], other: given[one]}
                ways.append((turned, self._reversed(self._read)))
            calls: list[Call] = []
            for values, reader in ways:
                turns = prompt.messages(
                    question=values["question"],
                    references=references,
                    answer=values["answer"],
                    context=values["context"],
                    examples=shots,
                    own={name: values[name] for name in prompt.columns},
                )
                calls += self._calls(turns, reader, images=images)
            pending.append((place, calls))
        return by_place, pending

    def _lacking(
        self,
        references: Sequence[str],
        context: str | None,
        own: Mapping[str, str | None],
        *,
        patterns: bool,
    ) -> str | None:
        """What the prompt needs and a row does not have."""
        prompt = self.template
        if patterns and prompt.needs_references != "unused":
            return PATTERNS
        if not references and prompt.needs_references == "required":
            return NO_REFERENCE
        if prompt.context == "required" and not (context or "").strip():
            return "no context, which the prompt needs"
        empty = [name for name, text in own.items() if not (text or "").strip()]
        return f"no {empty[0]}, which the prompt needs" if empty else None

    def _outcome(self, samples: Sequence[Sample], calls: Sequence[Call]) -> dict[str, Any]:
        """The outcome of one row from its samples, the first of its calls."""
        if self.template.swap:
            row = compared(samples, accept_from=self.accept_from)
            if row["status"] == "judged":
                note = ", ".join(f"{sample.reason} ({sample.score:g})" for sample in samples)
                row["explanation"] = f"sent in both orders: {note}"
            return row
        row = outcome(samples, vote=self.vote, accept_from=self.accept_from)
        if len(samples) < len(calls):
            note = f"stopped after {len(samples)} of at most {len(calls)} samples"
            row["explanation"] = f"{row['explanation']}; {note}" if row["explanation"] else note
        return row

    @property
    def needs(self) -> Needs:
        """A chat model, and of a row what the prompt uses."""
        prompt = self.template
        return Needs(
            chat=True,
            references=prompt.needs_references,
            apart=True,
            columns=tuple(dict.fromkeys((*prompt.columns, *self.image_columns))),
            question="required" if "question" in prompt.variables else "unused",
        )

    def _images(self, own: Mapping[str, str | None]) -> tuple[Image, ...]:
        """The images of a row, in order of their columns.

        Raises:
            UnusableImageError: one cannot be sent; says which, and why.
        """
        folder = None if self.image_folder is None else Path(self.image_folder)
        return tuple(
            image_at(one, folder) for name in self.image_columns for one in _cells(own[name] or "")
        )

    def _calls(
        self,
        turns: Sequence[tuple[str, str]],
        reader: Reader,
        *,
        weight: float = 1.0,
        images: tuple[Image, ...] = (),
    ) -> list[Call]:
        """A call for each sample of a conversation, with the images before its last text."""
        request = request_of(
            self.template, turns, temperature=self.temperature, max_tokens=self.max_tokens
        )
        if images:
            *before, last = request.messages
            request = replace(request, messages=(*before, replace(last, images=images)))
        requests = (
            replace(request, seed=None if self.seed is None else self.seed + sample, sample=sample)
            for sample in range(self.samples)
        )
        return [Call(request=request, reader=reader, weight=weight) for request in requests]

    def _read(self, reply: ChatReply) -> Reading:
        prompt = self.template
        return read_reply(
            reply, parser=prompt.parser, accept_from=self.accept_from, own=prompt.reader
        )

    def _reversed(self, reader: Reader) -> Reader:
        """What reads replies where the two texts have changed places."""

        def read(reply: ChatReply) -> Reading:
            found = reader(reply)
            if found.score is None:
                return found
            score = 1.0 - found.score
            return replace(found, score=score, verdict=score >= self.accept_from)

        return read


def _cells(text: str) -> list[str]:
    """The images that a cell names: one, or a list, which is read with blank lines between."""
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if found and all(isinstance(one, str) for one in found):
            return list(found)
    return [one for one in text.split("\n\n") if one.strip()]
