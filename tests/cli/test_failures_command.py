"""`markscheme failures` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import DataError
from markscheme.tables import write_table

Captured = pytest.CaptureFixture[str]


def call(captured: Captured, *arguments: str | Path, exit_code: int = 0) -> str:
    assert run(list(map(str, arguments))) == exit_code
    return "".join(captured.readouterr())


def test_labelled_answers_are_enough(example: Path, tmp_path: Path, capsys: Captured) -> None:
    out, details = tmp_path / "modes.json", tmp_path / "tags.jsonl"
    shown = call(capsys, "failures", example, "--out", out, "--details", details)
    assert "147 answers that people accept" in shown
    assert "bridging_abridging" in shown
    assert "50.3" in shown
    assert len(json.loads(out.read_text())["modes"]) == 147
    tags = pl.read_ndjson(details)
    assert tags.height == 147
    assert tags["evidence"].null_count() == 0


def test_a_run_shows_which_judges_reject_what(
    example: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "run"
    call(capsys, "judge", example, "-j", "exact_match", "-j", "contains", "-q", "-o", folder)
    shown = call(capsys, "failures", folder, "--judge-errors")
    assert "147 of 147" in shown
    assert "structure" in shown
    trusted = call(capsys, "failures", folder, "--trusted", "contains")
    assert "answers that contains accepts" in trusted
    assert "people accept" not in trusted
    assert "exact_match" in call(capsys, "failures", folder, "--trusted", "nobody", exit_code=2)
    for labels in (("--labels", "labels.csv"), ("--label-column", "label")):
        both = call(capsys, "failures", folder, "--trusted", "contains", *labels, exit_code=2)
        assert "choose one of --labels, --label-column and --trusted" in both
    by = call(capsys, "failures", folder, "--accepted", "--by", "system", exit_code=2)
    assert "not of what they accept" in by


def test_what_a_judge_accepts_is_not_called_what_people_accept() -> None:
    row = {"question": "Who wrote it?", "references": ["Jane Austen"], "judge": "j", "verdict": 1}
    said = ("Jane Austen", "Emily Brontë", "the writer Emily Brontë")
    found = markscheme.failures([row | {"answer": one} for one in said], trusted="j")
    evidence = found.frame["evidence"].to_list()
    assert "the reference's answer is accepted as well" in evidence
    assert found.tables[0].title == "Why exact match rejects 2 answers that j accepts"
    found = markscheme.failures([row | {"answer": said[1]}], trusted="j")
    assert found.tables[0].title == "Why exact match rejects 1 answer that j accepts"
    found = markscheme.failures([row | {"answer": one} for one in said[1:]], trusted="j")
    assert not any("people" in one for one in [*evidence, *found.frame["evidence"]])


def test_errors_of_judges_are_counted_by_system_and_written_out(
    example: Path, tmp_path: Path, capsys: Captured
) -> None:
    result = markscheme.judge(example, ["contains"], out=tmp_path / "run")
    details = tmp_path / "tags.csv"
    words = ("failures", tmp_path / "run", "--judge-errors", "--by", "system")
    shown = call(capsys, *words, "--details", details, "--format", "json")
    found = markscheme.failures(result, judge_errors=True, by="system")
    assert found.to_json() in shown
    assert found.judge_errors is not None
    table = found.tables[-1]
    assert table.header[:3] == ("judge", "kind", "system")
    for system in ("terse", "chatty", "parrot", "hedger"):
        rows = [row for row in table.rows if row[2] == system]
        errors = found.judge_errors.filter(pl.col("system") == system).height
        assert sum(int(row[4].replace(",", "")) for row in rows) == errors > 0
        assert sum(float(row[5]) for row in rows) == pytest.approx(100, abs=0.5)
    whole = markscheme.failures(result, judge_errors=True).tables[-1]
    assert whole.header[:3] == ("judge", "kind", "error")
    written = pl.read_csv(tmp_path / "tags-judge-errors.csv")
    assert written.height == found.judge_errors.height
    assert written["evidence"].null_count() == 0


@pytest.mark.parametrize("judges", [("contains",), ("contains", "token_f1")])
def test_a_file_that_has_all_says_what_its_run_says(
    judges: tuple[str, ...], example: Path, tmp_path: Path, capsys: Captured
) -> None:
    result = markscheme.judge(example, judges)
    names = ["answer_id", "system", "question", "references", "answer", "label"]
    verdicts = result.judgments.select("answer_id", "judge", "verdict", "score")
    everything = verdicts.join(result.answers.select(names), on="answer_id", maintain_order="left")
    file, details = tmp_path / "all.jsonl", tmp_path / "tags.jsonl"
    write_table(everything, file)
    of_run = markscheme.failures(result, judge_errors=True)
    assert of_run.judge_errors is not None
    assert markscheme.failures(file, judge_errors=True).to_json() == of_run.to_json()
    shown = call(capsys, "failures", file, "--details", details)
    assert "Errors of judges against people" in shown
    written = pl.read_ndjson(tmp_path / "tags-judge-errors.jsonl")
    assert written.height == of_run.judge_errors.height
    bare, labels = tmp_path / "verdicts.jsonl", tmp_path / "labels.jsonl"
    write_table(everything.drop("label"), bare)
    write_table(result.answers.select("answer_id", "label"), labels)
    assert "Errors of judges against people" in call(capsys, "failures", bare, "--labels", labels)
    trusted = markscheme.failures(result, trusted="contains")
    assert markscheme.failures(bare, trusted="contains").to_json() == trusted.to_json()


def test_a_judgment_that_occurs_twice_counts_once(tmp_path: Path, capsys: Captured) -> None:
    answers, judged = tmp_path / "answers.jsonl", tmp_path / "judged.csv"
    rows = [{"id": str(n), "question": f"q{n}", "references": ["x"], "answer": "xy"[n % 2],
             "label": 1 - n % 2} for n in range(10)]  # fmt: skip
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"{n},mine,{1 - n % 2}" for n in range(10)]
    judged.write_text("\n".join(["answer_id,judge,verdict", *lines, "3,mine,0", ""]))
    apart = ("--answers", answers)
    wanted = ("failures", judged, *apart, "--rejected")
    found = json.loads(call(capsys, *wanted, "--format", "json", "--quiet"))
    assert (found["judges"][0]["answers"], len(found["rejected"])) == (10, 5)
    call(capsys, "report", judged, *apart, "--out", tmp_path / "report.html")
    assert "10 answers to 10 questions" in " ".join((tmp_path / "report.html").read_text().split())
    agreed = call(capsys, "agree", judged, *apart)
    assert "1 repeated judgment with the same verdict merged" in " ".join(agreed.split())
    judged.write_text(f"{judged.read_text()}3,mine,1\n")
    torn = call(capsys, *wanted, exit_code=2)
    assert "contradictory judgments: '3', 'mine'" in " ".join(torn.split())


def test_a_column_that_may_be_either_has_labels_of_answers(tmp_path: Path) -> None:
    row = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Austen"}
    found = markscheme.failures([{**row, "correct": 1}])
    assert found.labelled
    assert found.error_rates is None


def test_labels_are_read_as_agree_reads_them(
    example: Path, tmp_path: Path, capsys: Captured
) -> None:
    result = markscheme.judge(example, ["exact_match"], out=tmp_path / "run")
    known = result.answers.select("answer_id", "question", "answer", "label")
    torn = pl.concat([known, known.head(1).with_columns(label=1 - pl.col("label"))])
    torn.write_csv(tmp_path / "torn.csv")
    for command in ("agree", "failures"):
        words = (command, tmp_path / "run", "--labels", tmp_path / "torn.csv")
        assert "1 answers have contradictory labels" in call(capsys, *words, exit_code=2)
    # The labels are in the file of judgments, and the answers have none.
    bare = result.answers.drop("label", "annotator_labels")
    write_table(bare, tmp_path / "answers.jsonl")
    verdicts = result.judgments.select("answer_id", "judge", "verdict")
    verdicts.join(known.select("answer_id", "label"), on="answer_id").write_csv(
        tmp_path / "judged.csv"
    )
    shown = call(
        capsys, "failures", tmp_path / "judged.csv", "--answers", tmp_path / "answers.jsonl"
    )
    assert "147 answers that people accept" in shown


def test_references_that_are_patterns_have_no_modes(tmp_path: Path, capsys: Captured) -> None:
    rows = [
        {"question": f"q{n}", "references": [rf"\b{n}\b"], "answer": f"It is {n + n % 2}.",
         "reference_kind": "regex", "label": 1 - n % 2}
        for n in range(20)
    ]  # fmt: skip
    markscheme.judge(rows, ["regex"], out=tmp_path / "run")
    shown = call(capsys, "failures", tmp_path / "run", "--judge-errors")
    assert "no verdict contradicts a label" in shown


def test_errors_without_a_category_are_not_called_none(tmp_path: Path, capsys: Captured) -> None:
    rows = [
        {"question": f"Who is king of planet {n}?", "references": [], "answer": "King Elon.",
         "label": 1}
        for n in range(3)
    ]  # fmt: skip
    markscheme.judge(rows, ["contains"], out=tmp_path / "run")
    shown = call(capsys, "failures", tmp_path / "run")
    assert "contains: 3 verdicts contradict their labels" in shown
    assert "no errors" not in shown
    rows.append({"question": "Which gas?", "references": ["nitrogen"], "answer": "N2", "label": 1})
    markscheme.judge(rows, ["contains"], out=tmp_path / "more")
    shown = call(capsys, "failures", tmp_path / "more")
    assert "Errors of judges against people" in shown
    assert "3 verdicts contradict their labels" in shown


ROWS = [
    ("When did it open?", "1975", "It opened in 1985.", "date"),
    ("Name the Baltic states.", "Estonia, Latvia and Lithuania", "Estonia and Latvia", "list"),
    ("Who wrote Emma?", "Jane Austen", "I am not sure who wrote it.", "no_answer"),
    ("Who wrote Emma?", "Jane Austen", "Emily Brontë", "name"),
    (
        "Who wrote Emma?",
        "Jane Austen",
        "It is by Jane Austen, of course, in 1815",
        "reference_in_it",
    ),
    ("Which gas?", "nitrogen", "nitrogen", None),
    ("Which gas?", "nitrogen", None, "no_answer"),
]


@pytest.fixture
def unlabelled(tmp_path: Path, capsys: Captured) -> Path:
    file = tmp_path / "said.jsonl"
    names = ("question", "references", "answer", "topic")
    rows = [(*row[:3], "books" if "Emma" in row[0] else "other") for row in ROWS]
    file.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    folder = tmp_path / "run"
    call(capsys, "judge", file, "-j", "exact_match", "-q", "-o", folder, "--slices", "topic")
    return folder


def test_rejected_answers_are_listed_with_reasons_without_labels(
    unlabelled: Path, tmp_path: Path, capsys: Captured
) -> None:
    out, details = tmp_path / "found.json", tmp_path / "rejected.csv"
    shown = call(capsys, "failures", unlabelled, "--out", out, "--details", details)
    assert "1985 where the reference has 1975" in shown
    assert "Emily Brontë" in shown
    assert "Lithuania is missing" in shown
    found = json.loads(out.read_text())["rejected"]
    by_answer = {row["answer"]: row["mode"] for row in found}
    assert by_answer == {answer: mode for _, _, answer, mode in ROWS if mode}
    assert {row["outcome"] for row in found} == {"rejected"}
    assert pl.read_csv(details).height == 6


@pytest.mark.parametrize(
    ("question", "reference", "answer", "evidence"),
    [
        ("Which scale is it?", "Enhanced Fujita scale", "Saffir-Simpson scale", "it has 'scale'"),
        ("Which vitamin is it?", "vitamin D", "vitamin K", "spelled much like 'vitamin D'"),
        ("Which gas?", "nitrogen", "helium", "nothing of a reference is in it"),
    ],
)
def test_evidence_says_of_words_what_is_so(
    question: str, reference: str, answer: str, evidence: str
) -> None:
    row = {"question": question, "references": [reference], "answer": answer}
    (found,) = markscheme.judge([row], "exact_match").wrong()["evidence"].to_list()
    assert found.endswith(evidence)


def test_evidence_of_a_question_without_an_answer_is_of_no_reference() -> None:
    row = {"question": "Who is the king of France?", "references": [], "answer": "Louis XX"}
    (found,) = markscheme.judge([row], "exact_match").wrong()["evidence"].to_list()
    assert found == "the question has no answer, and the answer is not read as saying so"


def test_rejections_are_counted_by_slices(unlabelled: Path, capsys: Captured) -> None:
    shown = call(capsys, "failures", unlabelled, "--slices", "topic", "--format", "json")
    (books, other) = sorted(json.loads(shown)["slices"]["topic"], key=lambda row: row["topic"])
    assert (books["topic"], books["rejected"], books["answers"]) == ("books", 3, 3)
    assert (other["rejected"], other["not_judged"]) == (3, 0)
    assert "--slices topik" in call(
        capsys, "failures", unlabelled, "--slices", "topik", exit_code=2
    )


def test_a_slice_that_is_called_like_a_count_is_named() -> None:
    row = {"question": "Which gas?", "references": ["nitrogen"], "answer": "air", "rejected": "no"}
    run = markscheme.judge([row], "contains", slices=["rejected"])
    with pytest.raises(DataError, match="'rejected' is a column of what 'failures' finds"):
        markscheme.failures(run, slices=["rejected"])


def test_a_result_says_the_same_as_the_command(unlabelled: Path) -> None:
    file = unlabelled.parent / "said.jsonl"
    result = markscheme.judge(str(file), "exact_match", slices=["topic"])
    wrong = {row["answer"]: row["mode"] for row in result.wrong().iter_rows(named=True)}
    assert wrong == {answer: mode for _, _, answer, mode in ROWS if mode}
    assert "topic" in result.wrong().columns
    assert result.failures().frame.height == 6


def test_labels_of_annotators_are_labels_to_what_is_recommended(
    tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "rated.jsonl"
    rows = [{"question": f"q{n}", "references": ["a"], "answer": "ab"[n % 2],
             "annotator1": n % 2, "annotator2": n % 2} for n in range(6)]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["judge", file, "-j", "exact_match", "-o", tmp_path / "run", "--fail-under", "0.9"]
    shown = " ".join(call(capsys, *command, exit_code=1).split())
    assert "markscheme agree" in shown
    assert "run --rejected" in shown
    assert "plan-labels" not in shown
    assert "agrees with the 6 labels here" in shown


def test_labels_do_not_hide_what_was_rejected(
    example: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "run"
    call(capsys, "judge", example, "-j", "contains", "-q", "-o", folder)
    assert "Errors of judges against people" in call(capsys, "failures", folder)
    assert "Rejected answers" in call(capsys, "failures", folder, "--rejected")
    # Slices are of what is rejected: with labels alone they were ignored without a word.
    said = call(capsys, "failures", folder, "--slices", "system", exit_code=2)
    assert "add --rejected" in said
    assert "Rejected answers by system" in call(
        capsys, "failures", folder, "--slices", "system", "--rejected"
    )


def test_by_system_has_an_effect_or_is_refused(
    example: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "run"
    call(capsys, "judge", example, "-j", "exact_match", "-q", "-o", folder)
    for source in (folder, example):  # the modes of exact match are of all systems
        said = call(capsys, "failures", source, "--by", "system", exit_code=2)
        assert "add --rejected or --judge-errors" in said
    for words in (["--rejected"], ["--judge-errors"]):
        assert "chatty" in call(capsys, "failures", folder, "--by", "system", *words)


def test_a_failed_gate_names_the_first_rejected_of_the_failing_slice(
    tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "said.jsonl"
    rows = [{"question": "q", "references": ["a"], "answer": answer, "topic": topic}
            for answer, topic in (("a", "x"), ("bb", "x"), ("a", "y"))]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["judge", file, "-j", "exact_match", "-o", tmp_path / "run"]
    shown = call(
        capsys, *command, "--slices=topic", "--gate-slices", "--fail-under=0.6", exit_code=1
    )
    assert "gate FAILED: exact_match, topic=x" in shown
    assert "gate passed: exact_match, topic=y" in shown
    assert "rejected by exact_match: 'bb' for 'a' to 'q'" in shown
    assert "next:\n  markscheme failures" in shown


def test_what_a_gate_names_of_answers_that_were_not_given(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "said.jsonl"
    said = ["Error code: 429 - {'error': 'busy'}", None, " "]
    rows = [{"question": f"q{n}", "references": ["a"], "answer": one} for n, one in enumerate(said)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["judge", file, "-j", "exact_match", "-q", "-o", tmp_path / "run"]
    shown = call(capsys, *command, "--fail-under", "0.5", exit_code=1)
    failed = "no answer for 'a' to 'q0': the call of the system failed: Error code: 429"
    assert f"skipped by exact_match: {failed}" in shown
    assert "rejected by exact_match: no answer for 'a' to 'q1': no answer was given" in shown
    assert "rejected by exact_match: '' for 'a' to 'q2': the answer is empty" in shown
    listed = call(capsys, "failures", tmp_path / "run", "--format", "json")
    modes = {one["question"]: one["mode"] for one in json.loads(listed)["rejected"]}
    assert modes == {"q0": "not_judged", "q1": "no_answer", "q2": "no_answer"}


def test_a_failed_gate_names_the_system_of_what_was_rejected(
    tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "said.jsonl"
    rows = [{"question": "q", "references": ["a"], "answer": answer, "system": system, "label": 1}
            for system, answer in (("good", "a"), ("bad", "bb"))]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["judge", file, "-j", "exact_match", "-q", "-o", tmp_path / "run"]
    shown = call(capsys, *command, "--fail-under", "0.5", exit_code=1)
    assert "gate passed: exact_match, (all)" in shown
    assert "rejected by exact_match, bad: 'bb' for 'a' to 'q'" in shown
    flat = " ".join(shown.split())
    assert "measures how far exact_match agrees with the 2 labels here" in flat
    assert "nothing says how far" not in flat


def test_a_failed_gate_names_what_its_own_judge_rejects(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "said.jsonl"
    said = {"good": ["it is x", "it is x", "it is x", "y"], "bad": ["it is x", "y", "z", "w"]}
    rows = [{"question": f"q{n}", "references": ["x"], "answer": answer, "system": system}
            for system, answers in said.items() for n, answer in enumerate(answers)]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["judge", file, "-j", "contains", "-j", "exact_match", "-q", "-o", tmp_path / "run"]
    shown = call(capsys, *command, "--fail-under", "0.45", exit_code=1)
    assert "gate passed: contains, good" in shown
    assert "gate FAILED: contains, bad" in shown
    assert "gate FAILED: exact_match, (all)" in shown
    assert shown.count("rejected by contains, bad") == 3
    assert "rejected by contains, good" not in shown
    assert "rejected by exact_match, good" in shown
    assert "and 6 more" in shown


def test_a_gate_is_wrapped_as_notes_are(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markscheme.cli.judge.notes.width", 80)
    file = tmp_path / "said.jsonl"
    row = {"question": "which " * 20, "references": ["a " * 40], "answer": "b " * 40}
    file.write_text(json.dumps(row) + "\n")
    command = ["judge", file, "-j", "exact_match", "-q", "-o", "run", "--fail-under", "0.5"]
    monkeypatch.chdir(tmp_path)
    shown = call(capsys, *command, exit_code=1)
    lines = shown.splitlines()
    gate = lines[next(n for n, line in enumerate(lines) if line.startswith("gate FAILED")) :]
    assert any(line.startswith("rejected by exact_match") for line in gate)
    assert max(map(len, gate)) <= 80


def test_unsure_is_what_the_judge_calls_so(tmp_path: Path) -> None:
    said = {"question": "q", "references": ["a"], "answer": "b", "verdict": True, "judge": "j"}
    rows = [
        said | {"question": "1", "score": 0.68, "explanation": "equivalent (0.68, unsure): why"},
        said | {"question": "2", "score": 0.55, "explanation": "equivalent (0.55): why"},
    ]
    own = markscheme.failures([row | {"scope": "inside"} for row in rows], rejected=True)
    assert own.frame.select("question", "outcome").rows() == [("1", "unsure")]
    near = markscheme.failures(rows[1:], rejected=True)
    assert near.frame.select("question", "outcome").rows() == [("2", "unsure")]
    listing = near.tables[-1]
    assert listing.rows[0][listing.header.index("mode")] == "accepted, but unsure: choice"


def test_unsure_is_near_the_threshold_from_which_scores_are_accepted() -> None:
    said = {"references": ["a"], "answer": "b", "judge": "rubric"}
    rows: list[dict[str, Any]] = [said | {"question": str(n), "score": n / 20} for n in range(20)]
    listed = markscheme.failures(rows, rejected=True, threshold=0.8).frame
    unsure = listed.filter(pl.col("outcome") == "unsure")["score"].to_list()
    assert unsure == [0.8, 0.85, 0.9]
    wrong = [row | {"label": row["score"] < 0.8} for row in rows]  # none is as people say
    errors = markscheme.failures(wrong, judge_errors=True, threshold=0.8).judge_errors
    assert errors is not None
    near = errors.filter(pl.col("category") == "threshold_sensitivity")
    assert near["score"].to_list() == [0.75, 0.8, 0.85, 0.9]
    assert near["evidence"][0] == "the score 0.75 is near 0.8"


def test_without_labels_it_says_what_to_give(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"question": "q", "references": ["a"], "answer": "b"}\n')
    assert "--labels" in call(capsys, "failures", file, exit_code=2)


@pytest.mark.parametrize("option", ["--tags", "--to-tag", "--tags=errors.csv"])
def test_tags_by_hand_are_a_command_of_research(option: str, capsys: Captured) -> None:
    told = call(capsys, "failures", "run", option, exit_code=2)
    assert f"{option.partition('=')[0]}' is 'markscheme research tags' now" in told


def test_judgments_of_another_tool_are_read_by_its_names(tmp_path: Path, capsys: Captured) -> None:
    judged, apart = tmp_path / "judged.csv", tmp_path / "apart.csv"
    judged.write_text(
        "nr,frage,antwort,gold,who,ok\n1,Who wrote Emma?,Austen,Jane Austen,tool,yes\n"
        "2,Capital of Peru?,Quito,Lima,tool,no\n"
    )
    apart.write_text("nr,who,ok\n1,tool,yes\n2,tool,no\n")
    answers = tmp_path / "answers.jsonl"
    write_table(
        pl.DataFrame(
            {
                "answer_id": ["1", "2"],
                "question": ["Who wrote Emma?", "Capital of Peru?"],
                "references": [["Jane Austen"], ["Lima"]],
                "answer": ["Austen", "Quito"],
            }
        ),
        answers,
    )
    ours = "answer_id=nr,judge=who,verdict=ok"
    columns = f"{ours},question=frage,answer=antwort,references=gold"
    # The column of verdicts is called like labels, and holds none.
    assert "Rejected answers" in call(capsys, "failures", judged, "--columns", columns)
    shown = call(capsys, "failures", apart, "--answers", answers, "--columns", ours)
    assert "Rejected answers" in shown
    assert "Quito" in shown
    labels = tmp_path / "labels.csv"
    labels.write_text("nr,human\n1,1\n2,1\n")
    words = ("--answers", answers, "--labels", labels, "--columns", f"{ours},label=human")
    assert "rejects 'Quito'" in call(capsys, "failures", apart, *words)
