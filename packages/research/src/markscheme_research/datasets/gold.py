"""Datasets that are questions with gold answers only: CuratedTREC, NQ-open, TriviaQA.

`answer` and `system` are null: they are to be filled with what a system says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from markscheme.errors import DataError
from markscheme_research.datasets.locations import Local
from markscheme_research.datasets.rows import (
    Family,
    as_answers,
    read_json,
    read_json_lines,
    read_tsv,
    reading,
    text_or_none,
)

TREC_FILES = {
    "trec2002": "trec2002.tsv",
    "full": "curated-full.tsv",
    "train": "curated-train.tsv",
    "test": "curated-test.tsv",
}
NQ_FILES = {
    "dev": "NQ-open.dev.jsonl",
    "train": "NQ-open.train.jsonl",
    "efficientqa-dev": "NQ-open.efficientqa.dev.1.1.jsonl",
    "efficientqa-test": "NQ-open.efficientqa.test.1.1.jsonl",
}
TRIVIA_FILES = {
    "dev": "unfiltered-web-dev.json",
    "train": "unfiltered-web-train.json",
    "verified": "verified-web-dev.json",
}


@dataclass(frozen=True, kw_only=True)
class TrecOptions:
    """What `load` accepts: which of CuratedTREC's files (`trec2002` is Kamalloo et al.'s)."""

    split: Literal["trec2002", "full", "train", "test"] = "trec2002"


@dataclass(frozen=True, kw_only=True)
class NqOptions:
    """What `load` accepts for NQ-open.

    Attributes:
        split: which file; `dev` has the 3,610 questions that papers call the test set.
        accepted: predictions that people called definitely correct are references too; they are in
            `efficientqa-test` alone.
    """

    split: Literal["dev", "train", "efficientqa-dev", "efficientqa-test"] = "dev"
    accepted: bool = False


@dataclass(frozen=True, kw_only=True)
class TriviaOptions:
    """What `load` accepts for TriviaQA.

    Attributes:
        split: which file.
        normalised: references are `NormalizedAliases`, lower-cased and without punctuation, as
            TriviaQA's own scorer compares them; otherwise the value and its aliases as written.
    """

    split: Literal["dev", "train", "verified"] = "dev"
    normalised: bool = False


def load_trec(local: Local, options: TrecOptions) -> pl.DataFrame:
    """Questions whose one reference is a regular expression, to be searched anywhere in an answer.

    Ids are `curatedtrec/<split>/<the file's id>`. White space around a question is dropped; a
    pattern is preserved to the character, since some alternatives begin or end with a space.
    """
    path = local.path(TREC_FILES[options.split])
    with reading(path, "a file of CuratedTREC"):
        rows = [
            (f"{local.dataset.name}/{options.split}/{number}", question.strip(), [pattern], "regex")
            for number, _kind, question, pattern in read_tsv(path, quoted=False)
        ]
    return _gold(rows)


def load_nq(local: Local, options: NqOptions) -> pl.DataFrame:
    """Questions with short gold answers; ids are `nq-open/<split>/<line from 1>`.

    Raises:
        DataError: `accepted` of a split that has no judged predictions.
    """
    path = local.path(NQ_FILES[options.split])
    more = "def_correct_predictions"
    if options.accepted and options.split != "efficientqa-test":
        raise DataError(
            f"accepted=true has no effect on split={options.split}: predictions that people judged "
            "are in split=efficientqa-test alone"
        )
    with reading(path, "a file of NQ-open"):
        rows = [
            (
                f"{local.dataset.name}/{options.split}/{line}",
                text_or_none(item["question"]),
                _texts([*item["answer"], *(item.get(more, []) if options.accepted else [])]),
                "text",
            )
            for line, item in enumerate(read_json_lines(path), start=1)
        ]
    return _gold(rows)


def load_trivia(local: Local, options: TriviaOptions) -> pl.DataFrame:
    """Questions with every alias of the answer; ids are `triviaqa/<split>/<row from 1>`."""
    path = local.path(TRIVIA_FILES[options.split])
    with reading(path, "a file of TriviaQA"):
        rows = [
            (
                f"{local.dataset.name}/{options.split}/{row}",
                text_or_none(item["Question"]),
                _aliases(item["Answer"], normalised=options.normalised),
                "text",
            )
            for row, item in enumerate(read_json(path)["Data"], start=1)
        ]
    return _gold(rows)


def _aliases(answer: dict[str, Any], *, normalised: bool) -> list[str]:
    if normalised:
        return _texts(answer["NormalizedAliases"])
    return _texts([answer.get("Value"), *answer["Aliases"]])


def _texts(values: list[Any]) -> list[str]:
    """The texts among `values`, no empty one and none twice, in order."""
    return list(dict.fromkeys(text for value in values if (text := text_or_none(value))))


def _gold(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    schema: dict[str, Any] = {
        "answer_id": pl.String,
        "question": pl.String,
        "references": pl.List(pl.String),
        "reference_kind": pl.String,
    }
    return as_answers(pl.DataFrame(rows, schema=schema, orient="row"))


def _counts(files: dict[str, str], load: Any, options: type) -> Any:
    """A function that counts the questions of every split that is here."""

    def counts(local: Local) -> dict[str, int]:
        return {
            f"{split} questions": load(local, options(split=split)).height
            for split, name in files.items()
            if name in local.files
        }

    return counts


TREC = Family(
    options=TrecOptions, load=load_trec, counts=_counts(TREC_FILES, load_trec, TrecOptions)
)
NQ = Family(options=NqOptions, load=load_nq, counts=_counts(NQ_FILES, load_nq, NqOptions))
TRIVIA = Family(
    options=TriviaOptions,
    load=load_trivia,
    counts=_counts(TRIVIA_FILES, load_trivia, TriviaOptions),
)
