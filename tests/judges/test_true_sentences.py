"""No printed explanation says of words that they are where they are not, by another reading.

The reading here is plain: words as they are spelled but for case and accents, contractions written
out. Where a sentence adds "or what is read as the same" it claims no spelling, and none is checked.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from markscheme.judges.examiner import Examiner
from markscheme.models import Models
from markscheme.text import STOP

WRITTEN = Path(__file__).parents[2] / "recipes" / "training-data"
READ = r"(?P<read>, or what is read as the same,?)?"
CLAIMS = {
    "is": r"the answer is the reference",
    "contains": rf"the answer contains the reference{READ}",
    "characters": r"the answer has the characters of the reference in a row",
    "words": rf"the words of the reference{READ} are in the answer(?P<asked> or the question)?"
    r"(, but for '(?P<but>[^;]*)')?",
    "alike": r"it has the words of the reference or words spelled much like them",
    "part": rf"of the reference it has '(?P<has>.*?)'{READ} but not '(?P<lacks>.*?)'",
    "small": r"only small words of the reference, such as '(?P<small>.*?)', are in the answer",
    "none": r"no word of the reference is in the answer",
    "empty": r"the answer (is empty|has no words)|nothing else is in the answer",
}
"""Every sentence about which words are where, the quoted reference taken out."""


def plain(text: str) -> list[str]:
    """The words of a text."""
    apart = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    text = "".join(char for char in apart if not unicodedata.combining(char))
    text = re.sub(r"\bcan't\b|\bcannot\b", "can not", text)
    text = re.sub(r"\bwon't\b", "will not", text).replace("n't", " not")
    text = re.sub(r"'(s|re|ve|ll|m)\b", lambda hit: f" {LONG.get(hit[1], hit[1])}", text)
    words = re.findall(r"\d+(?:[.,]\d+)+|\w+", text)
    return [word for word in words if word not in ("a", "an", "the")]


LONG = {"s": "is", "re": "are", "ve": "have", "ll": "will", "m": "am"}


def untrue(row: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The claim of an explanation about words, with those of which it is not true."""
    sentence, reference = row["explanation"], ""
    for one in row["references"]:
        line = " ".join(one.split())
        quoted = f"the reference '{line if len(line) <= 60 else line[:59] + '…'}'"
        if quoted in sentence:
            sentence, reference = sentence.replace(quoted, "the reference"), one
            break
    if not reference and "the reference '" in sentence:
        return  # written out (don't: do not), or the reason of a "No, ..."
    for name, pattern in CLAIMS.items():
        if (claim := re.search(pattern, sentence)) is None:
            continue
        said, of_question = set(plain(row["answer"])), set(plain(row["question"]))
        words = plain(reference)
        got = claim.groupdict()
        marker = "speaks to the marker" in sentence
        if name == "empty":
            yield name, [] if marker else re.findall(r"[^\W_]+", row["answer"])
        elif got.get("read") or marker:
            yield f"{name}, read", []
        elif name == "characters":
            part, whole = ("".join(plain(text)) for text in (reference, row["answer"]))
            yield name, [] if part in whole else [part]
        elif name == "alike":
            yield name, []
        elif name == "words":
            there = said | set(plain(got["but"] or "")) | (of_question if got["asked"] else set())
            yield name, [word for word in words if word not in there]
        elif name == "part":
            wrong = [word for word in plain(got["lacks"]) if word in said]
            yield name, [*(word for word in plain(got["has"]) if word not in said), *wrong]
        elif name in ("none", "small"):
            yield name, [word for word in words if word in said and word not in STOP]
        else:
            extra = said - set(words) if name == "is" and "\\" not in row["answer"] else ()
            yield name, [*(word for word in words if word not in said), *extra]
        return
    raise AssertionError(f"a sentence about no words: {row['explanation']}")


def judged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    table = pl.DataFrame(rows, schema={"question": pl.String, "references": pl.List(pl.String),
                                       "answer": pl.String})  # fmt: skip
    found = Examiner(depth="fast").judge(table, Models())
    return table.hstack(found.select("status", "explanation", "verdict")).to_dicts()


def check(rows: list[dict[str, Any]], *, least: int) -> None:
    counts = Counter[str]()
    wrong = []
    for row in judged(rows):
        for claim, words in untrue(row):
            counts[claim] += 1
            if words:
                wrong.append((claim, words, row["answer"], row["explanation"]))
    assert counts.total() > least
    assert {"words", "part", "contains", "none"} <= {*counts}
    assert not wrong, wrong[:5]


def test_rows_written_by_hand_are_explained_truly() -> None:
    rows = []
    for file in sorted(WRITTEN.glob("contrast-*.jsonl.zst")):
        with zstandard.open(file, "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    english = [row for row in rows if row.get("language", "en") == "en"]
    check(random.Random(5).sample(english, 4_000), least=3_500)


def test_answers_to_natural_questions_are_explained_truly(data_dir: Path) -> None:
    asked = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    rows = [
        {"question": one["question"], "references": one["golden_answer"].split("/"), "answer": text}
        for one in asked
        for name, text in one.items()
        if name.startswith("answer_") and text and one["golden_answer"]
    ]
    check(random.Random(5).sample(rows, 4_000), least=3_900)
