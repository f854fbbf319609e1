"""Every number that a report's page shows is compared with the one its command gives."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

import markscheme
from markscheme.agreement import (
    InMemory,
    expected_calibration_error,
    open_run,
    reliability_diagram,
)
from markscheme.contract import ChatReply
from markscheme.models import Models
from markscheme.reports import report_html
from markscheme.reports.material import Material, read_material
from markscheme.reports.payload import later, payload
from markscheme.results import p_text, scope_notes
from markscheme.testing import ScriptedChat
from page_numbers import Page, Place, numbers, shares, thirds

ALL = "(all)"
Claims = dict[Place, list[list[str]]]
"""The numbers that each text of a place has to have, in order of appearance."""

NO_FIGURES = {
    r"95% (confidence )?intervals?": "the level that every command has by default",
    r"\(Kamalloo et al\. 2023, section 5\)": "a citation",
    r"\(Wang et al\. 2023\)": "a citation",
    r"On the diagonal, 0\.8 means": "an example of how to read the chart",
    r"Exact match is at 100% by definition": "how to read the chart",
    r"\b1,000 answers": "a unit",
}
"""Numbers in sentences that no command gives, and why they are there."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A run, its page and what the commands say of it."""

    run: Path

    @cached_property
    def material(self) -> Material:
        return read_material(self.run)

    @cached_property
    def page(self) -> Page:
        return Page(report_html(self.material))

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """The file that `judge` wrote, with each answer's label, which is its annotators' word."""
        found = open_run(self.run)
        votes = pl.coalesce("label", pl.col("annotator_labels").list.drop_nulls().list.mean())
        label = pl.when(votes != 0.5).then(votes > 0.5)
        return found.table.drop("system").join(
            found.answers.select("answer_id", "system", "question", accepted=label), on="answer_id"
        )

    @cached_property
    def summary(self) -> dict[tuple[str, str], dict[str, Any]]:
        """What `judge` says, by judge and system."""
        figures = orjson.loads((self.run / "summary.json").read_bytes())["figures"]
        return {(one["judge"], one["system"]): one for one in figures}

    @cached_property
    def agree(self) -> dict[str, Any]:
        return data(markscheme.agree(self.run, by="system"))

    @cached_property
    def agreed(self) -> dict[tuple[str, str], dict[str, Any]]:
        return {(one["judge"], one["system"] or ALL): one for one in self.agree["judges"]}

    @cached_property
    def failures(self) -> dict[str, Any]:
        return data(markscheme.failures(self.run, labels=self.run, judge_errors=True))

    @property
    def judges(self) -> list[str]:
        return list(dict.fromkeys(judge for judge, _ in self.summary))

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(system for _, system in self.summary))

    @property
    def labelled(self) -> int:
        """Answers with a label, as `agree` counts them."""
        return int(self.agreed[self.judges[0], ALL]["answers"])

    @property
    def every_label(self) -> bool:
        return self.labelled == self.summary[self.judges[0], ALL]["rows"]

    @cached_property
    def leading(self) -> str:
        """The judge closest to the labels."""

        def kappa(judge: str) -> float:
            return float(self.agreed[judge, ALL]["left_out"]["kappa"]["value"])

        return max(self.judges, key=kappa)


def data(found: Any) -> dict[str, Any]:
    """What a command prints with `--format json`."""
    read: dict[str, Any] = orjson.loads(found.to_json())
    return read


def reply(text: str) -> ChatReply:
    """A model that says yes or no by the text alone, and at times nothing."""
    draw = random.Random(text)
    if draw.random() < 0.1:
        return ChatReply(status="failed", error="no reply")
    return ChatReply(
        status="ok", text="Yes" if draw.random() < 0.6 else "No",
        finish_reason="stop", model="scripted", tokens_in=draw.randrange(50, 90), tokens_out=1,
        cost_usd=draw.random() / 1000, seconds=draw.random(),
    )  # fmt: skip


def models() -> Models:
    return Models(chat=ScriptedChat(replies=reply))


@pytest.fixture(scope="module")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems, several answers to a question, two annotators who differ, blanks, failures."""
    chance = random.Random(3)
    right = {"alpha": 0.8, "beta": 0.6, "gamma": 0.5}
    rows: list[dict[str, Any]] = []
    for number, system, again in (
        (n, system, k) for n in range(40) for system in right for k in range(1 + (n % 4 == 0))
    ):
        good = chance.random() < right[system]
        answer: str | None = f"Paris{number}" if good else f"Rome{number}"
        if chance.random() < 0.4:
            answer = f"The town {number} is {answer}."
        elif chance.random() < 0.1:
            answer = f"It was paris {number}"
        if chance.random() < 0.05:
            answer = None
        votes = [float(good if chance.random() < sure else not good) for sure in (1.0, 0.85)]
        rows.append(
            {"id": f"{system}-{number}-{again}", "question": f"Which town {number}?",
             "references": [f"Paris{number}"], "answer": answer, "system": system,
             "topic": "even" if number % 2 else "odd",
             "annotator_labels": [vote if chance.random() < 0.9 else None for vote in votes]}
        )  # fmt: skip

    folder = tmp_path_factory.mktemp("numbers") / "made"
    markscheme.judge(
        rows, ["exact_match", "contains", "token_f1", "examiner", "llm_kamalloo"], out=folder,
        models=models(),
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module", params=["example", "made"])
def case(request: pytest.FixtureRequest) -> Case:
    return Case(
        run=request.getfixturevalue("run_folder" if request.param == "example" else "made_run")
    )


def sides(figure: Mapping[str, Any]) -> list[str]:
    return shares(figure["value"], figure.get("low"), figure.get("high"))


def accuracy(record: Mapping[str, Any]) -> list[str]:
    found = shares(record["accuracy"], record["accuracy_low"], record["accuracy_high"])
    missing = record["not_judged"]  # By status in the file, a sum in the frame.
    if missing := missing if isinstance(missing, int) else sum(missing.values()):
        found += [str(record["judged"]), str(missing)]
    return found


def of_accuracy(case: Case) -> Iterator[tuple[Place, list[str]]]:
    for (judge, system), one in case.summary.items():
        yield ("accuracy", system, judge), accuracy(one)
        yield ("accuracy", "mark", f"{judge}, {system}"), accuracy(one)[:3]


def of_people(case: Case) -> Iterator[tuple[Place, list[str]]]:
    """People's share of right answers, as `judge` gives that of a judge with their verdicts."""
    if not case.every_label:
        return
    labels = case.judgments.filter(pl.col("judge") == case.judges[0]).with_columns(
        pl.lit("people").alias("judge"), verdict="accepted"
    )
    for system in case.systems:
        mine = labels if system == ALL else labels.filter(system=system)
        found = data(markscheme.estimate(
            mine.select("answer_id", "question", "judge", "verdict", "system"),
            mine.select("answer_id", label=pl.col("accepted").cast(pl.Float64)),
        ))  # fmt: skip
        by_method = {one["method"]: one["figure"] for one in found["estimates"][0]["estimates"]}
        numbers_ = sides(by_method["labels_only"])
        yield ("accuracy", system, "people"), numbers_
        yield ("accuracy", "mark", f"people, {system}"), numbers_


def of_estimate(case: Case) -> Iterator[tuple[Place, list[str]]]:
    if case.every_label:
        return
    judge = case.leading
    found = markscheme.estimate(case.run, judge=judge, by="system")
    for one in data(found)["estimates"]:
        system = one["system"] or ALL
        reported, *alone = one["estimates"]
        figure = reported["figure"]
        for heading in ("answers", "labelled"):
            yield ("people", system, heading), [str(one[heading])]
        yield ("people", system, "judge says"), shares(one["judge_mean"])
        yield ("people", system, "people would say"), sides(figure)
        for each in alone:
            yield ("people", system, "by labels alone"), sides(each["figure"])
        if any(reported["weights"].values()):
            yield ("people", system, "labels' worth"), [f"{reported['worth']:.0f}"]
        yield ("people", "mark", f"people, {system}"), sides(figure)
        yield ("people", "mark", f"{judge}, {system}"), shares(one["judge_mean"])
    yield ("people", "says"), [kappa_of(case), *numbers(found.lead[0], case.judges)]
    whole = str(case.summary[judge, ALL]["rows"])
    yield ("page", "absent"), [str(case.labelled), whole]


def kappa_of(case: Case) -> str:
    return f"{case.agreed[case.leading, ALL]['left_out']['kappa']['value']:.2f}"


def of_pairs(case: Case) -> Iterator[tuple[Place, list[str]]]:
    if case.every_label:  # People's labels are compared as a judge's verdicts are.
        rows = case.judgments.filter(judge=case.judges[0])
        found = markscheme.compare(
            rows.select("answer_id", "question", "system", verdict="accepted", judge=pl.lit("p")),
            systems=True,
        )
        read = data(found)
        best = [(one["difference"], one["p_holm"]) for one in read["pairs"]]
        kappa = []
    else:
        found = markscheme.compare(case.run, systems=True, judges=case.leading)
        read = data(found)
        best = [(one["difference"], one["p_holm"]) for one in read["people"]]
        kappa = [kappa_of(case)]
    by = "" if case.every_label else f", by {case.leading}"
    yield ("pairs", "says"), numbers(found.lead[0], case.judges) + kappa
    for pair, (difference, p) in zip(read["pairs"], best, strict=True):
        row = f"{pair['first']} · {pair['second']}"
        yield ("pairs", row, "first less second"), sides(difference)
        yield ("pairs", row, f"only first right{by}"), [str(pair["only_first"])]
        yield ("pairs", row, f"only second right{by}"), [str(pair["only_second"])]
        yield ("pairs", row, "p (Holm)"), [p_text(p)]


def of_agreement(case: Case) -> Iterator[tuple[Place, list[str]]]:
    for (judge, system), one in case.agreed.items():
        found = one["left_out"]
        yield ("agreement", "mark", f"{judge}, {system}"), sides(found["accuracy"])
        if system != ALL:
            continue
        names = {"agreement": "accuracy", "F1 (accepted)": "f1_positive", "F1 (macro)": "f1_macro"}
        for heading, name in names.items():
            yield ("agreement", judge, heading), sides(found[name])
        for heading in ("kappa", "AUROC"):
            figure = found[heading.lower()]
            values = thirds(figure["value"], figure.get("low"), figure.get("high"))
            yield ("agreement", judge, heading), values
            if heading == "AUROC" and ("roc", judge, heading) in case.page.texts:
                judged = one["answers"] - sum(one["not_judged"].values())
                yield ("roc", judge, "AUROC"), values
                yield ("roc", judge, "answers"), [str(judged)]
        count = str(sum(one["not_judged"].values()))
        yield ("agreement", judge, "not judged"), [count, *map(str, one["not_judged"].values())]


def of_verdicts(case: Case) -> Iterator[tuple[Place, list[str]]]:
    names = {
        "rightly accepted (TP)": ["true_positive"],
        "rightly rejected (TN)": ["true_negative"],
        "wrongly accepted (FP)": ["false_positive"],
        "wrongly rejected (FN)": ["false_negative"],
        "no verdict": ["unjudged_positive", "unjudged_negative"],
    }
    for (judge, system), one in case.agreed.items():
        for heading, counts in names.items():
            if system != ALL:
                count = str(sum(one["counts"][name] for name in counts))
                yield ("verdicts", f"{judge} · {system}", heading), [count]
                yield ("verdicts", "mark", f"{judge}, {system}, {heading}"), [count]


def of_failures(case: Case) -> Iterator[tuple[Place, list[str]]]:
    total = len(case.failures["modes"])
    yield ("modes", "says"), [str(total)]
    found = Counter((one["group"], one["mode"]) for one in case.failures["modes"])
    rows = {place[1].split(" · ")[1]: place[1] for place in case.page.texts
            if place[0] == "modes" and " · " in place[1]}  # fmt: skip
    for (_, mode), count in found.items():
        name = words(mode)
        yield ("modes", rows[name], "answers"), [str(count)]
        yield ("modes", rows[name], "percent"), shares(count / total)
        yield ("modes", "mark", name), [str(count), *shares(count / total)]
    rates: dict[tuple[str, str], list[int]] = {}
    for one in case.failures["error_rates"]:
        sums = rates.setdefault((one["judge"], one["group"]), [0, 0])
        sums[0] += one["rejected"]
        sums[1] += one["answers"]
    for (judge, group), (rejected, judged) in rates.items():
        rate = shares(rejected / judged if judged else None)
        yield ("mode-errors", judge, group), rate
        yield ("mode-errors", "mark", f"{judge}, {group}"), rate
    kinds = Counter((one["category"], one["judge"]) for one in case.failures["judge_errors"])
    for (category, judge), count in kinds.items():
        yield ("errors", words(category), judge), [str(count)]


def words(name: str) -> str:
    return name.replace("_", " ").replace("em in ", "EM in ")


def of_judgments(case: Case) -> Iterator[tuple[Place, list[str]]]:
    """Counts of the file that `judge` wrote."""
    for key, rows in case.judgments.drop_nulls("relation").group_by("judge", "system", "relation"):
        judge, system, relation = map(str, key)
        yield ("relations", "mark", f"{judge}, {system}, {relation}"), [str(rows.height)]
        share = shares(rows["accepted"].mean())  # type: ignore[arg-type]
        yield ("relations", f"{judge} · {system}", relation), [str(rows.height), *share]
    for place, texts in case.page.texts.items():
        if place[0] == "relations" and texts == ["0"]:
            yield place, ["0"]  # One that is there would be yielded above, with its count.
    people = {True: "people accept", False: "people reject", None: "no label"}
    rows = case.judgments.filter(pl.col("marks").is_finite())
    for place in list(case.page.texts):
        if place[0] == "marks" and place[-1] in people.values():
            judge, span = place[1].split(" · ")
            low, high = map(float, span.split(" to "))
            mine = rows.filter(
                pl.col("marks").is_between(low, high, closed="both" if high >= 1 else "left"),
                judge=judge,
            )["accepted"]  # fmt: skip
            for accepted, name in people.items():
                if name == place[-1]:
                    yield place, [str(sum(one is accepted for one in mine))]
                    yield (
                        ("marks", "mark", f"{judge}, marks {low} to {high}, {name}"),
                        [str(sum(one is accepted for one in mine))],
                    )
    paid = any(one["cost_usd"] for one in case.summary.values())
    for judge in case.judges:
        one = case.summary[judge, ALL]
        yield from of_cost(case, judge, one) if paid else ()
        counts = list(map(str, one["not_judged"].values()))
        if counts:
            yield ("unjudged", "note"), [str(sum(map(int, counts))), *counts]
        for status, count in one["not_judged"].items():
            yield ("unjudged", f"{judge} · {status}", "answers"), [str(count)]


def of_cost(case: Case, judge: str, one: Mapping[str, Any]) -> Iterator[tuple[Place, list[str]]]:
    agreement = case.agreed[judge, ALL]["left_out"]["accuracy"]
    yield ("cost", judge, "agreement"), sides(agreement)
    spent = 1000 * (one["cost_usd"] or 0) / one["rows"]
    seconds = case.judgments.filter(judge=judge)["seconds"].sum()
    yield ("cost", judge, "dollars"), [f"{spent:.4f}"] if one["cost_usd"] is not None else []
    yield ("cost", judge, "seconds"), [f"{1000 * seconds / one['rows']:.1f}"] if seconds else []
    yield ("cost", "mark", judge), [*shares(agreement["value"]), f"{spent:.4f}"]


def of_scores(case: Case) -> Iterator[tuple[Place, list[str]]]:
    """Reliability, by the functions that `calibrate` applies to a part of the labels."""
    gaps = []
    for judge in case.judges:
        rows = case.judgments.filter(judge=judge).drop_nulls(["score", "accepted"])
        if not any(place[0] == "reliability" and place[1].startswith(f"{judge} · ")
                   for place in case.page.texts):  # fmt: skip
            continue
        found = reliability_diagram(rows["score"].to_numpy(), rows["accepted"].to_numpy())
        gaps += thirds(expected_calibration_error(found))
        for one in found.iter_rows(named=True):
            row = f"{judge} · {one['low']:.1f} to {one['high']:.1f}"
            yield ("reliability", row, "answers"), [str(one["answers"])]
            yield ("reliability", row, "mean score"), thirds(one["mean_score"])
            yield ("reliability", row, "accepted"), thirds(one["accepted"])
            yield ("reliability", "mark", judge), thirds(one["mean_score"], one["accepted"])
    yield ("reliability", "says"), gaps


def of_page(case: Case) -> Iterator[tuple[Place, list[str]]]:
    one = case.summary[case.judges[0], ALL]
    counts = [one["rows"], one["questions"], len(case.systems) - 1, len(case.judges), case.labelled]
    yield ("page", "facts"), list(map(str, counts))


def claims(case: Case) -> Claims:
    """What the commands give, by where the page shows it; marks by their words."""
    found: Claims = {}
    for made in (of_page, of_estimate, of_accuracy, of_people, of_pairs, of_agreement,
                 of_verdicts, of_failures, of_judgments, of_scores):  # fmt: skip
        for place, figures in made(case):
            found.setdefault(place, []).append(figures)
    return found


def printed_notes(case: Case) -> set[str]:
    """The lines below the commands' tables, which the page repeats."""
    compared = markscheme.compare(case.run, systems=True, judges=case.leading)
    found = [markscheme.agree(case.run, by="system"), compared,
             markscheme.estimate(case.run, judge=case.leading, by="system")]  # fmt: skip
    notes = [note for one in found for table in one.tables for note in table.notes]
    notes += scope_notes(open_run(case.run).table.lazy(), list(case.summary.values()))
    return {note.lower() for note in notes}


SPEAK = " are for "


def speaks_as_a_command(text: str, notes: set[str]) -> bool:
    """Whether the population that a page's intervals speak of has a command's counts."""
    counts = {one for note in notes if SPEAK in note for one in numbers(note.split(SPEAK)[1])}
    return SPEAK in text and set(numbers(text.split(SPEAK)[1])) <= counts


def is_label(place: Place, text: str, case: Case) -> bool:
    """Whether a text names something, or is of how the page was made."""
    return (
        place[0] in ("origin", "answers")
        or text in {*case.judges, *case.systems}
        or (place[1] == "axis" and re.fullmatch(r"\d+(\.\d+)?%?", text) is not None)
        or (place[0], place[-1]) in {("marks", "marks"), ("reliability", "score")}
        or place[-1] == "reason"
    )


def test_every_number_of_the_page_is_its_commands(case: Case) -> None:
    wanted, wrong, seen = claims(case), [], set()
    notes = printed_notes(case)
    for place, texts in case.page.texts.items():
        for at, text in enumerate(texts):
            bare = text
            for known in NO_FIGURES:
                bare = re.sub(known, "", bare)
            where = place
            if place[1:] == ("mark",):
                label, _, bare = bare.partition(": ")
                where = (*place, label)
            there = numbers(bare, [*case.judges, *case.systems])
            if where in wanted:
                seen.add(where)
                options = wanted[where]
                if there not in options:
                    wrong.append((where, at, there, options))
            elif (
                there
                and not is_label(place, text, case)
                and not (place[1] == "note" and text.rstrip(".").lower() in notes)
                and not (place[1] == "note" and speaks_as_a_command(text, notes))
            ):
                wrong.append((where, at, there, "no command's"))
    assert not wrong
    missing = wanted.keys() - seen
    # A judge that has no score, and a count of 0, may have no mark or column.
    assert not [place for place in missing if place[1] != "mark" and {*wanted[place][0]} - {"0"}]


def test_tests_of_pairs_in_the_page_are_those_of_compare(case: Case) -> None:
    found = later(case.material)["answers"]["pairs"]
    assert set(found) == {*case.judges, "people"}
    for judge in case.judges:
        pairs = markscheme.compare(case.run, systems=True, judges=judge).pairs
        assert found[judge] == [
            (one.first, one.second, one.p_holm, p_text(one.p_holm)) for one in pairs
        ]


def test_a_threshold_tried_in_the_page_accepts_what_the_command_accepts(case: Case) -> None:
    """The page has scores of four decimals and tries thresholds in hundredths."""
    for judge in payload(case.material)["judges"]:
        exact = case.judgments.filter(judge=judge["name"])["score"].drop_nulls()
        short = pl.Series([score for score in judge["score"] or [] if score is not None])
        for step in range(101):
            assert (short >= step / 100).sum() == (exact >= step / 100).sum()


def test_a_score_just_below_a_threshold_is_not_raised_to_it() -> None:
    rows = [{"question": f"{n}?", "references": ["a"], "answer": "a"} for n in range(4)]
    judged = markscheme.judge(rows, "contains")
    scores = pl.Series("score", [0.49996, 0.5, 0.50004, 0.28999999])
    material = read_material(
        InMemory(judged.judgments.with_columns(scores), open_run(judged).answers)
    )
    (judge,) = payload(material)["judges"]
    assert judge["score"] == pytest.approx([0.4999, 0.5, 0.5, 0.2899], abs=1e-9)
    assert [score >= 0.5 for score in judge["score"]] == [False, True, True, False]
