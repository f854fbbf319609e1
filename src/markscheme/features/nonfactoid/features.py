"""The matrix that `listwise_examiner` reads: an answer against the question and graded references.

Every row is computed from that row alone. Levels are a reference's quality within its list, from 0
to 1 (`rows.Rows.level`); "better" references are those of level 1/2 and above, "worse" the rest.
What a row has not (no worse references, say) is `rows.MISSING`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.alignment import share
from markscheme.features.nonfactoid.rows import Rows, by_level, compared, kernel, matrix
from markscheme.features.nonfactoid.words import Rarity, WordSets

# --- How a text is written, whatever it says: length, marks, case, and who speaks -----------------


_READ = 20_000


def form(texts: pl.Series) -> pl.DataFrame:
    """A row of numbers for each text (String), Float64, never null."""
    text = pl.col("text")
    lower = pl.col("lower")
    words = pl.col("words")
    count = words.list.len().cast(pl.Float64)
    size = text.str.len_chars().cast(pl.Float64)

    def of_signs(pattern: str) -> pl.Expr:
        return text.str.count_matches(pattern) / pl.max_horizontal(size, 1.0)

    def says(pattern: str) -> pl.Expr:
        return lower.str.count_matches(pattern) / pl.max_horizontal(count, 1.0)

    return (
        pl.DataFrame({"text": texts.str.slice(0, _READ)})
        .with_columns(lower=text.str.to_lowercase())
        .with_columns(words=lower.str.extract_all(r"[\p{L}\p{N}']+"))
        .select(
            log_words=(count + 1).log(),
            log_characters=(size + 1).log(),
            word_length=words.list.eval(pl.element().str.len_chars()).list.mean(),
            capitals=of_signs(r"\p{Lu}"),
            digits=of_signs(r"\d"),
            marks=of_signs(r"[^\p{L}\p{N}\s]"),
            sentences=(text.str.count_matches(r"[.!?]+(\s|$)") + 1).log(),
            question_marks=text.str.count_matches(r"\?").clip(0, 5),
            exclamations=text.str.count_matches("!").clip(0, 5),
            dots=text.str.count_matches(r"\.\.+").clip(0, 5),
            link=text.str.contains(r"https?:|www\.|\.com\b"),
            first_person=says(r"\b(i|i'm|im|my|me|i've|mine)\b"),
            second_person=says(r"\b(you|your|u|ur|you're)\b"),
            because=says(r"\b(because|since|so|therefore|due|cause|causes|caused|reason)\b"),
            hedges=says(r"\b(maybe|perhaps|probably|think|guess|might|could|dont|don't|know)\b"),
            steps=says(r"\b(first|then|next|use|try|make|put|take|get|step|need)\b"),
            chatty=says(r"\b(lol|haha|ok|yeah|hey|hi|hope|thanks|good luck|sorry|dude|hell)\b"),
            begins_capital=text.str.contains(r"^\s*[\p{Lu}\d]"),
            ends_with_stop=text.str.contains(r"[.!?]\s*$"),
            variety=words.list.n_unique() / pl.max_horizontal(count, 1.0),
            other_script=of_signs(r"[^\x00-\x7f]"),
            years=text.str.count_matches(r"\b(1[5-9]|20)\d\d\b").clip(0, 5),
            definition=says(r"\b(is|are|means|refers|called|defined|known)\b"),
        )
        .with_columns(pl.all().cast(pl.Float64).fill_null(0.0).fill_nan(0.0))
    )


# --- The matrix that `listwise_examiner` reads ----------------------------------------------------


Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]

_COMPARED_FORM = ("log_words", "word_length", "marks", "capitals", "variety", "first_person")


def word_features(rows: Rows, rarity: Rarity) -> tuple[list[str], Matrix]:
    """Names, and values of shape (rows, names), of what words and writing tell."""
    sets = WordSets.of(rows.texts, rarity=rarity)
    count, total = sets.totals()
    found: dict[str, Floats] = {}
    answer, question, reference = rows.answer, rows.question, rows.reference
    a_total: Floats = total[answer]
    q_total: Floats = total[question]

    written = form(rows.texts)
    values = {name: written[name].to_numpy() for name in written.columns}
    for name, column in values.items():
        found[f"form_{name}"] = column[answer]
    found["question_words"] = count[question]
    found["mean_rarity"] = share(a_total, count[answer])
    found["total_rarity"] = np.log1p(a_total)

    common = sets.shared(answer, question)
    found["question_recall"] = share(common, q_total)
    found["question_share"] = share(common, a_total)
    found["beyond_question"] = np.log1p(a_total - common)
    ref_common = sets.shared(reference, question[rows.owner])
    ref_recall = share(ref_common, q_total[rows.owner])
    found |= compared(rows, "question_recall", found["question_recall"], ref_recall, width=0.1)

    both = sets.shared(answer[rows.owner], reference)
    pair_recall = share(both, total[reference])
    pair_precision = share(both, a_total[rows.owner])
    pair_f = share(2 * both, total[reference] + a_total[rows.owner])
    found |= by_level(rows, "overlap", pair_f)
    found |= by_level(rows, "recall", pair_recall)
    found |= by_level(rows, "precision", pair_precision)
    found |= kernel(rows, "overlap", pair_f, (0.03, 0.08))
    for name, keep in (("better", rows.level >= 0.5), ("worse", rows.level < 0.5)):
        union = sets.shared_with_any(answer, rows.owner[keep], reference[keep])
        known = np.bincount(rows.owner[keep], minlength=rows.height) > 0
        found[f"covered_by_{name}"] = np.where(known, share(union, a_total), np.nan)
    found["covered_gap"] = found["covered_by_better"] - found["covered_by_worse"]
    for name in _COMPARED_FORM:
        spread = {"log_words": 0.4, "word_length": 0.4}.get(name, 0.05)
        found |= compared(rows, name, values[name][answer], values[name][reference], width=spread)
    found["references"] = np.bincount(rows.owner, minlength=rows.height).astype(np.float64)
    lowest = rows.per_row(rows.level, rows.level < 2, how="min")
    found["graded"] = (np.nan_to_num(lowest, nan=1.0) < 1).astype(np.float64)
    return matrix(found)


def vector_features(rows: Rows, vectors: npt.NDArray[np.float32]) -> tuple[list[str], Matrix]:
    """Names, and values of shape (rows, names), of what sentence embeddings tell.

    Args:
        rows: the rows.
        vectors: one of length one for each of `rows.texts`.
    """
    a, q, r = (vectors[rows.answer], vectors[rows.question], vectors[rows.reference])
    found: dict[str, Floats] = {}
    like_question = _dot(a, q)
    ref_question = _dot(r, q[rows.owner])
    like = _dot(a[rows.owner], r)
    found["cosine_question"] = like_question
    found |= compared(rows, "cosine_question", like_question, ref_question, width=0.05)
    found |= by_level(rows, "cosine", like)
    found |= kernel(rows, "cosine", like, (0.04, 0.12))
    # How like the references are among themselves says how much a likeness is worth.
    beyond = like - ref_question
    found |= by_level(rows, "cosine_beyond", beyond)
    return matrix(found)


def _dot(left: Matrix, right: Matrix) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", left, right), dtype=np.float64)
