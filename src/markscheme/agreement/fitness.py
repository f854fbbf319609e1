"""What a judge may be used for, as far as labels show it: the end of `agree`, and a file.

The dangerous cell comes first: wrong answers that the judge accepts. Then what an accuracy by this
judge is worth: how far its share of accepted answers is from people's, by system.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.agreement.annotators import once_an_item, rating_counts, ratings_of
from markscheme.agreement.options import LabelledBy
from markscheme.agreement.pairs import (
    compare_systems,
    share_difference,
    system_counts,
    system_shares,
)
from markscheme.agreement.people_errors import agreement_sentence
from markscheme.agreement.verdicts import cell_table
from markscheme.errors import AgreementError, DataError
from markscheme.results import Figure, plain, share_figure, share_text
from markscheme.stats import (
    LEAST_FOR_JUDGES,
    LEAST_OF_A_LABEL,
    LabelNoise,
    share_bound,
    share_evidence,
)
from markscheme.tables import Joined, as_binary, is_tied, replace_file
from markscheme.text import counted, excerpt

Ints = npt.NDArray[np.int64]

_TP, _FP, _FN, _TN = range(4)
FILE = "fitness.json"
SURE = 0.95
_MOST_BYTES, _MOST_SAID = 10_000_000, 1000
CHOSEN = "this is of the labelled answers, which are evidently no random sample"
_MOST_COMPARED = 30  # systems: their pairs grow with the square
_BY_A_MODEL = "a model labelled: all this is agreement with it, and not with people"
LIMIT = 0.8
"""The accuracy by people for which a gate on the judge's share is named."""
CLOSE = 0.03
"""A share of accepted answers this near to people's, at either end of its interval, is theirs."""


@dataclass(frozen=True, kw_only=True)
class Fitness:
    """How far a judge may be trusted, and whose labels say so.

    Attributes:
        judge, signature: which; the signature None where the judgments have none.
        labels: whose labels: how many answers two people labelled, and on how many they agree.
        answers, questions: that were judged and labelled.
        wrong_accepted: share of the answers that people reject that the judge accepts.
        least_wrong_found, least_right_found: one-sided 95% lower bounds of the share of wrong, of
            right answers that it recognises; None where people reject (accept) fewer than
            `stats.LEAST_OF_A_LABEL`.
        off: the judge's share of accepted answers less people's.
        systems: the same of each system's answers.
        dangerous: systems, and slices such as `topic=history`, of whose wrong answers it accepts
            more than of all, with the share; each at a level corrected for their number.
        order: whether it puts no two systems of these answers the other way round than people do;
            None of one system, or where one has fewer than `stats.LEAST_FOR_JUDGES` labels.
        apart: pairs of systems that the labels distinguish (Holm's method); None where `order` is
            None, or of more than 30 systems.
        turned: how many of them it puts the other way round; None likewise.
        without_errors: its agreement with people once the labels' errors are undone, in a
            sentence; None where nothing says how many labels are wrong.
        chosen: why the labels are evidently of no random sample of what it judged; else None.
        slices: how many values of columns were looked at for what is dangerous.
        bound_methods: how the lower bounds were made, in words of `results.METHODS`.
    """

    judge: str
    signature: str | None
    labels: str
    answers: int
    questions: int
    wrong_accepted: Figure
    least_wrong_found: float | None
    least_right_found: float | None
    off: Figure
    systems: dict[str, float]
    dangerous: dict[str, Figure]
    order: bool | None
    apart: int | None = None
    turned: int | None = None
    without_errors: str | None = None
    chosen: str | None = None
    slices: int = 0
    bound_methods: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The statement, the dangerous cell first."""
        said = [f"{self.judge}, by labels of {self.answers:,} answers:"]
        if self.wrong_accepted.value is None:
            said.append("people reject too few answers to say which wrong ones it accepts")
        else:
            text = f"it accepts {_share(self.wrong_accepted)} of wrong answers"
            if self.dangerous:
                most = ", ".join(f"{name}'s: {_share(one)}" for name, one in self.dangerous.items())
                text += f", and surely more of {most} (corrected for {self._looks})"
            said.append(text)
        bounds = [
            f"{share_text(bound, digits=0)}% of {kind} answers"
            for bound, kind in (
                (self.least_right_found, "right"),
                (self.least_wrong_found, "wrong"),
            )
            if bound is not None
        ]
        if bounds:
            least = " and ".join(bounds)
            said.append(f"it recognises at least {least} ({100 * SURE:g}% confidence)")
        said += filter(None, [self.gate, self._limit])
        if self.order is not None:
            order = "the order that people do" if self.order else "another order than people do"
            said.append(f"on these answers it puts the {len(self.systems)} systems in {order}")
            said += filter(None, [self._ranking])
        elif self.systems:
            said.append(
                f"with {self.answers:,} labels the order of systems is not known "
                f"({LEAST_FOR_JUDGES} of each are needed)"
            )
        said += [self.labels, *filter(None, [self.without_errors])]
        if self.chosen is not None:
            how = "'markscheme plan-labels' without --by draws at random from all"
            said.append(f"{CHOSEN}: {self.chosen}; {how}")
        said.append(
            "check again when the judge, its model, the systems or the kind of questions change"
        )
        return tuple(said)

    @property
    def _ranking(self) -> str | None:
        """Whether it may rank systems, from the pairs that the labels distinguish."""
        if self.apart is None:
            return None
        if not self.apart:
            return "the labels distinguish no two systems, nor show whether it may rank them"
        pairs = f"of the {counted(self.apart, 'pair')} that the labels distinguish it puts"
        if self.turned:
            return f"{pairs} {self.turned} the other way round: do not rank systems by it"
        return f"{pairs} none the other way round: it may rank systems that far apart"

    @property
    def _looks(self) -> str:
        """How many parts were looked at for what is dangerous."""
        parts = ((len(self.systems), "system"), (self.slices, "slice"))
        return " and ".join(counted(many, what) for many, what in parts if many)

    @property
    def gate(self) -> str:
        """What a gate on the judge's share of accepted answers is worth."""
        value, low, high = self.off.value, self.off.low, self.off.high
        if value is None or low is None or high is None:
            return "how far its share of accepted answers is from people's is not known"
        most = max(-low, high)
        points = share_text(most, digits=0)
        if most <= CLOSE:
            return f"its share of accepted answers is people's to {share_text(most)} points"
        if low <= 0 <= high:
            text = f"its share of accepted answers may be off by {points} points"
        else:
            way, end = ("more", low) if value > 0 else ("less", -high)
            text = (
                f"it accepts {share_text(end, digits=0)} to {points} points {way} than people, and "
                "a gate on its share is off by as much"
            )
        return f"{text}; 'markscheme estimate' corrects it"

    @property
    def _limit(self) -> str | None:
        """The share of accepted answers from which people surely accept `LIMIT`."""
        if self.off.high is None:
            return None
        needed = LIMIT + self.off.high
        if needed >= 1:
            return f"no gate on its share shows that people accept {LIMIT:.0%} of answers"
        gate = max(0, math.ceil(100 * needed))
        return f"for {LIMIT:.0%} by people, of systems like these, gate its share at {gate}%"


def fitness_of(
    joined: Joined,
    labels: pl.DataFrame,
    noise: LabelNoise | str,
    *,
    signatures: Mapping[str, str] | None = None,
    positive_from: float | None = None,
    slices: Sequence[str] = (),
    labelled_by: LabelledBy = "people",
) -> list[Fitness]:
    """One statement per judge, in order of first appearance.

    Args:
        joined: judgments with their labels, of 0 and 1 or with `positive_from`.
        labels: as `load_labels` gives them.
        noise: of the labels, as `label_noise` gives it.
        signatures: of the judges, by name, as far as they are known.
        positive_from: grade from which an answer is acceptable.
        slices: columns of the joined rows, whose values are looked at like systems.
        labelled_by: who labelled.
    """
    rows = joined.rows.with_columns(
        as_binary(joined.rows["label"], positive_from=positive_from).alias("accepted")
    ).drop_nulls(["accepted", "verdict"])
    whose = _whose(labels) if labelled_by == "people" else _BY_A_MODEL
    known = signatures or {}
    return [
        _of_judge(str(name), known.get(str(name)), mine, whose, noise=noise, slices=slices)
        for (name,), mine in rows.group_by("judge", maintain_order=True)
    ]


def _of_judge(
    name: str,
    signature: str | None,
    rows: pl.DataFrame,
    labels: str,
    *,
    noise: LabelNoise | str,
    slices: Sequence[str],
) -> Fitness:
    cells = cell_table(rows)
    agreement = share_figure(cells[:, [_TP, _TN]].sum(axis=1), cells.sum(axis=1))
    wrong_accepted = _missed(cells[:, _TN], cells[:, _FP])
    wrong_found = _recognised(cells[:, _TN], cells[:, _FP])
    right_found = _recognised(cells[:, _TP], cells[:, _FN])
    bounds = [one for one in (right_found, wrong_found) if one is not None]
    accepted = cells[:, [_TP, _FP]].sum() / cells.sum()
    systems: dict[str, float] = {}
    order, turned = None, None
    parts = _parts(rows, "system")
    if parts:
        people = {name: part[:, [_TP, _FN]].sum() / part.sum() for name, part in parts.items()}
        judged = {name: part[:, [_TP, _FP]].sum() / part.sum() for name, part in parts.items()}
        systems = {each: float(judged[each] - people[each]) for each in people}
        if min(part.sum() for part in parts.values()) >= LEAST_FOR_JUDGES:
            shares = np.array([list(people.values()), list(judged.values())])
            apart = shares[:, :, None] - shares[:, None]
            order = not (apart.prod(axis=0) < 0).any()
            if len(parts) <= _MOST_COMPARED:
                turned = _turned(rows.filter(pl.col("system").is_in(list(parts))))
    sliced = {
        f"{column}={value}": part
        for column in slices
        for value, part in _parts(rows, column).items()
    }
    return Fitness(
        judge=name,
        signature=signature,
        labels=labels,
        answers=rows.height,
        questions=rows["cluster"].n_unique(),
        wrong_accepted=wrong_accepted,
        least_wrong_found=None if wrong_found is None else wrong_found.low,
        least_right_found=None if right_found is None else right_found.low,
        off=share_difference(cells[:, _FN], cells[:, _FP], cells.sum(axis=1), confidence=SURE)[
            "difference"
        ],
        systems=systems,
        dangerous=_dangerous(parts | sliced, wrong_accepted.value),
        order=order,
        apart=None if turned is None else len(turned),
        turned=None if turned is None else sum(turned),
        without_errors=None
        if isinstance(noise, str)
        else agreement_sentence(noise, agreement, float(accepted)),
        slices=len(sliced),
        bound_methods=tuple(dict.fromkeys(one.method for one in bounds if one.method)),
    )


def _parts(rows: pl.DataFrame, column: str) -> dict[str, Ints]:
    """The counts of each value of a column that has several; none of another."""
    if column not in rows.columns or rows[column].drop_nulls().n_unique() < 2:
        return {}
    by_value = rows.drop_nulls(column).group_by(column, maintain_order=True)
    return {str(value): cell_table(part) for (value,), part in by_value}


def _turned(rows: pl.DataFrame) -> list[bool]:
    """Of each pair of systems that the labels distinguish, whether the judge turns it round."""

    compared = rows.select("system", "accepted", "verdict", pl.col("cluster").alias("question"))
    by_people = compare_systems(compared.with_columns(verdict="accepted"))
    sides = system_counts(compared)
    turned = []
    for pair in by_people:
        if (pair.p_holm or 0.0) <= 1 - SURE:
            one, two = system_shares(sides[pair.first], sides[pair.second])
            turned.append((pair.difference.value or 0.0) * (one - two) < 0)
    return turned


def _missed(right: Ints, missing: Ints, *, confidence: float = SURE) -> Figure:
    """The share of the answers of one label, by question, that the judge puts as people do not."""
    answers = right + missing
    if answers.sum() < LEAST_OF_A_LABEL:
        return Figure(reason=f"fewer than {LEAST_OF_A_LABEL} answers")
    return share_figure(missing, answers, confidence=confidence)


def _recognised(right: Ints, missing: Ints) -> Figure | None:
    """The share that it puts as people do, with a one-sided lower bound; None of too few."""
    answers = right + missing
    if answers.sum() < LEAST_OF_A_LABEL:
        return None
    evidence = share_evidence(right, answers)
    share = float(right.sum() / answers.sum())
    bound = share_bound(share, evidence, confidence=SURE)
    return Figure(value=share, low=bound, high=1.0, method=evidence.bound_method)


def _dangerous(parts: Mapping[str, Ints], every: float | None) -> dict[str, Figure]:
    """Parts of whose wrong answers surely more are accepted than of all answers' (Bonferroni)."""
    level = 1 - (1 - SURE) / max(1, len(parts))
    found = {
        name: _missed(cells[:, _TN], cells[:, _FP], confidence=level)
        for name, cells in parts.items()
    }
    return {
        name: missed
        for name, missed in found.items()
        if missed.low is not None and every is not None and missed.low > every
    }


def _whose(labels: pl.DataFrame) -> str:
    """Whose the labels are, as far as their table says it."""
    if "annotator_labels" not in labels.columns:
        return "one person labelled, or the labels do not name annotators"
    labels = once_an_item(labels)
    ratings = ratings_of(labels)
    if ratings.width == 1:
        return "one person labelled"
    counts = rating_counts(ratings)
    people = counts.sum(axis=1)
    several = people > 1
    if not several.any():
        return f"{ratings.width} people labelled, one an answer"
    alike = several & (counts.max(axis=1) == people)
    left_out = labels.filter(is_tied(labels)).height
    text = (
        f"two {'or more ' if people.max() > 2 else ''}people labelled {several.sum():,} of "
        f"{(people > 0).sum():,} answers and agree on {alike.sum():,}"
    )
    if left_out:
        others = "others" if left_out == (several & ~alike).sum() else "that are tied"
        text += f"; the {left_out:,} {others} are left out"
    return text


def _share(figure: Figure) -> str:
    return figure.text(scale=100, digits=0, unit="%", words=True)


def by_judge(statements: Sequence[Fitness]) -> dict[str, dict[str, Any]]:
    """The statements as they are written, by judge."""
    return {one.judge: {**plain(one), "sentences": list(one.sentences)} for one in statements}


def write_fitness(statements: Sequence[Fitness], where: Path) -> tuple[Path, list[str]]:
    """Write the statements, by judge, with those of other judges that the file already holds.

    Not those of chosen answers, for a gate is about all.

    Args:
        statements: of judges.
        where: a file, or a folder for its `fitness.json`.

    Returns:
        The file; what was written or not, and which statements of more labels that replaces, as
        lines.

    Raises:
        DataError: it cannot be written.
    """
    file, known = where / FILE if where.is_dir() else where, {}
    with suppress(DataError, AgreementError):  # none yet, or nothing to keep
        known = _statements(where)[1]
    made = by_judge([one for one in statements if one.chosen is None])
    if not made:
        return file, [f"note: {file.name} is not written: {CHOSEN}"]
    replace_file(file, (json.dumps(known | made, indent=1, ensure_ascii=False) + "\n").encode())
    lines = [f"fitness of {', '.join(made)} is written to {file}"]
    for judge, statement in made.items():
        before, now = known.get(judge, {}).get("answers", 0), statement["answers"]
        if isinstance(before, int) and before > now:
            lines.append(
                f"note: that of {judge} rests on {counted(now, 'label')}, and replaces one that "
                f"rested on {before:,}"
            )
    return file, lines


def fitness_line(
    judge: str, signature: str, where: Path | None, *, labels: int = 0, run: str = "RUN"
) -> str:
    """What is known of the judge of a gate, in a line.

    Args:
        judge, signature: of this run.
        where: a file that `write_fitness` or `agree --out` wrote, or the folder of the first; None
            for none.
        labels: how many of the answers judged here have one.
        run: the folder of this run.

    Raises:
        DataError: the file cannot be read.
        AgreementError: it holds no statements.
    """
    if where is None and labels:
        return (
            f"'markscheme agree {run}' measures how far {judge} agrees with the {labels:,} labels "
            f"here; with --fitness {run}, a gate prints it"
        )
    if where is None:
        return (
            f"nothing says how far {judge} agrees with people here: 'markscheme agree' on labelled "
            f"answers writes {FILE}, which --fitness reads"
        )
    file, known = _statements(where)
    if judge not in known:
        names = excerpt(", ".join(map(repr, known)), _MOST_SAID)
        return f"{file} says nothing of {judge}; it is of {names}"
    about = known[judge]
    if about.get("signature") not in (None, signature):
        return (
            f"{file} is of {judge} with signature {excerpt(str(about['signature']), _MOST_SAID)}, "
            f"and this run's is {signature}: agree again"
        )
    first, *said = about["sentences"][:-1]
    if isinstance(questions := about.get("questions"), int):
        said.append(f"its intervals are for further questions like those {questions:,}")
    return f"{excerpt(first, _MOST_SAID)} {excerpt('; '.join(said), _MOST_SAID)}"


def _statements(where: Path) -> tuple[Path, dict[str, Any]]:
    """The file of fitness, and what it says by judge.

    Raises:
        DataError: the file cannot be read.
        AgreementError: it holds no statements.
    """
    file = where / FILE if where.is_dir() else where
    run = where if where.suffix != ".json" else where.parent if where.name == FILE else "RUN"
    advice = f"run 'markscheme agree {run}' first, with labels: it writes {FILE} there"
    try:
        if not file.is_file():  # A pipe would be waited for.
            raise FileNotFoundError("there is no such file")
        if file.stat().st_size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES / 1e6:g} MB")
        known = orjson.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(
            f"{file} cannot be read as a statement of fitness: {error}; {advice}"
        ) from error
    if isinstance(known, dict) and isinstance(known.get("command"), str):  # `agree --out` wrote it
        known = known.get("fitness")
    if not isinstance(known, dict) or not known or not all(map(_is_statement, known.values())):
        raise AgreementError(f"{file} holds no statements of fitness; {advice}")
    return file, known


def _is_statement(value: object) -> bool:
    """Whether it is as `write_fitness` writes one, as far as a line of it needs."""
    said = value.get("sentences") if isinstance(value, dict) else None
    return isinstance(said, list) and len(said) > 2 and all(isinstance(one, str) for one in said)
