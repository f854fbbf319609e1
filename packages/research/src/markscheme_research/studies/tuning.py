"""`tune_judge`: which wording, examples, model and number of samples agree best with people.

The search sees some of the questions only; figures are of the others. Candidates race: all are
tried on a few questions, the better half about twice as many, and so on (successive halving,
Jamieson & Talwalkar 2016), so that little is spent on poor ones. Each one's threshold is chosen on
the same questions. The finalists then judge the questions that were held out. Nothing was chosen on
those, so the figure of the chosen one is not flattered by the search; and since readers may choose
among the finalists by these figures, their intervals hold for all of them together (Bonferroni).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    answers_table,
    best_threshold,
    fit_map,
    judged_table,
    labelled_table,
    split_questions,
)
from markscheme.contract import Judge, judge_name, parse_judge
from markscheme.engine import run_in_memory
from markscheme.errors import AgreementError, MissingExtraError
from markscheme.flags import with_keywords
from markscheme.judges import CalibrationMap
from markscheme.models import Models
from markscheme.results import (
    Column,
    Format,
    Table,
    TableResult,
    by_labels,
    check_ending,
    interval,
    population,
)
from markscheme.stats import LEAST_QUESTIONS
from markscheme.tables import AnswersReader, as_binary, join_labels, matched_on
from markscheme_research.studies.juries import clustered_share
from markscheme_research.studies.options import TuneOptions

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
CHARTS = (".svg", ".html", ".png", ".json")
"""Endings of the files that `TuneResult.save_chart` writes."""
FINALISTS = 4


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What is known of one candidate.

    Attributes:
        judge: its name.
        rounds: how many rounds of the search it was in.
        tuned_on: labelled answers that it judged in the search.
        tuned: share of them judged as people do, at the threshold chosen on them: flattering.
        threshold: of the score; None where the judge's own verdicts are at least as good.
        calls, cost_usd: requests and dollars an answer; None where no price is known.
        held_out: share of held-out answers judged as people do; None for no finalist.
        low, high: its interval, which holds for all finalists together; `method`: how it was made.
        not_judged: of the held-out answers; they do not agree.
    """

    judge: str
    rounds: int = 0
    tuned_on: int = 0
    tuned: float | None = None
    threshold: float | None = None
    calls: float | None = None
    cost_usd: float | None = None
    held_out: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    not_judged: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TuneResult(TableResult):
    """What `tune_judge` gives: the frame has one row per candidate, with the fields of `Trial`.

    Attributes:
        judge: the chosen one's name; with a threshold of its own, for a map that `save_map` writes.
        trials: every candidate, the chosen one first, then by how far they came.
    """

    judge: str
    trials: tuple[Trial, ...]
    map: CalibrationMap | None = None

    def save_map(self, path: str | Path) -> str:
        """Write the map that the chosen threshold needs; the judge's whole name."""
        if self.map is None or self.trials[0].threshold is None:
            return self.judge
        self.map.save(path)
        threshold = float(self.map(np.array([self.trials[0].threshold]))[0])
        return f'calibrated(base={self.judge}, map="{path}", threshold={threshold:.6g})'

    def save_chart(self, path: str | Path) -> Path:
        """Draw agreement against price, as .svg, .html, .png or .json (extra `report`).

        Raises:
            MarkschemeError: another ending. MissingExtraError: the chart library is not installed.
        """
        return _save_chart(self.frame, Path(path))


@dataclass(kw_only=True)
class _Candidate:
    judge: Judge
    name: str
    rows: pl.DataFrame | None = None
    rounds: int = 0
    calls: int = 0
    cost: float = 0.0
    priced: bool = True
    threshold: float | None = None
    tuned: float = 0.0

    @property
    def answers(self) -> int:
        """Labelled answers that it was run on."""
        return 0 if self.rows is None else self.rows.height


def tune_judge(
    answers: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: TuneOptions | None = None,
    *,
    judges: Sequence[str | Judge] = (),
    models: Models | None = None,
    on_progress: Callable[[int], None] | None = None,
    **keywords: Any,
) -> TuneResult:
    """Choose the judge that agrees best with people, within a budget; report on unseen questions.

    Args:
        answers: a file, a frame or rows, with labels or without; those that have a label are
            judged.
        labels: people's labels, if they are not among the answers.
        options: what is tried; the defaults if None.
        judges: wordings and examples to try, as judges' names: shipped prompts, prompt files of
            your own, examples. The first one is always a finalist, for comparison.
        models: where models come from, with the budget; `options.try_models` are tried for each
            judge. Replies are in the ledger, so that the same call resumes.
        on_progress: called with the number of judgments just finished.
        keywords: fields of `TuneOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        JudgeError: a candidate is no judge.
        AgreementError: no label is of these answers, too few questions, one class of labels, or a
            budget that ends before the first round does.
    """
    wanted = with_keywords(TuneOptions, options, keywords)
    names = wanted.named if labels is None else wanted.columns
    table = answers_table(answers, wanted.reading(columns=names))
    table = table.filter(pl.col("answer").is_not_null())
    known = (
        labelled_table(table)
        if labels is None
        else labelled_table(labels, column=wanted.label_column, columns=wanted.columns)
    )
    table, said = _labelled(table, known)
    asked = models if models is not None else Models()
    search = _Search(
        table=table, labels=known, options=wanted, models=asked, on_progress=on_progress, said=said
    )
    candidates = [_Candidate(judge=one, name=judge_name(one)) for one in _grid(judges, wanted)]
    if len(candidates) < 2:
        raise AgreementError(
            "there is nothing to choose from: give several judges, --try-model or --try-samples"
        )
    if asked.options.dry_run:
        return search.plan(candidates)
    return search.run(candidates)


def _labelled(answers: pl.DataFrame, labels: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The answers that have a label, and a note on how many others there are."""
    matched, key, _ = matched_on(answers, labels)
    known = matched.drop_nulls("label")
    found = answers.join(known, on=key, how="semi", nulls_equal=True, maintain_order="left")
    if found.is_empty():
        raise AgreementError(
            f"none of the {answers.height:,} answers has a label: no label matches one by "
            f"{' and '.join(key)}; is --labels the file of these answers' labels?"
        )
    if not (left := answers.height - found.height):
        return found, []
    return found, [f"{left:,} of {answers.height:,} answers have no label, and are not judged"]


def _grid(judges: Sequence[str | Judge], options: TuneOptions) -> list[Judge]:
    """Every judge with every model and number of samples, none twice."""
    found: dict[Judge, None] = {}
    bases = [parse_judge(one) if isinstance(one, str) else one for one in judges]
    for base, model, samples in itertools.product(
        bases, options.try_models or (None,), options.samples or (None,)
    ):
        changes: dict[str, Any] = {}
        if model is not None and hasattr(base, "model"):
            changes["model"] = model
        if samples is not None and hasattr(base, "samples"):
            changes["samples"] = samples
            if samples > 1 and not getattr(base, "temperature", None):
                changes["temperature"] = options.temperature
            if samples > 1 and getattr(base, "vote", "") == "majority":
                changes["sure"] = options.sure
        judge = replace(base, **changes) if changes else base  # type: ignore[type-var]
        found.setdefault(parse_judge(judge_name(judge)))
    return list(found)


@dataclass(kw_only=True)
class _Search:
    table: pl.DataFrame
    labels: pl.DataFrame
    options: TuneOptions
    models: Models
    on_progress: Callable[[int], None] | None = None
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        questions = self.table["question"]
        order = questions.unique(maintain_order=True)
        places = {text: place for place, text in enumerate(order)}
        clusters = np.array([places[text] for text in questions], dtype=np.int64)
        seen = split_questions(clusters, share=self.options.share, seed=self.options.seed)
        self._seen = np.random.default_rng(self.options.seed).permutation(np.unique(clusters[seen]))
        self._held_out = np.unique(clusters[~seen])
        if min(len(self._seen), len(self._held_out)) < LEAST_QUESTIONS:
            raise AgreementError(
                f"{len(order)} labelled questions are too few to choose on {len(self._seen)} of "
                f"them and report on the others; either part needs {LEAST_QUESTIONS}"
            )
        self._clusters = clusters

    def run(self, candidates: list[_Candidate]) -> TuneResult:
        """The race, then the finalists on the questions held out."""
        left = list(candidates)
        done = 0
        for number, size in enumerate(self._sizes(len(candidates)), 1):
            if number > 1 and not self._affordable(left, size - done):
                self.said.append(f"the search ended before round {number}, to keep within budget")
                break
            for one in left:
                self._ask(one, self._seen[done:size])
                one.rounds = number
            if any(self._unasked(one) for one in left):
                if number == 1:
                    raise AgreementError(
                        f"the budget ends before all {len(left)} candidates are run on "
                        f"{size} questions; raise it, or try fewer (--dry-run says what it takes)"
                    )
                self.said.append(f"the budget was spent in round {number}, which does not count")
                break
            for one in left:
                _choose_threshold(one, self.options.positive_from)
            left.sort(key=_merit)
            done = size
            left = left[: max(FINALISTS, -(-len(left) // 2))] if size < len(self._seen) else left
        finalists = left[: self.options.finalists]
        if candidates[0] not in finalists:
            finalists = [*finalists[: self.options.finalists - 1], candidates[0]]
        chosen = left[0]
        while len(finalists) > 1 and not self._affordable(finalists, 0):
            self.said.append(f"{finalists.pop().name} has no report, to keep within budget")
        figures = {one.name: self._report(one, len(finalists)) for one in finalists}
        order = sorted(candidates, key=lambda one: (one is not chosen, one not in finalists,
                                                    -one.rounds, _merit(one)))  # fmt: skip
        trials = tuple(figures.get(one.name) or _trial(one) for one in order)
        return self._result(chosen, trials, len(finalists))

    def plan(self, candidates: list[_Candidate]) -> TuneResult:
        """What the search would ask at most: nothing is sent."""
        trials = []
        for one in candidates:
            before = self.models.budget.spending
            self._judge(one, self._seen[: min(len(self._seen), 8)])
            after = self.models.budget.spending
            number = int(np.isin(self._clusters, self._seen[:8]).sum())
            trials.append(
                Trial(
                    judge=one.name,
                    calls=(after.calls - before.calls) / number,
                    cost_usd=None if after.unpriced > before.unpriced
                    else (after.cost_usd - before.cost_usd) / number,
                )
            )  # fmt: skip
        sizes = self._sizes(len(candidates))
        alive, done, calls, cost = len(candidates), 0, 0.0, 0.0
        most_calls = sorted((one.calls or 0 for one in trials), reverse=True)
        price = sorted((one.cost_usd or 0 for one in trials), reverse=True)
        per_question = self.table.height / (len(self._seen) + len(self._held_out))
        for size in [*sizes, None]:
            new = len(self._held_out) if size is None else size - done
            alive = min(alive, self.options.finalists) if size is None else alive
            calls += sum(most_calls[:alive]) * new * per_question
            cost += sum(price[:alive]) * new * per_question
            done = done if size is None else size
            alive = max(min(FINALISTS, alive), -(-alive // 2))
        unknown = any(one.cost_usd is None for one in trials)
        self.said += [
            f"{len(candidates)} candidates, rounds of {', '.join(map(str, sizes))} questions, "
            f"then {len(self._held_out)} held-out ones",
            f"at most about {calls:,.0f} calls"
            + ("; a price is unknown" if unknown else f", ${cost:,.2f}")
            + ", repairs apart; what the ledger knows costs nothing",
        ]
        return TuneResult(
            frame=pl.DataFrame([_record(one) for one in trials], infer_schema_length=None),
            tables=(_plan_table(trials, self.said),),
            data={"command": "tune-judge", "dry_run": True, "calls": calls,
                  "cost_usd": None if unknown else cost, "rounds": sizes,
                  "trials": [_record(one) for one in trials]},
            judge="", trials=tuple(trials),
        )  # fmt: skip

    def _sizes(self, candidates: int) -> list[int]:
        """Questions by the end of each round: doubling, until all are used."""
        whole = len(self._seen)
        size = min(whole, max(self.options.first_round, -(-whole * 2 // max(2, candidates * 2))))
        found = [size]
        while found[-1] < whole:
            found.append(min(whole, 2 * found[-1]))
        return found

    def _affordable(self, left: Sequence[_Candidate], more: int) -> bool:
        """Whether a further round leaves enough of the budget for the report."""
        budget = self.models.budget
        per_question = self.table.height / (len(self._seen) + len(self._held_out))
        report = len(self._held_out) * min(len(left), self.options.finalists)
        questions = more * len(left) + report
        answers = max(1, sum(one.answers for one in left))
        calls = sum(one.calls for one in left) / answers * questions * per_question
        cost = sum(one.cost for one in left) / answers * questions * per_question
        spent = budget.spending
        if budget.max_calls is not None and spent.calls + calls > budget.max_calls:
            return False
        return budget.max_cost is None or spent.cost_usd + cost <= budget.max_cost

    def _judge(self, one: _Candidate, questions: Ints) -> pl.DataFrame:
        rows = self.table.filter(pl.Series(np.isin(self._clusters, questions)))
        run = run_in_memory(
            AnswersReader([rows]), [one.judge], models=self.models, on_progress=self.on_progress
        )
        return run.judgments.collect()

    def _asked(self, one: _Candidate, questions: Ints) -> pl.DataFrame:
        judged = self._judge(one, questions)
        joined = join_labels(judged_table(judged, answers=self.table), self.labels)
        one.priced &= judged["cost_usd"].null_count() < judged.height
        one.cost += float(judged["cost_usd"].sum() or 0.0)
        return joined.rows

    def _ask(self, one: _Candidate, questions: Ints) -> None:
        before = self.models.budget.spending
        rows = self._asked(one, questions)
        after = self.models.budget.spending
        one.calls += after.calls + after.known - before.calls - before.known
        one.rows = rows if one.rows is None else pl.concat([one.rows, rows])

    def _unasked(self, one: _Candidate) -> bool:
        """Whether the budget left answers of it unasked."""
        spent = self.models.budget.spending.skipped
        return bool(spent and one.rows is not None and (one.rows["status"] == "skipped").any())

    def _report(self, one: _Candidate, finalists: int) -> Trial:
        calls, answers = one.calls, one.answers
        tuned = _trial(one)
        before = self.models.budget.spending
        rows = self._asked(one, self._held_out)
        after = self.models.budget.spending
        calls += after.calls + after.known - before.calls - before.known
        answers += rows.height
        right = _right(rows, one.threshold, self.options.positive_from)
        share = clustered_share(right, rows["cluster"].to_numpy(), confidence=1 - 0.05 / finalists)
        if (rows["status"] == "skipped").any() and after.skipped > before.skipped:
            self.said.append(f"{one.name}: the budget was spent before its report was complete")
        return replace(
            tuned, held_out=share.value, low=share.low, high=share.high, method=share.method,
            not_judged=int((rows["status"] != "judged").sum()),
            calls=calls / answers, cost_usd=one.cost / answers if one.priced else None,
        )  # fmt: skip

    def _result(self, chosen: _Candidate, trials: tuple[Trial, ...], finalists: int) -> TuneResult:
        best = trials[0]
        ways = ", ".join(dict.fromkeys(one.method for one in trials if one.method))
        answers = int(np.isin(self._clusters, self._held_out).sum())
        by = by_labels(answers, self.table.height)
        about = population(by, questions=len(self._held_out), answers=answers)
        said = [
            f"chosen on {best.tuned_on:,} answers to {len(self._seen)} questions, reported on the "
            f"answers to {len(self._held_out)} others, which no choice has seen; seed "
            f"{self.options.seed}",
            "tuned: agreement on the questions of the search, at the threshold chosen there, which "
            "flatters; held out: what to expect. Answers not judged do not agree",
            f"intervals ({ways}) are for {about}; they hold for all {finalists} finalists "
            "together (95%, Bonferroni), so that one of them may be picked by these figures",
            *self.said,
            f"judge: {chosen.name}"
            + ("" if best.threshold is None else f", accepted from score {best.threshold:.4g}: "
               "--save-map FILE writes it as calibrated(...)"),
        ]  # fmt: skip
        fitted = None
        if best.threshold is not None and chosen.rows is not None:
            scored = chosen.rows.drop_nulls("score")
            truth = as_binary(scored["label"], positive_from=self.options.positive_from).to_numpy()
            fitted = fit_map(scored["score"].to_numpy(), truth, method="platt", judge=chosen.name)
        records = [_record(one) for one in trials]
        return TuneResult(
            frame=pl.DataFrame(records, infer_schema_length=None),
            tables=(_table(trials, said),),
            data={"command": "tune-judge", "judge": chosen.name, "trials": records,
                  "notes": said, "seed": self.options.seed},
            judge=chosen.name, trials=trials, map=fitted,
        )  # fmt: skip


def _merit(one: _Candidate) -> tuple[float, float]:
    """What candidates are put in order by: agreement, then price."""
    each = max(1, one.answers)
    return (-one.tuned, one.cost / each if one.cost else one.calls / each)


def _right(rows: pl.DataFrame, threshold: float | None, positive_from: float | None) -> Array:
    """1 where a row is judged as people do, 0 where not or not judged."""
    truth = as_binary(rows["label"], positive_from=positive_from).to_numpy()
    said = pl.col("verdict") if threshold is None else pl.col("score") >= threshold
    verdict = rows.select(v=said)["v"]
    judged = verdict.is_not_null().to_numpy()
    right = judged & (verdict.fill_null(value=False).to_numpy() == truth)
    return np.asarray(right, dtype=np.float64)


def _choose_threshold(one: _Candidate, positive_from: float | None) -> None:
    """The threshold that agrees best, if it is better than the judge's own verdicts."""
    assert one.rows is not None
    one.threshold = None
    one.tuned = float(_right(one.rows, None, positive_from).mean()) if one.rows.height else 0.0
    scored = one.rows.drop_nulls("score")
    if scored["score"].n_unique() < 3:
        return
    truth = as_binary(scored["label"], positive_from=positive_from).to_numpy()
    if truth.all() or not truth.any():
        return
    threshold = best_threshold(scored["score"].to_numpy(), truth)
    share = float(_right(one.rows, threshold, positive_from).mean())
    if share > one.tuned:
        one.threshold, one.tuned = threshold, share


def _trial(one: _Candidate) -> Trial:
    each = max(1, one.answers)
    return Trial(
        judge=one.name, rounds=one.rounds, tuned_on=one.answers, tuned=one.tuned,
        threshold=one.threshold, calls=one.calls / each,
        cost_usd=one.cost / each if one.priced else None,
    )  # fmt: skip


def _record(trial: Trial) -> dict[str, Any]:
    return {name: getattr(trial, name) for name in Trial.__dataclass_fields__}


_SPENT = (
    Column("calls each", "calls", 2, "n/a"),
    Column(
        "$ a thousand",
        lambda one: None if one.cost_usd is None else 1000 * one.cost_usd,
        Format("{:,.3f}".format, "n/a"),
    ),
)


def _table(trials: Sequence[Trial], said: Sequence[str]) -> Table:
    def ends(one: Trial) -> str | None:
        return None if one.low is None else interval(one.low, one.high)

    return Table.of(
        "Price against agreement, the chosen judge first",
        (
            "judge",
            Column("tuned on", format="count"),
            Column("tuned %", "tuned", "share", "n/a"),
            Column("held out %", "held_out", "share", ""),
            Column("interval", ends, "right"),
            Column("threshold", format=3, missing="own"),
            *_SPENT,
        ),
        trials,
        said,
    )


def _plan_table(trials: Sequence[Trial], said: Sequence[str]) -> Table:
    title = "What the search would ask, at most"
    return Table.of(title, ("judge", *_SPENT), trials, said)


def _save_chart(frame: pl.DataFrame, path: Path) -> Path:
    check_ending(path, CHARTS)
    try:
        import altair
    except ImportError:
        raise MissingExtraError("a chart", "report") from None
    priced = frame["cost_usd"].null_count() < frame.height
    each, title = ("cost_usd", "dollars an answer") if priced else ("calls", "calls an answer")
    shown = frame.filter(pl.col("held_out").is_not_null()).select(
        "judge", pl.col(each).alias("price"),
        *(pl.col(name) * 100 for name in ("held_out", "low", "high")),
    )  # fmt: skip
    base = altair.Chart(shown).encode(x=altair.X("price:Q", title=title))
    bars = base.mark_rule().encode(y=altair.Y("low:Q"), y2="high:Q")
    points = base.mark_point(filled=True, size=80).encode(
        y=altair.Y("held_out:Q", title="agreement on held-out questions, %",
                   scale=altair.Scale(zero=False)),
        color=altair.Color("judge:N", title=None,
                           legend=altair.Legend(orient="bottom", columns=1, labelLimit=600)),
        tooltip=["judge:N", "price:Q", "held_out:Q", "low:Q", "high:Q"],
    )  # fmt: skip
    (bars + points).properties(width=420, height=280).save(str(path))
    return path
