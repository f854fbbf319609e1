"""Which failure mode of exact match an accepted answer is (Kamalloo et al. 2023, section 5).

A list of rules, from the most to the least certain; each looks at one reference and gives its
evidence in words. What no rule explains is compared with the other accepted answers to the same
question, which tells an ambiguous question from a wrong reference, and with the reference's meaning
by the shipped sentence encoder. What is left is "unsure".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.analysis.same import (
    cue_of_readings,
    finer_time,
    one_of_list,
    other_words,
    quoted,
    same_name,
    same_value,
    words_added,
)
from markscheme.analysis.wording import Pair, Wording, named, spelled_in, stands_in, wording
from markscheme.metrics import exact_match
from markscheme.text import (
    asks_example,
    asks_list,
    asks_place,
    asks_several,
    asks_superlative,
    asks_time,
    changes_with_time,
    reads_as_sentence,
)
from markscheme.values import Outcome, compare_values

if TYPE_CHECKING:
    from markscheme.models import Models


@dataclass(frozen=True, kw_only=True)
class Mode:
    """One way for exact match to reject an answer that people accept.

    Attributes:
        group: the bar of the paper's Figure 3 it belongs to.
        meaning: what the answer and the reference differ in.
        paper: the group's or mode's share in percent as section 5.1 prints it; None if not there.
    """

    group: str
    meaning: str
    paper: float | None = None


SEMANTIC = "semantic equivalence"
SYMBOLIC = "symbolic equivalence"
GRANULARITY = "granularity discrepancy"
LISTS = "list-style question"
AMBIGUITY = "ambiguous question"
INCORRECT = "incorrect reference"
UNSURE = "unsure"

MODES: dict[str, Mode] = {
    "multinominal_entity": Mode(
        group=SEMANTIC, meaning="another name of the same entity", paper=9.3
    ),
    "synonym": Mode(group=SEMANTIC, meaning="other words for the same"),
    "more_elaborate": Mode(group=SEMANTIC, meaning="the same at greater length"),
    "em_in_explanatory": Mode(
        group=SEMANTIC, meaning="the reference, word for word, inside a longer answer", paper=10.1
    ),
    "bridging_abridging": Mode(
        group=SEMANTIC, meaning="a word or a few added or dropped", paper=11.4
    ),
    "tokenization": Mode(group=SEMANTIC, meaning="hyphens, spaces, accents or other marks"),
    "symbolic_equivalence": Mode(
        group=SYMBOLIC, meaning="how a number, quantity or date is written, or its rounding"
    ),
    "temporal_granularity": Mode(group=GRANULARITY, meaning="how fine a time is given"),
    "spatial_granularity": Mode(group=GRANULARITY, meaning="how fine a place is given"),
    "list_question": Mode(group=LISTS, meaning="which members of a list, or their order"),
    "open_ended_question": Mode(group=LISTS, meaning="which of many right answers is named"),
    "compound_question": Mode(
        group=LISTS, meaning="how the parts of a question of several parts are put"
    ),
    "ambiguity": Mode(group=AMBIGUITY, meaning="which reading of the question is answered"),
    "incorrect_reference": Mode(group=INCORRECT, meaning="nothing: the reference is wrong"),
    UNSURE: Mode(group=UNSURE, meaning="no rule fits"),
}
"""Every mode, in the paper's order; names as the bundled example has them."""

GROUPS: dict[str, float | None] = {
    SEMANTIC: 50.3,
    SYMBOLIC: None,
    AMBIGUITY: None,
    GRANULARITY: 15.0,
    LISTS: 20.6,
    INCORRECT: None,
    UNSURE: None,
}
"""The groups in Figure 3's order, with its percentages as section 5.1 prints them.

The text also gives 14% for data quality: ambiguous questions and incorrect references together.
"""

_Key = tuple[str, tuple[str, ...], str]
"""Question, references and answer."""

MEANS_THE_SAME = 0.55
"""Cosine of MiniLM embeddings from which two phrases without a word in common are synonyms."""


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A failure mode, and what in the texts says so."""

    mode: str
    evidence: str


Rule = Callable[[Pair], str | None]


def _tokenised(pair: Pair) -> str | None:
    one, other = pair.reference, pair.answer
    if one.pieces and "".join(one.pieces) == "".join(other.pieces):
        return f"the same letters as {one.text!r}; only marks, spaces or accents differ"
    if not stands_in(one.plain, other.plain) and spelled_in(one.pieces, other.pieces):
        return f"{one.text!r} is in the answer with other marks or spaces"
    return None


def _finer_time(pair: Pair) -> str | None:
    if pair.reference.dates and (asks_time(pair.question) or _only_date(pair.reference)):
        return finer_time(pair)
    return None


def _only_date(said: Wording) -> bool:
    dated = " ".join(date.text for date in said.dates)
    return len(said.content) <= len(wording(dated).content) + 1


def _finer_place(pair: Pair) -> str | None:
    """A place named with the larger one around it, or without: no sentence, and a word shared."""
    one, other = pair.reference, pair.answer
    if not asks_place(pair.question) or pair.sentence:
        return None
    added, lacking = other.words - one.words, one.words - other.words
    if one.words & other.words and (added & other.capitals or lacking & one.capitals):
        return f"shares {quoted(one.words & other.words, one)} with {one.text!r}, at another scale"
    return None


def _verbatim(pair: Pair) -> str | None:
    one, other = pair.reference, pair.answer
    if stands_in(one.plain, other.plain):
        extra = len(other.plain) - len(one.plain)
        if extra > 4 or (pair.sentence and extra > 1):
            return f"the answer contains {one.text!r} unchanged, with {extra} words around it"
    return None


def _compound(pair: Pair) -> str | None:
    if asks_several(pair.question):
        return "the question asks for several things at once"
    return None


def _several(pair: Pair) -> str | None:
    """Several references, each another thing, named in one answer."""
    named = [one for one in pair.references if stands_in(one.plain, pair.answer.plain)]
    apart = [
        one
        for place, one in enumerate(named)
        if not any(one.words & other.words for other in named[:place])
    ]
    if len(apart) > 1 and not any(one.dates for one in apart):
        return f"names {len(apart)} of the references: {quoted(one.text for one in apart)}"
    return None


def _elaborate(pair: Pair) -> str | None:
    one, other = pair.reference, pair.answer
    shared = one.words & other.words
    if one.numbers and other.numbers and not one.numbers & other.numbers:
        return None
    enough = len(shared) >= max(1, 0.5 * len(one.words)) and shared - _of(pair.question)
    if enough and len(other.content) > len(one.content) + 2:
        return f"says {quoted(shared, one)} of {one.text!r}, at greater length"
    return None


def _partly_worded(pair: Pair) -> str | None:
    shared = pair.reference.words & pair.answer.words - _of(pair.question)
    if shared and not (pair.reference.numbers and pair.answer.numbers):
        return (
            f"shares {quoted(shared, pair.reference)} with {pair.reference.text!r}, in other words"
        )
    return None


def _of(question: str) -> frozenset[str]:
    return wording(question).words


RULES: tuple[tuple[str, Rule], ...] = (
    ("tokenization", _tokenised),
    ("ambiguity", cue_of_readings),
    ("compound_question", _compound),
    ("list_question", _several),
    ("temporal_granularity", _finer_time),
    ("spatial_granularity", _finer_place),
    ("em_in_explanatory", _verbatim),
    ("symbolic_equivalence", same_value),
    ("list_question", one_of_list),
    ("multinominal_entity", same_name),
    ("bridging_abridging", words_added),
    ("more_elaborate", _elaborate),
    ("synonym", other_words),
    ("synonym", _partly_worded),
)
"""Modes in the order they are tried, each over all references before the next."""


def tag(question: str, references: Sequence[str], answer: str) -> Tag | None:
    """The mode that the wording of an answer and its references shows, or None.

    >>> tag("who signed it", ["B. R. Ambedkar"], "Bhimrao Ramji Ambedkar").mode
    'multinominal_entity'
    """
    said = wording(answer)
    sentence = reads_as_sentence(answer)
    wordings = tuple(map(wording, references))
    pairs = [
        Pair(question=question, reference=one, references=wordings, answer=said, sentence=sentence)
        for one in wordings
    ]
    for mode, rule in RULES:
        for pair in pairs:
            evidence = rule(pair)
            if evidence is not None:
                return Tag(mode=mode, evidence=evidence)
    return None


def by_texts(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers without those whose references are patterns, or of which there are none."""
    if "reference_kind" not in answers.columns:
        return answers
    is_text = pl.col("reference_kind").fill_null("text") == "text"
    return answers.filter(is_text).drop("reference_kind")


def failure_modes(answers: pl.DataFrame, models: Models | None = None) -> pl.DataFrame:
    """The mode of every answer that is accepted although exact match rejects it.

    Args:
        answers: `answer_id`, `question`, `references`, `answer`, and `accepted` (Boolean: a
            person's or a trusted judge's verdict; null where there is none). Where
            `reference_kind` says that references are no texts, rows are left out.
        models: gives the sentence encoder; None leaves synonyms without a word in common unsure.

    Returns:
        One row an accepted answer that exact match rejects, in order: `row` (its number in
        `answers`), `answer_id`, `question`, `references`, `answer`, `mode`, `group`, `evidence`.
    """
    table = by_texts(answers.with_row_index("row"))
    table = table.with_columns(
        matches=pl.Series(exact_match(table["answer"], table["references"]), dtype=pl.Boolean)
    )
    accepted = table.filter(pl.col("accepted") & pl.col("answer").is_not_null())
    failed = accepted.filter(~pl.col("matches"))
    distinct = failed.select("question", "references", "answer").unique(maintain_order=True)
    tags = [tag(*row) for row in distinct.iter_rows()]
    rest = [place for place, found in enumerate(tags) if found is None]
    context = _Context(accepted, dict(zip(map(_key, distinct.iter_rows()), tags, strict=True)))
    alike = _cosines(distinct[rest], models)
    for place, cosine in zip(rest, alike, strict=True):
        tags[place] = context.tag(*distinct.row(place), cosine=cosine)
    modes = distinct.with_columns(
        mode=pl.Series([found.mode for found in tags if found], dtype=pl.String),
        evidence=pl.Series([found.evidence for found in tags if found], dtype=pl.String),
    ).with_columns(
        group=pl.col("mode").replace_strict({name: mode.group for name, mode in MODES.items()})
    )
    return failed.join(
        modes, on=["question", "references", "answer"], how="left", maintain_order="left"
    ).select("row", "answer_id", "question", "references", "answer", "mode", "group", "evidence")


def _cosines(rows: pl.DataFrame, models: Models | None) -> list[float]:
    """Largest cosine of an answer to one of its references; 0 without an encoder."""
    if models is None or rows.is_empty():
        return [0.0] * rows.height
    encoder = models.encoder()
    texts = pl.concat([rows["answer"], rows["references"].explode()]).unique(maintain_order=True)
    vectors = dict(zip(texts.to_list(), encoder.encode(texts.to_list()), strict=True))
    return [
        max(float(vectors[answer] @ vectors[reference]) for reference in references)
        for references, answer in rows.select("references", "answer").iter_rows()
    ]


class _Context:
    """What else is accepted as an answer to the same question."""

    def __init__(self, accepted: pl.DataFrame, tags: Mapping[_Key, Tag | None]) -> None:
        """Take what was accepted, and what the wording of some of it showed."""
        self._tags = dict(tags)
        kept = accepted.select("question", "answer", "matches").unique(maintain_order=True)
        self._others: dict[str, list[tuple[str, bool]]] = {}
        for question, answer, matches in kept.iter_rows():
            self._others.setdefault(question, []).append((answer, matches))

    def tag(self, question: str, references: list[str], answer: str, *, cosine: float) -> Tag:
        """The mode of an answer whose wording shows none."""
        said = wording(answer)
        first = wording(references[0])
        others = [(text, matches) for text, matches in self._others[question] if text != answer]
        also = [text for text, matches in others if not matches and _agree(said, wording(text))]
        by_reference = any(
            matches or self._worded(question, references, text) for text, matches in others
        )
        names = _is_name(first) and _is_name(said)
        if compare_values(question, references, answer).outcome is Outcome.AGREE:
            what = f"the same value as {first.text!r}, in other words"
            return Tag(mode="symbolic_equivalence", evidence=what)
        if asks_example(question):
            return Tag(mode="open_ended_question", evidence="the question has many right answers")
        if asks_list(question) or _apart(references) > 1:
            what = f"none of the {len(references)} references, to a question with several answers"
            return Tag(mode="list_question", evidence=what)
        if asks_place(question) and not asks_superlative(question) and by_reference:
            return Tag(mode="spatial_granularity", evidence=f"another place than {first.text!r}")
        if changes_with_time(question) and (names or asks_place(question)):
            return Tag(mode="ambiguity", evidence="the right answer changes with time")
        if cosine >= MEANS_THE_SAME and not names:
            return Tag(mode="synonym", evidence=f"close in meaning to a reference ({cosine:.2f})")
        if asks_place(question) and not first.dates:
            return Tag(mode="spatial_granularity", evidence=f"another place than {first.text!r}")
        if asks_time(question) and said.dates and first.dates and by_reference:
            return Tag(mode="ambiguity", evidence="answers with another time are accepted as well")
        if by_reference and names:
            return Tag(mode="ambiguity", evidence="the reference's answer is accepted as well")
        if also:
            what = f"it is accepted also as {also[0]!r}, and nothing like the reference is"
            return Tag(mode="incorrect_reference", evidence=what)
        if len(said.content) > 6:
            return Tag(mode="more_elaborate", evidence="explains in a sentence of its own")
        if not names and cosine > 0.3:
            return Tag(mode="synonym", evidence=f"related in meaning to a reference ({cosine:.2f})")
        return Tag(mode=UNSURE, evidence="neither its wording nor other answers tell")

    def _worded(self, question: str, references: list[str], answer: str) -> bool:
        """Whether the wording of an answer shows a mode; found out once."""
        key = _key((question, references, answer))
        if key not in self._tags:
            self._tags[key] = tag(question, references, answer)
        return self._tags[key] is not None


def _key(row: Sequence[Any]) -> _Key:
    question, references, answer = row
    return question, tuple(references), answer


def _apart(references: Sequence[str]) -> int:
    """How many of the references are different things: without a word in common, and no dates."""
    kept: list[Wording] = []
    for one in map(wording, references):
        if one.words and not one.dates and not any(one.words & other.words for other in kept):
            kept.append(one)
    return len(kept)


def _is_name(said: Wording) -> bool:
    return bool(named(said) or said.dates or said.numbers)


def _agree(one: Wording, other: Wording) -> bool:
    """Whether two answers say the same, by the rules that need no reference."""
    shorter, longer = sorted((one, other), key=lambda said: len(said.words))
    return bool(shorter.words) and shorter.words <= longer.words
