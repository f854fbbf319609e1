"""What a judge may be used for: the dangerous cell first, and what a gate by it is worth."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.agreement import agree, fitness_line
from markscheme.cli import run
from markscheme.errors import AgreementError, DataError
from markscheme.stats import difference_interval


def world(*, kind: float, blind: float, questions: int = 150) -> pl.DataFrame:
    """Answers of two systems, labelled by two people; the judge accepts wrong ones of `chatty`.

    Args:
        kind: how often it accepts a wrong answer of `chatty`; of `plain` 5%.
        blind: how often it rejects a right answer.
        questions: that both answered.
    """
    rng = np.random.default_rng(3)
    rows = []
    for system, accuracy, wrong in (("plain", 0.7, 0.05), ("chatty", 0.6, kind)):
        truth = rng.random(questions) < accuracy
        said = np.where(truth, rng.random(questions) >= blind, rng.random(questions) < wrong)
        second = truth ^ (rng.random(questions) < 0.04)
        rows.append(
            pl.DataFrame(
                {"question": [f"q{n}" for n in range(questions)],
                 "answer": [f"{system} {n}" for n in range(questions)], "system": system,
                 "judge": "judge", "verdict": said, "label": truth.astype(int),
                 "annotator1": truth.astype(int), "annotator2": second.astype(int)}
            )
        )  # fmt: skip
    return pl.concat(rows)


def test_the_dangerous_cell_comes_first_and_names_the_system() -> None:
    (one,) = agree(world(kind=0.6, blind=0.05)).fitness
    first, danger, least, gate, limit, order, ranks, whose, without, again = one.sentences
    assert first == "judge, by labels of 300 answers:"
    assert danger.startswith("it accepts ")
    assert " of wrong answers, and surely more of chatty's: " in danger
    assert danger.endswith(") (corrected for 2 systems)")
    assert set(one.dangerous) == {"chatty"}
    assert one.least_right_found is not None
    assert 0.85 < one.least_right_found < 0.95
    assert "right answers and" in least
    assert one.bound_methods == ("wilson-t",)
    assert "at least: one-sided bounds (wilson-t)" in str(agree(world(kind=0.6, blind=0.05)))
    assert one.off.low is not None
    assert one.off.low > 0
    assert "points more than people, and a gate on its share is off by as much" in gate
    assert "another order than people do" in order
    assert one.order is False
    needed = math.ceil(100 * (0.8 + one.off.high))  # type: ignore[operator]
    assert limit == f"for 80% by people, of systems like these, gate its share at {needed}%"
    assert ranks == "the labels distinguish no two systems, nor show whether it may rank them"
    agreed = (
        300 - world(kind=0.6, blind=0.05).filter(pl.col("label") != pl.col("annotator2")).height
    )
    assert whose == f"two people labelled 300 of 300 answers and agree on {agreed}"
    assert "wrong ones it agrees with people on " in without
    assert again.startswith("check again when")


def test_a_judge_that_errs_alike_may_rank_systems_that_labels_tell_apart() -> None:
    rows = world(kind=0.05, blind=0.05, questions=600)
    (one,) = agree(rows).fitness
    assert (one.apart, one.turned) == (1, 0)
    assert one.sentences[-4].endswith("it may rank systems that far apart")
    (one,) = agree(rows.with_columns(label=pl.lit(1), verdict=pl.lit(value=True))).fitness
    assert (one.apart, one.turned) == (0, 0)
    (one,) = agree(world(kind=0.6, blind=0.05, questions=600)).fitness
    assert (
        "of the 1 pair that the labels distinguish it puts 1 the other way round: do not rank "
        "systems by it"
    ) in one.sentences
    (one,) = agree(rows.with_columns(verdict=pl.lit(value=True))).fitness
    assert "no gate on its share shows that people accept 80% of answers" in one.sentences


def test_of_very_many_systems_no_pairs_are_compared() -> None:
    systems = [
        world(kind=0.05, blind=0.05, questions=25)
        .filter(pl.col("system") == "plain")
        .with_columns(system=pl.lit(f"s{n}"), answer=pl.format("{} {}", pl.lit(str(n)), "answer"))
        for n in range(31)
    ]
    (one,) = agree(pl.concat(systems)).fitness
    assert one.order is not None
    assert (one.apart, one.turned) == (None, None)
    assert not any("distinguish" in said for said in one.sentences)


def test_a_models_labels_are_not_called_peoples() -> None:
    rows = world(kind=0.05, blind=0.05)
    (one,) = agree(rows, labelled_by="model").fitness
    assert one.labels == "a model labelled: all this is agreement with it, and not with people"


def test_answers_without_a_system_are_of_no_system() -> None:
    rows = world(kind=0.6, blind=0.05)
    (both,) = agree(rows.with_columns(system=pl.col("system").replace("chatty", None))).fitness
    assert (both.systems, both.dangerous) == ({}, {})
    third = rows.with_columns(
        answer=pl.format("{}!", "answer"), system=pl.lit(None, dtype=pl.String)
    )
    (one,) = agree(pl.concat([rows, third])).fitness
    assert list(one.systems) == ["plain", "chatty"]


def test_slices_are_among_the_dangerous_cells_with_their_number_corrected_for() -> None:
    rows = world(kind=0.3, blind=0.05).filter(pl.col("system") == "chatty")
    wrong = pl.col("label") == 0
    place = pl.int_range(pl.len())
    rows = rows.with_columns(
        topic=pl.when(place % 3 == 0).then(pl.lit("dates")).otherwise(pl.lit("names")),
        alike=pl.lit("all"),
    ).with_columns(
        verdict=pl.when(wrong).then(pl.col("topic") == "dates").otherwise("verdict"),
        hundred=(place % 100).cast(pl.String),
    )
    assert agree(rows).fitness[0].dangerous == {}
    (one,) = agree(rows, slices=("topic", "alike")).fitness
    assert list(one.dangerous) == ["topic=dates"]
    assert "and surely more of topic=dates's: 100% (" in one.sentences[1]
    assert one.sentences[1].endswith("(corrected for 2 slices)")
    (more,) = agree(rows, slices=("topic", "hundred")).fitness
    assert more.slices == 102
    assert more.dangerous["topic=dates"].low < one.dangerous["topic=dates"].low  # type: ignore[operator]
    both = world(kind=0.6, blind=0.05).with_columns(topic=pl.col("question").str.slice(-1))
    (one,) = agree(both, slices=("topic",)).fitness
    assert "chatty" in one.dangerous
    assert "(corrected for 2 systems and 10 slices)" in one.sentences[1]


def test_few_labels_say_nothing_of_the_order_of_systems() -> None:
    rows = world(kind=0.05, blind=0.01).drop("annotator1", "annotator2")
    few = rows.group_by("system", maintain_order=True).head(19)
    (one,) = agree(few).fitness
    assert one.order is None
    assert (
        "with 38 labels the order of systems is not known (20 of each are needed)" in one.sentences
    )
    (one,) = agree(rows.group_by("system", maintain_order=True).head(20)).fitness
    assert one.order is not None
    assert any(said.startswith("on these answers it puts the 2 systems in ")
               for said in one.sentences)  # fmt: skip


def test_labels_of_one_person_who_is_named_are_one_persons() -> None:
    rows = world(kind=0.3, blind=0.05).with_columns(
        annotator_labels=pl.concat_list("annotator1"), annotators=pl.lit(["Ann"])
    )
    (one,) = agree(rows.drop("annotator1", "annotator2")).fitness
    assert one.labels == "one person labelled"


def test_systems_that_people_find_equal_are_in_no_order() -> None:
    right = [n % 2 for n in range(40)]
    rows = pl.DataFrame(
        {"question": [f"q{n}" for n in range(40)] * 2, "answer": [str(n) for n in range(80)],
         "system": ["a"] * 40 + ["b"] * 40, "judge": "judge", "label": right * 2,
         "verdict": [*map(bool, right), True, *map(bool, right[1:])]}
    )  # fmt: skip
    for each in (rows, rows.reverse()):
        assert agree(each).fitness[0].order is True


def test_answers_on_which_people_differ_are_named_where_they_are_left_out() -> None:
    rows = world(kind=0.3, blind=0.05, questions=26).drop("label")
    place = pl.int_range(pl.len())
    rows = rows.with_columns(
        annotator2=pl.when(place < 3).then(1 - pl.col("annotator1"))
        .when(place < 9).then("annotator1")
    )  # fmt: skip
    found = agree(rows)
    said = found.fitness[0].sentences
    assert said[0] == "judge, by labels of 49 answers:"
    assert "two people labelled 9 of 52 answers and agree on 6; the 3 others are left out" in said
    assert "9 answers were labelled twice (3 differ); 20 are needed" in found.lead[-1]
    assert "3 labelled answers are left out, as their annotators are tied" in str(found)
    third = rows.with_columns(annotator3=pl.when(place < 1).then(1))
    assert (
        "two or more people labelled 9 of 52 answers and agree on 6; the 2 that are tied are left "
        "out" in agree(third).fitness[0].sentences
    )
    single = rows.with_columns(
        annotator1=pl.when(place % 2 == 0).then("annotator1"),
        annotator2=pl.when(place % 2 == 1).then("annotator1"),
    )
    assert "2 people labelled, one an answer" in agree(single).fitness[0].sentences


def test_wrong_labels_that_do_not_fit_are_named() -> None:
    rows = world(kind=0.05, blind=0.01).drop("annotator1", "annotator2")
    found = agree(rows, label_errors=0.2)
    misfit = "20% wrong labels do not fit a share of 98%, as none is above 80% then"
    assert misfit in found.lead[-1]
    assert any(misfit in said for said in found.fitness[0].sentences)
    fits = agree(rows, label_errors=0.01).fitness[0].sentences[-2]
    assert "without the 1.0% assumed wrong ones it agrees with people on 99% (" in fits


def test_a_judge_that_is_as_strict_as_people_may_gate() -> None:
    (one,) = agree(world(kind=0.05, blind=0.01, questions=1500)).fitness
    assert one.dangerous == {}
    assert "its share of accepted answers is people's to" in one.gate
    assert one.order is True
    assert one.signature is None


def test_few_wrong_answers_say_nothing_of_their_kind() -> None:
    rows = world(kind=0.5, blind=0.0).filter((pl.col("label") == 1) | (pl.int_range(pl.len()) < 8))
    (one,) = agree(rows.drop("annotator1", "annotator2")).fitness
    assert one.wrong_accepted.value is None
    assert one.least_wrong_found is None
    assert "people reject too few answers" in one.sentences[1]
    assert "one person labelled, or the labels do not name annotators" in one.sentences


def test_no_verdict_no_statement() -> None:
    grades = world(kind=0.5, blind=0.0).with_columns(
        label=pl.int_range(pl.len()) % 4, score=pl.int_range(pl.len()) % 7 / 7
    )
    assert agree(grades.drop("annotator1", "annotator2"), per_question=True).fitness == ()


def test_agree_writes_it_into_the_run_and_a_gate_says_it(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    judge = ["judge", str(example), "-j", "contains", "-q", "--fail-under", "0.1", "-o"]
    assert run([*judge, "labelled"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "agree labelled' measures how far contains agrees with the 248 labels" in said
    assert run(["agree", "labelled"]) == 0
    assert "What the judge may be used for" in capsys.readouterr().out
    known = json.loads(Path("labelled", "fitness.json").read_text())
    assert known["contains"]["signature"] == markscheme.open_run("labelled").table["signature"][0]
    assert run([*judge, "nightly", "--fitness", "labelled"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "contains, by labels of 248 answers: it accepts" in said
    assert "two or more people labelled 248 of 248 answers and agree on 220" in said
    assert "of wrong answers; it recognises at least" in said
    assert "; its intervals are for further questions like those 62" in said
    assert run(["judge", str(example), "-j", "token_f1", "-q", "--fail-under", "0", "-o", "other",
                "--fitness", "labelled/fitness.json"]) == 0  # fmt: skip
    assert "says nothing of token_f1; it is of 'contains'" in capsys.readouterr().err
    assert run(["judge", str(example), "-o", "bare", "--fitness", "labelled"]) == 2


def test_a_statement_of_another_judge_or_no_statement_is_said(tmp_path: Path) -> None:
    (one,) = agree(world(kind=0.5, blind=0.0)).fitness
    file = agree(world(kind=0.5, blind=0.0)).write_fitness(tmp_path / "mine.json")
    assert fitness_line("judge", "any", file).startswith(
        "judge, by labels of 300 answers: it accepts"
    )
    assert one.labels in fitness_line("judge", "any", file)
    table = json.loads(file.read_text())
    table["judge"]["signature"] = "old"
    file.write_text(json.dumps(table))
    assert "with signature old, and this run's is new: agree again" in fitness_line(
        "judge", "new", file
    )
    said = ["a", "b", "c"]
    wrong: tuple[object, ...] = (
        [1], {}, {"judge": {}}, {"judge": {"sentences": 3}}, {"judge": 1},
        {"judge": {"sentences": said[:2]}}, {"judge": {"sentences": [*said, 5]}},
        {"command": "estimate"}, {"command": {"sentences": said[:2]}},
    )  # fmt: skip
    for statements in wrong:
        file.write_text(json.dumps(statements))
        with pytest.raises(AgreementError, match="holds no statements of fitness"):
            fitness_line("judge", "new", file)
    file.write_text("[1]")
    with pytest.raises(AgreementError, match="holds no statements of fitness"):
        fitness_line("judge", "new", file)
    for text in ("{", "[" * 100_000, '{"judge": NaN}', " " * 10_000_001):
        file.write_text(text)
        with pytest.raises(DataError, match="cannot be read as a statement of fitness"):
            fitness_line("judge", "new", file)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="there is no such file"):
        fitness_line("judge", "new", tmp_path / "pipe")


def test_a_statement_of_fitness_cannot_say_more_than_its_line(tmp_path: Path) -> None:
    file = tmp_path / "fitness.json"
    said = ["f" * 100_000, "\x1b[2Jred\ngate passed: all fine " + "y" * 100_000, "last"]
    file.write_text(json.dumps({"judge": {"sentences": said}}))
    line = fitness_line("judge", "new", file)
    assert line.isprintable()
    assert len(line) < 3000


@pytest.fixture
def run_of_contains(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example judged into `run`, in the present folder."""
    monkeypatch.chdir(tmp_path)
    assert run(["judge", str(example), "-j", "contains", "-q", "-o", "run"]) == 0


@pytest.mark.usefixtures("run_of_contains")
def test_a_run_into_which_nothing_can_be_written_is_agreed_with_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("run", "fitness.json").mkdir()
    assert run(["agree", "run"]) == 0
    said = capsys.readouterr()
    assert "What the judge may be used for" in said.out
    assert "note: cannot write run/fitness.json" in said.err


@pytest.mark.usefixtures("run_of_contains")
def test_a_run_may_be_named_by_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["agree", "run/judgments.parquet"]) == 0
    assert "fitness of contains is written to run/fitness.json" in capsys.readouterr().err


def test_other_judges_statements_stay_and_fewer_labels_are_named(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["judge", str(example), "-j", "contains,exact_match", "-q", "-o", "run"]) == 0
    assert run(["agree", "run"]) == 0
    assert "fitness of contains, exact_match is written to run/fitness.json" in (
        capsys.readouterr().err
    )
    markscheme.open_run("run").answers.select("answer_id", "label", "annotator_labels").head(
        40
    ).write_parquet("few.parquet")
    assert run(["agree", "run", "-j", "contains", "--labels", "few.parquet"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "fitness of contains is written to run/fitness.json" in said
    assert "that of contains rests on 40 labels, and replaces one that rested on 248" in said
    known = json.loads(Path("run", "fitness.json").read_text())
    assert {name: one["answers"] for name, one in known.items()} == {
        "contains": 40, "exact_match": 248,
    }  # fmt: skip


def test_a_gate_reads_what_agree_wrote_and_names_what_is_missing(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    judge = ["judge", str(example), "-j", "contains", "-q", "--fail-under", "0.1", "-o"]
    assert run([*judge, "run"]) == 0
    for where in ("run", "nix"):
        assert run([*judge, "gated", "--fitness", where]) == 2
        assert f"run 'markscheme agree {where}' first" in " ".join(capsys.readouterr().err.split())
        assert not Path("gated").exists()
    assert run(["agree", "run", "--out", "ag.json"]) == 0
    assert run([*judge, "gated", "--fitness", "ag.json"]) == 0
    assert "contains, by labels of 248 answers: it accepts" in " ".join(
        capsys.readouterr().err.split()
    )


@pytest.mark.usefixtures("run_of_contains")
def test_labels_of_chosen_answers_are_no_statement_for_a_gate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As `estimate` refuses them, though agreement on the labelled answers can be told."""
    opened = markscheme.open_run("run")
    rejected = opened.table.filter(~pl.col("verdict")).select("answer_id")
    opened.answers.join(rejected, on="answer_id", how="semi").select(
        "answer_id", "label"
    ).write_parquet("rejected.parquet")
    capsys.readouterr()
    assert run(["agree", "run", "--labels", "rejected.parquet"]) == 0
    out, err = (" ".join(text.split()) for text in capsys.readouterr())
    assert "evidently no random sample: the judge's mean is 0.000 on labelled answers" in out
    assert "fitness.json is not written" in err
    assert not Path("run", "fitness.json").exists()
    assert run(["estimate", "run", "--labels", "rejected.parquet"]) == 2
    assert "the judge's mean is 0.000 on labelled answers" in capsys.readouterr().err


def drawn_by_verdict(rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """1,000 answers of which the judge accepts 900: one in twenty is labelled, else one in two."""
    accepted = np.arange(1000) < 900
    right = rng.random(1000) < np.where(accepted, 0.9, 0.3)
    chance = np.where(accepted, 0.05, 0.5)
    ids = [f"a{n}" for n in range(1000)]
    judged = pl.DataFrame({"answer_id": ids, "judge": "judge", "verdict": accepted})
    known = pl.DataFrame({"answer_id": ids, "label": right, "inclusion_probability": chance})
    return judged, known.filter(pl.Series(rng.random(1000) < chance))


@pytest.mark.parametrize("labelled_alone", [False, True])
def test_labels_drawn_with_unequal_chances_are_no_statement_for_a_gate(
    tmp_path: Path, labelled_alone: bool
) -> None:
    judged, known = drawn_by_verdict(np.random.default_rng(1))
    if labelled_alone:
        judged = judged.join(known, on="answer_id", how="semi")
    found = agree(judged, known)
    why = "they were drawn with unequal chances, by which 'markscheme estimate' weighs them"
    assert found.fitness[0].chosen == why
    assert why in found.lead[-1]
    assert any(why in said for said in found.fitness[0].sentences)
    with pytest.raises(AgreementError, match="drawn with unequal chances"):
        found.write_fitness(tmp_path / "fitness.json")


def test_what_agreement_does_not_need_does_not_stop_it(tmp_path: Path) -> None:
    """Questions that the labels alone know, and labels of which some lack a chance."""
    judged = pl.DataFrame(
        {"answer_id": [f"a{n}" for n in range(100)], "judge": "judge",
         "verdict": [n % 3 > 0 for n in range(100)]}
    )  # fmt: skip
    known = judged.head(50).select("answer_id", label="verdict", question=pl.int_range(50) // 2)
    found = agree(judged, known.with_columns(pl.col("question").cast(pl.String)))
    assert found.frame["questions"].to_list() == [25]
    assert found.fitness[0].chosen is None
    assert found.write_fitness(tmp_path / "fitness.json").exists()
    some = pl.when(pl.int_range(50) < 45).then(0.5)
    mixed = known.drop("question").with_columns(inclusion_probability=some)
    assert agree(judged, mixed).frame["accuracy"].to_list() == [1.0]
    none = mixed.with_columns(inclusion_probability=pl.lit(None, pl.Float64))
    assert agree(judged, none).fitness[0].chosen is None


def test_each_pair_of_systems_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval and test of a pair are what takes time with thirty systems."""
    compared = []

    def counted(*shares: float, **options: float) -> tuple[float, float]:
        compared.append(shares)
        return difference_interval(*shares, **options)

    monkeypatch.setattr("markscheme.agreement.pairs.difference_interval", counted)
    (one,) = agree(world(kind=0.6, blind=0.05, questions=600)).fitness
    assert (one.apart, one.turned) == (1, 1)
    assert len(compared) == 2  # and one of the judge's share against people's
