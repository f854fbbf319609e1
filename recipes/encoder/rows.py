"""The rows that the encoders learn from, as text.

    MARKSCHEME_DATA=data python -m recipes.encoder.rows     # counts by set and part

A row has: id, set, kind, language, part (`train` or `dev`), source_part (the part in which
`recipes.labelled` has it), question, references, answer, label (0 or 1), weight, spans (character
ranges of the answer's wrong words: empty where nothing is wrong, None where that is not known) and
readers (`english`, `latin` or `other`: MPNet reads the first two, multilingual e5 reads all).
"""

from __future__ import annotations

import collections
import json
import os
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from markscheme_research.training import parts
from recipes.encoder import edits
from recipes.labelled import DATA, labelled, part, rows_of, share
from recipes.near_copies import near_copies

Row = dict[str, Any]
SEED = 20261126
NO_QUESTION = "What is the case?"
"""The question of pairs of sentences, which have none."""
WEIGHTS = {
    "contrast": 1.0, "light": 1.0, "copies": 0.5, "evouna": 0.8, "nq": 0.8, "efficientqa_test": 1.0,
    "pairs": 0.5, "junk": 0.3, "wrapped": 0.4, "injected": 0.6,
}  # fmt: skip
"""Weight of a row in the loss, by its set."""
OTHER = 0.5
PAIRS = {
    "paws_wiki": 1.0, "breaking_nli": 1.0, "cad_nli": 0.8, "ambient": 1.0, "cg2c_doc": 1.0,
    "paws_x": 0.7, "jnli": 1.0, "farstail": 0.8,
}  # fmt: skip
"""Sets of sentence pairs, and the share of the weight of pairs that their rows have.

q2_dialogue, where an incomplete answer is right, is not among them.
"""
LATIN = frozenset(
    ["de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ca", "gl", "eu", "id", "vi", "tr", "da", "ro",
     "cs", "hu", "fi"]
)  # fmt: skip
"""Languages in Latin script."""
MOST = {"wrapped": 36_000, "junk": 9_000, "injected": 15_000}
"""Most generated rows of the training part; the dev part has `DEV_SHARE` of them."""
DEV_SHARE = 0.06
LATE = (
    "contrast-fourth", "contrast-fifth", "contrast-sixth", "contrast-seventh", "contrast-eighth",
    "contrast-ninth", "contrast-tenth", "contrast-eleventh", "contrast-twelfth", "frame-like",
)  # fmt: skip
"""Hand-written rows that `recipes.labelled.labelled` does not have."""
EXAMPLE = Path(__file__).parents[2] / "examples" / "answers.jsonl"
FROZEN = (
    "contrast-test", "contrast-test-second", "contrast-test-languages", "contrast-test-reports",
)  # fmt: skip
FROZEN_WRITERS = frozenset(["x1", "x2", "y1", "y2", "y3", "y4", "z1", "g1"])
_NO_PLAIN_FACT = re.compile(
    r"code|command|formula|refus|junk|style|cannot|format|long|table|echo|addressed|hedge|alternat|"
    r"contradiction|spelling|choice|mention|explained",
    re.IGNORECASE,
)


def key(text: str) -> str:
    """A text without case and punctuation."""
    return re.sub(r"\W+", " ", text.lower()).strip()


def row_id(row: Row) -> str:
    """Sixteen hexadecimal digits that depend on the row's set and texts."""
    identity = json.dumps([row["set"], row["question"], row["references"], row["answer"]])
    return blake2b(identity.encode(), digest_size=8).hexdigest()


def readers(dataset: str, language: str) -> str:
    """Which encoders read a row: `english`, `latin` (MPNet and e5 both) or `other` (e5 alone)."""
    if dataset == "paws_x":
        return "other"
    if language == "en":
        return "english"
    return "latin" if language in LATIN else "other"


def frozen_questions() -> set[str]:
    """Keys of the questions of the frozen tests, read only to exclude them."""
    questions = set()
    for name in FROZEN:
        for row in rows_of(DATA / f"{name}.jsonl.zst"):
            assert row["group"].split("-")[0] in FROZEN_WRITERS
            questions.add(key(row["question"]))
    return questions


def example_questions() -> set[str]:
    """Keys of the questions of the bundled example, which shows what a judge does unseen."""
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    return {key(json.loads(line)["question"]) for line in lines}


def late_rows() -> pl.DataFrame:
    """The files of `LATE`, with near copies of their English rows."""
    rows = [row for name in LATE for row in rows_of(DATA / f"{name}.jsonl.zst")]
    assert not {row["group"].split("-")[0] for row in rows} & FROZEN_WRITERS
    table = pl.DataFrame(
        {
            "question": [row["question"] for row in rows],
            "references": [list(row["references"]) for row in rows],
            "answer": [row["answer"] for row in rows],
            "label": [float(row["label"]) for row in rows],
            "set": ["contrast"] * len(rows),
            "kind": [row.get("kind") or "" for row in rows],
            "language": [row.get("language") or "en" for row in rows],
            "part": [part("contrast", row["group"]) for row in rows],
        }
    )
    copies = near_copies(table.filter(pl.col("language") == "en"), seed=4)
    return pl.concat([table, copies.with_columns(set=pl.lit("copies")).select(table.columns)])


def labelled_rows(data: Path) -> list[Row]:
    """Rows of `recipes.labelled.labelled` and of `LATE`; what is held back there is dev here."""
    rows = []
    for row in pl.concat([labelled(data), late_rows()]).to_dicts():
        source_part = row.pop("part")
        rows.append(
            row
            | {
                "part": "train" if source_part == "train" else "dev",
                "source_part": source_part,
                "weight": WEIGHTS.get(row["set"], OTHER),
                "spans": None,
            }
        )
    # A join in `labelled` gives the rows of nq in any order, and what is drawn depends on order.
    return sorted(
        rows, key=lambda row: (row["set"] == "nq", str(row) if row["set"] == "nq" else "")
    )


def pair_groups(name: str, rows: Sequence[Row]) -> list[str]:
    """Groups of pairs that must be in the same part.

    PAWS: its number, in all languages. Other sets: rows that share a sentence (union-find), and of
    AmbiEnt those of one example.
    """
    if name.startswith("paws"):
        return ["paws " + row["id"].split("-")[-1] for row in rows]
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for row in rows:
        nodes = [key(row["answer"]), key(row["references"][0])]
        if name == "ambient":
            nodes.append("id " + re.split(r"[._]", row["id"])[0])
        for node in nodes[1:]:
            low, high = sorted((root(nodes[0]), root(node)))
            parent[high] = low  # the first by name is the root, whatever the order of the rows
    return [f"{name} {root(key(row['answer']))}" for row in rows]


def pair_part(group: str) -> str:
    """`train` (80%), `dev` (10%) or `held` (10%) of the groups of pairs."""
    position = share("pairs" + group)
    return "train" if position < 0.8 else "dev" if position < 0.9 else "held"


def pair_rows(name: str, data: Path) -> list[tuple[Row, str]]:
    """The rows of a set of pairs, as published, each with its part."""
    rows = list(rows_of(data / "pairs" / f"{name}.jsonl.zst"))
    groups = pair_groups(name, rows)
    return [(row, pair_part(group)) for row, group in zip(rows, groups, strict=True)]


def pairs(data: Path) -> Iterator[Row]:
    """Rows of the sets of pairs without the held tenth; PAWS also with its sentences exchanged."""
    for name, portion in PAIRS.items():
        chance = random.Random(f"{SEED} {name}")
        for row, pair_part_ in pair_rows(name, data):
            if pair_part_ == "held":
                continue
            weight = WEIGHTS["pairs"] * portion
            if name == "breaking_nli" and row["label"] < 0.5:
                weight *= 0.25  # seven in eight of its rows, recognisable by their kinds of words
            if name == "jnli" and row["label"] < 0.5:
                weight *= 0.4
            pair = {
                "set": name, "kind": row["kind"], "language": row["language"], "part": pair_part_,
                "question": NO_QUESTION, "references": row["references"], "answer": row["answer"],
                "label": float(row["label"] >= 0.5), "weight": weight, "spans": None,
                "source_part": pair_part_,
            }  # fmt: skip
            yield pair
            if pair_part_ != "train":
                continue
            if name.startswith("paws") and (name == "paws_wiki" or chance.random() < 0.4):
                # A paraphrase is one in both directions.
                exchanged = {"answer": row["references"][0], "references": [row["answer"]]}
                yield pair | exchanged | {"kind": row["kind"] + ", other way round"}
            if name == "breaking_nli" and row["label"] < 0.5 and chance.random() < 0.2:
                same = row["references"][0]
                yield pair | {"answer": same, "label": 1.0, "kind": "the same sentence"}


def is_plain_fact(row: Row) -> bool:
    """Whether an answer is a short fact that can be wrapped."""
    return (
        row["set"] in ("contrast", "evouna", "nq", "efficientqa_test", "light")
        and 1 <= len(row["answer"].split()) <= 14
        and len(row["answer"]) <= 90
        and "\n" not in row["answer"]
        and not _NO_PLAIN_FACT.search(row["kind"])
        and bool(row["answer"].strip())
    )


def is_paragraph(row: Row) -> bool:
    """Whether an answer is of one to four English sentences, which can be wrapped."""
    return (
        row["set"] in ("contrast", "light")
        and row["language"] == "en"
        and 15 <= len(row["answer"].split()) <= 70
        and "\n" not in row["answer"]
        and not _NO_PLAIN_FACT.search(row["kind"].replace("long", ""))
    )


def wrapped(rows: Sequence[Row], most: int, seed: str) -> Iterator[Row]:
    """Answers in wrappings, half of them right, a fifth of them longer; their labels stay."""
    wrapper, chance = edits.Wrapper(), random.Random(f"{SEED} wrapped {seed}")
    for fitting, portion in ((is_plain_fact, 0.8), (is_paragraph, 0.2)):
        facts = [row for row in rows if fitting(row)]
        right = [row for row in facts if row["label"] >= 0.5]
        wrong = [row for row in facts if row["label"] < 0.5]
        half = int(most * portion) // 2
        for side in (right, wrong):
            times = -(-half // max(1, len(side)))
            drawn = [row for row in side for _ in range(min(times, 4))]
            chance.shuffle(drawn)
            for row in drawn[:half]:
                text = wrapper.wrap(row["question"], row["answer"], row["language"], chance)
                weight = WEIGHTS["wrapped"]
                yield row | {"answer": text, "set": "wrapped", "weight": weight, "spans": None}


def junk(rows: Sequence[Row], most: int, seed: str) -> Iterator[Row]:
    """Replies that do not answer the question: label 0."""
    chance = random.Random(f"{SEED} junk {seed}")
    right = [
        row
        for row in rows
        if row["label"] >= 0.5 and row["language"] == "en" and row["set"] not in PAIRS
    ]
    long = [row for row in right if len(row["answer"].split()) >= 30]
    chance.shuffle(right)
    chance.shuffle(long)
    portion = most // 6
    new = {"set": "junk", "label": 0.0, "weight": WEIGHTS["junk"], "spans": None}
    for kind in ("first sentence", "lead", "empty", "lone word", "question repeated"):
        count = 0
        source = long if kind == "first sentence" else [*long, *right]
        if kind in ("lead", "empty"):
            chance.shuffle(source)
        for row in source:
            text = edits.junk(kind, row["question"], row["references"], row["answer"], chance)
            if text is not None and count < portion:
                count += 1
                yield row | new | {"answer": text, "kind": kind}
    by_type: dict[str, list[Row]] = collections.defaultdict(list)
    for row in right:
        by_type[edits.answer_type(row["references"])].append(row)
    count = 0
    for row in right:
        answer_type = edits.answer_type(row["references"])
        if count >= portion or answer_type == "yes or no":
            continue
        other = chance.choice(by_type[answer_type])["answer"]
        if edits.surely_other(row["references"], other):
            count += 1
            yield row | new | {"answer": other, "kind": "answer to another question"}


def injected(rows: Sequence[Row], most: int, seed: str) -> Iterator[Row]:
    """Right answers of which a fact is changed, in the answer, in the references or in both."""
    chance = random.Random(f"{SEED} injected {seed}")
    source = [
        row for row in rows
        if row["label"] >= 0.5 and row["language"] == "en"
        and len(row["answer"].split()) >= 18 and len(row["answer"]) <= 1900
        and not edits.DECLINES.search(row["references"][0][:40])
        and row["set"] not in ("truthfulqa", "beetle", "scientsbank", "saf_english")
    ]  # fmt: skip
    source.sort(key=lambda row: -len(row["answer"].split()))
    names = edits.names_in(text for row in source for text in (*row["references"], row["answer"]))
    rows_made: list[Row] = []
    for row in source:
        references = row["references"]
        candidates = edits.candidates(row["answer"], references, names, chance)
        chance.shuffle(candidates)
        for kind, word, other in candidates[:4]:
            forms = ("answer edited", "reference edited", "both edited")
            form = chance.choices(forms, [0.35, 0.2, 0.45])[0]
            # Another reference may say otherwise (aliases): the word must be in each of them.
            everywhere = all(edits.has_word(text, word) for text in references)
            if form == "both edited" and (
                kind == "opposite" or edits.has_word(row["question"], word)
            ):
                form = "answer edited"
            if not everywhere:
                continue
            answer, spans = edits.replace_word(row["answer"], word, other)
            changed = [edits.replace_word(text, word, other)[0] for text in references]
            if not spans or changed == references:
                continue
            new = row | {"set": "injected", "kind": f"{form}, {kind}",
                         "weight": WEIGHTS["injected"]}  # fmt: skip
            if form == "answer edited":
                rows_made.append(new | {"answer": answer, "label": 0.0, "spans": spans})
            elif form == "reference edited":
                spans = edits.word_spans(row["answer"], word)
                rows_made.append(new | {"references": changed, "label": 0.0, "spans": spans})
            else:
                rows_made.append(new | {"answer": answer, "references": changed, "spans": []})
    chance.shuffle(rows_made)
    yield from rows_made[:most]


def mark_minimal_pairs(rows: Sequence[Row]) -> int:
    """Fill `spans` of hand-written rows; how many wrong answers differ little from a right one."""
    groups: dict[tuple[str, ...], list[Row]] = collections.defaultdict(list)
    for row in rows:
        if row["set"] in ("contrast", "light"):
            groups[row["question"], *row["references"]].append(row)
    count = 0
    for group in groups.values():
        right = [row for row in group if row["label"] >= 0.5]
        for row in group:
            if row["label"] >= 0.5:
                row["spans"] = []  # nothing in a right answer contradicts
                continue
            near = [
                spans
                for other in right
                if (spans := edits.differing(other["answer"], row["answer"])) is not None
            ]
            if near:
                row["spans"] = min(near, key=lambda spans: sum(end - start for start, end in spans))
                count += 1
    return count


def check(rows: Iterable[Row], frozen: set[str]) -> None:
    """Raise `AssertionError` where a row is from a test or from what is held back."""
    for row in rows:
        assert key(row["question"]) not in frozen, row
        assert row["part"] in ("train", "dev"), row
        if row["part"] != "dev":
            assert row["source_part"] == "train", row
        if row["set"] in ("nq", "evouna"):
            assert parts([row["question"]])[0] != "test", row


def every_row(data: Path) -> list[Row]:
    """All rows of a run, each once, in an order that depends on the data alone."""
    frozen = frozen_questions() | example_questions()
    rows = labelled_rows(data)
    before = len(rows)
    rows = [row for row in rows if key(row["question"]) not in frozen]
    print(f"{before - len(rows)} rows left out, whose question is in a frozen test or the example")
    print(f"{mark_minimal_pairs(rows):,} wrong answers differ from a right one in few words")
    rows += pairs(data)
    split = {name: [row for row in rows if row["part"] == name] for name in ("train", "dev")}
    # Nothing is generated from the fifth of the graded sets that is held out.
    split["dev"] = [row for row in split["dev"] if row["source_part"] != "held out"]
    for name, sources in split.items():
        portion = 1 if name == "train" else DEV_SHARE
        rows += wrapped(sources, int(MOST["wrapped"] * portion), name)
        rows += junk(sources, int(MOST["junk"] * portion), name)
        rows += injected(sources, int(MOST["injected"] * portion), name)
    for row in rows:
        row["label"] = float(row["label"])
    rows = _without_dev_texts(rows)
    unique: dict[str, Row] = {}
    for row in rows:
        row["id"] = row_id(row)
        row["readers"] = readers(row["set"], row["language"])
        unique.setdefault(row["id"], row)
    check(unique.values(), frozen)
    return list(unique.values())


def _without_dev_texts(rows: Sequence[Row]) -> list[Row]:
    """Rows without those of training that are, under another set's name, in the dev part too."""

    def texts(row: Row) -> tuple[str, str, str]:
        return key(row["question"]), key(row["answer"]), key(" ".join(row["references"]))

    dev = {texts(row) for row in rows if row["part"] == "dev"}
    remaining = [row for row in rows if row["part"] == "dev" or texts(row) not in dev]
    print(f"{len(rows) - len(remaining)} training rows left out that are in the dev part too")
    return remaining


def main() -> None:
    """Print counts by set and part."""
    data = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))
    counts: dict[tuple[str, str], list[float]] = collections.defaultdict(lambda: [0, 0, 0])
    for row in every_row(data):
        count = counts[row["part"], row["set"]]
        count[0] += 1
        count[1] += row["label"]
        count[2] += row["spans"] is not None
    for (name, dataset), (rows, right, marked) in sorted(counts.items()):
        print(f"{name:<11}{dataset:<22}{rows:>7,} right {right / rows:.2f} with spans {marked:>6,}")


if __name__ == "__main__":
    main()
