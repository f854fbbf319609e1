"""What a long answer says beyond its references (Kamalloo et al. 2023, section 4.4).

Language models answer in long statements with supplementary information. No reference supports it,
so that nothing here can tell whether it is true: the paper calls such answers unattributable. These
rules find the sentences that name something new, by wording alone; `markscheme research claims`
tests each claim with a model of entailment instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from markscheme.analysis.wording import Wording, stands_in, wording
from markscheme.text import pieces

LONG = 8
"""Content words from which an answer is long."""


def unattributed(question: str, references: Sequence[str], answer: str | None) -> list[str]:
    """The sentences of a long answer that name what neither question nor any reference names.

    A name is a word with a capital that does not begin a sentence; numbers and dates count as well.
    A sentence with a reference in it word for word is no extra. Short answers have none: there
    the whole text is the answer. Items of lists have their introduction before them.

    Args:
        question: the question.
        references: plain texts, not patterns.
        answer: a system's answer; None for nothing.

    >>> unattributed("Who wrote Emma?", ["Jane Austen"],
    ...     "Jane Austen wrote the novel Emma. She finished it in Bath, and sold the manuscript.")
    ['She finished it in Bath, and sold the manuscript.']
    """
    if answer is None or len(wording(answer).content) < LONG:
        return []
    asked, golds = wording(question), [wording(one) for one in references]
    known = asked.words.union(*(one.words for one in golds))
    numbers = asked.numbers.union(*(one.numbers for one in golds))
    found = []
    for introduction, piece in pieces(answer):
        text = f"{introduction} {piece}".strip()
        said = wording(text)
        no_extra = piece.endswith("?") or any(stands_in(one.plain, said.plain) for one in golds)
        if not no_extra and ((_names(said) - known) or (said.numbers - numbers)):
            found.append(text)
    return found


def with_unattributed(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of answers with `extras`, as `unattributed` finds them; none for patterns.

    Args:
        rows: `question`, `references`, `answer`; `reference_kind` where known.
    """
    kinds = rows["reference_kind"] if "reference_kind" in rows.columns else [None] * rows.height
    items = zip(rows.select("question", "references", "answer").iter_rows(), kinds, strict=True)
    extras = [[] if kind == "regex" else unattributed(*item) for item, kind in items]
    return rows.with_columns(extras=pl.Series(extras, dtype=pl.List(pl.String)))


def _names(said: Wording) -> frozenset[str]:
    """Words with a capital, other than the first, whose capital may be the sentence's."""
    first = said.text.split(maxsplit=1)[:1]
    return (said.capitals & said.words) - (wording(first[0]).words if first else frozenset())
