"""What goes in and what comes out, as OpenAPI shows it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import UploadFile
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    model_validator,
)

from markscheme.flags import Cleaning
from markscheme.tables import RELATIONS, STATUSES

_FILLED = r"^[^\x00]*[^\x00\s][^\x00]*$"

LONGEST_TEXT = 100_000
MOST_REFERENCES = 1_000

Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT, pattern=r"^[^\x00]*$")]
Filled = Annotated[str, StringConstraints(max_length=LONGEST_TEXT, pattern=_FILLED)]
Short = Annotated[str, StringConstraints(max_length=200, pattern=_FILLED)]
Brief = Annotated[str, StringConstraints(max_length=5_000, pattern=_FILLED)]
JudgeText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2_000),
    Field(
        description="A judge as GET /v1/judges names it. Left out: the service's default.",
        examples=["examiner"],
    ),
]

EXAMPLE_ANSWER: dict[str, Any] = {
    "id": "1",
    "question": "Who wrote Emma?",
    "references": ["Jane Austen"],
    "answer": "It was written by Jane Austen.",
}
_WRONG_ANSWER: dict[str, Any] = {
    **EXAMPLE_ANSWER,
    "id": "2",
    "answer": "Charlotte Brontë wrote it.",
}


def _listed(value: Any) -> Any:
    """A text alone is a list of one, as in files."""
    return [value] if isinstance(value, str) else value


def _or_one(schema: dict[str, Any]) -> None:
    """Describe a list so that one of its items may come alone."""
    names = ("type", "items", "minItems", "maxItems")
    several = {name: schema.pop(name) for name in names if name in schema}
    schema["anyOf"] = [several, several["items"]]


class _Given(BaseModel):
    """What clients send: no other fields, no conversions."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AnswerIn(_Given):
    """A question, its reference answers, and a system's answer."""

    question: Filled
    references: Annotated[
        list[Filled],
        FailFast(),
        BeforeValidator(_listed),
        Field(
            max_length=MOST_REFERENCES,
            description="A text alone is one reference, which is never split. An empty list: the "
            "question has no answer. Left out: for judges that need none.",
            json_schema_extra=_or_one,
        ),
    ] = []
    answer: Annotated[
        Text | None,
        Field(
            description="null or blank: the system gave none; it is wrong. What is no answer, such "
            "as reasoning, is cut as in files."
        ),
    ]
    answer_error: Annotated[
        Text | None,
        Field(description="Why the call that should have given the answer failed: it is skipped."),
    ] = None
    id: Annotated[
        Short | None, Field(description="Comes back unchanged. Left out: a hash of the content.")
    ] = None
    system: Short | None = None
    reference_grades: Annotated[
        Annotated[list[Annotated[int, Field(ge=-1000, le=1000)]], Field(fail_fast=True)] | None,
        Field(description="A grade for each reference, higher is better."),
    ] = None
    reference_kind: Literal["text", "regex"] | None = None
    context: Annotated[Text | None, Field(description="For judges that read a passage.")] = None

    @model_validator(mode="after")
    def _as_many_grades(self) -> AnswerIn:
        grades = self.reference_grades
        if grades is not None and len(grades) != len(self.references):
            raise ValueError("as many reference_grades as references are needed")
        return self


class JudgmentsIn(_Given):
    """Answers to judge."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"judge": "examiner", "answers": [EXAMPLE_ANSWER, _WRONG_ANSWER]}]
        }
    )
    answers: Annotated[list[AnswerIn], Field(min_length=1)]
    judge: JudgeText | None = None


Bound = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]


class RewardsIn(JudgmentsIn):
    """Answers to reward."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"by": "marks", "answers": [EXAMPLE_ANSWER, _WRONG_ANSWER]}]
        }
    )
    by: Annotated[
        Literal["marks", "score", "verdict"],
        Field(description="marks: partial credit, the score where a judge gives no marks."),
    ] = "marks"
    wrong: Annotated[Bound, Field(description="What no marks are worth.")] = 0.0
    right: Annotated[Bound, Field(description="What full marks are worth.")] = 1.0


class ExplanationIn(_Given):
    """One answer to explain."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {name: EXAMPLE_ANSWER[name] for name in ("question", "references", "answer")}
            ]
        }
    )
    question: Brief
    references: Annotated[
        list[Brief],
        FailFast(),
        BeforeValidator(_listed),
        Field(
            min_length=1,
            max_length=20,
            description="A text alone is one reference.",
            json_schema_extra=_or_one,
        ),
    ]
    answer: Brief


class ExplanationOut(BaseModel):
    """Why an answer fits its references or not; places are starts and ends, in characters."""

    answer: str | None = Field(description="As HTML, where it has Markdown or LaTeX.")
    raw: str = Field(description="As HTML, as it is written, without what is no answer.")
    references: list[dict[str, Any]] = Field(
        description="text, spans (words in common), answer (the same in the answer), values."
    )
    decided: dict[str, Any] | None = Field(
        description="What moved the examiner; null where it is not served with its own "
        "defaults, or reads no answer."
    )


class JudgmentOut(BaseModel):
    """The judgment of one answer. What the judge does not give is null."""

    id: str
    status: Literal[STATUSES]  # type: ignore[valid-type]
    score: float | None = Field(description="0 to 1.")
    verdict: bool | None
    relation: Literal[RELATIONS] | None  # type: ignore[valid-type]
    marks: float | None
    explanation: str | None
    scope: str | None = Field(
        description="How the answer relates to what a trained judge learned, such as `inside` or "
        "`outside: ` and why."
    )
    raw: str | None = Field(description="A language model's reply.")
    cost_usd: float | None
    tokens_in: int | None
    tokens_out: int | None
    seconds: float | None


class _Signed(BaseModel):
    judge: str
    signature: str = Field(description="Figures may be compared only where this is equal.")


class JudgmentsOut(_Signed):
    """One judgment an answer, in the order of the request."""

    judgments: list[JudgmentOut]


class RewardsOut(_Signed):
    """One number an answer, in the order of the request; null where it was not judged."""

    rewards: list[float | None]
    not_judged: dict[str, int] = Field(description="How many were not judged, by status.")


class JudgeOut(BaseModel):
    """A judge that this service allows."""

    name: str
    signature: str
    summary: str
    default: bool


class JudgesOut(BaseModel):
    """The judges that this service allows."""

    judges: list[JudgeOut]


_COLUMNS = r"^[A-Za-z_]+=[^,=\x00]+(,[A-Za-z_]+=[^,=\x00]+)*$"


class JobIn(BaseModel):
    """A file of answers, and how to read and judge it."""

    model_config = ConfigDict(extra="forbid")
    file: Annotated[UploadFile, Field(description="JSONL, JSON, CSV, TSV or Parquet.")]
    judge: JudgeText | None = None
    format: Annotated[
        Literal["jsonl", "json", "csv", "tsv", "parquet"] | None,
        Field(description="Left out: found from the file's name, then from its content."),
    ] = None
    columns: Annotated[
        str | None,
        Field(
            description="Columns with unusual names: question=q,answer=pred",
            pattern=_COLUMNS,
            max_length=1000,
        ),
    ] = None
    reference_separator: Annotated[
        str, Field(min_length=1, max_length=10, description="Splits references in one text.")
    ] = "auto"
    on_bad_row: Annotated[
        Literal["error", "skip"], Field(description="skip: leave bad rows out, and count them.")
    ] = "error"
    clean: Annotated[
        Cleaning | None,
        Field(
            description="What is taken out of answers first. formatting (or null): citation marks, "
            "lists of sources, closing offers and wrappings, for judges that ask no chat model; "
            "none: nothing."
        ),
    ] = None


JobState = Literal["queued", "running", "done", "failed"]


class JobOut(BaseModel):
    """A job, and how far it is."""

    id: str
    state: JobState
    judge: str
    file: str
    bytes: int
    created: str = Field(description="ISO 8601, UTC.")
    finished: str | None
    rows_judged: int = Field(description="So far; of rows_expected, where that is known.")
    rows_expected: int | None = Field(description="Of text files: their lines.")
    rows_skipped: int = Field(description="Bad rows that on_bad_row=skip left out.")
    error: str | None = Field(description="Why it failed.")
    figures: list[dict[str, Any]] | None = Field(
        description="Per system, once done: rows, not judged by status, share accepted, interval."
    )
    figures_left_out: int = Field(
        description="Of more than 1,000 figures, only those of all systems together are shown."
    )


class FieldProblem(BaseModel):
    """A value that cannot be used."""

    where: str
    message: str


class Problem(BaseModel):
    """Why a request was not done (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str = Field(description="Names the request in the service's log.")
    errors: list[FieldProblem] | None = None


class Health(BaseModel):
    """Whether the service works, or takes work."""

    status: str
