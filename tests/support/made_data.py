"""Small files of our own in the shape of the published ones, with their quirks; all rows invented.

What reads public data is tried on these where the data are not available.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
STEMS = (
    "NQ301_text-davinci-003_zeroshot", "NQ301_text-davinci-003_fewshot-n64", "NQ_DPR", "NQ_FiD",
    "NQ_ANCE-plus_FiD", "NQ_Rocketv2_FiD", "NQ_Contriever_FiD", "NQ_FiD-KD", "NQ_GAR-plus_FiD",
    "NQ_EviGen", "NQ_EMDR2", "NQ_R2D2",
)  # fmt: skip

LEGS, PEEL, SHIP = "how many legs has a heron", "what colour is a ripe plum", "which ship came last"


def _evouna_row(question: str, golden: str, *, improper: bool, **said: object) -> dict[str, object]:
    row: dict[str, object] = {"question": question, "golden_answer": golden}
    for system in SYSTEMS:
        row[f"answer_{system}"], row[f"judge_{system}"] = said.get(system, (golden, True))  # type: ignore[misc]
    return {**row, "improper": improper}


def evouna(folder: Path) -> Path:
    """Four questions: references between slashes, one improper, one verdict missing, one twice."""
    rows = [
        # Right and found, right and not found, wrong and found, wrong and not found.
        _evouna_row(
            LEGS, "two/2 / a pair", improper=False,
            fid=("2", True), gpt35=("one more than one", True), chatgpt=("Not two.", False),
            gpt4=("four", False), newbing=("It has two legs¹.", None),
        ),
        _evouna_row(PEEL, "purple", improper=False, gpt35=("The purple one", False)),
        _evouna_row(PEEL, "purple/violet", improper=False, gpt35=("green", False)),
        _evouna_row("who leads now", "the mayor", improper=True),
    ]  # fmt: skip
    path = folder / "evouna" / "NQ.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return path


PAIRS = [
    # number, question, answer, adjudicated, first, second, third, BEM's probabilities, davinci
    (1, LEGS, "two", "Yes", "Yes", "Yes", "", [0.9, 0.2], "Yes, it has."),
    (1, LEGS, '"A pair" of them', "Yes", "Yes", "No", "Yes", [0.3, 0.1], "yes. A pair is two."),
    (1, LEGS, "four", "No", "No", "No", "", [0.2, 0.1], "No, it has two."),
    (1, LEGS, "four", "No", "No", "No", "", [0.2, 0.1], "No, it has two."),  # twins
    (2, PEEL, "purple", "Yes", "Yes", "", "", [0.8], "Yes, ripe plums are."),  # a blank cell
    (2, PEEL, "7", "No", "No", "No", "", [0.6], "No, that is no colour."),  # coerced from 07
    (3, SHIP, "the Swan", "Yes", "Yes", "Yes", "", [0.95], "Yes, the Swan did."),
]
GOLD = {LEGS: ["two", "2"], PEEL: ["purple"], SHIP: ["Swan\u00a0of Hull", "the Swan"]}


def openqa(folder: Path) -> Path:
    """NQ301: seven labelled answers to three questions, three judges' files, twelve systems'."""
    place = folder / "openqa-eval"
    (place / "model_outputs").mkdir(parents=True)
    head = "id\tQuestion\tModel answer\tAcceptable?"
    human = [f"{head}\tannotator1\tannotator2\tannotator3"]
    davinci = [f"{head}\ttext-davinci-003"]
    bem = ["id\tQuestion\tGold answers\tModel answer\tAcceptable?\tBEM probs per gold answer"]
    for row, (number, question, said, yes, *three, chances, reply) in enumerate(PAIRS, start=1):
        human.append("\t".join([str(number), question, said, yes, *three]))
        # Its questions are tokenised and asked; its verdict is what the reply begins with.
        verdict = "Yes" if reply.lower().startswith("yes") else "No"
        davinci.append(f"{number}\t{question} ?\t{said}\t{verdict}\t{reply}")
        probabilities = json.dumps([[1 - chance, chance] for chance in chances])
        cell = said.replace('"', '""')
        accepted = "Yes" if max(chances) > 0.5 else "No"
        bem.append(
            f'{row}\t{question}\t"{" | ".join(GOLD[question])}"\t"{cell}"\t{accepted}\t'
            f'"{probabilities}"'
        )
    for name, lines in {"human": human, "BEM": bem, "text-davinci-003": davinci}.items():
        (place / f"NQ301_{name}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    for stem in STEMS:
        said = {LEGS: " Two ", PEEL: "purple", SHIP: "swan"}
        said |= {
            "NQ_DPR": {LEGS: '"A pair" of them', PEEL: "07"},
            "NQ_EMDR2": {SHIP: "the Tern"},
        }.get(stem, {})
        rows = []
        for question, gold in GOLD.items():
            own = ["Swan"] if stem == "NQ_EviGen" and question == SHIP else gold
            several = stem.endswith("fewshot-n64") and question == PEEL
            answer = [said[question] + " ", "or not"] if several else said[question]
            rows.append({"question": question, "answer": own, "prediction": answer})
        if not stem.startswith("NQ301"):
            rows.insert(0, {"question": "unlabelled", "answer": ["x"], "prediction": "y"})
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (place / "model_outputs" / f"{stem}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return place


def linkage(folder: Path) -> Path:
    """Three graded sets, sorted by grade: TREC's two spellings of an id, WebGLM's `ground4`."""
    place = folder / "linkage"
    place.mkdir(parents=True)

    def passages(asked: int, grades: list[int], key: str = "docid") -> list[dict[str, object]]:
        return [
            {
                key if n else "doc_id": f"{asked}_{n}",
                "passage": f"passage {asked} {n} &amp; {'so ' * grade}",
                "label": grade,
            }
            for n, grade in enumerate(grades)
        ]  # fmt: skip

    trec = {
        f"why is it number {q}": passages(q, [3, 3, 2, 2, 2, 1, 1, 0, 0, 0]) for q in range(1, 13)
    }
    antique = {
        f"how do I mend {q}": passages(q, [4] * 4 + [3] * 4 + [2] * 4 + [1] * 4, "doc_id")
        for q in range(1, 13)
    }
    antique["how do I mend 1"][2]["passage"] = antique["how do I mend 1"][5]["passage"]  # repeated
    models = ("mistral", "gpt", "llama")
    webglm = {
        f"tell me of {q}": {
            "doc_list": [
                {"answer": f"{model} on {q}", "model": model, "label": str(label)}
                for model, label in zip(models, labels, strict=True)
            ],
            **{f"ground{g}": f"reference {q} of grade {g}" for g in range(3 + q)},
        }
        for q, labels in ((1, (3, 2, 1)), (2, (3, 3, 2)))
    }
    for name, content in {"TREC-DL-NF": trec, "ANTIQUE-dev": antique, "WEBGLM_50": webglm}.items():
        (place / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return place


def write_antique_half(whole: Path, folder: Path) -> None:
    """`ANTIQUE-dev.json` as it was recorded, byte for byte, out of the file that is published."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = json.loads(whole.read_text("utf-8"))
    half = {question: rows for question, rows in listed.items() if is_even(question)}
    (folder / "ANTIQUE-dev.json").write_text(
        json.dumps(half, indent=1, ensure_ascii=False), "utf-8"
    )


def is_even(question: str) -> bool:
    return sha256(question.encode()).digest()[-1] % 2 == 0


PATTERNS = [
    ("1", "Who kept the bees? ", r"Ann(a|e)? Lee"),
    ("2", "When was the mill built? ", r"18(12|13)"),  # bare numbers, no word boundaries
    ("3", "How warm was it? ", "20\\\u2013" + r"25\s*\°C"),  # escaped characters beyond ASCII
    ("4", "How far is it? ", " nine miles|9 miles "),  # an alternative begins or ends with a space
    ("5", "How long did it take? ", r"(([0-9]+\s*)+\s*)+h(ours)?"),  # exponential by backtracking
    ("6", "Who kept the bees? ", "Mr\u00a0Lee"),  # asked twice; a no-break space
]  # fmt: skip


def curatedtrec(folder: Path) -> Path:
    """Questions with patterns to the character; train and test are parts of the full file."""
    place = folder / "curatedtrec"
    place.mkdir(parents=True)
    lines = [f"{number}\tfactoid\t{question}\t{pattern}" for number, question, pattern in PATTERNS]
    parts = {"trec2002": lines[:3], "curated-train": lines[:3], "curated-test": lines[3:]}
    for name, some in {**parts, "curated-full": lines}.items():
        (place / f"{name}.tsv").write_text("\n".join(some) + "\n", "utf-8")
    return place


def write(folder: Path) -> Path:
    """All of them, in a folder as `datasets fetch` would fill it."""
    for part in (evouna, openqa, linkage, curatedtrec):
        part(folder)
    return folder
