"""`drift`: anchor answers judged again on a schedule, and an alarm when a model's replies change.

A provider may change a model behind its name. So the same answers are judged again from time to
time, each time by new replies, which are stored apart: a check is a ledger of its own in a folder.
Every check is read again from its stored replies, so that another version of markscheme, or another
way to read replies, is no drift.

The test knows no model of the noise. If nothing has changed, it is chance which of a question's
checks was the last one (the checks are exchangeable); so the last check is exchanged, question by
question, with a random one of those that it is compared with (Lehmann & Romano 2005, section 5.11).
Up to three statistics: the share accepted, which shows a model that became milder or stricter;
with labels the agreement with them, which shows one that became better or worse; and, from the
third check on, the difference between checks, which shows verdicts that change in both directions.
The smallest p-value counts as often as there are statistics (Bonferroni).
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import DriftOptions
from markscheme.agreement.sources import TableSource
from markscheme.agreement.verdicts import numbers_of
from markscheme.contract import Judge, judge_name, needs_of, parse_judge
from markscheme.engine import apply, reading_for, run_in_memory, with_plain
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.models import Models
from markscheme.models.ledger import Ledger
from markscheme.results import Column, Table, TableResult
from markscheme.stats import LEAST_QUESTIONS, kinds
from markscheme.tables import AnswersReader, as_binary, name_without_endings, read_answers

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
EXCHANGES = 4_999
"""Draws of a test: no p is below 2 / (1 + this), the minimum of `DriftOptions.alpha`."""
MOST_BEFORE = 8
"""Earlier checks that one is compared with, at most: the latest."""

_STAMP = "%Y-%m-%dT%H-%M-%SZ"
_UNFINISHED = ".unfinished.sqlite"
_NONE, _NO, _YES, _MISSING = 0, 1, 2, -1

_Stored = tuple[datetime, Path]
_Read = tuple[datetime, tuple[str, ...], pl.DataFrame]


@dataclass(frozen=True, kw_only=True)
class DriftCheck:
    """One check of one judge.

    Attributes:
        judge: its name.
        at: when it was begun, UTC.
        answered_by: the names under which models answered this judge, the commonest first.
        judged, not_judged: anchors with and without a verdict; what was not answered at all
            (a server that was away) is neither.
        agreement: share of anchors judged as labelled, not judged ones included; None without
            labels.
        accepted: share of anchors accepted.
        changed: anchors with another verdict than most of the earlier checks gave.
        compared: anchors that an earlier check has as well.
        p: of the test that it is like the earlier ones; None where there is none.
        state: `first`, `like before` or `DRIFT`.
    """

    judge: str
    at: datetime
    answered_by: tuple[str, ...]
    judged: int
    not_judged: int
    agreement: float | None
    accepted: float | None
    changed: int | None
    compared: int
    p: float | None
    state: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DriftResult(TableResult):
    """What `drift` returns: one row per judge and check, with the fields of `DriftCheck`.

    Attributes:
        checks: by judge, oldest first.
        alarm: whether the last check of a judge is unlike those before it.
        asked: whether the models were queried now, and all of them answered.
        complete: whether no check was due, or the one that was is whole: no budget cut it off.
    """

    checks: tuple[DriftCheck, ...]
    alarm: bool
    asked: bool
    complete: bool


def drift(
    anchors: TableSource,
    options: DriftOptions | None = None,
    *,
    judges: Sequence[str | Judge],
    models: Models | None = None,
    folder: str | Path | None = None,
    now: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
    **keywords: Any,
) -> DriftResult:
    """Ask judges about anchor answers again, and say whether they judge as before.

    Args:
        anchors: a file, a frame or rows: 50 answers or more, best with labels. Rows may be added.
        options: schedule, level; the defaults if None.
        judges: judges that ask a language model.
        models: where models come from, with the budget. Their ledger is not used: each check has
            one of its own in `folder`.
        folder: where checks are stored; None for `runs/drift-NAME` by the file's name.
        now: the time, for schedules; None for the clock's.
        on_progress: called with the number of judgments just finished.
        keywords: fields of `DriftOptions`, in place of or on top of `options`.

    Raises:
        DataError: the anchors cannot be read.
        JudgeError, ModelError: as judging; the next call resumes a killed or stopped check.
        AgreementError: too few questions, a judge that asks no model, or labels that are grades.
    """
    wanted = with_keywords(DriftOptions, options, keywords)
    made = [parse_judge(one) if isinstance(one, str) else one for one in judges]
    for one in made:
        if needs_of(one).chat is False:
            raise AgreementError(f"{judge_name(one)} asks no language model, so it cannot drift")
    if not made:
        raise AgreementError("name a judge that asks a language model, as in --judge llm_grader")
    rows = read_answers(anchors, reading_for(wanted.reading(columns=wanted.named), made))
    questions = rows["question"].n_unique()
    if questions < LEAST_QUESTIONS:
        raise AgreementError(
            f"{questions} questions are too few anchors to notice a change; {LEAST_QUESTIONS} are "
            "needed, and 50 or more are better"
        )
    place = Path(folder) if folder is not None else _folder_of(anchors)
    return _Checks(
        rows=rows,
        judges=made,
        options=wanted,
        folder=place,
        models=models if models is not None else Models(),
        on_progress=on_progress,
    ).result(now or datetime.now(UTC))


def _folder_of(anchors: object) -> Path:
    named = name_without_endings(anchors) if isinstance(anchors, str | Path) else ""
    return Path("runs") / f"drift-{named or 'anchors'}"


@dataclass(kw_only=True)
class _Checks:
    rows: pl.DataFrame
    judges: Sequence[Judge]
    options: DriftOptions
    folder: Path
    models: Models
    on_progress: Callable[[int], None] | None = None

    def result(self, now: datetime) -> DriftResult:
        """Ask, if it is time, and compare all checks."""
        since, labels = _moment(self.options.since), self._labels()  # what is wrong costs no call
        said, asked, complete = self._ask(now)
        stored = [(at, path) for at, path in self._finished() if since is None or at >= since]
        checks: list[DriftCheck] = []
        for judge in self.judges:
            checks += self._compared(judge, stored, *labels)
        latest = {one.judge: one for one in checks}
        alarm = any(one.state == "DRIFT" for one in latest.values())
        said += _remarks(checks, latest.values(), self.options)
        frame = pl.DataFrame(
            [vars(one) | {"answered_by": list(one.answered_by)} for one in checks],
            infer_schema_length=None,
        )
        return DriftResult(
            frame=frame,
            tables=(_table(checks, said),),
            checks=tuple(checks),
            alarm=alarm,
            asked=asked,
            complete=complete,
            data={
                "command": "drift",
                "alarm": alarm,
                "asked": asked,
                "complete": complete,
                "folder": str(self.folder),
                "checks": [vars(one) | {"at": one.at.isoformat()} for one in checks],
                "notes": said,
                "alpha": self.options.alpha,
                "seed": self.options.seed,
            },
        )

    # --- asking -------------------------------------------------------------------------------

    def _finished(self) -> list[tuple[datetime, Path]]:
        """Finished checks, oldest first."""
        found = []
        for path in self.folder.glob("*.sqlite"):
            with contextlib.suppress(ValueError):  # Unfinished ones, and files of others.
                found.append((_parsed(path.name.removesuffix(".sqlite")), path))
        return sorted(found)

    def _ask(self, now: datetime) -> tuple[list[str], bool, bool]:
        """Ask about every anchor, unless all judges' last checks are recent.

        Returns:
            What to say, and `asked` and `complete` of a `DriftResult`.
        """
        if self.options.every is not None:
            between = timedelta(days=self.options.every)
            recent = [(at, path) for at, path in self._finished() if now < at + between]
            checks = [self._outcomes(judge, recent) for judge in self.judges]
            if all(checks):
                due = min(own[-1][0] for own in checks) + between
                return [f"no check: the next one is due on {due:%Y-%m-%d %H:%M} UTC"], False, True
        unfinished = sorted(self.folder.glob(f"*{_UNFINISHED}"))
        stamp = now.astimezone(UTC).strftime(_STAMP)
        path = unfinished[-1] if unfinished else self.folder / f"{stamp}{_UNFINISHED}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AgreementError(f"cannot write to {self.folder}: {error.strerror}") from None
        skipped = failed = 0
        with contextlib.closing(self.models.with_ledger(path)) as asked:
            for judge in self.judges:
                found = self._judged(judge, asked)
                skipped += _left(found)
                failed += found.filter(pl.col("status") == "failed").height
        if skipped:
            said = [
                f"this check is not complete: {skipped:,} anchors were not judged within the "
                "budget; the same command resumes it"
            ]
            return said, False, False
        with contextlib.suppress(FileNotFoundError):  # Two processes had the same check.
            path.rename(path.with_name(path.name.removesuffix(_UNFINISHED) + ".sqlite"))
        said = [f"{failed:,} anchors had no answer in this check"] * bool(failed)
        return [*said, f"every check's replies are in {self.folder}"], True, True

    def _judged(self, judge: Judge, models: Models) -> pl.DataFrame:
        reader = AnswersReader([self.rows])
        run = run_in_memory(reader, [judge], models=models, on_progress=self.on_progress)
        return run.judgments.collect()

    # --- comparing ----------------------------------------------------------------------------

    def _outcomes(self, judge: Judge, stored: Sequence[_Stored]) -> list[_Read]:
        """What a judge's own checks among those stored gave, and by which models."""
        found = []
        for at, path in stored:
            with contextlib.closing(self.models.with_ledger(path, replay=True)) as models:
                outcome = _outcome(apply(judge, with_plain(self.rows), models))
                used = models.used_entries()
            if (outcome["kind"] != _MISSING).any():  # Else it is a check of other judges.
                found.append((at, _answered_by(path, used), outcome))
        return found

    def _compared(
        self, judge: Judge, stored: Sequence[_Stored], labels: Bools, labelled: Bools
    ) -> list[DriftCheck]:
        places = numbers_of(self.rows["question"])
        found: list[DriftCheck] = []
        before: list[pl.DataFrame] = []
        for at, answered_by, outcome in self._outcomes(judge, stored):
            p, changed, compared = _test(
                outcome,
                before[-MOST_BEFORE:],
                places,
                labels,
                seed=self.options.seed,
            )
            state = "first" if p is None else "like before"
            if p is not None and p <= self.options.alpha:
                state = "DRIFT"
            else:
                before.append(outcome)
            kind = outcome["kind"].to_numpy()
            there = kind != _MISSING
            with_label = there & labelled
            right = (kind == np.where(labels, _YES, _NO))[with_label]
            found.append(
                DriftCheck(
                    judge=judge_name(judge),
                    at=at,
                    answered_by=answered_by,
                    judged=int(np.isin(kind, (_YES, _NO)).sum()),
                    not_judged=int((kind == _NONE).sum()),
                    agreement=float(right.mean()) if len(right) else None,
                    accepted=float((kind[there] == _YES).mean()) if there.any() else None,
                    changed=changed,
                    compared=compared,
                    p=p,
                    state=state,
                )
            )
        return found

    def _labels(self) -> tuple[Bools, Bools]:
        """People's verdicts, true where there is none, and which anchors have one."""
        column = self.rows["label"]
        accepted = as_binary(column, positive_from=self.options.positive_from)
        return accepted.fill_null(value=True).to_numpy(), column.is_not_null().to_numpy()


def _outcome(judged: pl.DataFrame) -> pl.DataFrame:
    """What a check gave each anchor: a `kind`, and a `score` where there was a verdict."""
    verdict = pl.col("verdict").fill_null(pl.col("score") >= 0.5)
    return judged.select(
        kind=pl.when(pl.col("status").cast(pl.String) == "failed")
        .then(_MISSING)
        .when(verdict.is_null())
        .then(_NONE)
        .when(verdict)
        .then(_YES)
        .otherwise(_NO),
        score=pl.coalesce("score", verdict.cast(pl.Float64)).fill_null(0.0),
    )


def _test(
    last: pl.DataFrame,
    before: Sequence[pl.DataFrame],
    questions: npt.NDArray[np.int64],
    expected: Bools,
    *,
    seed: int,
) -> tuple[float | None, int | None, int]:
    """Whether the last check is like those before it; see the module.

    Args:
        last: the check, as `_outcome` gives it.
        before: the earlier ones.
        questions: a number from 0 for the question of each anchor.
        expected: whether each should be accepted.
        seed: of the draws.

    Returns:
        `p`, `changed` and `compared` of a `DriftCheck`.
    """
    if not before:
        return None, None, 0
    codes = np.stack([one["kind"].to_numpy() for one in (last, *before)])
    scores = np.stack([one["score"].to_numpy() for one in (last, *before)])
    there = codes != _MISSING
    paired = there[0] & there[1:].any(axis=0)
    yes = ((codes[1:] == _YES) & there[1:]).sum(axis=0)
    usual = np.where(2 * yes > there[1:].sum(axis=0), _YES, _NO)
    none = ((codes[1:] == _NONE) & there[1:]).sum(axis=0)
    usual = np.where(2 * none > there[1:].sum(axis=0), _NONE, usual)
    changed = int(((codes[0] != usual) & paired).sum())
    compared = int(paired.sum())
    if not compared:
        return None, None, 0
    accepted = (codes == _YES).astype(np.float64)
    right = (codes == np.where(expected, _YES, _NO)).astype(np.float64)
    levels = [accepted] if expected.all() else [accepted, right]  # The same where all are expected.
    apart = (codes[:, None] != codes[None]) + np.abs(scores[:, None] - scores[None])
    sides = np.zeros((questions.max() + 1, len(codes), len(levels) + 1))
    present = np.zeros(sides.shape[:2], dtype=bool)
    for place in range(len(sides)):
        mine = questions == place
        whole = np.flatnonzero(there[:, mine].all(axis=1))
        if len(whole) < 2 or whole[0] != 0:
            continue
        present[place, whole] = True
        for number, level_of in enumerate(levels):
            level = level_of[np.ix_(whole, mine)].sum(axis=1)
            sides[place, whole, number] = level - (level.sum() - level) / (len(whole) - 1)
        sides[place, whole, -1] = apart[np.ix_(whole, whole, mine)].sum(axis=(1, 2))
        sides[place, whole, -1] /= len(whole) - 1
    kept = present[:, 0]
    if not kept.any():
        return None, changed, compared
    sides, present = sides[kept], present[kept]

    drawn = _exchanged_sums(sides, present, seed=seed).T
    observed = (2 * sides[:, 0] - sides.sum(axis=1)).sum(axis=0)
    found = [_exchange_p(drawn[n], float(observed[n])) for n in range(len(levels))]
    if len(before) > 1:  # Between two checks the difference is the same either way.
        found.append(_exchange_p(drawn[-1], float(observed[-1]), larger_only=True))
    return min(1.0, len(found) * min(found)), changed, compared


def _exchanged_sums(levels: Array, present: Bools, *, seed: int) -> Array:
    """(draws, width) differences where chance chose, by question, which side is the first.

    Args:
        levels: (questions, sides, width) what is summed over the questions, of the first side and
            of the others.
        present: (questions, sides) which sides a question has, the first among them.
        seed: of the draws.

    Returns:
        The sums of the first side less those of the others.
    """
    questions, among, width = levels.shape
    distinct, repeats = kinds(np.concatenate([levels.reshape(questions, -1), present], axis=1))
    sides = distinct[:, : among * width].reshape(-1, among, width).astype(np.float64)
    sides = np.roll(sides, -1, axis=1)  # the first side last: what is drawn before, changes
    likely = np.roll(distinct[:, among * width :].astype(np.float64), -1, axis=1)
    likely /= likely.sum(axis=1, keepdims=True)
    total = (sides.sum(axis=1) * repeats[:, None]).sum(axis=0)
    rng = np.random.default_rng(seed)
    step = max(1, 4_000_000 // likely.size)
    found = []
    for begin in range(0, EXCHANGES, step):
        size = min(step, EXCHANGES - begin)
        drawn = rng.multinomial(repeats, likely, size=(size, len(repeats)))
        found.append(2 * (drawn.reshape(size, -1) @ sides.reshape(-1, width)) - total)
    return np.concatenate(found)


def _exchange_p(differences: Array, observed: float, *, larger_only: bool = False) -> float:
    """p of an observed difference among the exchanged ones; two-sided by default.

    (1 + as extreme) / (1 + draws), so never 0.
    """
    if not larger_only:
        differences, observed = np.abs(differences), abs(observed)
    extreme = int((differences >= observed - 1e-9).sum())
    return (1 + extreme) / (1 + len(differences))


def _left(judged: pl.DataFrame) -> int:
    """Anchors that were not judged since a limit was reached."""
    unasked = pl.col("explanation").str.contains("(--max-", literal=True).fill_null(value=False)
    return judged.filter((pl.col("status") == "skipped") & unasked).height


def _answered_by(path: Path, used: Container[str]) -> tuple[str, ...]:
    """The names under which models answered in a check, by the replies that were used."""
    import orjson

    with contextlib.closing(Ledger(path)) as ledger:
        replies = (reply for key, reply in ledger.rows("reply") if key in used)
        names = Counter(orjson.loads(reply).get("model") for reply in replies)
    return tuple(name for name, _ in names.most_common() if name is not None)


def _parsed(stamp: str) -> datetime:
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)


def _moment(text: str | None) -> datetime | None:
    """A date, or a date and time, UTC.

    Raises:
        AgreementError: it is neither.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise AgreementError(
            f"since={text!r} is not a date; write it like 2026-11-23 or 2026-11-23T08:00"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _remarks(checks: Sequence[DriftCheck], latest: Any, options: DriftOptions) -> list[str]:
    """What to say of the last checks."""
    said = []
    for one in latest:
        mine = [check for check in checks if check.judge == one.judge]
        names = {frozenset(check.answered_by) for check in mine[:-1]}
        earlier = sorted({name for each in names for name in each})
        if names and frozenset(one.answered_by) not in names:
            said.append(
                f"{one.judge}: answered by {', '.join(one.answered_by) or 'an unnamed model'}, "
                f"before by {', '.join(earlier) or 'another'}"
            )
        if one.state == "DRIFT":
            said.append(
                f"{one.judge} judges differently than before: do not compare figures across this "
                f"change; once you accept it, --since {one.at:%Y-%m-%dT%H:%M} starts again"
            )
    said.append(
        f"p: exchange, that a check is like the earlier ones (exchanged at random, question by "
        f"question; two tests, Bonferroni); alarm at {options.alpha:g}, so that one check in "
        f"{1 / options.alpha:,.0f} is a false alarm"
    )
    return said


def _table(checks: Sequence[DriftCheck], said: Sequence[str]) -> Table:
    several = len({one.judge for one in checks}) > 1
    return Table.of(
        "Anchors judged again" + ("" if several or not checks else f": {checks[0].judge}"),
        (
            Column("judge", show=several),
            Column("check", lambda one: f"{one.at:%Y-%m-%d %H:%M}"),
            Column("answered by", lambda one: ", ".join(one.answered_by[:2])),
            Column("agreement %", "agreement", "share", missing="n/a"),
            Column("accepted %", "accepted", "share", missing="n/a"),
            Column("not judged", format="count"),
            Column("changed", _changed, "right"),
            Column("p", format="p"),
            "state",
        ),
        checks,
        said,
    )


def _changed(check: DriftCheck) -> str | None:
    return None if check.changed is None else f"{check.changed} of {check.compared}"
