"""plan-labels: enough labels at random for a width, a limit, or the better of two systems."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.agreement import agree, compare, estimate, plan_labels
from markscheme.agreement.labelling import choose_labels
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.tables import opaque_ids


def world(seed: int = 0, questions: int = 400) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments of three systems and everybody's labels; the judge likes the second one's style.

    The first 50 questions have equal answers; in a fifth of all the references lack what is asked
    for, and the judge accepts nobody.
    """
    rng = np.random.default_rng(seed)
    hard = rng.beta(4, 1, questions)
    lacking = rng.random(questions) < 0.2
    same = np.arange(questions) < 50
    equal = rng.random(questions) < hard
    rows = []
    for system, kindness in (("plain", 0.0), ("chatty", 0.3), ("third", 0.1)):
        truth = np.where(same, equal, rng.random(questions) < hard)
        said = rng.random(questions) < np.where(truth, 0.9, 0.15 + kindness)
        said = np.where(same, equal, said) & ~lacking
        rows.append(
            pl.DataFrame(
                {
                    "answer_id": [f"{system}{n}" for n in range(questions)],
                    "question": [f"q{n}" for n in range(questions)],
                    "answer": [
                        f"same {n}" if n < 50 else f"{system} {n}" for n in range(questions)
                    ],
                    "system": system,
                    "judge": "judge",
                    "verdict": said,
                    "label": truth.astype(float),
                }
            )
        )
    table = pl.concat(rows)
    return table.drop("label"), table.select("answer_id", truth="label")


def labelled(plan: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """A labelling file filled in, whether its ids are opaque or as they were."""
    both = pl.concat([truth, truth.with_columns(opaque_ids(truth["answer_id"]))])
    return plan.join(both, on="answer_id").with_columns(label="truth").drop("truth")


def test_both_answers_to_questions_are_drawn_at_random() -> None:
    table, truth = world()
    plan = plan_labels(table, for_difference=("plain", "chatty"), count=100, with_system=True)
    drawn = plan.frame
    assert drawn.height == 100
    assert set(drawn["system"]) == {"plain", "chatty"}
    assert drawn["question"].n_unique() == 50
    assert drawn["label"].null_count() == 100
    assert drawn["inclusion_probability"].unique().to_list() == [50 / 400]
    assert "Label them all, then: markscheme compare RUN --systems" in plan.notes[0]
    [found] = compare(table, labelled(drawn, truth), systems=True, only=("plain", "chatty")).people
    assert found.labelled == 100
    assert found.difference.low is not None


def test_labels_of_both_answers_give_a_narrower_difference() -> None:
    planned, random, covered, draws = [], [], 0, 20
    for seed in range(draws):
        table, truth = world(seed)
        people = table.join(truth, on="answer_id").filter(pl.col("system") != "third")
        means = dict(people.group_by("system").agg(pl.col("truth").mean()).rows())
        two = table.filter(pl.col("system") != "third")
        plan = plan_labels(two, for_difference=("plain", "chatty"), count=120, seed=seed)
        at_random = plan_labels(two, count=120, seed=seed)
        for one, widths in ((plan, planned), (at_random, random)):
            [found] = compare(two, labelled(one.frame, truth), systems=True).people
            low, high = found.difference.low, found.difference.high
            assert low is not None
            assert high is not None
            widths.append(high - low)
            if one is plan:
                covered += low <= means[found.first] - means[found.second] <= high
    assert covered / draws > 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    assert np.mean(planned) < np.mean(random)


@pytest.mark.proof(area="statistics")
def test_so_many_labels_give_the_half_width_that_they_were_planned_for() -> None:
    reached = []
    for seed in range(12):
        table, truth = world(seed)
        pilot = truth.sample(60, seed=seed).rename({"truth": "label"})
        plan = plan_labels(table, pilot=pilot, half_width=0.06, seed=seed)
        need = plan.needs[None]
        assert need.labels is not None
        assert need.labels_alone is not None
        assert 60 <= need.labels <= need.labels_alone < table.height
        assert plan.frame.height == need.labels
        assert (need.known, need.more) == (60, need.labels - 60)
        [found] = estimate(table, labelled(plan.frame, truth)).estimates
        figure = found.figure
        assert figure is not None
        reached.append(figure.high - figure.low <= 0.12)  # type: ignore[operator]
    assert sum(reached) >= 7  # of 12 with a chance of 4 in 5 fewer are there in 2% of cases


def test_a_better_judge_or_these_answers_alone_take_fewer_labels() -> None:
    table, _ = world(questions=150)
    poor, good, perfect = (
        plan_labels(table, half_width=0.08, judge_accuracy=accuracy).needs[None].labels
        for accuracy in (0.6, 0.85, 1.0)
    )
    assert poor is not None
    assert good is not None
    assert perfect is not None
    assert poor > good > perfect >= 20
    these = plan_labels(table, half_width=0.08, about="these")
    assert "labels give an interval of +-8 points or narrower in 80% of samples" in these.notes[0]
    assert these.needs[None].labels is not None
    assert these.needs[None].labels < good


def test_what_labels_of_all_answers_do_not_show_is_said() -> None:
    table, _ = world()
    far = plan_labels(table, half_width=0.001)
    assert "even all 1,200 labels give no less than +-" in far.notes[0]
    assert far.frame.height == 1200
    assert far.needs[None].labels is None
    same = table.with_columns(
        system=pl.when(pl.col("system") == "third").then(pl.lit("twin")).otherwise("system"),
    )
    unlike = plan_labels(same, for_difference=("plain", "twin"))
    assert "labels show which of plain and twin is better in" in unlike.notes[0]
    assert plan_labels(table, for_difference=("plain", "chatty")).needs[None].value < 0


def test_labels_that_show_a_limit_show_it_in_four_of_five_samples() -> None:
    table, truth = world(3)
    accepted = float(truth["truth"].mean())  # type: ignore[arg-type]
    pilot = truth.sample(100, seed=1).rename({"truth": "label"})
    plan = plan_labels(table, pilot=pilot, above=accepted - 0.08)
    need = plan.needs[None]
    assert need.labels is not None
    assert need.share >= 0.8
    assert need.value == pytest.approx(accepted, abs=0.06)
    assert f"more than {100 * (accepted - 0.08):g}%" in plan.notes[0]
    nearer = plan_labels(table, pilot=pilot, above=accepted - 0.05).needs[None].labels
    assert nearer is None or nearer > need.labels
    beyond = plan_labels(table, pilot=pilot, above=0.99)
    said = "no labels show that people accept more than 99%, which is assumed to be false"
    assert said in beyond.notes[0]


def test_labels_of_a_part_of_the_judged_answers_are_the_pilot(tmp_path: Path) -> None:
    table, truth = world()
    some = table.join(truth, on="answer_id").with_columns(
        label=pl.when(pl.int_range(pl.len()).shuffle(seed=1) < 60).then("truth"),
        references=pl.lit("none"),
    )
    file = tmp_path / "answers.jsonl"
    some.select("answer_id", "question", "references", "answer", "system", "label").write_ndjson(
        file
    )
    run = markscheme.judge(file, judges="exact_match")
    plan = plan_labels(run, half_width=0.08)
    assert plan.needs[None].known == 60
    assert plan.frame["label"].head(60).null_count() == 0
    whole = some.with_columns(label="truth").drop("truth")
    whole.select("answer_id", "question", "references", "answer", "system", "label").write_ndjson(
        file
    )
    every = plan_labels(markscheme.judge(file, judges="exact_match"), half_width=0.08)
    assert every.needs[None].known == 0  # of a labelled data set a plan is as if it had none


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"for_difference": ("plain",)}, "of two systems"),
        ({"for_difference": ("plain", "nobody")}, "no system named 'nobody'. There are 'plain'"),
        ({"for_difference": ("plain", "plain")}, "the same twice"),
        ({"for_difference": ("plain", "chatty"), "by": "system"}, "without --by"),
        ({"for_difference": ("plain", "chatty"), "count": 5000}, "cannot draw 5000 of 800"),
        ({"half_width": 2.0}, "half-width of 2 is out of range"),
        ({"above": 1.5}, "limit of 1.5 is out of range"),
        ({"above": 0.5, "half_width": 0.1}, "--above is of one share"),
        ({"half_width": 0.1, "judge_accuracy": 0.5}, "no better than chance"),
    ],
)
def test_plans_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    table, _ = world()
    with pytest.raises(AgreementError, match=message):
        plan_labels(table, **({"count": 100} | options))  # type: ignore[arg-type]


def test_an_estimate_over_systems_that_were_never_drawn_is_refused(tmp_path: Path) -> None:
    """Nor is it a statement for a gate, or the beginning of a plan for all."""
    table, truth = world()
    plan = plan_labels(table, for_difference=("plain", "chatty"), count=120).frame
    people = labelled(plan, truth)
    with pytest.raises(AgreementError, match="no answer of 'third' has a label"):
        estimate(table, people)
    measured = agree(table, people)
    assert "no answer of 'third' has a label" in measured.lead[-1]
    with pytest.raises(AgreementError, match="no answer of 'third' has a label"):
        measured.write_fitness(tmp_path / "fitness.json")
    more = plan_labels(table, pilot=people, count=60)
    assert "some systems' answers were labelled far more often than others'" in more.notes[0]
    assert more.frame["label"].count() == 0
    by_system = estimate(table, people, by="system").estimates
    assert [one.refusal is None for one in by_system] == [False, True, True, False]


def test_a_count_that_is_raised_or_of_each_system_is_explained() -> None:
    table, _ = world()
    raised = plan_labels(table, for_difference=("plain", "chatty"), count=12)
    assert raised.frame.height == 20
    assert "not 12 but 20 answers are drawn" in raised.notes[0]
    assert plan_labels(table, for_difference=("plain", "chatty"), count=60).frame.height == 60
    each = plan_labels(table, count=40, by="system")
    systems = table["system"].n_unique()
    assert f"{40 * systems} of {table.height:,} answers drawn (40 of each system)" in each.notes[0]


def test_a_plan_for_a_difference_draws_ten_questions_and_not_twenty_answers() -> None:
    rows = [
        {"answer_id": f"{system}{n}.{k}", "question": f"q{n}", "answer": f"{system} {n} {k}",
         "system": system, "judge": "judge", "verdict": (7 * n + 3 * k) % 5 > 0}
        for n in range(30) for system in ("a", "b") for k in range(5)
    ]  # fmt: skip
    plan = plan_labels(rows, for_difference=("a", "b"), count=40, with_system=True)
    assert "not 40 but 100 answers are drawn" in plan.notes[0]
    assert plan.frame["question"].n_unique() == 10
    filled = plan.frame.with_columns(label=pl.int_range(100) % 2)
    [found] = compare(rows, filled, systems=True).people
    assert found.difference.low is not None
    few = [row for row in rows if row["question"] < "q2"]  # of 12 questions
    assert plan_labels(few, for_difference=("a", "b"), count=100).frame.height == 100


def test_labels_that_begin_no_draw_are_not_among_those_planned() -> None:
    """They were: 260 new labels were drawn where about 45 give the half-width."""
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.8
    table = pl.DataFrame(
        {"answer_id": [f"a{n}" for n in range(400)], "question": [f"q{n}" for n in range(400)],
         "answer": [f"x{n}" for n in range(400)], "judge": "judge",
         "verdict": truth ^ (rng.random(400) < 0.1)}
    )  # fmt: skip
    pilot = table.select(
        "answer_id",
        label=pl.Series(truth).cast(pl.Int64),
        inclusion_probability=pl.when("verdict").then(0.6).otherwise(0.9),
    ).sample(260, seed=1)
    plan = plan_labels(table, pilot=pilot, half_width=0.12)
    assert "were drawn with unequal chances, so the draw begins without them" in plan.notes[0]
    need = plan.needs[None]
    assert (need.known, need.more, need.source) == (260, None, "260 labels")
    assert need.labels is not None
    assert 20 <= need.labels <= (need.labels_alone or 400) < 80
    assert plan.frame.height == need.labels
    assert plan.frame["label"].count() == 0


@pytest.mark.parametrize("options", [{"half_width": 0.0}, {"above": 0.0}])
def test_a_wish_of_nothing_is_refused_and_not_passed_over(options: dict[str, float]) -> None:
    table, _ = world()
    with pytest.raises(AgreementError, match="of 0 is out of range"):
        plan_labels(table, **({"count": 100} | options))  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"confidence": float("nan")}, {"seed": -1}])
def test_numbers_out_of_range_are_named(options: dict[str, float]) -> None:
    table, _ = world()
    with pytest.raises(MarkschemeError, match=f"{next(iter(options))} is "):
        plan_labels(table, half_width=0.1, **options)  # type: ignore[arg-type]


def test_an_answer_that_is_there_twice_is_planned_once() -> None:
    table, _ = world(questions=100)
    one, two = (plan_labels(rows, half_width=0.1) for rows in (table, pl.concat([table, table])))
    assert one.frame.equals(two.frame)
    assert one.needs == two.needs


def test_of_answers_that_were_not_judged_nothing_is_supposed() -> None:
    table, truth = world(questions=100)
    truth = truth.rename({"truth": "label"})
    bare = table.with_columns(verdict=pl.lit(None, pl.Boolean), status=pl.lit("failed")).drop(
        "score", strict=False
    )
    with pytest.raises(AgreementError, match="judged none of the 300 answers"):
        plan_labels(bare, half_width=0.1)
    assert plan_labels(bare, count=30).frame.height == 30
    assert plan_labels(bare, half_width=0.2, pilot=truth.head(40)).needs[None].known == 40


def test_grades_are_no_share() -> None:
    table, truth = world(questions=100)
    truth = truth.rename({"truth": "label"})
    grades = truth.head(60).with_columns(label=1 + 3 * pl.col("label"))
    for asked in ({"half_width": 0.3}, {"above": 0.5}):
        with pytest.raises(AgreementError, match=r"are grades \(1, 4\).*--positive-from"):
            plan_labels(table, pilot=grades, **asked)
    shares = [
        plan_labels(table, above=0.3, pilot=pilot, positive_from=start).needs[None]
        for pilot, start in ((grades, 3.0), (truth.head(60), None))
    ]
    assert shares[0] == shares[1]


def test_labels_that_are_enough_are_said_to_be_and_stay_whole_numbers() -> None:
    table, truth = world(questions=100)
    pilot = truth.sample(60, seed=1).rename({"truth": "label"})
    plan = plan_labels(table, half_width=0.3, pilot=pilot)
    assert re.match(r"the 60 existing labels give \+-\d\d\.\d points; ", plan.notes[0])
    assert plan.needs[None].more == 0
    assert set(plan.frame["label"].cast(pl.String)) == {"0", "1"}
    more = pl.concat([pilot, pilot.head(9).with_columns(pl.col("answer_id") + "?")])
    notes = plan_labels(table, half_width=0.3, pilot=more).notes
    assert "9 labels are of other answers, and left out" in notes


def test_all_labels_show_what_is_asked_of_these_answers() -> None:
    """Of these, nothing is unknown then; a reach has the digits that set it apart."""
    table, _ = world(questions=80)
    pair = plan_labels(table, for_difference=("plain", "chatty"), about="these").needs[None]
    assert pair.share >= 0.8
    assert pair.labels is not None
    reach = plan_labels(table, half_width=0.1, about="these").needs[None]
    assert reach.labels is not None
    far = plan_labels(table, half_width=0.1).needs[None].reach
    assert far is not None
    [said, *_] = plan_labels(table, half_width=far - 1e-6).notes
    shown = re.match(r"even all 240 labels give no less than \+-([\d.]+) points", said)
    assert shown is not None
    assert float(shown[1]) > 100 * (far - 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_judge_never_costs_labels(seed: int) -> None:
    table, _ = world(seed, questions=80)
    wishes: list[dict[str, Any]] = [{"for_difference": ("plain", "chatty")}, {"above": 0.4}]
    for asked in wishes:
        need = plan_labels(table, judge_accuracy=0.9, about="these", seed=seed, **asked).needs[None]
        assert need.labels is not None
        assert need.labels <= (need.labels_alone or table.height)


def test_a_plan_is_by_one_judge() -> None:
    table, _ = world(questions=20)
    with pytest.raises(AgreementError, match="a plan is by one judge"):
        plan_labels(table, judge="judge,other", half_width=0.1)


def test_an_unreachable_half_width_names_the_questions_it_takes_and_these_answers() -> None:
    table, _ = world(questions=70)
    plan = plan_labels(table, half_width=0.01)
    need = plan.needs[None]
    assert need.labels is None
    assert need.reach is not None
    assert need.questions is not None
    assert need.questions == pytest.approx(70 * (need.reach / 0.01) ** 2, abs=1)
    assert f"about {need.questions:,} questions would be needed" in plan.notes[0]
    assert "(--about these)" in plan.notes[0]
    assert plan_labels(table, half_width=0.01, about="these").needs[None].questions is None


def test_a_plan_for_a_limit_says_that_its_test_is_one_sided() -> None:
    table, truth = world()
    pilot = labelled(plan_labels(table, count=100).frame, truth)
    plan = plan_labels(table, above=0.6, pilot=pilot)
    (note,) = (one for one in plan.notes if "one-sided" in one)
    assert "95% sure" in note
    assert "'estimate --confidence 0.9'" in note


def test_a_pilot_that_no_plan_drew_is_put_into_a_drawn_order() -> None:
    table, truth = world()
    drawn = labelled(plan_labels(table, count=60).frame, truth)
    # The order in which labels were looked at stays as it was.
    again = plan_labels(table, pilot=drawn, count=100).frame
    assert again["answer_id"].head(60).to_list() == drawn["answer_id"].to_list()
    filed = drawn.drop("inclusion_probability").sort("answer_id")
    plan = plan_labels(table, pilot=filed, count=100).frame
    assert set(plan["answer_id"].head(60)) == set(filed["answer_id"])
    assert plan["answer_id"].head(60).to_list() != filed["answer_id"].to_list()
    assert plan.equals(plan_labels(table, pilot=filed, count=100).frame)


@pytest.mark.parametrize("by", [None, "system"])
def test_a_count_is_of_answers_without_a_label(by: str | None) -> None:
    table, truth = world()
    pilot = truth.sample(90, seed=4).rename({"truth": "label"})
    plan = plan_labels(table, pilot=pilot, count=20, by=by)
    new = 60 if by else 20
    assert plan.frame["label"].null_count() == new
    assert plan.frame.height == 90 + new
    each = " (20 of each system)" if by else ""
    assert plan.notes[0] == (
        f"{new} new of 1,200 answers drawn{each} at random, seed 0; with 90 that have a label "
        f"already, {90 + new} are in the plan"
    )
    with pytest.raises(AgreementError, match="cannot draw 1111 of 1110 answers without a label"):
        plan_labels(table, pilot=pilot, count=1111)


def test_known_labels_and_new_ones_together_are_a_random_sample() -> None:
    """Each answer is as likely to be in it, and so is each pair."""
    answers = 12
    table = pl.DataFrame(
        {
            "answer_id": [f"a{n}" for n in range(answers)],
            "cluster": range(answers),
            "place": pl.Series([None] * answers, dtype=pl.Int64),
        }
    )
    counts, draws = np.zeros((answers, answers)), 3000
    for seed in range(draws):
        known = np.random.default_rng([7, seed]).choice(answers, 4, replace=False)
        label = pl.when(pl.int_range(pl.len()).is_in(known)).then(1.0)
        drawn = choose_labels(table.with_columns(label=label), 7, seed=seed)
        assert drawn["label"].count() == 4
        assert drawn["inclusion_probability"].unique().to_list() == [7 / answers]
        chosen = drawn["answer_id"].str.slice(1).cast(pl.Int64).to_numpy()
        counts[np.ix_(chosen, chosen)] += 1
    alone, pairs = 7 / answers, 7 * 6 / (answers * (answers - 1))
    for found, chance in (
        (np.diag(counts), alone),
        (counts[np.triu_indices(answers, 1)], pairs),
    ):
        error = np.sqrt(draws * chance * (1 - chance))
        assert np.abs(found - draws * chance).max() < 4.5 * error


def test_labels_that_were_chosen_begin_no_random_sample() -> None:
    table, truth = world()
    plain = truth.filter(pl.col("answer_id").str.starts_with("plain")).rename({"truth": "label"})
    pilot = plain.head(60)
    plan = plan_labels(table, pilot=pilot, count=30)
    assert plan.frame.height == plan.frame["label"].null_count() == 30
    assert plan.notes[0].startswith("the 60 existing labels are evidently not a random sample: ")
    assert "some systems' answers were labelled far more often" in plan.notes[0]
    pair = plan_labels(table, pilot=pilot, for_difference=("plain", "chatty"))
    assert ", from 60 labels, all of plain's answers. " in pair.notes[0]
    each = plan_labels(table, pilot=plain.sample(60, seed=1), count=30, by="system").frame
    assert (each.height, each["label"].count()) == (150, 60)


def test_a_labelling_file_says_nothing_of_the_systems_and_old_ones_are_read() -> None:
    table, truth = world()
    blind, plain = (plan_labels(table, count=300, with_system=one).frame for one in (False, True))
    systems = set(table["system"])
    assert not any(name in str(cell) for row in blind["answer_id", "label"].rows()
                   for cell in row for name in systems)  # fmt: skip
    assert blind["answer_id"].n_unique() == 300
    assert set(plain["system"]) == systems
    assert set(plain["answer_id"]) < set(table["answer_id"])
    # Some are left blank, which estimate counts; equal answers of two systems are two rows.
    blank = pl.when(pl.int_range(pl.len()) >= 7).then("label").alias("label")
    new, old, marked = (
        labelled(plan, truth).with_columns(blank) for plan in (blind, plain.drop("system"), plain)
    )
    assert new.select("question", "answer").is_duplicated().any()
    for ask in (
        estimate,
        lambda t, p: estimate(t, p, by="system"),
        lambda t, p: compare(t, p, systems=True),
        lambda t, p: estimate(t, p.select("answer_id", "label")),
        agree,
    ):
        assert str(ask(table, new)) == str(ask(table, old)) == str(ask(table, marked))
    assert "7 of the 300 drawn answers have no label" in str(estimate(table, new))
    again = plan_labels(table, pilot=old, count=400).frame
    assert again.equals(plan_labels(table, pilot=new, count=400).frame)
    assert again["label"].count() == 293


def test_ids_of_one_system_or_of_none_are_as_they_were() -> None:
    table, _ = world()
    one = table.filter(pl.col("system") == "plain")
    assert set(plan_labels(one, count=30).frame["answer_id"]) < set(one["answer_id"])
    bare = plan_labels(table.drop("answer_id"), count=30)
    assert "system" in bare.frame.columns
    assert "the file says whose answers these are, as the judgments have no ids" in bare.notes


def test_drawn_answers_without_a_label_are_counted_where_ids_number_questions() -> None:
    table, truth = world()
    drawn = labelled(plan_labels(table, count=90, with_system=True).frame, truth)
    numbers = pl.col("answer_id").str.extract(r"(\d+)")
    wide = table.with_columns(answer_id=pl.format("{}:{}", numbers, "system"))
    blank = pl.when(pl.int_range(pl.len()) >= 7).then("label").alias("label")
    found = estimate(wide, drawn.with_columns(numbers, blank))
    assert "7 of the 90 drawn answers have no label" in str(found)


@pytest.mark.parametrize("keys", [{}, {"id": "own"}])
def test_references_in_the_table_of_judgments_are_shown_to_the_labeller(
    keys: dict[str, str], tmp_path: Path
) -> None:
    rows = [
        {**dict.fromkeys(keys, f"{n}"), "question": f"q{n // 2}", "gold": f"right {n // 2}",
         "answer": f"a{n}", "system": "st"[n % 2], "score": n % 10 / 10}
        for n in range(40)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "judged.csv")
    plan = plan_labels(tmp_path / "judged.csv", count=10, columns={"references": "gold"}).frame
    expected = plan["question"].str.replace("q", "right ")
    assert plan["references"].to_list() == expected.to_list()
    assert plan.columns[:3] == ["question", "references", "answer"]


@pytest.mark.parametrize("column", ["label", "human"])
def test_labels_in_the_table_of_judgments_itself_are_said_to_be_unused(
    column: str, tmp_path: Path
) -> None:
    rows = [
        {"question": f"q{n}", "answer": f"a{n}", "verdict": n % 3 > 0}
        | {column: n % 2 if n < 7 else None}
        for n in range(40)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "partial.csv")
    plan = plan_labels(tmp_path / "partial.csv", count=20)
    assert "labels in the table of judgments itself (7) are not used" in plan.notes[0]
    named = plan_labels(tmp_path / "partial.csv", pilot=tmp_path / "partial.csv", count=20)
    assert named.frame["label"].count() == 7
    assert "not used" not in str(named)
    whole = pl.DataFrame(rows).with_columns(pl.col(column).fill_null(1))
    assert "not used" not in str(plan_labels(whole, count=20))
    judge = pl.DataFrame(rows).drop("verdict").rename({column: "human"})
    assert "not used" not in str(plan_labels(judge, judge="human", count=20))


def test_answers_of_no_system_are_in_no_plan_by_system() -> None:
    rows = [
        {"question": f"q{n // 3}", "answer": f"a{n}", "verdict": n % 5 > 0, "label": n % 4 > 0}
        | {"system": ("A", "B", None)[n % 3]}
        for n in range(300)
    ]
    judged = pl.DataFrame(rows)
    plan = plan_labels(judged.drop("label"), half_width=0.1, by="system", with_system=True)
    assert list(plan.needs) == ["A", "B"]
    assert set(plan.frame["system"]) == {"A", "B"}
    assert "100 answers of no system left out" in plan.notes
    assert plan.data["answers"] == 200
    nobody = judged.with_columns(system=pl.lit(None, pl.String))
    for command in (estimate, agree):
        with pytest.raises(AgreementError, match="the judgments lack the system"):
            command(nobody, by="system")
