"""`diff`: pairs, tests, reasons, groups and reports of what changed between two runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import AgreementError, DataError, SkippedRowsWarning
from markscheme.results import p_text

Captured = pytest.CaptureFixture[str]
Rows = list[dict[str, Any]]


def rows(right: int, wrong: int, **more: Any) -> Rows:
    said = ["yes"] * right + ["no"] * wrong
    return [
        {"question": f"q{number}", "references": ["yes"], "answer": answer, **more}
        for number, answer in enumerate(said)
    ]


def found(base: Any, new: Any, **options: Any) -> markscheme.analysis.DiffResult:
    return markscheme.diff(base, new, **({"judge": "exact_match"} | options))


def write(path: Path, table: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in table))
    return path


def test_pairs_are_counted_and_a_large_loss_is_shown() -> None:
    result = found(rows(90, 10), rows(70, 30))
    assert result.counts == {
        "worse": 20, "better": 0, "same": 80, "not compared": 0, "only in base": 0, "only in new": 0
    }  # fmt: skip
    assert result.conclusion == "worse"
    assert result.regression
    assert result.comparison.difference.value == pytest.approx(-0.2)
    assert not found(rows(90, 10), rows(70, 30), margin=0.5).regression
    assert found(rows(70, 30), rows(90, 10)).conclusion == "better"
    assert found(rows(90, 10), rows(89, 11)).conclusion == "no change shown"


def test_only_a_loss_that_the_data_exclude_is_excluded() -> None:
    """One answer of 1,000 better: "a loss of more than 0.0 points is excluded" was not true."""
    result = found(rows(800, 200), rows(801, 199))
    change = result.comparison.difference
    assert change.low is not None
    assert change.low < -0.002
    assert "(interval -0.3 to +0.6)" in result.headline
    assert "A loss of more than 0.3 points is excluded" in result.headline
    equal = found(rows(800, 200), rows(800, 200))
    assert "0.0 points (interval -0.4 to +0.4)" in equal.headline
    assert "-0.0" not in equal.headline + result.headline


def test_order_and_questions_of_one_side_only() -> None:
    base, new = rows(6, 4), rows(6, 4)[:8][::-1] + rows(1, 0, question="another")
    result = found(base, new, subset=True)
    assert result.counts["same"] == 8
    assert (result.counts["only in base"], result.counts["only in new"]) == (2, 1)
    assert "2 of 10 questions of the base have no new answer: only the others" in result.headline


def without(table: Rows) -> Rows:
    return table[:8]


def null(table: Rows) -> Rows:
    return table[:8] + [{**row, "answer": None} for row in table[8:]]


def blank(table: Rows) -> Rows:
    return table[:8] + [{**row, "answer": " "} for row in table[8:]]


def shuffled(table: Rows) -> Rows:
    return table[:8][::-1] + rows(20, 0, question="asked since")[:1]


@pytest.mark.parametrize("lose", [without, null, blank, shuffled])
def test_answers_that_vanish_are_a_loss_however_they_vanish(lose: Any, tmp_path: Path) -> None:
    base = rows(60, 0)
    new = write(tmp_path / "new.jsonl", lose(base))
    result = found(base, new)
    assert result.regression
    assert result.conclusion == "worse"
    assert result.comparison.difference.value == pytest.approx(-52 / 60)
    assert (result.counts["worse"], result.counts["same"]) == (52, 8)
    suite = ElementTree.fromstring(result.junit())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("61", "53")
    assert len(json.loads(result.sarif())["runs"][0]["results"]) == 52
    assert "-86.7 points" in result.comment()
    left = result.counts["only in base"]
    assert (f"{left} of 60 questions of the base have no new answer" in result.headline) == (
        left > 0
    )


def test_a_subset_is_compared_where_it_is_asked_for(tmp_path: Path, capsys: Captured) -> None:
    base = write(tmp_path / "base.jsonl", rows(60, 0))
    new = write(tmp_path / "new.jsonl", rows(8, 0))
    command = ["diff", str(base), str(new), "-j", "exact_match", "--fail-on-regression"]
    assert run(command) == 1
    said = capsys.readouterr().err
    assert "gate FAILED: The new answers are worse: -86.7 points" in said
    assert "52 of 60 questions of the base have no new answer: they count as unanswered" in said
    assert run([*command, "--subset"]) == 0
    assert "only the others are compared" in " ".join(capsys.readouterr().err.split())


def test_a_system_that_vanishes_is_a_loss() -> None:
    two = rows(20, 0, system="x") + rows(20, 0, system="y")
    gone = found(two, two[:20])
    assert (gone.counts["worse"], gone.counts["same"]) == (20, 20)
    assert "20 of 40 answers of the base have no new one" in gone.headline
    assert gone.regression
    assert not found(two, two[:20], base_system="x").regression
    assert not found(two, two[:20], subset=True).regression


def test_a_wrong_answer_whose_question_vanishes_is_no_loss() -> None:
    result = found(rows(5, 5), rows(5, 0))
    assert (result.counts["same"], result.counts["worse"]) == (10, 0)
    assert not result.regression


def test_the_gate_takes_the_worst_case_of_what_was_not_judged() -> None:
    def judged(*verdicts: bool | None) -> Rows:
        return [{**row, "verdict": verdict, "judge": "j"}
                for row, verdict in zip(rows(len(verdicts), 0), verdicts, strict=True)]  # fmt: skip

    base, new = judged(*[True] * 40), judged(*[True] * 20, *[None] * 20)
    result = markscheme.diff(base, new)
    assert (result.conclusion, result.regression) == ("worse in the worst case", True)
    assert result.worst is not None
    assert result.worst.difference.value == pytest.approx(-0.5)
    assert result.reason is not None
    assert result.reason.startswith("Answers that were not judged could hide a loss")
    assert "worst for the new answers, -50.0 points" in result.reason
    assert result.headline.startswith(
        f"{result.reason} On those that were judged: No verdict changed: 0.0 points"
    )
    assert "20 answers were not judged on a side." in result.headline
    said = json.loads(result.to_json())
    assert (said["conclusion"], said["reason"]) == (result.conclusion, result.reason)
    suite = ElementTree.fromstring(result.junit())[0]
    assert (suite.get("failures"), suite[0].get("name")) == ("1", "gate")
    few = markscheme.diff(base, judged(*[True] * 39, None))
    assert (few.regression, few.reason, few.conclusion) == (False, None, "no change shown")
    assert "1 answer was not judged on a side: in the worst case for the new" in few.headline
    worse = markscheme.diff(base, judged(*[False] * 30, *[None] * 10))
    assert worse.reason is not None
    assert worse.headline.startswith(worse.reason.rstrip("."))
    lost = markscheme.diff(base, judged(*[True] * 20, *[False] * 8, *[None] * 12), margin=0.2)
    assert lost.headline.partition("On those that were judged: ")[2].startswith(
        "The new answers are worse: -28.6 points"
    )
    assert markscheme.diff(base, base).worst is None


def test_the_worst_case_of_a_missing_verdict_is_that_of_its_side() -> None:
    """As `compare-runs.md` has it: one of the new side is taken as wrong, of the base as right."""
    right = {**rows(1, 0)[0], "judge": "j", "verdict": True}
    pair = [{**right, "question": "q0"}, {**right, "question": "q1"}]
    for side, verdict, difference in (
        ("base", True, 0), ("base", False, -0.5), ("new", True, -0.5), ("new", False, 0)
    ):  # fmt: skip
        unjudged, known = [dict(pair[0]), pair[1]], [{**pair[0], "verdict": verdict}, pair[1]]
        unjudged[0]["verdict"] = None
        base, new = (unjudged, known) if side == "base" else (known, unjudged)
        worst = markscheme.diff(base, new).worst
        assert worst is not None
        assert worst.difference.value == pytest.approx(difference)


def test_a_repeated_question_is_paired_with_the_same_references() -> None:
    one = [{"question": "q", "references": [text], "answer": text} for text in ("a", "b", "b")]
    assert found(one, one[::-1]).counts["same"] == 3
    amended = [{"question": "q", "references": ["a", "A"], "answer": "a"}]
    assert found(one[:1], amended).counts["same"] == 1


def test_systems_are_paired_by_name_or_named() -> None:
    two = rows(5, 0, system="x") + rows(0, 5, system="y")
    assert found(two, two).counts["same"] == 10
    assert found(two, two, base_system="x", new_system="y").counts["worse"] == 5
    with pytest.raises(AgreementError, match="--base-system"):
        found(two, rows(5, 0, system="z") + rows(5, 0, system="w"))
    with pytest.raises(AgreementError, match="no system named 'v'"):
        found(two, two, base_system="v")


def test_an_empty_answer_is_a_loss_and_no_verdict_is_not_compared() -> None:
    base, new = rows(3, 0), rows(3, 0)
    new[0]["answer"] = None
    assert found(base, new).counts["worse"] == 1
    judged = [{**row, "verdict": None if number else True, "judge": "j"}
              for number, row in enumerate(rows(3, 0))]  # fmt: skip
    result = markscheme.diff(judged, judged)
    assert (result.counts["not compared"], result.counts["same"]) == (2, 1)


def test_sides_judged_differently_are_refused(tmp_path: Path) -> None:
    sides = []
    for name, judge in (("a", "token_f1(threshold=0.5)"), ("b", "token_f1(threshold=0.6)")):
        markscheme.judge(rows(3, 1), judge, out=tmp_path / name)
        sides.append(tmp_path / name)
    with pytest.raises(AgreementError, match="no judge is on both sides"):
        markscheme.diff(*sides)
    plan = markscheme.judge(rows(3, 1), "exact_match")
    changed = plan.judgments.with_columns(signature=plan.judgments["signature"] + " rules=2")

    class Judged:
        def __init__(self, judgments: Any) -> None:
            self.judgments, self.answers = judgments, plan.answers

    with pytest.raises(AgreementError, match="judged the two sides differently"):
        markscheme.diff(plan, Judged(changed))


def test_a_run_and_a_file_are_judged_alike(tmp_path: Path) -> None:
    markscheme.judge(rows(4, 0), "contains", out=tmp_path / "run")
    file = write(tmp_path / "new.jsonl", rows(2, 2))
    result = markscheme.diff(tmp_path / "run", file)
    assert (result.judge.split("(")[0], result.counts["worse"]) == ("contains", 2)


def test_a_file_is_not_judged_by_what_may_cost_money(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", rows(2, 2))
    with pytest.raises(AgreementError, match="judge the answers first"):
        markscheme.diff(file, file, judge="llm_grader")


def test_reasons_and_groups_say_where_it_got_worse() -> None:
    asked = [("When did it open?", "1975", "1985"), ("Who wrote Emma?", "Jane Austen", "I do not "
             "know who wrote it."), ("Which gas?", "nitrogen", "nitrogen")]  # fmt: skip
    base = [{"question": f"{q} ({n})", "references": [r], "answer": r, "topic": q}
            for n in range(8) for q, r, _ in asked]  # fmt: skip
    new = [{**row, "answer": asked[number % 3][2]} for number, row in enumerate(base)]
    result = found(base, new, slices=["topic"])
    groups = {one.group: one for one in result.clusters}
    dates = groups["asks for a date or time"]
    assert (dates.worse, dates.better, dates.pairs) == (8, 0, 8)
    assert dates.p is not None
    assert 0.01 < dates.p < 0.1
    assert groups["declines now, did not before"].worse == 8
    assert groups["topic=Who wrote Emma?"].change == -1
    assert "topic=Which gas?" not in groups
    worse = result.frame.filter(change="worse")
    assert worse["mode"].value_counts().sort("mode").rows() == [("date", 8), ("no_answer", 8)]
    assert "1985 where the reference has 1975" in result.to_markdown()


def test_a_number_with_commas_is_no_list() -> None:
    base = [{"question": f"What is the population of {n}?", "references": ["1,000,000"],
             "answer": "1,000,000"} for n in range(8)]  # fmt: skip
    result = found(base, [{**row, "answer": "2,000,000"} for row in base])
    assert [one.group for one in result.clusters] == ["asks for a number or amount"]


@pytest.mark.parametrize("systems", [1, 8])
@pytest.mark.parametrize(("right", "left"), [(1, 0), (12, 9), (40, 31)])
def test_a_group_of_all_pairs_has_the_p_of_all_pairs(
    tmp_path: Path, systems: int, right: int, left: int
) -> None:
    """One question that eight systems lost counted as eight, which chance does not explain."""
    files = []
    for name, kept in (("base", right), ("new", left)):
        table = [{**row, "system": f"s{place}", "topic": "all"}
                 for place in range(systems) for row in rows(kept, right - kept)]  # fmt: skip
        files.append(write(tmp_path / f"{name}.jsonl", table))
    result = found(*files, slices=["topic"])
    groups = {one.group: one for one in result.clusters}
    assert groups["topic=all"].pairs == systems * right
    # Other groups: the systems, if there are several.
    assert groups["topic=all"].p == pytest.approx(
        min(1.0, (result.comparison.p.value or 0) * (1 if systems == 1 else 1 + systems))
    )
    if right == 1:
        assert (groups["topic=all"].p or 0) > 0.05


def test_answers_without_a_slice_are_in_none_of_its_groups() -> None:
    base = rows(20, 0, topic="law")
    new = rows(10, 0, topic="law") + rows(12, 4)[12:]
    new = [{**row, "question": f"q{place}"} for place, row in enumerate(new)]
    result = found(base, new, slices=["topic"])
    assert result.counts["worse"] == 10  # four are wrong, six are not there
    assert not [one.group for one in result.clusters if one.group.startswith("topic=")]
    assert "10 pairs have no topic on the new side: in none of its groups." in str(result)


def test_reports_of_hostile_answers(tmp_path: Path) -> None:
    base = rows(2, 0)
    new = [{**row, "answer": "</code> @all | <img src=x> \x1b[31m `x`"} for row in base]
    file = write(tmp_path / "new.jsonl", new)
    result = found(base, file)
    said = result.comment()
    assert "<img" not in said
    assert "&lt;img" in said
    assert "\x1b" not in said
    same = numbered(rows(10, 0))
    edited = [{**same[0], "question": "<img src=x> ![x](http://host/x.png)"}, *same[1:]]
    (first, *_) = found(same, edited).comment().splitlines()
    assert "it is paired by its id" in first
    assert "<img" not in first
    assert "![x]" not in first
    suite = ElementTree.fromstring(result.junit())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "0")
    assert "worse than before" in (suite[1].findtext("system-out") or "")
    (first, second) = json.loads(result.sarif())["runs"][0]["results"]
    lines = [one["locations"][0]["physicalLocation"]["region"]["startLine"]
             for one in (first, second)]  # fmt: skip
    assert lines == [1, 2]
    bad = write(tmp_path / "bad.jsonl", [{"question": "q"}, *new])
    with pytest.warns(SkippedRowsWarning, match=r"1 row left out: .*bad\.jsonl, line 1: no refer"):
        result = found(base, bad, on_bad_row="skip")
    (first, _) = json.loads(result.sarif())["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


@pytest.mark.parametrize("blank", ["", "  ", None])
def test_a_blank_answer_is_none_in_every_report(blank: str | None) -> None:
    base = rows(2, 0)
    result = found(base, [{**base[0], "answer": blank}, base[1]])
    (flip,) = result.tables[-1].rows
    assert flip[result.tables[-1].header.index("new")] == "(no answer)"
    suite = ElementTree.fromstring(result.junit())[0]
    assert "new: (no answer)\n" in (suite[1].findtext("system-out") or "") + "\n"
    (one,) = json.loads(result.sarif())["runs"][0]["results"]
    assert "new: (no answer)" in one["message"]["text"]
    assert "<code>(no answer)</code>, before <code>yes</code>" in result.comment()


def test_the_address_of_a_file_in_sarif_is_one(tmp_path: Path) -> None:
    file = write(tmp_path / "my answers #2 é.jsonl", rows(1, 1))
    (one,) = json.loads(found(rows(2, 0), file).sarif())["runs"][0]["results"]
    uri = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"{tmp_path}/my%20answers%20%232%20%C3%A9.jsonl"


def test_nobody_is_mentioned_by_what_a_comment_quotes() -> None:
    base = [{**row, "by": "@org/team"} for row in numbered(rows(20, 0))]
    new = [{**row, "answer": "no"} for row in base]
    new[0]["question"] = "ask @somebody or _@all_ or &#64;you, mail a@b.org"
    said = found(base, new, slices=("by",)).comment()
    assert "by=@\u200borg/team" in said
    (first, *_) = said.splitlines()
    assert "ask @\u200bsomebody or _@\u200ball_ or &amp;#64;you, mail a@b.org" in first
    bare = re.sub("<code>.*?</code>", "", said)
    assert re.findall(r"(?<![a-z])@\w", bare) == []


def test_the_command_equals_python_and_holds_a_gate(tmp_path: Path, capsys: Captured) -> None:
    base, new = write(tmp_path / "a.jsonl", rows(90, 10)), write(tmp_path / "b.jsonl", rows(60, 40))
    command = ["diff", str(base), str(new), "-j", "exact_match"]
    assert run([*command, "--format", "json"]) == 0
    assert capsys.readouterr().out == found(base, new).to_json()
    out = [f"--{name}={tmp_path / name}" for name in ("comment", "junit", "sarif")]
    assert run([*command, "--fail-on-regression", *out]) == 1
    assert "gate FAILED: The new answers are worse: -30.0 points" in capsys.readouterr().err
    assert (tmp_path / "comment").read_text() == found(base, new).comment()
    assert run([*command, "--fail-on-regression", "--margin", "0.5"]) == 0


@pytest.mark.parametrize(("margin", "failures"), [(0.0, "31"), (0.5, "0")])
def test_junit_fails_where_the_gate_does(margin: float, failures: str) -> None:
    suite = ElementTree.fromstring(found(rows(90, 10), rows(60, 40), margin=margin).junit())[0]
    assert suite.get("failures") == failures
    assert len(suite.findall("testcase/failure")) == int(failures)
    assert len(suite.findall("testcase/system-out")) == 31 - int(failures)


def test_every_test_case_of_a_week_has_a_name_of_its_own() -> None:
    week = 7 * rows(3, 2)
    suite = ElementTree.fromstring(found(week, week).junit())[0]
    assert len(suite) == 36
    assert len({(one.get("classname"), one.get("name")) for one in suite}) == 36


def test_compare_of_two_runs_names_diff(tmp_path: Path, capsys: Captured) -> None:
    folders = []
    for name, table in (("a", rows(3, 1)), ("b", rows(2, 2))):
        folders.append(str(tmp_path / name))
        markscheme.judge(table, "exact_match", out=folders[-1])
    assert run(["compare", *folders]) == 2
    assert f"markscheme diff {folders[0]} {folders[1]}" in capsys.readouterr().err


def test_compare_names_the_line_of_a_row_that_is_none(tmp_path: Path, capsys: Captured) -> None:
    good = write(tmp_path / "good.jsonl", [{"answer_id": "1", "verdict": True}])
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"answer_id": "1", "verdict": true}\n{"answer_id": "2" "verdict": true}\n')
    assert run(["compare", str(bad), str(good)]) == 2
    assert "bad.jsonl, line 2: not valid JSON" in capsys.readouterr().err


def test_slices_may_be_called_anything_that_pairs_are_not() -> None:
    base, new = (rows(right, 3 - right, place="x", row="y", change="z") for right in (2, 3))
    pairs = found(base, new, slices=("place", "row")).frame
    assert pairs.select("place", "row", "new_place").row(0) == ("x", "y", 0)
    with pytest.raises(DataError, match="'change' is a column of what 'diff' finds"):
        found(base, new, slices=("change",))
    base, new = (rows(2, 1, base_answer="x") for _ in range(2))
    with pytest.raises(DataError, match="such as to 'own_base_answer', to slice by it"):
        found(base, new, slices=("base_answer",))
    for name in ("references", "reference_kind"):
        base, new = (rows(right, 3 - right, reference_kind="text") for right in (2, 3))
        with pytest.raises(DataError, match=f"copy yours to another column, such as 'own_{name}'"):
            found(base, new, slices=(name,))


def test_scores_in_the_files_are_judgments_unless_a_judge_is_named() -> None:
    base, new = (
        [row | {"score": score} for row, score in zip(rows(2, 0), scores, strict=True)]
        for scores in ((0.9, 0.1), (0.2, 0.1))
    )
    assert markscheme.diff(base, new).counts["worse"] == 1
    assert markscheme.diff(base, new, threshold=0.15).counts["worse"] == 0
    assert found(base, new).counts["worse"] == 0  # By exact match both answers are right.


def test_exports_of_other_tools_are_compared_without_an_option() -> None:
    exports = Path(__file__).parents[1] / "tables" / "exports"
    assert found(exports / "inspect.eval", exports / "promptfoo.json").counts["same"] == 3


def test_columns_with_other_names_are_those_of_answers_not_of_runs(tmp_path: Path) -> None:
    named = [
        [{"question": r["question"], "gold text": r["references"], "answer": r["answer"]}
         for r in table]
        for table in (rows(9, 1), rows(5, 5))
    ]  # fmt: skip
    base, new = (write(tmp_path / f"{n}.jsonl", table) for n, table in enumerate(named))
    columns = {"references": "gold text"}
    assert found(base, new, columns=columns).counts["worse"] == 4
    run_of_base = tmp_path / "run"
    markscheme.judge(str(base), ["exact_match"], columns=columns, out=str(run_of_base))
    assert found(run_of_base, new, columns=columns).counts["worse"] == 4


@pytest.mark.parametrize("side", ["new", "base"])
def test_answers_without_a_partner_are_not_dropped_in_silence(side: str) -> None:
    one = rows(9, 1)
    twice = [*one, *({**row, "answer": "wrong"} for row in one)]
    base, new = (one, twice) if side == "new" else (twice, one)
    result = markscheme.diff(base, new, judge="exact_match")
    change = 0.45 if side == "base" else -0.45
    assert result.comparison.difference.value == pytest.approx(change)
    assert result.counts["without partner"] == 10
    assert "10 answers are to questions of which the other side has fewer" in result.headline
    left = markscheme.diff(base, new, judge="exact_match", subset=True)
    assert left.comparison.shared == 10
    base, new = (
        [{**row, "system": name} for name in "xy" for row in table] for table in (base, new)
    )
    with pytest.raises(AgreementError, match=f"more answers of the same system on the {side} si"):
        markscheme.diff(base, new, judge="exact_match")
    of_one = markscheme.diff(base, new, judge="exact_match", base_system="x", new_system="x")
    assert of_one.comparison.difference.value == pytest.approx(change)


def test_a_week_with_a_night_fewer_or_a_bad_row_is_compared_by_question() -> None:
    """The night that broke off had the difficult questions first: no loss, and no gain."""
    easy = [{**row, "question": f"easy {row['question']}"} for row in rows(20, 0)]
    night = [*rows(0, 20), *easy]
    for new in (6 * night, 6 * night + night[:15], 7 * night[:20] + 2 * night[20:], night):
        result = found(7 * night, new)
        assert (result.comparison.difference.value, result.conclusion) == (0.0, "no change shown")
        assert (result.comparison.questions, result.worst) == (40, None)
        assert result.counts["without partner"] == 280 - len(new)
    wrong = [{**row, "answer": "no"} for row in night[30:]]
    lost = found(7 * night, 6 * (night[:30] + wrong))
    assert lost.comparison.difference.value == pytest.approx(-0.25)
    assert lost.regression
    unjudged = [{**row, "answer": None, "answer_error": "time-out"} for row in night]
    down = found(7 * night, 5 * night + unjudged)
    assert down.counts["not compared"] == 40
    assert down.worst is not None
    assert down.worst.difference.value == pytest.approx(-0.5 / 6)
    gone = found(7 * night, 6 * night[:30])
    assert gone.counts["only in base"] == 10
    assert gone.comparison.difference.value == pytest.approx(-0.25, abs=0.02)


def test_spaces_in_a_question_do_not_part_its_answers() -> None:
    base = [{**row, "question": f"Who wrote {row['question']}?"} for row in rows(9, 1)]
    new = [{**row, "question": row["question"].replace(" ", "  ") + "\n"} for row in base]
    found = markscheme.diff(base, new, judge="exact_match")
    assert (found.counts["same"], found.counts["only in base"]) == (10, 0)
    assert found.frame["question"].to_list() == [row["question"] for row in new]


def numbered(table: Rows) -> Rows:
    return [{**row, "id": f"n{place}"} for place, row in enumerate(table)]


def test_an_edited_question_is_paired_by_its_id_and_named() -> None:
    base = numbered(rows(9, 1))
    new = [*base[:9], {**base[9], "question": "q9, please", "answer": "yes"}]
    found = markscheme.diff(base, new[::-1], judge="exact_match")
    assert (found.counts["better"], found.counts["same"]) == (1, 9)
    assert (found.counts["only in base"], found.counts["only in new"]) == (0, 0)
    said = "The text of 1 question is not the same on both sides, and it is paired by its id"
    assert f"{said}: 'q9' is 'q9, please' now." in found.headline
    several = [*base[:7], *({**row, "question": row["question"] + "!"} for row in base[7:])]
    found = markscheme.diff(base, several, judge="exact_match")
    assert found.counts["same"] == 10
    assert "The text of 3 questions" in found.headline
    assert "they are paired by their ids: 'q7' is 'q7!' now, for instance." in found.headline


def test_ids_that_are_of_other_questions_pair_nothing() -> None:
    base = rows(9, 1)
    new = [{**row, "question": "another"} for row in base[:1]] + base[:-1][::-1]
    found = markscheme.diff(numbered(base), numbered(new), judge="exact_match")
    assert (found.counts["only in base"], found.counts["only in new"]) == (1, 1)
    assert "The text of" not in found.headline


def test_a_missing_question_is_no_answer_that_declines() -> None:
    base, new = rows(20, 0), rows(20, 0)[:4]
    new += [{**row, "answer": answer} for row, answer in
            zip(base[4:12], [None, "I don't know."] * 4, strict=True)]  # fmt: skip
    found = markscheme.diff(base, new, judge="exact_match")
    groups = {one.group: one.worse for one in found.clusters}
    assert groups["no answer now, one before"] == 12
    assert groups["declines now, did not before"] == 4
    gone = found.frame.filter(pl.col("new_place").is_null())
    assert set(gone["evidence"]) == {"the question is not among the new answers"}
    assert gone["new_explanation"].null_count() == gone.height
    flips = " ".join(str(found).split())
    assert "no answer was given" in flips
    assert "(no reason given)" in flips


def test_files_are_read_as_judge_reads_them(tmp_path: Path, capsys: Captured) -> None:
    """`diff A B` is `judge A`, `judge B` and `diff` of the runs, whatever the files are like."""
    options = ["--columns", "references=key,answer_id=nr", "--reference-separator", ";"]
    options += ["--on-bad-row", "skip", "--repeats", "drop", "--answer-columns", "one,two"]
    options += ["--encoding", "cp1252", "--input-format", "csv"]
    runs = []
    for name, answer in (("a", "nein"), ("b", "Né")):
        lines = [f"{n},q{n},Né;yes,{answer if n % 3 else 'yes'},yes" for n in range(12)]
        text = "\n".join(["nr,question,key,one,two", *lines, lines[0], "13,q13,,yes,yes", ""])
        (tmp_path / f"{name}.txt").write_bytes(text.encode("cp1252"))
        runs.append(str(tmp_path / name))
        judged = ["judge", f"{runs[-1]}.txt", "-j", "exact_match", "-q"]
        assert run([*judged, *options, "-o", runs[-1]]) == 0
    capsys.readouterr()
    judge = ["-j", "exact_match", "--format", "json"]
    assert run(["diff", *runs, *judge]) == 0
    of_runs = capsys.readouterr().out
    assert json.loads(of_runs)["counts"]["better"] == 8
    assert run(["diff", *(f"{one}.txt" for one in runs), *judge, *options]) == 0
    shown = capsys.readouterr()
    assert shown.out == of_runs
    assert "warning: 1 row left out: " in shown.err
    assert f"{runs[0]}.txt, line 15: no references" in shown.err
    assert f"note: {runs[0]}.txt: rows that repeat an earlier one exactly are left out" in shown.err
    assert run(["diff", runs[0], f"{runs[1]}.txt", *judge, *options, "-q"]) == 0
    shown = capsys.readouterr()
    assert shown.out == of_runs
    assert "note" not in shown.err
    assert "warning: 1 row left out: " in shown.err


def test_questions_without_an_answer_are_judged_as_judge_does(tmp_path: Path) -> None:
    base = [{"question": f"q{n}", "references": [], "answer": "I don't know."} for n in range(4)]
    new = [{**row, "answer": "Paris"} for row in base]
    found = markscheme.diff(write(tmp_path / "a.jsonl", base), new, judge="exact_match")
    assert found.counts["worse"] == 4


def test_no_answer_to_a_question_without_one_is_right_as_judge_says(tmp_path: Path) -> None:
    base = [{"question": f"q{n}", "references": [], "answer": "I don't know."} for n in range(40)]
    files = [write(tmp_path / "base.jsonl", base)]
    files += [write(tmp_path / "new.jsonl", [{**row, "answer": None} for row in base])]
    judged = markscheme.judge(files[1], "exact_match", out=tmp_path / "run")
    assert judged.summary["accuracy"][-1] == 1
    assert run(["diff", *map(str, files), "-j", "exact_match", "--fail-on-regression"]) == 0
    for new in (files[1], tmp_path / "run"):
        assert markscheme.diff(files[0], new, judge="exact_match").counts["same"] == 40


def test_other_references_are_named() -> None:
    one = rows(9, 1)
    other = [{**row, "references": ["another"]} for row in one]
    found = markscheme.diff(one, other, judge="exact_match")
    assert "The references of 10 questions are not the same on both sides" in found.headline
    found = markscheme.diff(one, [*one[:9], other[9]], judge="exact_match")
    assert "The references of 1 question are not the same" in found.headline
    same = markscheme.diff(one, one, judge="exact_match")
    assert "references" not in same.headline


def test_the_loss_that_is_excluded_is_the_end_of_the_interval() -> None:
    equal = found(rows(37, 23), rows(37, 23))
    low = re.search(r"interval -([0-9.]+) to", equal.headline)
    most = re.search(r"A loss of more than ([0-9.]+) points is excluded", equal.headline)
    assert low
    assert most
    assert low[1] == most[1]


def test_many_looks_are_each_held_to_a_stricter_level() -> None:
    base, new = rows(180, 20), rows(170, 30)
    assert found(base, new).regression
    once, often = found(base, new), found(base, new, looks=100)
    assert not often.regression
    assert often.comparison.p.value == once.comparison.p.value
    assert often.comparison.difference.low < once.comparison.difference.low  # type: ignore
    assert found(base, rows(140, 60), looks=100).regression


def test_the_p_that_several_looks_take_is_said_where_p_is() -> None:
    base, new = rows(180, 20, topic="law"), rows(170, 30, topic="law")
    result = found(base, new, looks=100, slices=["topic"])
    needed = "with 100 looks a change needs p 0.0005 or less"
    assert f", p {p_text(result.comparison.p.value)}; {needed}." in result.headline
    groups = next(one for one in result.tables if one.title.startswith("Where more got worse"))
    assert groups.notes[0].endswith(f"for the number of groups; {needed}.")
    assert " looks" not in str(found(base, new))


def test_where_no_verdict_changed_it_is_said() -> None:
    same = found(rows(30, 30), rows(30, 30))
    assert same.headline.startswith("No verdict changed: 0.0 points")
    # Two limits for a loss, one excluded and one not to be found, read as a contradiction.
    assert "A loss of more than 6.0 points is excluded" in same.headline
    assert "would have been found" not in same.headline
    other = found(rows(30, 30), rows(29, 31))
    assert other.headline.startswith("The change is no more than chance explains: -1.7 points")


def test_a_gate_that_few_questions_pass_says_that_this_says_little(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, new = rows(44, 16), rows(44, 16)
    for row in new[:9]:
        row["answer"] = "no"
    for row in new[44:47]:
        row["answer"] = "yes"
    result = found(base, new)
    assert result.conclusion == "no change shown"
    least = 100 * (result.comparison.detectable or 0)
    paths = [
        str(write(tmp_path / name, side)) for name, side in (("a.jsonl", base), ("b.jsonl", new))
    ]
    assert run(["diff", *paths, "--judge", "exact_match", "--fail-on-regression"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert told.count(f"only a loss of {least:.1f} points or more would have been found") == 1
    assert "gate passed: " in told
    assert "So few questions cannot tell: about " in told
    few = found(rows(20, 0), rows(20, 0))
    low = -100 * (few.comparison.difference.low or 0)
    assert f"A loss of more than {low:.1f} points is excluded. So few questions" in few.headline


def test_a_margin_that_holds_is_shown_and_a_plan_says_how_many_questions() -> None:
    equal = found(rows(1000, 100), rows(1000, 100), margin=0.02)
    assert "They are shown to be not worse than the margin, 2 points." in equal.data["headline"]
    few = found(rows(90, 10), rows(88, 12), margin=0.02)
    assert "not worse than the margin" not in few.data["headline"]
    asked = re.search(
        r"cannot tell: about ([\d,]+) are needed to find a loss of 2 points", few.data["headline"]
    )
    assert asked is not None
    more = int(asked[1].replace(",", ""))
    lost = round(0.02 * more)
    again = found(rows(more - 100, 100), rows(more - 100 - lost, 100 + lost), margin=0.0)
    assert again.conclusion == "worse"
    # Of questions that change as seldom, so many show just this loss in 4 of 5 comparisons.
    assert again.comparison.detectable == pytest.approx(0.02, rel=0.03)


def test_a_loss_within_the_margin_is_shown_to_be_one_and_to_be_no_more(
    tmp_path: Path, capsys: Captured
) -> None:
    base, new = rows(2900, 100), rows(2895, 105)
    paths = [
        str(write(tmp_path / name, side)) for name, side in (("a.jsonl", base), ("b.jsonl", new))
    ]
    options = ["--judge", "exact_match", "--margin", "0.02", "--fail-on-regression"]
    assert run(["diff", *paths, *options]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "gate passed: The new answers are worse: -0.2 points (interval -0.4 to 0.0)" in shown
    within = "They are shown to be worse, but by no more than the margin, 2 points."
    assert f"A loss of more than 0.4 points is excluded. {within}" in shown
    assert shown.count("margin") == 1
    # The interval reaches beyond the margin, which is then named by itself: before it, and behind.
    for lost in (50, 300):
        more = found(base, rows(2900 - lost, 100 + lost), margin=0.02)
        assert more.conclusion == "worse"
        assert more.regression == (lost == 300)
        assert "no more than the margin" not in more.headline
        assert "is excluded" not in more.headline
        assert more.headline.endswith(" The margin is 2 points.")


def test_where_no_change_is_shown_it_is_said_how_many_questions_would_tell() -> None:
    def flipped(times: int) -> markscheme.analysis.DiffResult:
        new = rows(180 * times, 220 * times)
        for row in new[180 * times : 195 * times]:
            row["answer"] = "yes"
        for row in new[: 25 * times]:
            row["answer"] = "no"
        return found(rows(180 * times, 220 * times), new)

    few = flipped(1)
    assert few.conclusion == "no change shown"
    said = re.search(
        r"cannot tell: about ([\d,]+) are needed to find a change of this size",
        few.headline,
    )
    assert said is not None
    more = int(said[1].replace(",", ""))
    times = round(more / 400)
    assert times > 1
    many = flipped(times)
    assert many.conclusion == "worse"
    assert many.comparison.detectable == pytest.approx(0.025, rel=0.1)
    assert "cannot tell" not in many.headline
    assert "cannot tell" not in found(rows(37, 23), rows(37, 23)).headline
