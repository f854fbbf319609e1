"""How a text is written, whatever it says: length, marks, case, and who speaks."""

from __future__ import annotations

import polars as pl

_READ = 20_000

FORM = (
    "log_words",
    "log_characters",
    "word_length",
    "capitals",
    "digits",
    "marks",
    "sentences",
    "question_marks",
    "exclamations",
    "dots",
    "link",
    "first_person",
    "second_person",
    "because",
    "hedges",
    "steps",
    "chatty",
    "begins_capital",
    "ends_with_stop",
    "variety",
    "other_script",
    "years",
    "definition",
)
"""Columns of `form`, in order."""


def form(texts: pl.Series) -> pl.DataFrame:
    """A row of `FORM` for each text (String), Float64, never null."""
    text = pl.col("text")
    lower = pl.col("lower")
    words = pl.col("words")
    count = words.list.len().cast(pl.Float64)
    size = text.str.len_chars().cast(pl.Float64)

    def share(pattern: str) -> pl.Expr:
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
            capitals=share(r"\p{Lu}"),
            digits=share(r"\d"),
            marks=share(r"[^\p{L}\p{N}\s]"),
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
            other_script=share(r"[^\x00-\x7f]"),
            years=text.str.count_matches(r"\b(1[5-9]|20)\d\d\b").clip(0, 5),
            definition=says(r"\b(is|are|means|refers|called|defined|known)\b"),
        )
        .with_columns(pl.all().cast(pl.Float64).fill_null(0.0).fill_nan(0.0))
        .select(FORM)
    )
