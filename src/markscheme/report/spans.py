"""Where an answer has the words of its reference: over a whole table at once."""

from __future__ import annotations

import numpy as np
import polars as pl

from markscheme.features.alignment import Batch, FeatureView, align
from markscheme.judges.examiner import open_weights
from markscheme.text import WORD, folded

_BETWEEN = "\x00"


def matched_spans(questions: pl.Series, references: pl.Series, answers: pl.Series) -> pl.Series:
    """Places in each answer whose content words stand in its best reference.

    Words are compared as the examiner compares them: inflected forms and spelled-out numbers are
    the same word. Neighbouring matched words with nothing but spaces between make one span.

    Args:
        questions, references, answers: one row per answer; an answer may be null.

    Returns:
        `spans`: a list a row of starts and ends in turn, in characters: `[0, 5, 9, 12]`.
    """
    texts = answers.fill_null("")
    wanted = _matched_words(questions, references, texts)
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


def _matched_words(questions: pl.Series, references: pl.Series, answers: pl.Series) -> pl.DataFrame:
    """`row` and lower-cased `word` of every content word that answer and best reference share."""
    batch = Batch.of(questions, references, answers, open_weights(None).rarity)
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
