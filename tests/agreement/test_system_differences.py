"""The difference of two systems as people would say: coverage, labels that lie in the run."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.agreement import compare, estimate, plan_labels, rank
from markscheme.agreement.pairs import holm_figures, share_difference
from markscheme.api import judge
from markscheme.errors import AgreementError, DataError, MarkschemeError
from markscheme.results import Figure

EXAMPLE = Path(__file__).parents[2] / "examples" / "answers.jsonl"


def world(
    rng: np.random.Generator, *, questions: int, labels: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two systems, as good as each other for people; the judge likes the second one's style."""
    hard = rng.beta(4, 1, questions)
    rows = []
    for system, kindness in (("plain", 0.0), ("chatty", 0.3)):
        truth = rng.random(questions) < hard
        said = rng.random(questions) < np.where(truth, 0.9, 0.15 + kindness)
        rows.append(
            pl.DataFrame(
                {
                    "question": [f"q{n}" for n in range(questions)],
                    "answer": [f"{system} {n}" for n in range(questions)],
                    "system": system,
                    "verdict": said,
                    "truth": truth.astype(float),
                }
            )
        )
    table = pl.concat(rows)
    drawn = rng.choice(table.height, labels, replace=False)
    known = table[drawn].select("question", "answer", "system", label="truth")
    return table.drop("truth"), known


@pytest.mark.proof(area="statistics")
def test_labels_correct_a_judge_that_likes_one_systems_style() -> None:
    rng = np.random.default_rng(8)
    draws, covered, fooled = 120, 0, 0
    for _ in range(draws):
        judged, known = world(rng, questions=400, labels=160)
        found = compare(judged, known, systems=True)
        [people], [pair] = found.people, found.pairs
        low, high = people.difference.low, people.difference.high
        assert low is not None
        assert high is not None
        covered += low <= 0 <= high
        fooled += (pair.difference.high or 0) < 0
    assert covered / draws > 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    assert fooled / draws > 0.3  # the judge alone names the wrong system the better one


def test_where_everything_is_labelled_it_is_the_paired_difference() -> None:
    rng = np.random.default_rng(2)
    judged, known = world(rng, questions=80, labels=160)
    [found] = compare(judged, known, systems=True).people
    wide = known.pivot(on="system", index="question", values="label")
    apart = (wide["plain"] - wide["chatty"]).to_numpy() * (1 if found.first == "plain" else -1)
    assert found.difference.value == pytest.approx(apart.mean())
    judges = share_difference(np.clip(-apart, 0, 1), np.clip(apart, 0, 1), np.ones(80))
    for name, figure in (("difference", found.difference), ("p", found.p)):
        assert vars_of(figure) == pytest.approx(vars_of(judges[name]))
    assert found.difference.method == found.p.method == "tango"


def test_a_missing_answer_costs_no_label() -> None:
    """Five answers of a to each question and one of b; people label a's first and b's."""
    rng = np.random.default_rng(0)
    rows = [
        {"answer_id": f"{system}{n}.{k}", "question": f"q{n}", "answer": f"{system} {n} {k}",
         "system": system, "judge": "judge", "truth": int(rng.random() < share),
         "drawn": n < 40 and k == 0}
        for n in range(60) for system, answers, share in (("a", 5, 0.8), ("b", 1, 0.7))
        for k in range(answers)
    ]  # fmt: skip
    wrong = pl.Series(rng.random(len(rows)) < 0.1)
    table = pl.DataFrame(rows).with_columns(verdict=(pl.col("truth") == 1) ^ wrong)
    known = table.filter("drawn").select("answer_id", label="truth")
    judged = table.drop("truth", "drawn")
    [whole], [less] = (
        compare(rows, known, systems=True).people
        for rows in (judged, judged.filter(pl.col("answer_id") != "a0.4"))
    )
    assert whole.labelled == less.labelled == 80
    assert vars_of(less.difference) == pytest.approx(vars_of(whole.difference), abs=0.01)
    assert less.first_value.value == pytest.approx(whole.first_value.value, abs=0.01)


def vars_of(figure: Figure) -> list[float]:
    return [each or 0.0 for each in (figure.value, figure.low, figure.high)]


@pytest.mark.parametrize("labels", [50, 20])
def test_a_total_difference_is_shown_and_none_is_called_one(labels: int) -> None:
    judged = verdicts(a=50, b=0).filter(pl.col("question").str.slice(1).cast(pl.Int64) < 50)
    known = judged.filter(pl.col("question").str.slice(1).cast(pl.Int64) < labels)
    known = known.select("question", "answer", "system", label=pl.col("verdict").cast(pl.Int64))
    found = compare(judged, known, systems=True)
    assert re.fullmatch(
        r"People would accept a most often: 100 points more than b \(\d+ to 100\)", found.lead[0]
    )
    assert (found.people[0].p.value or 1) < 0.001
    alike = known.with_columns(label=pl.lit(1))
    equal = compare(judged.with_columns(verdict=True), alike, systems=True)
    assert re.fullmatch(r"People would accept a as often as b \(-\d+ to \d+\)", equal.lead[0])


def test_labels_that_lie_in_the_run_are_used_and_without_any_it_is_said(tmp_path: Path) -> None:
    """The bundled example: the judge puts chatty first by 26 points, people see no difference."""
    result = judge(str(EXAMPLE), "contains")
    found = compare(result, systems=True, only=("terse", "hedger"))
    [people] = found.people
    assert people.difference.value == pytest.approx(0.4516, abs=1e-4)
    assert people.labelled == 124
    assert "What people would say" in str(found)
    bare = (
        pl.read_ndjson(EXAMPLE)
        .drop("label", "annotator_labels")
        .write_ndjson(tmp_path / "bare.jsonl")
    )
    assert bare is None
    alone = compare(judge(str(tmp_path / "bare.jsonl"), "contains"), systems=True)
    assert alone.people == ()
    assert "the judge's own" in str(alone)


@pytest.mark.parametrize("about", ["future", "these"])
def test_systems_on_different_questions_differ_by_their_own_estimates(about: str) -> None:
    judged, known = world(np.random.default_rng(5), questions=200, labels=160)
    odd = pl.col("question").str.slice(1).cast(pl.Int64) % 2 == 1
    judged = judged.filter(odd == (pl.col("system") == "plain"))
    known = known.join(judged, on=["question", "system"], how="semi")
    result = compare(judged, known, systems=True, about=about)
    own = {
        one.system: one.figure
        for one in estimate(judged, known, by="system", about=about).estimates
    }
    [people] = result.people
    one, other = own[people.first], own[people.second]
    assert one is not None
    assert other is not None
    assert people.unpaired
    assert people.questions == 200
    assert people.difference.method == "newcombe"
    assert (people.first_value.value, people.second_value.value) == (one.value, other.value)
    assert people.difference.value == pytest.approx(one.value - other.value)
    half = people.difference.value - people.difference.low
    assert half == pytest.approx(np.hypot(one.value - one.low, other.high - other.value))
    [shown, alone] = result.tables
    for table in (shown, alone):
        assert table.rows[0][2] == "different questions"
        assert any("on different questions: what the questions" in note for note in table.notes)
    assert "; on different questions" in result.lead[0]


def test_all_labels_of_different_questions_tell_the_difference_of_these_answers() -> None:
    judged, known = world(np.random.default_rng(5), questions=40, labels=80)
    judged = judged.with_columns(question=pl.col("system") + pl.col("question"))
    known = known.with_columns(question=pl.col("system") + pl.col("question"))
    [people] = compare(judged, known, systems=True, about="these").people
    assert people.difference.low == people.difference.value == people.difference.high
    assert people.p.reason == "all answers are labelled, and the difference is known"


def test_few_labels_give_each_systems_own_share_and_no_difference() -> None:
    judged, known = world(np.random.default_rng(1), questions=200, labels=14)
    result = compare(judged, known, systems=True)
    [found] = result.people
    assert found.difference.value is None
    for side in (found.first_value, found.second_value):
        assert side.method == "wilson"
        assert 0 <= (side.low or 0) < (side.value or 0) < (side.high or 0) <= 1
    assert "what its own few labels say" in str(result)
    assert "needed are labels of 10 questions of each:" in (found.difference.reason or "")
    table = result.tables[0]
    assert not {"difference", "p", "Holm"} & set(table.header)
    [why] = [note for note in table.notes if note.startswith("no difference yet of ")]
    assert why.endswith(f"{found.first} and {found.second}: {found.difference.reason}")


def test_a_difference_takes_labels_of_ten_questions_and_an_estimate_twenty_labels() -> None:
    """Three systems, 120 questions and 60 labels over 360 answers: about 20 of each."""
    rng = np.random.default_rng(4)
    hard = rng.random(120)
    rows = []
    for system, accuracy in (("a", 0.6), ("b", 0.75), ("c", 0.9)):
        truth = 0.5 * hard + 0.5 * rng.random(120) < accuracy
        rows.append(
            pl.DataFrame(
                {
                    "question": [f"q{n}" for n in range(120)],
                    "answer": [f"{system} {n}" for n in range(120)],
                    "system": system,
                    "verdict": truth ^ (rng.random(120) < 0.1),
                    "label": truth.astype(float),
                }
            )
        )
    table = pl.concat(rows)
    known = table[rng.choice(360, 60, replace=False)].drop("verdict")
    fewest = min(known.group_by("system").len()["len"])
    assert 10 <= fewest < 20
    found = compare(table.drop("label"), known, systems=True)
    assert [one.difference.method for one in found.people] == ["ppi-tango", "ppi-tango", "tango"]
    assert found.order == ("c", "b", "a")
    alone = estimate(table.drop("label"), known, by="system").estimates
    for one in alone[1:]:
        assert one.estimates[0].method == ("labels_only" if one.labelled < 20 else "ppi_tuned")


def test_rank_keeps_the_questions_that_all_systems_answered() -> None:
    rows = [
        {"question": f"q{n}", "answer": f"{system}{n}", "system": system,
         "verdict": n % 3 > 0, "label": float(n % 2)}
        for system in ("a", "b") for n in range(20) if (system, n) != ("b", 7)
    ]  # fmt: skip
    with pytest.raises(AgreementError, match=r"of the 20 here 'b' has 19; --common"):
        rank(rows)
    found = rank(rows, common=True)
    assert found.frame["answers"].to_list() == [19, 19]
    assert "1 questions without a labelled answer of every system are left out" in str(found)


def test_systems_are_compared_within_each_value_of_a_column() -> None:
    """The judge likes one style on one topic only; labels say so, topic by topic."""
    rng = np.random.default_rng(3)
    judged, known = world(rng, questions=400, labels=500)
    number = pl.col("question").str.slice(1).cast(pl.Int64)
    judged = judged.with_columns(topic=pl.when(number < 200).then(pl.lit("law")))
    found = compare(judged, known, systems=True, slices=("topic",))
    assert [(one.column, one.value) for one in found.slices] == [
        ("topic", "law"), ("topic", "(none)"),
    ]  # fmt: skip
    for one in found.slices:
        assert one.people is not None
        assert one.pair.questions == one.people.questions == 200
        assert (one.pair.difference.value or 0) < 0  # the judge's own word
        low, high = one.people.difference.low, one.people.difference.high
        assert low is not None
        assert high is not None
        assert low < 0.1
        assert high > -0.1
        assert one.people.p_holm is not None
        assert one.people.p_holm >= (one.people.p.value or 0)
    parts = [one.people.labelled for one in found.slices if one.people is not None]
    assert sum(parts) == found.people[0].labelled
    titles = [table.title for table in found.tables]
    assert titles[-1] == "What people would say, by topic, in percent"
    assert found.tables[-1].rows[0][0] == "law"
    alone = compare(judged, systems=True, slices=("topic",))
    assert alone.tables[-1].header[3:] == ("difference", "p", "Holm", "questions")


def test_tables_of_slices_say_what_other_tables_of_pairs_say() -> None:
    """Its test, its correction over all slices, and which differences it could not have shown."""
    rows = [
        {"question": f"{topic} {n}", "answer": f"{system} {n}", "system": system,
         "judge": "judge", "topic": topic, "verdict": first <= n < last}
        for topic, counts in (("law", {"a": (0, 22), "b": (20, 40)}),
                              ("art", {"a": (0, 30), "b": (28, 40)}))
        for system, (first, last) in counts.items()
        for n in range(40)
    ]  # fmt: skip
    found = compare(rows, systems=True, slices=("topic",))
    values = [one.pair.p.value for one in found.slices]
    assert [one.pair.p_holm for one in found.slices] == holm_figures(values) != values
    notes = found.tables[-1].notes
    assert "p: tango (score test by question); Holm's correction is over all slices" in notes
    assert any(note.startswith("only differences of ") for note in notes)
    three = compare(rows + [
        {"question": f"tax {n}", "answer": f"{system} {n}", "system": system, "judge": "judge",
         "topic": "tax", "verdict": n < right}
        for system, right in (("a", 1), ("b", 2)) for n in range(3)
    ], systems=True, slices=("topic",))  # fmt: skip
    assert "no difference within tax could be shown by so few questions" in three.tables[-1].notes


def test_a_column_of_labels_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    answers = pl.read_ndjson(EXAMPLE).rename({"label": "people"}).drop("annotator_labels")
    answers.write_ndjson(tmp_path / "answers.jsonl")
    result = judge(str(tmp_path / "answers.jsonl"), "contains")
    apart: dict[str, Any] = {"answers": str(tmp_path / "answers.jsonl")}
    assert compare(result.judgments, systems=True, label_column="people", **apart).people
    assert not compare(result.judgments, systems=True, **apart).people
    for ask in (partial(compare, systems=True), partial(plan_labels, half_width=0.05)):
        with pytest.raises(DataError, match=r"the labels have no column 'poeple'.*'people'"):
            ask(result.judgments, label_column="poeple", **apart)
        with pytest.raises(DataError, match="the run has saved no column 'poeple'"):
            ask(result, label_column="poeple")


def test_a_label_that_cannot_be_read_does_not_make_the_others_vanish(tmp_path: Path) -> None:
    file = tmp_path / "judged.csv"
    rows = pl.DataFrame(
        [
            {"question": f"q{n // 2}", "answer": f"a{n}", "system": "ab"[n % 2],
             "verdict": "yes" if n % 3 else "no", "label": "yes" if n % 5 else "no"}
            for n in range(120)
        ]
    )  # fmt: skip
    rows.write_csv(file)
    assert compare(file, systems=True).people
    unsure = pl.when(pl.int_range(120) == 6).then(pl.lit("unsure")).otherwise("label")
    rows.with_columns(label=unsure).write_csv(file)
    with pytest.raises(DataError, match=r"1 values that are not verdicts.*'unsure'.* in row 7"):
        compare(file, systems=True)
    rows.with_columns(label=pl.lit("physics")).write_csv(file)
    assert not compare(file, systems=True).people, "a column of something else is no label"
    rows.select("question", "answer", "system", correct="label").write_csv(file)
    assert not compare(file, systems=True).people, "the only column may be the judge's"


def test_a_slice_without_labels_has_no_difference_by_people() -> None:
    judged, known = world(np.random.default_rng(3), questions=100, labels=200)
    early = pl.col("question").str.slice(1).cast(pl.Int64) < 50
    judged = judged.with_columns(topic=pl.when(early).then(pl.lit("law")).otherwise(pl.lit("art")))
    found = compare(judged, known.filter(early), systems=True, slices=("topic",)).slices
    assert [one.people is not None and one.people.difference.value for one in found] == [
        pytest.approx(0.0, abs=0.3), None,
    ]  # fmt: skip


def test_slices_come_with_the_run_and_are_refused_where_they_cannot_be(tmp_path: Path) -> None:
    rows = [
        {"id": f"{n}{system}", "question": f"Q{n}?", "references": ["yes"], "system": system,
         "answer": "yes" if (n + at) % 3 else "no", "topic": "odd" if n % 2 else "even",
         "label": (n + at) % 3 > 0}
        for n in range(80)
        for at, system in enumerate(("a", "b"))
    ]  # fmt: skip
    judge(rows, "exact_match", slices=["topic"], out=tmp_path / "run")
    found = compare(tmp_path / "run", systems=True, slices=("topic",))
    assert {one.value for one in found.slices} == {"odd", "even"}
    assert all(one.people is not None for one in found.slices)
    with pytest.raises(MarkschemeError, match="no column 'day'"):
        compare(tmp_path / "run", systems=True, slices=("day",))
    with pytest.raises(AgreementError, match="--slices requires --systems"):
        compare(tmp_path / "run", slices=("topic",))


@pytest.mark.parametrize("wide", [False, True])
def test_slices_may_stand_in_the_judgments_themselves(wide: bool) -> None:
    rows = [
        {
            "question": f"q{number}",
            "answer": f"{system}{number}",
            "system": system,
            "year": 2000 + number % 2,
            **({"strict": keep} if wide else {"judge": "strict", "verdict": keep}),
        }
        for number in range(20)
        for system, keep in (("a", 1), ("b", number % 3 == 0))
    ]
    found = compare(rows, systems=True, slices=("year",))
    assert {(one.column, one.value) for one in found.slices} == {("year", "2000"), ("year", "2001")}
    with pytest.raises(DataError, match="no column 'day' in the judged answers"):
        compare(rows, systems=True, slices=("day",))


def test_a_slice_without_labels_is_refused_alone_and_one_without_pairs_is_named() -> None:
    rows = pl.DataFrame(
        [
            {"answer_id": f"{system}{n}", "question": f"q{n}", "answer": "x", "system": system,
             "judge": "j", "verdict": (n * 7 + place) % 3 > 0,
             "topic": system if n < 10 else "none" if n < 40 else "some"}
            for n in range(100)
            for place, system in enumerate("AB")
        ]
    )  # fmt: skip
    known = rows.filter(topic="some").select("answer_id", label=pl.col("verdict"))
    found = compare(rows, known, systems=True, slices=("topic",))
    people = {one.value: one.people for one in found.slices}
    assert set(people) == {"none", "some"}
    assert people["none"] is not None
    assert people["none"].difference.value is None
    assert "has 0 labels" in (people["none"].difference.reason or "")
    assert any(note.startswith("2 values of topic") for note in found.tables[-1].notes)


def by_topic(accepted: dict[str, dict[str, int]], each: int = 20) -> pl.DataFrame:
    """Within each topic, systems in their order there, with so many of `each` accepted."""
    return pl.DataFrame(
        [
            {"question": f"{topic} {n}", "answer": f"{system} {topic} {n}", "system": system,
             "topic": topic, "judge": "j", "verdict": n < count}
            for topic, systems in accepted.items()
            for system, count in systems.items() for n in range(each)
        ]
    )  # fmt: skip


def test_a_system_that_lacks_a_slice_leaves_the_others_their_pair() -> None:
    table = by_topic({"law": {"A": 9, "B": 7, "C": 5}, "tax": {"A": 8, "B": 3, "C": 0}})
    failed = pl.when(pl.col("topic").eq("tax") & pl.col("system").eq("C"))
    unjudged = table.with_columns(verdict=failed.then(None).otherwise("verdict"))
    gone = table.filter(~(pl.col("topic").eq("tax") & pl.col("system").eq("C")))
    for rows, options in ((unjudged, {}), (gone, {"only": ("A", "B", "C")}), (gone, {})):
        found = compare(rows, systems=True, slices=("topic",), **options)
        tax = [one.pair for one in found.slices if one.value == "tax"]
        assert [(one.first, one.second) for one in tax] == [("A", "B")]
        assert tax[0].difference.value == pytest.approx(0.25)
        assert not any("left out" in note for note in found.tables[-1].notes)
        assert len(found.slices) == 4
    counted = compare(unjudged, systems=True, slices=("topic",), unjudged="errors")
    assert len(counted.slices) == 6


def test_a_pair_has_the_same_order_in_every_slice() -> None:
    mostly = {"law": {"A": 5, "B": 8}, "art": {"A": 5, "B": 8}, "tax": {"B": 2, "A": 19}}
    found = compare(by_topic(mostly), systems=True, slices=("topic",))
    assert {(one.pair.first, one.pair.second) for one in found.slices} == {("A", "B")}
    assert [one.pair.difference.value for one in found.slices] == pytest.approx(
        [-0.15, -0.15, 0.85]
    )
    assert not any("Simpson" in note for note in found.tables[-1].notes)


def verdicts(**accepted: int) -> pl.DataFrame:
    """Systems on 62 questions, of which each has the first so many right."""
    rows = [
        {"question": f"q{n}", "answer": "x", "system": system, "verdict": n < count}
        for system, count in accepted.items() for n in range(62)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_the_lead_says_fewer_where_the_first_of_all_is_behind_in_a_pair() -> None:
    """A has the best mean over all pairs, and B more on the questions that both answered."""
    pairs = {("A", "B"): (10, 12), ("A", "C"): (20, 10), ("B", "C"): (0, 10)}
    rows = [
        {"question": f"{names} {n}", "answer": f"{name} {n}", "system": name, "judge": "j",
         "verdict": n < right}
        for names, counts in pairs.items()
        for name, right in zip(names, counts, strict=True) for n in range(20)
    ]  # fmt: skip
    lead = compare(rows, systems=True).lead[0]
    assert lead.startswith("The judge alone accepts A 50 points more than C (")
    assert re.search(r"10 points fewer than B \((-\d+|0) to \d+;", lead)
    assert "most often" not in lead
    assert "points more than B" not in lead


def test_the_correction_is_named_where_it_decides() -> None:
    table = verdicts(first=20, b=15, c=15, d=15)
    two, four = (compare(table, systems=True, only=names) for names in (["first", "b"], []))
    assert "8 points more than b (" in two.lead[0]
    assert "chance" not in two.lead[0]
    assert "; no more than chance explains after Holm's correction)" in four.lead[0]
    close = compare(verdicts(first=16, b=15, c=15), systems=True)
    assert "; no more than chance explains)" in close.lead[0]
    assert "Holm" not in close.lead[0]


def test_what_is_not_shown_and_what_could_not_be_are_two_sentences() -> None:
    found, small = "would usually be shown here (in 4 of 5", "a small difference could not be shown"
    near = compare(verdicts(first=16, b=15), systems=True)
    assert near.pairs[0].detectable == pytest.approx(0.122, abs=0.0005)
    notes = near.tables[0].notes
    assert any(
        "only differences of 12.2 points or more" in note and found in note for note in notes
    )
    assert f"{small} by so few questions" in notes
    three = verdicts(a=1, b=2).filter(pl.col("question").is_in(["q0", "q1", "q2"]))
    nothing = compare(three, systems=True).tables[0].notes
    assert "no difference of a and b could be shown by so few questions" in nothing
    shown = compare(verdicts(first=20, b=50), systems=True).tables[0].notes
    assert not any(found in note or "could" in note for note in shown)


def test_what_so_few_labels_could_show_of_people_is_named() -> None:
    judged, known = world(np.random.default_rng(1), questions=200, labels=80)
    result = compare(judged, known, systems=True)
    [people] = result.people
    assert people.difference.high is not None
    assert people.difference.value is not None
    assert people.detectable is not None
    half = people.difference.high - people.difference.value
    assert half < people.detectable < 1.6 * half
    notes = result.tables[0].notes
    assert "a small difference could not be shown by so few labels" in notes
    whole = compare(*world(np.random.default_rng(1), questions=2000, labels=4000), systems=True)
    assert (whole.people[0].detectable or 1) < 0.06


def test_a_difference_that_is_not_that_of_the_printed_shares_has_a_note() -> None:
    rounded, apart = "differences are taken before rounding", "need not be that of the two shares"
    odd = str(compare(verdicts(a=50, b=53), systems=True))  # 80.6, 85.5 and -4.8
    assert rounded in odd
    assert apart not in odd
    even = str(compare(verdicts(a=31, b=62), systems=True))
    assert rounded not in even
    judged, known = world(np.random.default_rng(3), questions=400, labels=160)
    people, alone = compare(judged, known, systems=True).tables
    assert any(apart in note for note in people.notes)
    assert not any(apart in note for note in alone.notes)


def test_slices_with_few_labels_are_named_in_one_line() -> None:
    judged, known = world(np.random.default_rng(1), questions=200, labels=30)
    number = pl.col("question").str.slice(1).cast(pl.Int64)
    judged = judged.with_columns(topic="t" + (number % 4).cast(pl.String))
    table = compare(judged, known, systems=True, slices=("topic",)).tables[-1]
    few = [note for note in table.notes if "plan-labels" in note]
    assert few == [
        "no difference yet within t0, t1, t2, t3: needed are labels of 10 questions of each: "
        "'markscheme plan-labels' draws more"
    ]


def test_a_name_that_there_is_not_has_the_nearest_beside_it() -> None:
    said = r"no system named 'bitas'; did you mean 'beta'\? There are 'alpha', 'beta'"
    with pytest.raises(AgreementError, match=said):
        compare(verdicts(alpha=3, beta=4), systems=True, only="alpha,bitas")


def test_a_difference_may_be_about_these_answers_alone() -> None:
    """Of which most are labelled, and then all; what further questions would give stays open."""
    rng = np.random.default_rng(11)
    widths = []
    for labels in (120, 180):
        judged, known = world(rng, questions=100, labels=labels)
        future, these = (compare(judged, known, systems=True, about=about)
                         for about in ("future", "these"))  # fmt: skip
        changes = [one.people[0].difference for one in (future, these)]
        widths.append([(one.high or 0) - (one.low or 0) for one in changes])
        said = "95% intervals (ppi-tango) are for these answers alone, according to the labels"
        assert said in " ".join(these.tables[0].notes)
        assert said not in " ".join(future.tables[0].notes)
        assert these.pairs == future.pairs  # by the judge alone, which has judged all of these
        assert these.tables[1].notes == future.tables[1].notes
    assert all(narrow < wide for wide, narrow in widths)
    assert widths[1][1] < 0.5 * widths[1][0]
    judged, known = world(rng, questions=100, labels=200)
    whole = compare(judged, known, systems=True, about="these")
    [one] = whole.people
    assert one.difference.low == one.difference.value == one.difference.high
    assert one.p.reason == "all answers are labelled, and the difference is known"
    assert "chance" not in whole.lead[0]
    assert whole.lead[0].startswith("Of these answers, people would accept")
    assert "could be shown" not in str(whole.tables[0])
    with pytest.raises(AgreementError, match="--about requires --systems"):
        compare(judged.with_columns(judge=pl.lit("a")), known, about="these")


def test_a_difference_is_corrected_for_wrong_labels() -> None:
    """One label in ten wrong leaves 80% of a difference, and its sign."""
    rng = np.random.default_rng(5)
    judged, known = world(rng, questions=300, labels=600)
    truth = known["label"] == 1
    better = (known["system"] == "plain") & pl.Series(rng.random(600) < 0.5)  # the better one
    label = (truth | better).to_numpy() ^ (rng.random(600) < 0.1)
    known = known.with_columns(label=pl.Series(label.astype(int)))
    plain = compare(judged, known, systems=True)
    assert plain.people[0].without_noise is None
    assert "corrected" not in str(plain)
    found = compare(judged, known, systems=True, label_errors=0.1)
    [people] = found.people
    assert people.difference == plain.people[0].difference
    assert people.p == plain.people[0].p
    corrected = people.without_noise
    assert corrected is not None
    assert corrected.value == pytest.approx((people.difference.value or 0) / 0.8)
    assert corrected.low == pytest.approx((people.difference.low or 0) / 0.8)
    said = "assuming that 10.0% of labels are wrong, corrected for these errors: "
    assert f"{said}{people.first} - {people.second} " in str(found)
    assert found.data["label_noise"].rate == 0.1
    second = label ^ (rng.random(600) < 0.1)
    twice = known.with_columns(annotator1="label", annotator2=pl.Series(second.astype(int)))
    shown = compare(judged, twice, systems=True).people[0].without_noise
    assert shown is not None
    assert abs(shown.value or 0) > abs(people.difference.value or 0)


def test_label_errors_without_labels_or_systems_are_refused() -> None:
    judged, known = world(np.random.default_rng(5), questions=40, labels=80)
    with pytest.raises(AgreementError, match="--label-errors requires --labels"):
        compare(judged, systems=True, label_errors=0.1)
    with pytest.raises(AgreementError, match="--label-errors requires --systems, and labels"):
        compare(judged, known, label_errors=0.1)
