"""What the examiner says about an answer: relation to the reference, marks, and a sentence why."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features import denies
from markscheme.features.alignment import FeatureView
from markscheme.judges.examiner.shared_words import quote, shared_words
from markscheme.judges.examiner.weight_files import COLUMNS
from markscheme.models.local import Mark
from markscheme.tables import RELATIONS
from markscheme.text import MARK, STOPWORD, describe, merged, split, unaccented, yes_or_no
from markscheme.values import Comparison, Outcome

Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

_COLUMN = {name: place for place, name in enumerate(COLUMNS)}
_COMPLETE = 0.97
"""Share of the key words, near spellings counted, from which a reference counts as fully stated."""
_SURE = 0.9
_NEAR = 0.2
"""Scores this near to the threshold are called unsure."""
_UNSURE = ", unsure"


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
    trees: Floats,
    encoder: Floats,
    marked: Sequence[Sequence[str] | None],
) -> pl.Series:
    """One sentence a row: the relation, what speaks for the verdict, then what speaks against it.

    Args:
        view: the alignment.
        matrix: its columns.
        scores: probabilities of acceptance.
        relation: places in `RELATIONS`.
        threshold: from which score answers are accepted.
        compared: the typed values, whose outcome is named whether the verdict follows it or not;
            but none is called missing in an accepted answer, which has it in another form.
        spoke: answers with text addressed to the marker, which was removed.
        trees: probabilities by the trees alone.
        encoder: log-odds by the encoder; NaN where it did not read.
        marked: words of each answer that the encoder reads as contradicting the reference, quoted;
            None where it marks nothing.
    """
    feature = _FeaturesByName(matrix)
    accepted = scores >= threshold
    turned = ((trees >= threshold) != accepted) & ((encoder > 0) == accepted)
    noticed = {text: flags.tolist() for text, flags in _noticed(view, feature, ~accepted).items()}
    exact = (feature["exact"] > 0).tolist()
    overlaps = shared_words(
        view,
        contained=(feature["contained"] > 0).tolist(),
        packed=(feature["packed_contained"] > 0).tolist(),
        weakest=feature["weakest_word"].tolist(),
    )
    columns = (overlaps, scores.tolist(), accepted.tolist(), relation.tolist())
    out = []
    for row, (words, score, right, place) in enumerate(zip(*columns, strict=True)):
        which = RELATIONS[place]
        said, speaks = words.finding(right=right, spoke=spoke[row])
        is_part = speaks == "a part" and which == "inferior"
        findings = [(said, speaks == "for" or (right and is_part))]
        findings += [(text, False) for text, flags in noticed.items() if flags[row]]
        values = compared[row]
        silent = (Outcome.NONE, Outcome.MISSING) if right else (Outcome.NONE,)
        if values.reason and values.outcome not in silent and not exact[row]:
            findings.insert(1, (values.reason, values.outcome is Outcome.AGREE))
        stretches = None if right else marked[row]
        if stretches:
            contradict = "contradicts" if len(stretches) == 1 else "contradict"
            text = f"read as a whole, {', '.join(stretches)} {contradict} it"
            findings.append((text, False))
        elif turned[row] or stretches == [] or all(side != right for _, side in findings):
            findings.append((_as_a_whole(encoder[row], right=right), right))
        if spoke[row]:
            findings.insert(0, ("it speaks to the marker, which is ignored", right))
        why = "; ".join(text for text, side in findings if side == right)
        if although := " and ".join(text for text, side in findings if side != right):
            why += f", although {although}"
        if which == "inferior":
            which = "accepted" if right else "rejected"
            which += " with less than the reference says" if is_part else ""
        unsure = _UNSURE if abs(score - threshold) < _NEAR else ""
        out.append(f"{which} ({score:.2f}{unsure}): {why}")
    return pl.Series("explanation", out, dtype=pl.String)


def _as_a_whole(log_odds: float, *, right: bool) -> str:
    """What the encoder says for a verdict; what a score means where it says nothing for it."""
    if not np.isnan(log_odds) and (log_odds > 0) == right:
        return f"read as a whole it {'means' if right else 'does not mean'} the same"
    return "it means much the same" if right else "too few answers like it are right"


def marked_spans(
    answer: str, marks: Sequence[Mark], references: Sequence[str]
) -> list[tuple[int, int]]:
    """Places of the marked words of an answer, neighbours together, but for the references' words.

    Those are what makes an answer right; they contradict nothing unless a marked word before them
    in the clause denies them.

    >>> answer = "Paris, but also London, not Paris"
    >>> [answer[start:end] for start, end in marked_spans(answer, [(0, 33, 2.1)], ["Paris"])]
    ['but also London, not Paris']
    """
    runs: list[list[re.Match[str]]] = [[]]
    for word in re.finditer(r"\S+", answer if marks else ""):
        if any(start < word.end() and end > word.start() for start, end, _ in marks):
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    known = frozenset(form for text in references for form in _forms(text)) if runs[0] else ()
    return [place for run in runs for place in _besides(run, known)]


def _besides(run: Sequence[re.Match[str]], known: Container[str]) -> Iterator[tuple[int, int]]:
    """Places of the stretches of neighbouring words that are not among the known forms."""
    stretches: list[list[tuple[re.Match[str], bool]]] = [[]]
    denied = False
    for word in run:
        forms = _forms(word[0])
        own = not denied and all(form in known for form in forms)
        if own and any(forms.values()):
            stretches.append([])
        elif stretches[-1] or not own:
            stretches[-1].append((word, own))
        denied |= not own and denies(word[0])
        denied &= word[0][-1] not in ",.;:!?"
    for stretch in stretches:
        while stretch and stretch[-1][1]:  # a small word of a reference at the end
            stretch.pop()
        words = [word for word, _ in stretch]
        telling = any(denies(one[0]) or any(_forms(one[0]).values()) for one in words)
        if words and (telling or len(stretches) == 1):
            yield words[0].start(), words[-1].end()


@lru_cache(4_096)
def _forms(text: str) -> Mapping[str, bool]:
    """The words of a text as they are compared, and which of them have a meaning of their own."""
    words = split(unaccented(text))
    known = (describe(word) for word in dict.fromkeys([*words, *merged(words)]))
    return {form: not kind & STOPWORD for form, _, kind in known if not kind & MARK}


def marked_words(answer: str, marks: Sequence[Mark], references: Sequence[str]) -> list[str] | None:
    """The first three different stretches of `marked_spans`, quoted; None where nothing is marked.

    >>> marked_words("ps or `ls`", [(0, 2, 2.1), (6, 10, 1.4)], ["top"])
    ["'ps'", "'ls'"]
    """
    found = (answer[start:end] for start, end in marked_spans(answer, marks, references))
    quoted = dict.fromkeys(quote(text.strip(" ,.;:!?`*\"'“”")) for text in found)
    return [*quoted][:3] if marks else None


def _noticed(
    view: FeatureView, feature: _FeaturesByName, rejected: npt.NDArray[np.bool_]
) -> dict[str, npt.NDArray[np.bool_]]:
    """Findings that speak against an answer, and the rows of which they are true."""
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
        "the match is denied": (feature["denied_before"] > 0) | (feature["denied_after"] > 0),
        "the match is given as a belief or a guess": feature["disputed"] > 0,
        "it names other candidates besides the match": (feature["choice_offered"] > 0)
        & (feature["choice_items"] > 1),
    }
