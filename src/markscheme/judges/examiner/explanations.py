"""What the examiner says about an answer: relation to the reference, marks, and a sentence why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.alignment import FeatureView
from markscheme.judges.examiner.weight_files import COLUMNS
from markscheme.models.local import Mark
from markscheme.tables import RELATIONS
from markscheme.text import yes_or_no
from markscheme.values import Comparison, Outcome

Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

_COLUMN = {name: place for place, name in enumerate(COLUMNS)}
_COMPLETE = 0.97
"""Share of the key words, near spellings counted, from which a reference counts as fully stated."""
_SURE = 0.9
_QUOTED = 60
_NEAR = 0.2
"""Scores this near to the threshold are called unsure."""
_UNSURE = ", unsure"
_FOR, _AGAINST = (Outcome.AGREE,), (Outcome.CONFLICT, Outcome.MISSING)


@dataclass(frozen=True, slots=True)
class _FeaturesByName:
    """Features by name."""

    matrix: Matrix

    def __getitem__(self, name: str) -> Matrix:
        return self.matrix[:, _COLUMN[name]]


def relations(matrix: Matrix, scores: Floats, threshold: float) -> npt.NDArray[np.int64]:
    """Each answer's relation to its best reference, as places in `RELATIONS`.

    The four sets of Yao & Barbosa 2024 (section 3), read off the alignment instead of entailment:
    superior tells all of the reference and more, equivalent the same, inferior a part of it,
    incorrect something else.
    """
    feature = _FeaturesByName(matrix)
    right = scores >= threshold
    complete = (feature["soft_recall"] >= _COMPLETE) | (feature["packed_contained"] > 0)
    partly = (feature["soft_recall"] > 0.3) & ~complete
    adds = (
        (feature["new_uncovered"] >= 1)
        & (scores >= _SURE)
        & (feature["answer_words"] > feature["reference_words"])
    )
    out = np.full(len(scores), RELATIONS.index("incorrect"))
    out[right] = RELATIONS.index("equivalent")
    out[right & complete & adds] = RELATIONS.index("superior")
    out[right & partly] = RELATIONS.index("inferior")
    out[~right & (scores >= 0.4 * threshold) & (feature["soft_recall"] > 0.3)] = RELATIONS.index(
        "inferior"
    )
    return out


def marks(matrix: Matrix, scores: Floats, relation: npt.NDArray[np.int64]) -> Floats:
    """Credit from 0 to 1: the score, and for a part of the reference that part's share of it."""
    part = _FeaturesByName(matrix)["soft_recall"].clip(0, 1)
    inferior = relation == RELATIONS.index("inferior")
    return np.where(inferior, scores * (0.5 + 0.5 * part), scores)


def explanations(
    view: FeatureView,
    matrix: Matrix,
    scores: Floats,
    *,
    relation: npt.NDArray[np.int64],
    threshold: float,
    compared: Sequence[Comparison],
    spoke: pl.Series,
    turned: npt.NDArray[np.bool_],
    marked: Sequence[str],
) -> pl.Series:
    """One sentence a row: the relation, what was found and missed, and what else was noticed.

    Args:
        view: the alignment.
        matrix: its columns.
        scores: probabilities of acceptance.
        relation: places in `RELATIONS`.
        threshold: from which score answers are accepted.
        compared: the typed values, whose outcome is named where the verdict goes the same way.
        spoke: answers with text addressed to the marker, which was removed.
        turned: answers whose verdict the encoder turned.
        marked: words of each answer that the encoder reads as contradicting the reference.
    """
    feature = _FeaturesByName(matrix)
    found = _listed(view, view.r_key & view.r_hit)
    missing = _listed(view, view.r_key & ~view.r_hit)
    exact, soft = (feature[name].tolist() for name in ("exact", "soft_recall"))
    contained = ((feature["contained"] > 0) | (feature["packed_contained"] > 0)).tolist()
    noticed = {
        text: flags.tolist()
        for text, flags in _noticed(view, feature, scores < threshold, spoke).items()
    }
    means = ((scores >= threshold) & (feature["soft_recall"] < 0.3)).tolist()
    out = []
    for row, (score, reference, which) in enumerate(
        zip(scores.tolist(), view.reference.tolist(), relation.tolist(), strict=True)
    ):
        quoted = _quote(view.batch.raw[reference])
        if exact[row]:
            why = f"the answer is the reference {quoted}"
        elif contained[row]:
            why = f"the answer contains the reference {quoted}"
        elif found[row] and missing[row]:
            why = f"of the reference {quoted} it has {found[row]} but not {missing[row]}"
        elif found[row]:
            why = f"the words of the reference {quoted} are in the answer"
        elif soft[row] > 0.7:
            why = f"it nearly spells the reference {quoted}"
        else:
            why = f"no word of the reference {quoted} is in the answer"
        also = [text for text, flags in noticed.items() if flags[row]]
        values = compared[row]
        wanted = _FOR if score >= threshold else _AGAINST
        if values.reason and values.outcome in wanted and not exact[row]:
            also = [values.reason, *also]
        if marked[row] and score < threshold:
            also.append(f"read as a whole, {marked[row]} contradicts it")
        elif turned[row]:
            meant = "it means the same" if score >= threshold else "it does not mean the same"
            also.append(f"read as a whole {meant}")
        elif means[row] and not also:
            also = ["but it means much the same"]
        unsure = _UNSURE if abs(score - threshold) < _NEAR else ""
        out.append(f"{RELATIONS[which]} ({score:.2f}{unsure}): {'; '.join([why, *also])}")
    return pl.Series("explanation", out, dtype=pl.String)


def marked_spans(answer: str, marks: Sequence[Mark]) -> list[tuple[int, int]]:
    """Places of the words of an answer that have marked tokens, neighbours together.

    >>> marked_spans("It was Emily Bronte.", [(7, 12, 2.1), (13, 16, 1.4), (16, 19, 0.2)])
    [(7, 20)]
    """
    spans: list[tuple[int, int]] = []
    following = False
    for word in re.finditer(r"\S+", answer if marks else ""):
        marked = any(start < word.end() and end > word.start() for start, end, _ in marks)
        if marked and following:
            spans[-1] = (spans[-1][0], word.end())
        elif marked:
            spans.append(word.span())
        following = marked
    return spans


def marked_words(answer: str, marks: Sequence[Mark]) -> str:
    """The first three stretches of marked words, quoted: "'Emily Bronte', 'Leeds'"."""
    spans = marked_spans(answer, marks)[:3]
    return ", ".join(_quote(answer[start:end].strip(" ,.;:!?")) for start, end in spans)


def _noticed(
    view: FeatureView, feature: _FeaturesByName, rejected: npt.NDArray[np.bool_], spoke: pl.Series
) -> dict[str, npt.NDArray[np.bool_]]:
    """Findings worth mentioning, and the rows of which they are true."""
    agreed, opposite = (feature["polarity"] == side for side in (1, -1))
    raw = view.batch.raw
    no = np.array([yes_or_no(raw[text]) is False for text in view.reference.tolist()], dtype=bool)
    # What a reference denies by its first word alone ("No, sale items are final.") is neither
    # affirmed nor denied by an answer that has no such word.
    denials = feature["negations_reference"] - (no & ~(agreed | opposite))
    denied = feature["negations_answer"]
    differ = opposite | (((denied - denials) % 2 > 0) & ~agreed)
    differ &= rejected & (feature["refusal"] == 0)
    denies = np.where(opposite, ~no, denied > denials)
    same_words = (feature["soft_recall"] >= _COMPLETE) & (feature["new_content"] == 0)
    turned_round = rejected & ~differ & same_words & (feature["order_inverted"] > 0)
    return {
        "it denies what the reference affirms": differ & denies,
        "it affirms what the reference denies": differ & ~denies,
        "the same words in another order, which says something else": turned_round,
        "it declines or doubts": feature["refusal"] > 0,
        "it speaks to the marker, which is ignored": spoke.to_numpy(),
        "the match is denied": (feature["denied_before"] > 0) | (feature["denied_after"] > 0),
        "the match is given as a belief or a guess": feature["disputed"] > 0,
        "it names other candidates besides the match": (feature["choice_offered"] > 0)
        & (feature["choice_items"] > 1),
    }


def _quote(text: str) -> str:
    plain = " ".join(text.split())
    return f"'{plain if len(plain) <= _QUOTED else plain[: _QUOTED - 1] + '…'}'"


def _listed(view: FeatureView, keep: npt.NDArray[np.bool_]) -> list[str]:
    """The selected words of each row's best reference, as a quoted list; empty text if none."""
    words = view.batch.lexicon.words
    lists: list[list[str]] = [[] for _ in range(view.rows)]
    places = view.batch.texts.word[view.r_place[keep]].tolist()
    for row, word in zip(view.r_row[keep].tolist(), places, strict=True):
        if len(lists[row]) < 6:
            shown = words[word]
            lists[row].append(f"{float(shown[1:]):g}" if shown.startswith("\x00") else shown)
    return [f"'{' '.join(each)}'" if each else "" for each in lists]
