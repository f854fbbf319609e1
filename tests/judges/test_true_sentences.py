"""No printed explanation says of words that they are where they are not, by another reading, and
none contradicts its verdict; nor does what `explain` and `failures` say of the same answers.

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
import pytest
import zstandard

import markscheme
from markscheme.analysis.mode_detection import tag
from markscheme.analysis.rejections import rejection
from markscheme.judges.examiner import Examiner
from markscheme.judges.examiner.examiner import Depth
from markscheme.models import Models
from markscheme.reports.explaining import value_findings
from markscheme.text import STOP
from markscheme.values import Outcome, compare_values

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


def unquoted(row: dict[str, Any]) -> tuple[str, str]:
    """An explanation without the reference that it quotes, and that reference."""
    sentence: str = row["explanation"]
    for one in row["references"]:
        line = " ".join(one.split())
        quoted = f"the reference '{line if len(line) <= 60 else line[:59] + '…'}'"
        if quoted in sentence:
            return sentence.replace(quoted, "the reference"), one
    return sentence, ""


def untrue(row: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The claim of an explanation about words, with those of which it is not true."""
    sentence, reference = unquoted(row)
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


def judged(rows: list[dict[str, Any]], *, depth: Depth = "fast") -> list[dict[str, Any]]:
    table = pl.DataFrame(rows, schema={"question": pl.String, "references": pl.List(pl.String),
                                       "answer": pl.String})  # fmt: skip
    found = Examiner(depth=depth).judge(table, Models())
    return table.hstack(
        found.select("status", "explanation", "verdict", "score", "relation")
    ).to_dicts()


HEADER = re.compile(
    r"(?P<accepted>equivalent|superior|accepted)?(incorrect|rejected)?( with less than the "
    r"reference says)? \((?P<score>\d\.\d\d)(?P<unsure>, unsure)?\): "
)
VALUES = r"where the reference has|the answer gives no|does not give"
"""What tells that values differ, or that one is missing."""
SIDES = {
    True: r"the answer is the reference|contains the reference|has the characters of the|"
    r"the words of the reference.* are in|it has the words of|means (much )?the same|both choose|"
    r"\bagrees\b|items are there",
    False: rf"{VALUES}|no word of|only small words|the answer (is empty|has no words)|it declines|"
    r"nothing else is in|does not mean|contradicts? it|it denies what|it affirms what|is missing|"
    r"in another order|the match is|it names other|too few answers|which the reference does not",
}
"""What an explanation says for accepting an answer, and what against it."""
PART = r"of the reference.* it has '"
"""What may speak for either side."""


def contradictions(row: dict[str, Any]) -> Iterator[str]:
    """How what is said of a judged answer contradicts its verdict, or itself."""
    sentence, reference = unquoted(row)
    sentence = re.sub(r"'[^']*'", "''", sentence)
    header, right, score = HEADER.match(sentence), row["verdict"], row["score"]
    if header is None:
        yield "the explanation has no header"
        return
    if (header["accepted"] is not None) is not right or header["score"] != f"{score:.2f}":
        yield "the header has another verdict or score"
    if (header["unsure"] is not None) is not (abs(score - 0.5) < 0.2):
        yield "the header is unsure of a sure score, or sure of an unsure one"
    why, _, although = sentence[header.end() :].partition(", although ")
    if not re.search(f"{SIDES[right]}|{PART}", why):
        yield "nothing is said for the verdict"
    if re.search(SIDES[not right], why):
        yield "what is said against the verdict is given as its reason"
    if re.search(SIDES[right], although):
        yield "what is said for the verdict is given as an objection"
    texts = row["question"], row["references"], row["answer"]
    compared = compare_values(*texts)
    against = compared.outcome is (Outcome.CONFLICT if right else Outcome.AGREE)
    if against and compared.reason not in row["explanation"].partition(", although ")[2]:
        yield "the values say otherwise, and it does not name them as an objection"
    if right and compared.outcome is Outcome.MISSING and compared.reason in although:
        yield "a value is called missing that an accepted answer has in another form"
    found = tag(*texts) if right else rejection(*texts, relation=row["relation"])
    if found is None:
        return
    if not found.evidence:
        yield f"{found.mode} has no evidence"
    quotes = [repr(one) for one in (*row["references"], row["answer"])]
    evidence = re.sub("|".join(map(re.escape, quotes)), "", found.evidence)
    if right and re.search(VALUES, evidence):
        yield f"{found.mode} says why the accepted answer is wrong"
    within = found.mode == "reference_in_it" and repr(reference) in found.evidence
    # What speaks to the marker is no part of what is explained; to `failures` it is a text.
    if within and "no word of" in sentence and "speaks to the marker" not in sentence:
        yield "the reference is in the answer, and no word of it is"
    differs = " where the reference has "
    silent = found.mode == "missing" or differs not in found.evidence
    if differs in why and silent and found.mode != "no_answer":  # which goes first
        yield f"{found.mode} does not know the values of the explanation"
    if re.search(r"no (content )?word|nothing in common", found.evidence) and re.search(
        SIDES[True], sentence
    ):
        yield f"{found.mode} finds no word in common, and the explanation does"


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


def written(*names: str) -> list[dict[str, Any]]:
    """English rows written by hand, of all files or of those of such names."""
    rows = []
    patterns = names or ("contrast-*",)
    files = {file for name in patterns for file in WRITTEN.glob(f"{name}.jsonl.zst")}
    for file in sorted(files):
        with zstandard.open(file, "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    return [row for row in rows if row.get("language", "en") == "en"]


def test_rows_written_by_hand_are_explained_truly() -> None:
    check(random.Random(5).sample(written(), 4_000), least=3_500)


def natural(data_dir: Path) -> list[dict[str, Any]]:
    """Answers of six systems to questions of EVOUNA-NQ."""
    asked = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    return [
        {"question": one["question"], "references": one["golden_answer"].split("/"), "answer": text}
        for one in asked
        for name, text in one.items()
        if name.startswith("answer_") and text and one["golden_answer"]
    ]


def test_answers_to_natural_questions_are_explained_truly(data_dir: Path) -> None:
    check(random.Random(5).sample(natural(data_dir), 4_000), least=3_900)


MARKED = re.compile(r"read as a whole, (?P<words>'.*?'(?:, '.*?')*) contradicts? it")


def of_reference_alone(row: dict[str, Any]) -> list[str]:
    """What an explanation calls a contradiction and has no word that the references lack."""
    if (claim := MARKED.search(row["explanation"])) is None:
        return []
    known = {word for one in row["references"] for word in plain(one)}
    stretches = re.findall(r"'(.+?)'(?=, '|$)", claim["words"])
    return [one for one in stretches if {*plain(one.rstrip("…"))} <= known]


def check_outcomes(rows: list[dict[str, Any]]) -> None:
    """None of what is said of judged rows contradicts its verdict, or is not so."""
    found = [(one, row) for row in rows for one in contradictions(row)]
    found += [(f"of the reference alone: {one}", row) for row in rows
              for one in of_reference_alone(row)]  # fmt: skip
    assert not found, [
        (one, row["question"], row["answer"][:80], row["explanation"]) for one, row in found[:20]
    ]


def check_callers(row: dict[str, Any], depth: Depth) -> None:
    """`explain`, `mark` and the report say of an answer what the judge says."""
    texts = row["question"], row["references"], row["answer"]
    explained = markscheme.explain(*texts, depth=depth)
    outcome = {**row, **explained.judgment, "answer": explained.answer}
    assert not [*contradictions(outcome), *of_reference_alone(outcome)]
    known = {word for one in row["references"] for word in plain(one)}
    for start, end in explained.contradicting:
        assert not {*plain(explained.answer[start:end])} <= known
    marked = markscheme.mark(*texts, f"examiner(depth={depth})")
    assert marked.verdict == explained.judgment["verdict"]
    assert marked.explanation == explained.judgment["explanation"]
    findings = value_findings(*texts)
    if all(one and one["outcome"] == ("conflict", "agree")[not marked.verdict] for one in findings):
        objection = (marked.explanation or "").partition(", although ")[2]
        assert any(one and one["reason"] in objection for one in findings)


def test_nothing_that_is_said_of_an_answer_contradicts_its_verdict(data_dir: Path) -> None:
    chance = random.Random(5)
    rows = chance.sample(natural(data_dir), 6_000) + chance.sample(written(), 4_000)
    sampled = [row for row in judged(rows) if row["status"] == "judged"]
    assert len(sampled) > 9_900
    check_outcomes(sampled)
    for row in chance.sample(sampled, 60):
        check_callers(row, "fast")


@pytest.mark.proof(area="examiner")
def test_no_contradiction_where_the_encoder_reads(data_dir: Path) -> None:
    chance = random.Random(5)
    rows = chance.sample(natural(data_dir), 1_000)
    rows += chance.sample(written("contrast-[!t]*", "contrast-train*"), 1_000)
    sampled = [row for row in judged(rows, depth="default") if row["status"] == "judged"]
    assert len(sampled) > 1_990
    assert sum("contradict it" in row["explanation"] for row in sampled) > 50
    assert not [claim for row in sampled for claim in untrue(row) if claim[1]]
    check_outcomes(sampled)
    for row in chance.sample(sampled, 40):
        check_callers(row, "default")
