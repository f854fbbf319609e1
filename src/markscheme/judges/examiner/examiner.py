"""The examiner: the judge that ships, works offline and explains itself."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import Lineage, ModelSource, Needs, register
from markscheme.errors import JudgeError
from markscheme.features.alignment import Batch, FeatureView, align
from markscheme.judges.examiner.explanations import (
    explanations,
    marked_spans,
    marked_words,
    marks,
    relations,
)
from markscheme.judges.examiner.readers import measured, read_jointly, readers_of, revisions
from markscheme.judges.examiner.scope import scopes
from markscheme.judges.examiner.weight_files import (
    COLUMNS,
    Weights,
    open_weights,
    platt,
    read_columns,
)
from markscheme.judges.outcomes import (
    PATTERNS,
    Thresholded,
    has_patterns,
    judged_rows,
    noting_references,
    with_nearest_references,
)
from markscheme.models.local import Mark
from markscheme.tables import NO_REFERENCE, OUTSIDE, RELATIONS
from markscheme.text import WORD, folded, spelled_alike

Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Depth = Literal["fast", "default", "full"]

RULES = 16
"""Raised whenever a feature, a rule of `score` or what is cut from answers changes."""

LONGEST = 20_000_000
"""Characters of question, references and answer together; what is longer is not judged."""

_CHOICE, _DECIDED, _VERBATIM, _WORDS = (
    list(COLUMNS).index(name)
    for name in ("value_is_choice", "value_decided", "verbatim", "answer_words")
)
_SAME_TEXT, _NO_WORDS = 4.0, -4.0
"""Log-odds of an answer that is a reference word for word, and of one without words or of another
value in the same words."""
_ROWS_AT_ONCE = 16_384
_DECIMALS = 5
"""Scores are rounded, so that a row's score cannot depend on the other rows of its batch."""


@register(
    "examiner",
    needs=Needs(chat=False, weights="optional", references="required"),
    example="examiner(depth=fast)",
)
@dataclass(frozen=True, kw_only=True)
class Examiner(Thresholded):
    """A trained judge that needs no key, no network and no GPU.

    Trees over how the answer lines up with the references and the question (words, names, denials),
    over typed values compared (numbers, units, dates, lists) and over small words and word order,
    calibrated to the probability that people accept the answer. Where those leave it unsure,
    an encoder of 110 million weights reads question, references and answer together, and both
    decide together; texts that are plainly not English are read by another, where the package
    `markscheme-languages` is installed. The answer is data: nothing in it is obeyed.

    Attributes:
        threshold: accept from this probability.
        depth: `fast` is the trees alone; by `default` the encoder reads what they leave unsure;
            `full` has it read every answer that is no verbatim reference and no chosen letter.
        outside: answers outside the field that it learned are judged (`judge`, the default) or left
            not judged (`skip`); the column `scope` marks them in both cases.
        weights: folder of an examiner trained by `markscheme train examiner`; None is the shipped.
        encoder, deep: until 0.3, names of 0.1.0 for what `depth` says.
    """

    depth: Depth = "default"
    outside: Literal["judge", "skip"] = "judge"
    weights: str | None = None
    encoder: InitVar[Literal["auto", "never", "always"] | None] = None
    deep: InitVar[Literal["auto", "never", "always"] | None] = None

    def __post_init__(self, encoder: str | None, deep: str | None) -> None:
        """Read the names of 0.1.0, and warn."""
        if encoder is None and deep is None:
            return
        for name, value in (("encoder", encoder), ("deep", deep)):
            if value not in (None, "auto", "never", "always"):
                raise JudgeError(f"{name} is {value!r}; write depth=fast, default or full")
        depth: Depth = "default"
        if encoder == "never":
            depth = "fast"
        elif "always" in (encoder, deep):
            depth = "full"
        object.__setattr__(self, "depth", depth)
        warnings.warn(
            f"examiner's encoder and deep are one parameter now: write depth={depth}; the old "
            "names go in 0.3",
            DeprecationWarning,
            stacklevel=3,
        )

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Score, verdict, relation, marks and a sentence for every answer.

        Rows without references, or with regular expressions for references, are `skipped`.

        Raises:
            ModelError: the weights cannot be used.
        """
        size = pl.sum_horizontal(
            pl.col("question").str.len_chars(),
            pl.col("references").list.eval(pl.element().str.len_chars()).list.sum(),
            pl.col("answer").str.len_chars(),
        )
        unreferenced = (
            pl.when(has_patterns(answers))
            .then(pl.lit(PATTERNS))
            .when((pl.col("references").list.len() == 0).fill_null(value=True))
            .then(pl.lit(NO_REFERENCE))
        )
        too_long = pl.when(size > LONGEST).then(
            pl.format("too long: {} characters; at most {} are read", size, pl.lit(LONGEST))
        )
        read = with_nearest_references(answers)
        outcomes = judged_rows(
            read,
            pl.coalesce(unreferenced, too_long),
            self._outcomes,
            rows_at_once=_ROWS_AT_ONCE,
            status=pl.when(unreferenced.is_null())
            .then(pl.lit("failed"))
            .otherwise(pl.lit("skipped")),
        )
        return noting_references(outcomes, answers, read)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: hashes of the weights, and the number of the rules."""
        opened = open_weights(self.weights, anew=True)
        found = {"trained": opened.revision, "rules": str(RULES)}
        return found if self.depth == "fast" else found | revisions()

    def lineage(self) -> Lineage:
        """The questions that trained the trees and the encoder."""
        return self._opened().lineage

    def _opened(self) -> Weights:
        return open_weights(self.weights)

    def _outcomes(self, answers: pl.DataFrame) -> pl.DataFrame:
        opened = self._opened()
        reading = read_columns(answers, opened.rarity)
        matrix, texts = reading.matrix, reading.texts
        found_by = score(opened, matrix, texts.rows(), depth=self.depth)
        scores = found_by.scores
        relation = relations(matrix, scores, self.threshold)
        scope = scopes(
            texts,
            matrix,
            ranges=(opened.settings.low, opened.settings.high),
            learned=opened.lineage,
            # Measured with the shipped trees and the encoder, which is not read with `fast`.
            measured=measured() if self.weights is None and self.depth != "fast" else {},
        )
        found = pl.DataFrame(
            {
                "status": ["judged"] * len(scores),
                "score": scores,
                "verdict": scores >= self.threshold,
                "relation": [RELATIONS[i] for i in relation.tolist()],
                "marks": np.round(marks(matrix, scores, relation), _DECIMALS),
                "explanation": explanations(
                    reading.view,
                    matrix,
                    scores,
                    relation=relation,
                    threshold=self.threshold,
                    compared=reading.comparisons,
                    spoke=reading.spoke,
                    trees=found_by.trees,
                    encoder=found_by.encoder,
                    marked=[
                        marked_words(answer, found, references)
                        for (_, references, answer), found in zip(
                            texts.rows(), found_by.marks, strict=True
                        )
                    ],
                ),
                "scope": scope,
            }
        )
        return found if self.outside == "judge" else _without(found)


def _without(found: pl.DataFrame) -> pl.DataFrame:
    """The outcomes with those outside the field skipped; the reason stays in `explanation`."""
    out = pl.col("scope").str.starts_with(OUTSIDE)
    inside_scope = [
        pl.when(~out).then(pl.col(name)).alias(name)
        for name in ("score", "verdict", "relation", "marks")
    ]
    return found.with_columns(
        *inside_scope,
        status=pl.when(out).then(pl.lit("skipped")).otherwise("status"),
        explanation=pl.when(out).then("scope").otherwise("explanation"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What the stages say of answers.

    Attributes:
        scores: calibrated probabilities of acceptance, shape (rows,).
        trees: the same by the trees alone, or by the rule that decides.
        encoder: the encoder's log-odds; NaN where it did not read.
        marks: of each row, what the encoder reads as contradicting the references; empty where it
            did not read.
    """

    scores: Floats
    trees: Floats
    encoder: Floats
    marks: list[list[Mark]]


def score(
    opened: Weights,
    matrix: Matrix,
    texts: Sequence[tuple[str, Sequence[str], str]],
    *,
    depth: Depth = "default",
) -> Scored:
    """Calibrated probabilities of acceptance.

    Args:
        opened: the weights.
        matrix: the columns read of the rows, shape (rows, len(COLUMNS)).
        texts: question, references and answer of each row, for the encoder.
        depth: which rows the encoder reads; see `Examiner`.

    Raises:
        ModelError: the encoder cannot be used.
    """
    from scipy.special import expit  # loaded when used: it would slow every command's start

    settings = opened.settings
    odds = opened.trees(matrix)
    wordless = matrix[:, _WORDS] == 0
    same = matrix[:, _VERBATIM] > 0
    for row in np.flatnonzero(wordless).tolist():  # marks alone: "?" is the reference "?"
        _, references, answer = texts[row]
        same[row] = answer.strip() in {text.strip() for text in references} - {""}
    # Marks and case tell values apart: 5! is not 5, nor 25 MB/s 25 Mb/s.
    other = same & (matrix[:, _DECIDED] < 0)
    for row in np.flatnonzero(other).tolist():  # but not where one has lost its capitals
        _, references, answer = texts[row]
        small = answer == answer.lower()
        other[row] = any((text == text.lower()) == small for text in references)
    rule = np.select([same & ~other, wordless | other], [_SAME_TEXT, _NO_WORDS], default=np.nan)
    first = np.where(np.isnan(rule), platt(odds, settings.trees), expit(rule))
    scores = first.copy()
    read = np.full(len(scores), np.nan)
    marks: list[list[Mark]] = [[] for _ in texts]
    if depth != "fast":
        # A letter chosen, or the first of two things compared, is read by the typed values alone.
        chosen = (matrix[:, _CHOICE] > 0) & (matrix[:, _DECIDED] != 0)
        undecided = np.isnan(rule) & ~chosen
        blends = {"english": settings.english, "languages": settings.languages}
        if depth != "full":
            undecided &= np.any([blend.unsure(first) for blend in blends.values()], axis=0)
        found = readers_of([texts[row] for row in np.flatnonzero(undecided).tolist()])
        reader = np.full(len(texts), "", found.dtype)
        reader[undecided] = found
        if depth != "full":
            for name, blend in blends.items():
                reader[(reader == name) & ~blend.unsure(first)] = ""
        rows = np.flatnonzero(reader != "")
        words = frozenset(opened.rarity.words)
        spelled = [
            (question, references, spelled_alike(answer, references, words))
            for question, references, answer in (texts[row] for row in rows.tolist())
        ]
        readings = read_jointly(spelled, reader[rows])
        read[rows] = readings.log_odds
        for row, marked in zip(rows.tolist(), readings.marks, strict=True):
            marks[row] = marked
        for name, blend in blends.items():
            mine = reader == name
            scores[mine] = expit(blend.log_odds(odds[mine], read[mine]))
    rounded = np.round(scores, _DECIMALS).astype(np.float64)
    return Scored(scores=rounded, trees=first, encoder=read, marks=marks)


# --- Why the examiner decided as it did on an answer: deciding features, words of the reference ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What the stages made of one answer.

    Attributes:
        frame: `feature`, `meaning`, `value` and `effect` (on the trees' log-odds) of each feature
            that has one, the largest first.
        values: how the typed values (numbers, dates, lists) compare, in words; empty without any.
        trees: the trees' probability of acceptance, from 0 to 1.
        encoder: the encoder's; None where it did not read.
        contradicting: places in the answer (start, end, in characters) that the encoder reads as
            contradicting the references.
    """

    frame: pl.DataFrame
    values: str
    trees: float
    encoder: float | None
    contradicting: list[tuple[int, int]]


def find_effects(
    question: str,
    references: Sequence[str],
    answer: str,
    *,
    weights: str | None = None,
    depth: Depth = "default",
) -> Effects:
    """What each feature of one answer adds to the trees' log-odds, and what the encoder read.

    Each feature in turn is set to its median over the training answers; what that changes is the
    feature's effect (occlusion; effects of features that act together do not add up).

    Raises:
        ModelError: the weights cannot be used.
    """
    from scipy.special import expit  # loaded when used: it would slow every command's start

    opened = open_weights(weights)
    table = pl.DataFrame(
        {"question": [question], "references": [list(references)], "answer": [answer]}
    )
    reading = read_columns(with_nearest_references(table), opened.rarity)
    count = len(COLUMNS)
    changed = np.repeat(reading.matrix, count + 1, axis=0)
    changed[np.arange(count), np.arange(count)] = opened.settings.neutral[:count]
    odds = opened.trees(changed)
    effects = pl.DataFrame(
        {
            "feature": list(COLUMNS),
            "meaning": list(COLUMNS.values()),
            "value": reading.matrix[0, :count].astype(np.float64),
            "effect": (odds[-1] - odds[:-1]).astype(np.float64),
        }
    ).filter(pl.col("effect").abs() > 1e-6)
    order = pl.col("effect").abs()
    found = score(opened, reading.matrix, reading.texts.rows(), depth=depth)
    (encoder,) = expit(found.encoder)
    unchanged = reading.texts["answer"][0] == answer
    return Effects(
        frame=effects.sort(order, descending=True, maintain_order=True),
        values=reading.comparisons[0].reason,
        trees=float(found.trees[0]),
        encoder=None if np.isnan(encoder) else float(encoder),
        contradicting=marked_spans(answer, found.marks[0], references) if unchanged else [],
    )


def matched_spans(
    questions: pl.Series, references: pl.Series, answers: pl.Series, *, weights: str | None = None
) -> pl.Series:
    """Places in each answer whose content words are in its best reference.

    Words are compared as the examiner compares them: inflected forms and spelled-out numbers are
    the same word. Neighbouring matched words with nothing but spaces between make one span.

    Args:
        questions, references, answers: one row per answer; an answer may be null.
        weights: folder of a trained examiner, which knows how rare words are; None for the shipped.

    Returns:
        `spans`: one list per row of starts and ends in turn, in characters: `[0, 5, 9, 12]`.
    """
    texts = answers.fill_null("")
    read = with_nearest_references(pl.DataFrame({"answer": texts, "references": references}))
    batch = Batch.of(questions, read["references"], texts, open_weights(weights).rarity)
    view = FeatureView.of(batch, align(batch))
    matched = view.a_ref & view.a_content
    names = [word.lower() for word in batch.lexicon.words]
    numbers = batch.texts.word[view.a_place[matched]].tolist()
    rows = view.a_row[matched].tolist()
    wanted = {(row, names[number]) for row, number in zip(rows, numbers, strict=True)}
    plain = functools.cache(folded)  # as the examiner's tokeniser writes it: without accents
    found = []
    for row, text in enumerate(texts.to_list()):
        spans: list[int] = []
        for one in WORD.finditer(text):
            if (row, plain(one.group().lower())) not in wanted:
                continue
            if spans and not text[spans[-1] : one.start()].strip(" "):
                spans[-1] = one.end()
            else:
                spans += one.span()
        found.append(spans)
    return pl.Series("spans", found, dtype=pl.List(pl.Int64))
