"""What holds for any text: files are read back as written, replies and names break nothing."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.errors import MarkschemeError
from markscheme.judges.entailment import read_statement
from markscheme.judges.entailment.inference_marks import Steps, read_steps
from markscheme.judges.listwise.replies import read_rank, read_ten
from markscheme.judges.prompted import PAIR
from markscheme.tables.answers import ReadOptions, read_answers, write_answers
from markscheme.text.replies.entailment import read_entailment
from markscheme.text.replies.grades import read_grade, read_score
from markscheme.text.replies.reply import shortened
from markscheme.text.replies.verdicts import read_yes_no

bounded = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

TEXT = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\x00\x1e\x1f"), max_size=60
)
SAID = TEXT.filter(lambda text: bool(text.strip()))
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "question": SAID,
            "references": st.lists(SAID, min_size=1, max_size=3),
            "answer": st.none() | TEXT,
            "system": st.sampled_from(["a", "b"]),
        }
    ),
    min_size=1,
    max_size=8,
)
KEPT = ["question", "references", "answer", "system"]
PACKERS = {
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}  # fmt: skip


def table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={name: SCHEMA[name] for name in KEPT})


SCHEMA = {
    "question": pl.String, "references": pl.List(pl.String), "answer": pl.String,
    "system": pl.String,
}  # fmt: skip


def packed_lines(rows: list[dict[str, Any]], *, ascii: bool) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in rows).encode()


@bounded
@given(
    rows=ROWS, ascii=st.booleans(), ending=st.sampled_from(sorted(PACKERS)), size=st.integers(1, 9)
)
def test_lines_are_read_as_written(
    tmp_path: Path, rows: list[dict[str, Any]], ascii: bool, ending: str, size: int
) -> None:
    """Escaped or not, packed or not, in batches of any size."""
    path = tmp_path / f"a.jsonl{ending}"
    path.write_bytes(PACKERS[ending](packed_lines(rows, ascii=ascii)))
    got = read_answers(path, ReadOptions(batch_rows=size, columns={"answer_id": "none"}))
    assert got.select(KEPT).equals(table(rows))
    assert got["answer_id"].n_unique() == got.height


@bounded
@given(rows=ROWS)
def test_documents_are_read_as_written(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    path = tmp_path / "a.json"
    for document in (rows, {"version": "1", "data": rows}):
        path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        assert read_answers(path).select(KEPT).equals(table(rows))


@bounded
@given(rows=ROWS, mark=st.sampled_from([",", "\t"]), end=st.sampled_from(["\n", "\r\n"]))
def test_delimited_rows_are_read_as_written(
    tmp_path: Path, rows: list[dict[str, Any]], mark: str, end: str
) -> None:
    """Quotes, separators and line ends inside fields included."""
    content = io.StringIO(newline="")
    writer = csv.writer(content, delimiter=mark, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(KEPT)
    for row in rows:
        writer.writerow(
            [row["question"], json.dumps(row["references"]), row["answer"] or "", row["system"]]
        )
    path = tmp_path / ("a.csv" if mark == "," else "a.tsv")
    path.write_bytes(content.getvalue().encode())
    got = read_answers(path).select(KEPT)
    assert got.with_columns(pl.col("answer").replace("", None)).equals(
        table(rows).with_columns(pl.col("answer").replace("", None))
    )


@bounded
@given(rows=ROWS, ending=st.sampled_from([".parquet", ".jsonl", ".csv", ".tsv"]))
def test_what_is_written_is_read_again(
    tmp_path: Path, rows: list[dict[str, Any]], ending: str
) -> None:
    answers = read_answers(rows)
    path = tmp_path / f"a{ending}"
    write_answers(answers, path)
    again = read_answers(path)
    same = ["answer_id", *KEPT]
    if ending in (".csv", ".tsv"):  # They have one way to say "" and "nothing".
        answers, again = (one.with_columns(answer=pl.col("answer").replace("", None))
                          for one in (answers, again))  # fmt: skip
    assert again.select(same).equals(answers.select(same))
    assert not list(tmp_path.glob("*.part"))


@bounded
@given(garbage=st.lists(st.binary(max_size=30), max_size=8), rows=ROWS)
def test_every_line_is_a_row_or_a_problem(
    tmp_path: Path, garbage: list[bytes], rows: list[dict[str, Any]]
) -> None:
    from markscheme.tables.answers import AnswersReader

    path = tmp_path / "a.jsonl"
    path.write_bytes(packed_lines(rows, ascii=True) + b"\n".join(garbage) + b"\n")
    reader = AnswersReader([path], ReadOptions(on_bad_row="skip", batch_rows=3))
    try:
        height = sum(batch.height for batch in reader)
    except MarkschemeError:
        return
    # Of files set one behind another, each has its own mark of byte order.
    lines = (line.removeprefix(b"\xef\xbb\xbf") for line in path.read_bytes().split(b"\n"))
    filled = [line for line in lines if line.strip()]
    assert height + len(reader.met.problems) == len(filled)


# --- names ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@bounded
@given(text=TEXT | st.text("()[]=,'\".-_ \ntruefalsnopi0123456789eE", max_size=60))
def test_any_text_is_a_judge_or_an_error_of_ours(text: str) -> None:
    try:
        judge = parse_judge(text)
    except MarkschemeError:
        return
    assert parse_judge(judge_name(judge)) == judge


@bounded
@given(
    threshold=st.floats(0, 1),
    inner=st.lists(st.sampled_from(["exact_match", "contains", "rougeL"]), min_size=2, unique=True),
    text=TEXT,
)
def test_parameters_read_back_whatever_they_are(
    threshold: float, inner: list[str], text: str
) -> None:
    from dataclasses import replace

    named: Any = parse_judge("llm_kamalloo")
    for judge in (
        parse_judge(f"token_f1(threshold={threshold!r})"),
        parse_judge(f"panel(judges=[{', '.join(inner)}])"),
        replace(named, model=text),
    ):
        try:
            again = parse_judge(judge_name(judge))
        except MarkschemeError:
            # A name of a model with signs that source text cannot hold.
            assert judge == replace(named, model=text)
            continue
        assert again == judge


# --- replies ----------------------------------------------------------------------------------

PARSERS: dict[str, Any] = {
    "yes_no": read_yes_no, "score": read_score, "grade": read_grade,
    "entailment": read_entailment, "ten": read_ten, "pair": PAIR, "steps": read_steps,
    "rank": lambda text, finished: read_rank(text, references=4, finished=finished),
    "statement": lambda text, finished: read_statement(
        text, question="Who?", answer="Ann", finished=finished
    ),
}  # fmt: skip
WORDS = st.sampled_from(
    ["yes", "no", "not", "Verdict:", "Score:", "Rank:", "[[", "]]", "4", "3.5", "entailment",
     "contradiction", "neutral", "superior", "inferior", "The answer is", "A", "B", "is better",
     "\n", "1.", "2.", "**", '{"verdict":', "}", "true", ",", "<think>", "</think>", "I cannot"]
)  # fmt: skip
REPLY = st.text(max_size=80) | st.lists(WORDS, max_size=14).map(" ".join)


@pytest.mark.parametrize("name", sorted(PARSERS))
@bounded
@given(reply=REPLY, finished=st.booleans())
def test_any_reply_is_read_or_said_to_be_unreadable(name: str, reply: str, finished: bool) -> None:
    """Bounded, deterministic, and without a figure unless it was judged."""
    found = PARSERS[name](reply, finished=finished)
    assert found == PARSERS[name](reply, finished=finished)
    if isinstance(found, Steps):
        assert found.steps > 0
        return
    figures = [found.score, found.marks]
    assert all(value is None or 0 <= value <= 1 for value in figures)
    if found.status != "judged":
        assert found.reason
        assert [found.verdict, found.relation, *figures] == [None] * 4


@bounded
@given(text=TEXT, times=st.integers(101, 5000), sign=st.sampled_from(list('*-_ \n"[.')))
def test_long_runs_of_signs_are_shortened_and_nothing_else(
    text: str, times: int, sign: str
) -> None:
    words = [word for word in text.split() if word.isalnum()]
    got = shortened(" ".join(words) + sign * times + "yes")
    assert got.replace(sign, " ").split()[: len(words)] == words
    assert len(got) <= len(" ".join(words)) + 103 + 100
    assert got.endswith("yes")
