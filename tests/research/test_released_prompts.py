"""Prompt files of the shape that LINKAGE's authors released, in words of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from markscheme.contract import ChatRequest
from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.engine.execute import apply
from markscheme.errors import DataError, JudgeError
from markscheme.models.chat import ScriptedChat
from markscheme.models.sources import Models
from markscheme.tables.answers import read_answers
from markscheme_research.datasets import dataset, fetch, load

FILES = {
    "LINKAGE.txt": 'Rank it; say \\"[[2]]\\" if 2nd.\nQuestion:{#question}\nReference answer '
    "list:{#ground}\nCandidate answer:{#candidate}\n",
    "pairwise_comparison.txt": 'Explain, then say \\"[[A]]\\", \\"[[B]]\\" or \\"[[C]]\\".\n'
    "[Question]:{#question}\n[A]:{#answer_a}\n[B]:{#answer_b}",
    "with_ref_point_score.txt": "From 0 to 10, as [[8]].\nQuestion:{#question}\nReference answer "
    "list:{#ground}\nCandidate answer:{#candidate}",
    "no_ref_point_score.txt": "From 0 to 10.\nQuestion:{#question}\nCandidate answer:{#candidate}",
}
ROW = {
    "question": "Why {#ground} {{ 7 * 7 }}?", "references": ["good 'one'", "poor"],
    "reference_grades": [2, 0], "answer": "It #question scatters. {% raw %}\\",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def asked(judge: str, *replies: str) -> tuple[dict[str, object], list[ChatRequest]]:
    turn = iter(replies)
    chat = ScriptedChat(replies=lambda _: next(turn))
    rows = apply(parse_judge(judge), read_answers([ROW]), Models(chat=chat))
    return rows.row(0, named=True), chat.seen


def test_listwise_sends_the_file_as_the_authors_do(folder: Path) -> None:
    row, seen = asked(f"listwise(prompt='{folder / 'LINKAGE.txt'}')", "Close to the best. [[2]]")
    assert (row["status"], row["score"]) == ("judged", 0.5)
    (request,) = seen
    assert [message.role for message in request.messages] == ["user"]
    assert request.last_user == (
        'Rank it; say \\"[[2]]\\" if 2nd.\nQuestion:{Why {#ground} {{ 7 * 7 }}?}\nReference answer '
        "list:{Answer 1:good 'one'\nAnswer 2:poor\n}\nCandidate answer:{It #question scatters. "
        "{% raw %}\\}"
    )
    assert request.max_tokens == 512


def test_a_rank_that_cannot_be_read_is_not_rank_2(folder: Path) -> None:
    row, seen = asked(f"listwise(prompt='{folder / 'LINKAGE.txt'}')", "Fine.", "Fine, too.")
    assert (row["status"], row["score"]) == ("unparsed", None)
    assert len(seen) == 2


def test_one_reference_has_a_rank_too(folder: Path) -> None:
    chat = ScriptedChat(replies=lambda _: "[[1]]")
    rows = read_answers([{**ROW, "references": ["a"], "reference_grades": [1]}])
    found = apply(parse_judge(f"listwise(prompt='{folder / 'LINKAGE.txt'}')"), rows,
                  Models(chat=chat))  # fmt: skip
    assert found["score"].to_list() == [1.0]


def test_pairwise_explains_first(folder: Path) -> None:
    name = f"pairwise(prompt='{folder / 'pairwise_comparison.txt'}', positions=answer_last)"
    row, seen = asked(name, "B is better in style. [[A]]", "Alike. [[C]]")
    assert row["explanation"] == "wins 0, ties 1, loses 1"
    assert seen[0].last_user.endswith("[A]:{good 'one'}\n[B]:{It #question scatters. {% raw %}\\}")


def test_pointwise_marks_from_0_to_10(folder: Path) -> None:
    shown = f"pointwise(prompt='{folder / 'with_ref_point_score.txt'}')"
    assert asked(shown, "Some errors. [[0]]")[0]["score"] == 0.0
    row, seen = asked(f"pointwise(prompt='{folder / 'no_ref_point_score.txt'}')", "[[8]]")
    assert row["score"] == pytest.approx(0.8)
    assert "good 'one'" not in seen[0].last_user
    assert asked("pointwise", "[[10]]")[0]["score"] == 1.0


@pytest.mark.parametrize(
    ("judge", "file", "why"),
    [
        ("listwise", "pairwise_comparison.txt", "has no {#candidate}"),
        ("pairwise", "LINKAGE.txt", "has no {#answer_a}"),
        ("pointwise", "nowhere.txt", "datasets fetch linkage-prompts"),
        ("listwise", "no_ref_point_score.txt", "has no {#ground}"),
    ],
)
def test_another_judges_file_is_refused(judge: str, file: str, why: str, folder: Path) -> None:
    with pytest.raises(JudgeError, match=why):
        parse_judge(f"{judge}(prompt='{folder / file}')")


def test_what_the_authors_text_cannot_say_is_refused(folder: Path) -> None:
    for more in ("order=shuffled", "examples='x.jsonl'"):
        with pytest.raises(JudgeError, match="authors' text"):
            parse_judge(f"listwise(prompt='{folder / 'LINKAGE.txt'}', {more})")
    (folder / "odd.txt").write_text(FILES["LINKAGE.txt"] + "{#system}")
    with pytest.raises(JudgeError, match=r"\{#system\}"):
        parse_judge(f"listwise(prompt='{folder / 'odd.txt'}')")


def test_another_text_is_another_judge(folder: Path) -> None:
    one = parse_judge(f"listwise(prompt='{folder / 'LINKAGE.txt'}')")
    assert parse_judge(judge_name(one)) == one
    first = one.identity(None)  # type: ignore[attr-defined]
    assert first != parse_judge("listwise").identity(None)  # type: ignore[attr-defined]


def test_the_catalogue_fetches_them_and_says_that_they_are_no_answers(folder: Path) -> None:
    entry = dataset("linkage-prompts")
    assert {*FILES, "create_multi_step_answer.txt"} == {file.name for file in entry.files}
    assert callable(fetch)
    (folder / "prompt").mkdir()
    for name in FILES:
        (folder / "prompt" / name).write_text(FILES[name])
    (folder / "prompt" / "create_multi_step_answer.txt").write_text("x")
    with pytest.raises(DataError, match="holds prompts, not answers"):
        load("linkage-prompts", data_dir=folder)
