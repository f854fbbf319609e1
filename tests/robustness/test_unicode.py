"""Scripts, marks and signs that text handling stumbles over, through a whole run and back."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.contract.registry import judges
from markscheme.errors import BadRowsError
from markscheme.tables.answers import ReadOptions, read_answers
from with_research import cases

TORTURE = {
    "combining marks": "Z\u0351\u036b\u0343a\u030a\u0301\u0328l\u0334go",
    "right to left": "القاهرة عاصمة مصر",
    "overrides": "\u202eabc\u202c \u2066def\u2069",
    "zero width": "Pa\u200bri\u200cs\u200d \ufeff\u2060",
    "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308",
    "flags": "\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea\U0001f1eb",
    "no letters": "\u0301\u0301\u0301",
    "dotless": "İıIiŞşſẞß",
    "digits": "١٢٣ १२३ 一二三 Ⅷ ① ½ ²",
    "planes": "\U00020bb7野家 \U0001d4d0\U0001d7d8 \U000e0041\U0010fffd",
    "spaces": "a\u00a0b\u2003c\u3000d\u2028e\u2029f\u0085g",
    "controls": "a\x01b\x1bc\x7fd\x1e\x1f",
    "ligatures": "ﬃ ĳ ŉ ǆ ﷺ",
    "joined script": "क्षत्रिय ကြွယ် กำลัง",
}


def rows() -> list[dict[str, object]]:
    return [
        {"question": f"What is {text}?", "references": [text, "no"], "answer": text, "id": name}
        for name, text in TORTURE.items()
    ]


def test_it_comes_back_unchanged_from_every_kind_of_file(tmp_path: Path) -> None:
    from markscheme.tables.answers import write_answers

    answers = read_answers(rows())
    for ending in ("jsonl", "csv", "tsv", "parquet"):
        write_answers(answers, tmp_path / f"a.{ending}")
        again = read_answers(tmp_path / f"a.{ending}")
        same = ["answer_id", "question", "references", "answer"]
        assert again.select(same).equals(answers.select(same)), ending


def test_a_whole_run_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "torture.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    result = markscheme.judge(path, ["exact_match", "token_f1"], out=tmp_path / "run")
    kept = pl.read_parquet(tmp_path / "run" / "answers.parquet")
    assert dict(kept.select("answer_id", "answer").iter_rows()) == TORTURE
    counts = result.judgments.group_by("judge").len()
    assert counts["len"].to_list() == [len(TORTURE)] * 2


def verdicts_of_both_forms(name: str) -> list[bool | None]:
    """Verdicts on NFC and NFD of one text against both."""
    rows = [
        {"question": "Which city?", "references": [unicodedata.normalize(one, "São Tomé")],
         "answer": unicodedata.normalize(other, "São Tomé")}
        for one in ("NFC", "NFD") for other in ("NFC", "NFD")
    ]  # fmt: skip
    return markscheme.judge(rows, judges()[name].example).judgments["verdict"].to_list()


@pytest.mark.parametrize(
    "name", cases(["claims", "embedding_cosine", "entailment", "examiner"], "claims")
)
def test_composed_and_decomposed_are_the_same_answer(name: str) -> None:
    assert verdicts_of_both_forms(name) == [True] * 4


def test_lexical_judges_compare_as_their_papers_scripts_do() -> None:
    """SQuAD's script does not compose marks, and figures are to be those of the script."""
    assert verdicts_of_both_forms("exact_match") == [True, False, False, True]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (rb'{"question":"q","gold":"a","answer":"\ud800"}', "not valid JSON"),
        (rb'{"question":"q","gold":"\udc00\ud800","answer":"a"}', "not valid JSON"),
        (rb'{"question":"q","gold":"a","answer":"\u0000"}', "NUL"),
        (b'{"question":"q","gold":"a","answer":"\xed\xa0\x80"}', "not valid JSON"),
        (b'{"question":"q","gold":"a","answer":"\xff"}', "not valid JSON"),
    ],
)
def test_what_is_no_text_is_named_by_its_line(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"question":"q","gold":"a","answer":"a"}\n' + line + b"\n")
    with pytest.raises(BadRowsError, match=f"line 2: .*{message}"):
        read_answers(path)


def test_lone_surrogates_out_of_other_tools_are_named_by_their_row() -> None:
    """Python's own JSON reader lets them through."""
    rows = [{"question": "q", "references": ["a"], "answer": one} for one in ("a", "b\ud83d", "c")]
    with pytest.raises(BadRowsError, match=r"row 2: .*lone surrogate \(U\+D83D\)"):
        read_answers(rows)
    assert read_answers(rows, ReadOptions(on_bad_row="skip"))["answer"].to_list() == ["a", "c"]
