"""Lists that models write, and examples that people's grades give."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import polars as pl
import pytest

from markscheme.cli import run
from markscheme.contract import ChatReply
from markscheme.errors import JudgeError
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.tables.answers import read_answers, write_table
from markscheme_research.datasets import load
from markscheme_research.lists.written_lists import (
    ANSWER,
    REWRITE,
    TECHNIQUES,
    VERSION,
    Graded,
    build_lists,
    read_lists,
    solved_examples,
    with_lists,
)

QUESTIONS = pl.DataFrame(
    {"question": ["Why is the sky blue?", "How do I boil an egg?"],
     "references": [["Air scatters blue light."], []]}
)  # fmt: skip


def writer(name: str) -> ScriptedChat:
    """A model that says its name and what it was told to do."""
    return ScriptedChat(replies=lambda text: f"{name}: {text.splitlines()[0][:60]}", name=name)


def test_a_golden_answer_is_written_anew_and_a_missing_one_written() -> None:
    chat = writer("one")
    table = build_lists(QUESTIONS, [chat])
    first, second = (request.last_user for request in chat.seen[:2])
    assert first.startswith(REWRITE)
    assert "Given answer: Air scatters blue light." in first
    assert second.startswith(ANSWER)
    assert "Given answer" not in second
    assert table["status"].to_list() == ["ok", "ok"]
    assert table["reference_grades"].to_list() == [[3, 2, 1, 0]] * 2
    for row in table.iter_rows(named=True):
        for grade, technique in zip(row["reference_grades"], row["techniques"], strict=True):
            assert technique == "best" if grade == 3 else TECHNIQUES[technique][0] == grade


def test_several_models_are_mixed_and_the_first_writes_the_best() -> None:
    chats = [writer(name) for name in ("one", "two", "three")]
    table = build_lists(QUESTIONS, chats, composition="33221100", seed=1)
    for row in table.iter_rows(named=True):
        assert row["models"][0] == "one"
        assert set(row["models"][1:]) == {"one", "two", "three"}
        for name, text in zip(row["models"], row["references"], strict=True):
            assert text.startswith(f"{name}:")
    again = build_lists(QUESTIONS, chats, composition="33221100", seed=1)
    assert again.equals(table)
    assert not build_lists(QUESTIONS, chats, composition="33221100", seed=2).equals(table)


def test_a_list_with_a_failed_reply_is_marked_and_never_half_used() -> None:
    failed = ChatReply(status="failed", error="the server is down")
    chat = ScriptedChat(replies=lambda text: failed if "egg" in text else f"fine: {text[:40]}")
    table = build_lists(QUESTIONS, [chat])
    assert table["status"].to_list() == ["ok", "the server is down"]
    assert table["references"].to_list()[1] == []


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I'm sorry, I can't help with that.", "declined"), ("  ", "empty"),
        ("How do I boil an egg?", "repeats the question"), ("The same text.", "two grades"),
        (ChatReply(status="ok", text="First you", finish_reason="length"), "cut off"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_asked_for_again_and_never_becomes_a_reference(
    reply: str | ChatReply, why: str
) -> None:
    good = "fine: {}".format
    chat = ScriptedChat(replies=lambda text: reply if "egg" in text else good(text[:40]))
    table = build_lists(QUESTIONS, [chat])
    assert table["status"][0] == "ok"
    assert why in table["status"][1]
    assert table["references"].to_list()[1] == []
    said: dict[str, int] = {}

    def second_time(text: str) -> str | ChatReply:
        said[text] = said.get(text, 0) + 1
        return reply if said[text] == 1 and "egg" in text else good(text[:40])

    if why != "two grades":
        assert build_lists(QUESTIONS, [ScriptedChat(replies=second_time)])["status"].to_list() == [
            "ok", "ok"
        ]  # fmt: skip


def test_a_list_of_nothing_replaces_no_reference() -> None:
    answers = read_answers([{"question": "Why?", "references": ["golden"], "answer": "So."}])
    nothing = Graded(question="Why?", references=(), grades=())
    table, missing = with_lists(answers, [nothing])
    assert (table["references"].to_list(), missing) == ([["golden"]], 1)


@pytest.mark.parametrize("composition", ["210", "", "4321", "3x"])
def test_a_composition_needs_a_best_answer(composition: str) -> None:
    with pytest.raises(JudgeError, match="composition"):
        build_lists(QUESTIONS, [writer("one")], composition=composition)


def test_examples_show_what_a_grade_is_and_never_a_question_to_write_for() -> None:
    other = Graded(question="Why do cats purr?", references=("well", "so-so"), grades=(3, 1))
    chat = writer("one")
    build_lists(QUESTIONS, [chat], examples=[other])
    shown = [request.last_user for request in chat.seen if "so-so" in request.last_user]
    assert len(shown) == 2  # One answer of grade 1 a question; others have no example.
    same = Graded(question="why is the sky blue", references=("a", "b"), grades=(3, 0))
    with pytest.raises(JudgeError, match="given away"):
        build_lists(QUESTIONS, [chat], examples=[same])


def test_lists_are_stored_versioned_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    table = build_lists(QUESTIONS, [writer("one")])
    table.write_ndjson(path)
    lists = read_lists(str(path))
    assert [list(one.references) for one in lists] == table["references"].to_list()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {row["version"] for row in rows} == {VERSION}
    path.write_text("".join(json.dumps({**row, "version": VERSION + 1}) + "\n" for row in rows))
    with pytest.raises(JudgeError, match="update markscheme"):
        read_lists(str(path))
    path.write_text('{"question": "Why?"}\n')
    with pytest.raises(JudgeError, match="references build"):
        read_lists(str(path))


def test_stored_lists_become_the_references_of_answers() -> None:
    answers = read_answers(
        [{"question": "Why is the sky blue ?", "references": ["x"], "answer": "Scattering."},
         {"question": "What is love?", "references": ["y"], "answer": "Baby."}]
    )  # fmt: skip
    lists = [Graded(question="Why is the sky blue?", references=("a", "b"), grades=(3, 0))]
    table, missing = with_lists(answers, lists)
    assert missing == 1
    assert table["references"].to_list() == [["a", "b"], ["y"]]
    assert table["reference_grades"].to_list() == [[3, 0], None]


def graded_file(folder: Path) -> Path:
    rows = [
        {"question": f"Why {number}?", "answer": f"answer {number} {grade} {copy}",
         "label": grade, "system": copy}
        for number in range(5) for grade in (3, 2, 1, 0) for copy in "ab"
    ]  # fmt: skip
    path = folder / "graded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_commands_draw_choose_and_apply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded = str(graded_file(tmp_path))
    drawn, shots = tmp_path / "drawn.jsonl", tmp_path / "shots.jsonl"
    assert run(["references", "draw", graded, "--out", str(drawn), "-c", "3210"]) == 0
    table = read_answers(str(drawn))
    assert table.height == 20
    assert table["reference_grades"].to_list() == [[3, 2, 1, 0]] * 20
    assert (table["answer"].str.slice(-1) == table["system"]).all()
    assert run(["references", "shots", graded, "--out", str(shots), "--count", "4"]) == 0
    chosen = [json.loads(line) for line in shots.read_text().splitlines()]
    assert sorted(shot["rank"] for shot in chosen) == [1, 2, 3, 4]
    assert len({shot["question"] for shot in chosen}) == 4
    for shot in chosen:
        grade = shot["answer"].split()[2]
        better = sum(text.split()[2] > grade for text in shot["references"])
        assert shot["rank"] == 1 + better
        assert shot["answer"] not in shot["references"]
    assert run(["references", "shots", graded, "--out", str(shots), "--apart", graded]) == 2
    assert "nothing to choose" in capsys.readouterr().err
    lists, bare = tmp_path / "lists.jsonl", tmp_path / "bare.jsonl"
    lists.write_text(
        json.dumps({"question": "Why?", "references": ["b", "a"], "reference_grades": [0, 3]})
    )
    bare.write_text('{"question": "why", "answer": "so"}\n')
    out = tmp_path / "ready.jsonl"
    assert run(["references", "apply", str(lists), str(bare), "--out", str(out)]) == 0
    assert read_answers(str(out))["references"].to_list() == [["a", "b"]]
    bare.write_text('{"question": "who", "answer": "so"}\n')
    assert run(["references", "apply", str(lists), str(bare), "--out", str(out)]) == 2


def test_lists_are_written_as_lines_that_are_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list in CSV was written after all calls, and could not be read."""
    graded = str(graded_file(tmp_path))
    assert run(["references", "build", graded, "--out", str(tmp_path / "lists.csv")]) == 2
    assert "endings are .jsonl, .ndjson, not '.csv'" in " ".join(capsys.readouterr().err.split())


def test_the_best_grade_of_webglm_is_3(data_dir: Path) -> None:
    answers = load("webglm", data_dir=data_dir)
    grades = answers.group_by("question").agg(pl.col("label").sort())["label"].to_list()
    ties = [each for each in grades if len(set(each)) < 3]
    assert len(ties) == 6
    assert all(3.0 in each and 1.0 not in each for each in ties)
    declined = answers.filter(pl.col("answer").str.starts_with("I'm sorry, but I cannot"))
    assert declined["label"].to_list() == [1.0]
    best = answers.filter(pl.col("reference_grades").list.first() == 3)
    assert best.height == answers.height


def test_reference_lists_are_written_by_several_models() -> None:
    chats = [
        ScriptedChat(replies=lambda text, name=name: f"{name} {crc32(text.encode())}", name=name)
        for name in ("one", "two")
    ]
    answers = read_answers([{"question": "Why?", "references": ["Because."], "answer": "x"}])
    built = build_lists(answers, chats, composition="33221100")
    row = built.row(0, named=True)
    assert row["status"] == "ok"
    assert row["reference_grades"] == [3, 3, 2, 2, 1, 1, 0, 0]
    assert set(row["models"]) == {"one", "two"}
    assert row["version"] == 1
    assert build_lists(answers, chats, composition="33221100").equals(built)
    deaf = [ScriptedChat(replies={})]
    assert build_lists(answers, deaf)["status"].to_list() != ["ok"]


def test_solved_examples_have_the_rank_of_their_grade() -> None:
    labelled = read_answers(
        [{"question": f"Why {grade}?", "answer": "x", "references": ["bad", "best", "fair", "good"],
          "reference_grades": [0, 3, 1, 2], "label": grade} for grade in range(4)]
    )  # fmt: skip
    ranks = {row["question"]: row["rank"] for row in solved_examples(labelled, count=4).to_dicts()}
    assert ranks == {"Why 3?": 1, "Why 2?": 2, "Why 1?": 3, "Why 0?": 4}


def test_the_folder_of_what_is_written_is_made(tmp_path: Path) -> None:
    """Lists that a model had written were lost, for want of a folder."""
    out = tmp_path / "new" / "folder" / "drawn.jsonl"
    assert run(["references", "draw", str(graded_file(tmp_path)), "--out", str(out)]) == 0
    assert read_answers(str(out)).height == 20


def test_answers_without_a_list_do_not_become_questions_without_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty list of references says that declining is right, which nobody said."""
    lists, bare = tmp_path / "lists.jsonl", tmp_path / "bare.jsonl"
    lists.write_text('{"question": "Why?", "references": ["b"], "reference_grades": [3]}\n')
    rows = ({"question": name, "answer": "I do not know."} for name in ("Why?", "Who?"))
    bare.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "ready.jsonl"
    assert run(["references", "apply", str(lists), str(bare), "--out", str(out)]) == 0
    judge = ["judge", str(out), "-j", "exact_match", "-o", str(tmp_path / "run"), "-q"]
    assert run(judge) == 2
    assert "no references" in capsys.readouterr().err


def test_a_line_separator_in_a_written_reference_ends_no_line(tmp_path: Path) -> None:
    chat = ScriptedChat(replies=lambda text: f"One.\u2028Two: {text.splitlines()[0][:60]}")
    path = tmp_path / "lists.jsonl"
    write_table(build_lists(QUESTIONS, [chat]), path)
    assert [one.question for one in read_lists(str(path))] == QUESTIONS["question"].to_list()
