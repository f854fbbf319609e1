"""Fuzz targets: a function of bytes for every reader of files and every parser of replies.

A target returns where its input was read or refused with a `MarkschemeError`, and raises anything
else. Each is fit for atheris as it stands:

    atheris.Setup(sys.argv, TARGETS["jsonl"].fuzz_one); atheris.Fuzz()
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import zstandard

from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.engine.execute import apply
from markscheme.errors import MarkschemeError
from markscheme.judges.combined.calibrated import Calibrated
from markscheme.judges.entailment import read_statement
from markscheme.judges.entailment.inference_marks import Steps, read_steps
from markscheme.judges.listwise.replies import read_rank, read_ten
from markscheme.judges.prompted import PAIR
from markscheme.judges.prompted.examples import read_examples
from markscheme.judges.prompted.prompt import load_prompt
from markscheme.models.chat.profiles import read_models
from markscheme.models.ledger.exchange import read_export
from markscheme.models.sources import Models
from markscheme.tables import read_table
from markscheme.tables.answers import AnswersReader, ReadOptions, read_answers
from markscheme.tables.judgment_files import load_judgments
from markscheme.tables.labels import load_labels
from markscheme.tables.read_options import Format
from markscheme.text.replies.entailment import LABELS, NOT_ENTAILMENT, read_entailment
from markscheme.text.replies.grades import RELATIONS, read_grade, read_score
from markscheme.text.replies.reply import Reading
from markscheme.text.replies.verdicts import read_yes_no

FOLDER = Path(tempfile.mkdtemp(prefix="markscheme-fuzz-"))


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is fuzzed, and good inputs to start from."""

    fuzz_one: Callable[[bytes], None]
    seeds: Sequence[bytes]


# --- readers ----------------------------------------------------------------------------------

RECORDS: list[dict[str, Any]] = [
    {"question": "Who wrote Emma?", "references": ["Jane Austen", "Austen"], "answer": "J. Austen",
     "system": "a", "label": 1, "annotator_labels": [1, None, 0], "id": "1"},
    {"question": "¿Cuántos años?", "references": ["42", "forty-two"], "answer": None, "system": "b",
     "label": "no", "reference_grades": [3, 1], "id": "2"},
    {"question": "Where?", "references": "Paris | Lyon", "answer": 'He said "x",\nthen left',
     "system": "a", "label": 0.5, "id": "three", "context": "e\u0301 \U0001f469\u200d\U0001f680"},
]  # fmt: skip
LINES = b"\n".join(orjson.dumps(record) for record in RECORDS) + b"\n"
PLAIN = b'{"question":"q","gold":"a","answer":"a"}\n{"question":"r","gold":"b","answer":"b"}\n'
CSV = (
    b"question,gold,answer,system,label\r\n"
    b'Who?,"[""Ann"", ""Bo""]",Ann,s1,yes\r\n'
    b'"What, then?",a | b,"two\nlines",s2,0\r\n'
    b"Where?,Paris,,s1,\r\n"
)


def _parquet(**options: Any) -> bytes:
    table = pl.DataFrame(
        {
            "question": ["Who?", "Where?", "What?"] * 4,
            "references": [["Ann"], ["Paris", "Lyon"], [""]] * 4,
            "answer": ["Ann", None, "é" * 50] * 4,
            "label": [1.0, 0.0, None] * 4,
        }
    )
    target = io.BytesIO()
    table.write_parquet(target, **options)
    return target.getvalue()


def _file(data: bytes, name: str) -> Path:
    path = FOLDER / name
    path.write_bytes(data)
    return path


def _read(path: Path, format: Format | None = None) -> tuple[int, int]:
    """Rows of a file as answers, and rows left out, in batches small enough that there are several.

    A row whose label cannot be read is no row left out.
    """
    options = ReadOptions(input_format=format, on_bad_row="skip", batch_rows=2, max_bytes=50_000)
    reader = AnswersReader([path], options)
    rows = sum(batch.height for batch in reader)
    assert rows == reader.met.rows
    return rows, sum(not one.kept for one in reader.met.problems)


def _answers(name: str, format: Format, rows_in: Callable[[bytes], int]) -> Callable[..., None]:
    """A reader of answers that must account for every row there is."""

    def fuzz_one(data: bytes) -> None:
        try:
            rows, problems = _read(_file(data, name), format)
        except MarkschemeError:
            return
        assert rows + problems == rows_in(data), f"{rows} rows, {problems} problems"

    return fuzz_one


def _lines_in(data: bytes) -> int:
    """Lines that hold something; of files set one behind another, each has its own mark."""
    return sum(bool(line.removeprefix(b"\xef\xbb\xbf").strip()) for line in data.split(b"\n"))


def _documents_in(data: bytes) -> int:
    document = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    if isinstance(document, list):
        return len(document)
    lists = [value for value in document.values() if isinstance(value, list) and value]
    return next((len(rows) for rows in lists if isinstance(rows[0], dict)), 1)


def _rows_in(separator: str) -> Callable[[bytes], int]:
    def count(data: bytes) -> int:
        text = data.decode("utf-8-sig", "surrogateescape")
        first = text.split("\n", 1)[0]
        mark = ";" if separator == "," and ";" in first and "," not in first else separator
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
        filled = [row for row in rows[1:] if any(map(str.strip, row))]
        # A header that stands again is no row: files were put together.
        return sum(row != rows[0] or len(row) < 2 for row in filled)

    return count


def _parquet_rows(data: bytes) -> int:
    return pl.read_parquet(io.BytesIO(data)).height


def _any_file(data: bytes) -> None:
    """A file whose name says nothing: its format and compression are found out."""
    try:
        _read(_file(data, "fuzz"))
    except MarkschemeError:
        return


def _compressed(data: bytes) -> None:
    try:
        _read(_file(data, "fuzz.jsonl.gz"))
    except MarkschemeError:
        return


def _reads(read: Callable[[str], Any], name: str) -> Callable[[bytes], None]:
    """A reader that only has to give something or refuse with an error of ours."""

    def fuzz_one(data: bytes) -> None:
        try:
            found = read(str(_file(data, name)))
            if not isinstance(found, pl.DataFrame | dict) and isinstance(found, Iterable):
                list(found)
        except MarkschemeError:
            return

    return fuzz_one


def _calibrated(path: str) -> pl.DataFrame:
    """Judgments by a judge whose scores go through the map in a file."""
    judge = Calibrated(base=parse_judge("token_f1"), map=path)
    return apply(judge, ANSWERS, Models())


def _table(name: str, rows_in: Callable[[bytes], int]) -> Callable[[bytes], None]:
    def fuzz_one(data: bytes) -> None:
        try:
            height = read_table(_file(data, name)).height
        except MarkschemeError:
            return
        assert height == rows_in(data)

    return fuzz_one


# --- replies ----------------------------------------------------------------------------------


def _text(data: bytes) -> str:
    """Bytes as a reply: lone surrogates stay, as JSON escapes can bring them in."""
    return data.decode("utf-8", "surrogateescape")


def _reply(read: Callable[..., Any], **more: Any) -> Callable[[bytes], None]:
    """A parser of replies: no exception at all, and nothing read unless it was judged."""

    def fuzz_one(data: bytes) -> None:
        for finished in (True, False):
            found = read(_text(data), finished=finished, **more)
            if isinstance(found, Steps):
                assert 0 < found.steps < 1_000_000
            else:
                _check(found)

    return fuzz_one


def _check(found: Reading) -> None:
    values = (found.verdict, found.score, found.relation, found.marks)
    assert found.reason or found.status == "judged"
    if found.status != "judged":
        assert values == (None, None, None, None)
        return
    for value in (found.score, found.marks):
        assert value is None or (math.isfinite(value) and 0 <= value <= 1), value
    assert found.relation in (None, *RELATIONS, *LABELS, NOT_ENTAILMENT)


def _judge(data: bytes) -> None:
    try:
        judge = parse_judge(data.decode("utf-8", "surrogateescape"))
    except MarkschemeError:
        return
    assert parse_judge(judge_name(judge)) == judge


REPLIES = [
    b"Yes", b"No.", b"**No**, the candidate is correct.", b"Verdict: yes\nBecause 5 of 5.",
    b'```json\n{"verdict": "yes", "relation": "superior", "marks": 0.75, "reason": "r", '
    b'"supported_claims": ["x"], "unattributable_claims": ["y"]}\n```',
    b"<think>Hmm, no.</think>\n\n[[yes]]", b"I cannot determine that.", b"Score: 4/5", b"3-4",
    b'{"score": 4}', b"Rank: 2 of 4, better than Reference 3", b"[[2]]", b"second place", b"6/10",
    b"The winner is B. [[B]]", b"Answer A is much better", b"It is a tie.", b"inferior",
    b"Relation: equivalent", b"entailment", b"The premise does not entail the hypothesis.",
    b'{"label": "contradiction"}', b"neutral, or contradiction", "是的，正确。".encode(),
    b"1. Ann is a singer.\n2. Singers sing. [[INFO]]\n3. So Ann sings. [[ASSUMPTION]]",
    b"S: Jane Austen wrote Emma.", b'The statement is:\n"Jane Austen wrote Emma."\nQ: Who? A: Bo',
    b"I'm sorry, but as an AI language model I can't help.",
]  # fmt: skip
JUDGES = [
    b"exact_match", b"token_f1(threshold=0.8)", b"panel(judges=[exact_match, contains], vote=any)",
    b"cascade(first=contains, then=llm_kamalloo(model='m', temperature=0.5))",
    b"char_similarity(measure=\"ratio\", threshold=0.9)", b"llm(prompt='p.toml')",
    b"calibrated(judge=token_f1, map='map.json')", b"entailment(marks=off)",
    b"regex(ignore_case=true)",
]  # fmt: skip

# --- other files ------------------------------------------------------------------------------

LABELS_CSV = b"answer_id,label,annotator1,annotator2\n1,yes,1,0\n2,0,,1\n3,0.5,yes,no\n"
JUDGED = (
    b'{"answer_id":"1","judge":"j","status":"judged","score":0.5,"verdict":true}\n'
    b'{"answer_id":"2","judge":"j","status":"failed","score":null,"verdict":null}\n'
)
WIDE = b"question,answer,a,b\nq,x,0.5,yes\nr,y,1,no\n"
SHOTS = b'{"question":"q","references":["a","b"],"answer":"c","rank":2}\n'
EXAMPLES = b'{"question":"q","references":["a"],"answer":"a","label":1}\n'
LISTS = (
    b'{"question":"q","references":["a","b"],"reference_grades":[3,1],"status":"ok","version":1}\n'
)
MAP = (
    b'{"markscheme_calibration":1,"kind":"isotonic","judge":"j","answers":30,"slope":0.0,'
    b'"intercept":0.0,"scores":[0.1,0.9],"probabilities":[0.2,0.8]}'
)
PLATT = MAP.replace(b"isotonic", b"platt").replace(b'"slope":0.0', b'"slope":2.5')
ANSWERS = read_answers(
    [{"question": "q", "references": ["a b"], "answer": text} for text in ("a b", "a", "c")]
)
PRICES = b'["gpt-x"]\ninput = 1.5\noutput = 2\n'
PROMPT = (
    b'summary = "s"\nparser = "yes_no"\nuser = "Q: {{ question }} {% for r in references %}{{ r }}'
    b'{% endfor %}"\nsystem = "be brief"\n[sampling]\ntemperature = 0.0\nmax_tokens = 8\n'
)
EXPORT = (
    b'{"key":"k","model":"m","revision":"r","request":{"messages":[{"role":"user","content":"x"}],'
    b'"max_tokens":8,"temperature":0.0},"reply":{"status":"ok","text":"Yes"}}\n'
)


def _packed() -> list[bytes]:
    zstd = zstandard.ZstdCompressor()
    return [
        gzip.compress(LINES, mtime=0), bz2.compress(LINES), lzma.compress(LINES),
        zstd.compress(LINES), zstd.compress(PLAIN) + zstd.compress(PLAIN), LINES,
    ]  # fmt: skip


DOCUMENT = orjson.dumps(RECORDS)
PARQUETS = [
    _parquet(),
    _parquet(compression="snappy", statistics=False),
    _parquet(row_group_size=4),
]
TSV = b'question\tgold\tanswer\nq\ta\tb\nr\tb | c\t"b"\n'


def _of_research() -> dict[str, Target]:
    """What the research package reads, where it is installed."""
    try:
        from markscheme_research.lists.written_lists import read_lists
    except ModuleNotFoundError:
        return {}
    return {"reference lists": Target(fuzz_one=_reads(read_lists, "l.jsonl"), seeds=[LISTS * 2])}


TARGETS: dict[str, Target] = {
    "jsonl": Target(fuzz_one=_answers("f.jsonl", "jsonl", _lines_in), seeds=[LINES, PLAIN]),
    "json": Target(
        fuzz_one=_answers("f.json", "json", _documents_in),
        seeds=[DOCUMENT, b'{"version": 1, "data": ' + DOCUMENT + b"}", b"[" + PLAIN[:40] + b"]"],
    ),
    "csv": Target(
        fuzz_one=_answers("f.csv", "csv", _rows_in(",")), seeds=[CSV, CSV.replace(b",", b";")]
    ),
    "tsv": Target(fuzz_one=_answers("f.tsv", "tsv", _rows_in("\t")), seeds=[TSV]),
    "parquet": Target(fuzz_one=_answers("f.parquet", "parquet", _parquet_rows), seeds=PARQUETS),
    "compressed": Target(fuzz_one=_compressed, seeds=_packed()),
    "unnamed file": Target(
        fuzz_one=_any_file, seeds=[LINES, DOCUMENT, CSV, TSV, *PARQUETS, *_packed()]
    ),
    "table of jsonl": Target(fuzz_one=_table("t.jsonl", _lines_in), seeds=[LINES, PLAIN, JUDGED]),
    "table of csv": Target(fuzz_one=_table("t.csv", _rows_in(",")), seeds=[LABELS_CSV, WIDE]),
    "labels": Target(fuzz_one=_reads(load_labels, "labels"), seeds=[LABELS_CSV, LINES]),
    "judgments": Target(fuzz_one=_reads(load_judgments, "judged"), seeds=[JUDGED, WIDE]),
    "calibrated": Target(fuzz_one=_reads(_calibrated, "map.json"), seeds=[MAP, PLATT]),
    "prices": Target(
        fuzz_one=_reads(lambda path: read_models(Path(path)), "p.toml"), seeds=[PRICES]
    ),
    "prompt": Target(fuzz_one=_reads(load_prompt, "p.toml"), seeds=[PROMPT]),
    "ledger export": Target(
        fuzz_one=_reads(lambda path: read_export(Path(path)), "e.jsonl"), seeds=[EXPORT]
    ),
    "listwise shots": Target(
        fuzz_one=_reads(lambda path: read_examples(path, "rank"), "s.jsonl"),
        seeds=[SHOTS * 2],
    ),
    "solved examples": Target(fuzz_one=_reads(read_examples, "x.jsonl"), seeds=[EXAMPLES * 2]),
    **_of_research(),
    "judge's name": Target(fuzz_one=_judge, seeds=JUDGES),
    "yes or no": Target(fuzz_one=_reply(read_yes_no), seeds=REPLIES),
    "yes or no, last": Target(fuzz_one=_reply(read_yes_no, verdict_last=True), seeds=REPLIES),
    "score": Target(fuzz_one=_reply(read_score), seeds=REPLIES),
    "grade": Target(fuzz_one=_reply(read_grade), seeds=REPLIES),
    "entailment": Target(fuzz_one=_reply(read_entailment), seeds=REPLIES),
    "statement": Target(
        fuzz_one=_reply(read_statement, question="Who wrote Emma?", answer="Jane Austen"),
        seeds=REPLIES,
    ),
    "ten": Target(fuzz_one=_reply(read_ten), seeds=REPLIES),
    "pair": Target(fuzz_one=_reply(PAIR), seeds=REPLIES),
    "rank": Target(fuzz_one=_reply(read_rank, references=3), seeds=REPLIES),
    "steps": Target(fuzz_one=_reply(read_steps), seeds=REPLIES),
}
