"""The reference page of judges: options, needs, calls per answer, agreement with people.

    python -m markscheme_research.papers.judge_page > docs/reference/judges.md

Rows come from the registry, so no judge is missing. Agreement comes from `measured.csv`, which
holds what `bench --format json` printed and is written from it:

    markscheme research bench SET -j JUDGE --format json > found.json
    python -m markscheme_research.papers.judge_page found.json

Figures of the papers come from the files of printed figures.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import orjson
import polars as pl

from markscheme.analysis import needs_in_words
from markscheme.contract import Entry, Judge, Needs, judges, needs_of, parse_judge
from markscheme.errors import JudgeError
from markscheme.models import Models
from markscheme.tables import ANSWERS_SCHEMA
from markscheme.testing import ScriptedChat
from markscheme_research.papers.printed_tables import printed_cells
from markscheme_research.papers.yang_2024 import RECORDED as ORDERED

TOP = """# Judges

A judge's options are what its name takes: `examiner(depth=fast)`. `markscheme judges NAME` shows
them with their defaults and an example. For a choice between judges see [which
judge](../which-judge.md). The tables are written by
`python -m markscheme_research.papers.judge_page`; do not edit this page.

*The research package* is installed by `pip install ./packages/research` in a checkout.
"""

DETAILS = {
    "The examiner": ["markscheme.judges.examiner.examiner"],
    "Lexical": ["markscheme.judges.lexical.words", "markscheme.judges.lexical.overlap"],
    "Entailment and claims": [
        "markscheme.judges.entailment.entailment", "markscheme_research.judges.claims",
    ],
    "Language models": ["markscheme.judges.prompted.prompted"],
    "Made of other judges": [
        "markscheme.judges.combined.panel", "markscheme.judges.combined.cascade",
        "markscheme.judges.combined.calibrated", "markscheme.judges.combined.auto",
        "markscheme_research.judges.jury",
    ],
    "Non-factoid": [
        "markscheme.judges.listwise.listwise_examiner", "markscheme.judges.listwise.listwise",
    ],
}  # fmt: skip
"""Modules whose judges the site documents below the tables, by heading."""

RECORD = "measured.csv"
FIGURES = ("accuracy", "f1", "kappa", "auroc", "tau")

SETS = {
    "evouna-nq": ("EVOUNA-NQ", "Five systems on Natural Questions; the test part."),
    "nq301": ("NQ301", "Twelve systems on 301 of Natural Questions."),
    "efficientqa": ("EfficientQA", "Systems of the EfficientQA competition."),
    "scientsbank": ("SciEntsBank", "Pupils' answers in science."),
    "beetle": ("Beetle", "Students' answers on electricity."),
    "truthfulqa": ("TruthfulQA", "Questions that invite common mistakes."),
    "saf-english": ("SAF, English", "Students' answers on networks, graded with feedback."),
}

RELEASED = {
    "BEM": "`bem`, the authors' verdicts",
    "InstructGPT": "`llm_kamalloo` of text-davinci-003, the authors' replies",
    "exact match": "",  # ours has a row of its own
}
"""Names in `bench` of what was published with a set, and the judge that it is."""

NEVER = {
    "answer_relevance": "no public set here has its labels",
    "auto": "as the judge that it chooses: `examiner` or `listwise_examiner`",
    "calibrated": "orders answers as its base does",
    "cascade": "depends on its judges; `markscheme research cascade` tunes it on labels",
    "context_relevance": "no public set here has its labels",
    "faithfulness": "no public set here has its labels",
    "instruction_following": "no public set here has its labels",
    "bleurt": "weights that do not ship",
    "llm_evouna_cot": "no model was available; `reproduce wang-2023/table-7 --model NAME`",
    "llm_evouna_icl": "no model was available; `reproduce wang-2023/table-7 --model NAME`",
    "llm_evouna_ignore_background":
        "no model was available; `reproduce wang-2023/table-7 --model NAME`",
    "llm_evouna_reasons": "no model was available; `reproduce wang-2023/table-7 --model NAME`",
    "llm_grader": "no model was available; `bench nq301 -j llm_grader --model NAME`",
    "llm_score": "no model was available; `bench nq301 -j llm_score --model NAME`",
    "llm_prompt": "as good as the prompt",
    "jury": "depends on its judges; `markscheme research jury` measures it",
    "panel": "depends on its judges",
    "preference": "no public set here has its labels",
    "regex": "references that are patterns: no labelled set here has them",
}  # fmt: skip
"""Why a judge has no figure."""

OURS = ("markscheme", "markscheme_research")
"""Packages whose judges the page lists; a plugin of somebody else has no row."""


def page() -> str:
    """The page as Markdown."""
    ours = [one for one in judges().values() if one.judge.__module__.split(".")[0] in OURS]
    done = [TOP, _needs(ours), _facts(), _orders(), _printed()]
    return "\n".join([*done, _without(ours, "\n".join(done[2:])), _details()])


@functools.cache
def measured() -> pl.DataFrame:
    """What was measured: `judge`, `dataset`, `answers`, `not_judged` and the figures of `bench`."""
    text = files("markscheme_research.papers").joinpath(RECORD).read_bytes()
    return pl.read_csv(text, schema_overrides=dict.fromkeys(FIGURES, pl.Float64))


def record(found: Sequence[Path], target: Path) -> pl.DataFrame:
    """Take up what `bench --format json` printed; a judge's earlier row for a set is replaced."""
    rows = [
        {key: one[key] for key in ("judge", "dataset", "answers", "not_judged", *FIGURES)}
        for path in found
        for part in orjson.loads(path.read_bytes())["sets"]
        for one in part["judges"]
        if RELEASED.get(one["judge"]) != ""
    ]
    new = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col(FIGURES).cast(pl.Float64).round(4)
    )
    old = pl.read_csv(target) if target.exists() else new.clear()
    old = old.with_columns(pl.col(FIGURES).cast(pl.Float64))
    both = pl.concat([old.join(new, on=["judge", "dataset"], how="anti"), new])
    both = both.unique(["judge", "dataset"], keep="last").sort("dataset", "judge")
    both.write_csv(target)
    return both


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    marks = ["---"] * left + ["--:"] * (len(header) - left)
    lines = [header, marks, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _needs(ours: Sequence[Entry]) -> str:
    words = {"required": "needed", "optional": "used if there", "unused": "not read"}
    rows = []
    for one in ours:
        if one.name in COMPOSED:
            needs = ("as its judges'",) * 3
        else:
            made = _made(one)
            known = one.needs if made is None else needs_of(made)
            needs = (words[known.references], needs_in_words(one, known), calls(made, known))
        summary = one.summary.replace("|", "\\|")
        rows.append((f"`{one.name}`", summary, _options(one), *needs, one.paper or "ours"))
    header = ("judge", "what it does", "options", "references", "needs", "calls per answer", "from")
    return (
        f"## All judges\n\nThe {len(rows)} judges that come with markscheme. A judge without "
        "calls costs only time ([rates](../benchmarks.md)); calls to a model are those for an "
        "answer with four references, without repairs. *Shared* options are those of "
        f"[every judge that uses a model](../llm.md#prompts-and-replies): {_listed(SHARED)}.\n\n"
        + _table(header, rows, left=len(header))
    )


SHARED = tuple(field.name for field in fields(judges()["faithfulness"].cls))
"""Options of every judge that sends a prompt to a model."""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _options(one: Entry) -> str:
    """The options of a judge, the shared ones in one word."""
    names = [field.name for field in fields(one.cls)]
    shared = set(SHARED) <= set(names)
    own = _listed([name for name in names if not shared or name not in SHARED])
    return ", ".join(filter(None, ["*shared*" if shared else "", own])) or "none"


COMPOSED = ("auto", "calibrated", "cascade", "jury", "panel")
"""Judges made of others."""


def _made(one: Entry) -> Judge | None:
    """The judge without parameters; None where it needs some."""
    try:
        return parse_judge(one.name)
    except JudgeError:
        return None


def calls(judge: Judge | None, needs: Needs) -> str:
    """How often a judge asks a chat model about an answer with four graded references."""
    if not needs.may_ask_chat:
        return "none"
    if judge is None:
        return "as its file says"
    chat = ScriptedChat(replies={})
    judge.judge(_ANSWER, Models(chat=chat))
    return str(len(chat.seen))


_ANSWER = pl.DataFrame(
    [{
        "answer_id": "1", "question": "Why does bread rise?", "answer": "Because of the yeast.",
        "references": ["Yeast makes gas.", "Gas.", "It is warm.", "It is bread."],
        "reference_grades": [3, 2, 1, 0], "reference_kind": "text", "context": "Yeast makes gas.",
        "other_answer": "It is magic.",
    }],
    schema={**ANSWERS_SCHEMA, "other_answer": pl.String},
)  # fmt: skip


def _facts() -> str:
    sets = [name for name in SETS if name in measured()["dataset"].to_list()]
    about = []
    for name in sets:
        title, words = SETS[name]
        answers = max(measured().filter(pl.col("dataset") == name)["answers"].to_list())
        about.append((title, words, f"{answers:,}"))
    parts = [
        "## Verdicts against people's\n\nAgreement with people's verdicts, measured with "
        "`markscheme research bench SET -j JUDGE` at each judge's own threshold. Questions that "
        "shipped weights learned from are left out, near-duplicates of them too, and equal answers "
        "to a question count once. So there are fewer answers than on "
        "[the examiner's card](../examiner.md#figures).\n\n"
        + _table(("set", "what", "answers"), about, left=2)
    ]
    header = ("judge", *(SETS[name][0] for name in sets))
    for figure, heading, scale in COMPARED:
        parts.append(f"### {heading}\n\n{_table(header, _by_set(figure, scale, sets))}")
    return "\n".join(parts)


COMPARED = (
    ("kappa", "Cohen's kappa", 1),
    ("accuracy", "Accuracy: agreement with people, per cent", 100),
    ("auroc", "AUROC", 1),
)
"""The figures that are shown by set: their column, heading and scale."""


def _by_set(figure: str, scale: int, sets: Sequence[str]) -> list[list[str]]:
    """A row for each judge, highest mean of kappa first, those measured on one set last."""
    wide = measured().pivot("dataset", index="judge", values=figure)
    order = measured().group_by("judge").agg(pl.len(), pl.col("kappa").mean())
    order = order.sort(pl.col("len") < len(sets), -pl.col("kappa"), "judge")
    found = {row["judge"]: row for row in wide.iter_rows(named=True)}
    return [
        [_heading(judge), *(_shown(found[judge][name], scale) for name in sets)]
        for judge in order["judge"]
    ]


def _heading(judge: str) -> str:
    return RELEASED.get(judge) or f"`{judge}`"


def _shown(value: float | None, scale: int = 1) -> str:
    if value is None:
        return ""
    return f"{value * scale:.1f}" if scale == 100 else f"{value:.3f}".replace("0.", ".", 1)


LISTWISE = {
    "`listwise_examiner`": (0.476, 0.531),
    "`listwise_examiner(encoder=never)`": (0.368, 0.431),
}
"""Spearman on ANTIQUE's part dev and on TREC-DL-NF, as on the listwise examiner's card."""

OVERLAP = {"ROUGE-1": "set_rouge1", "ROUGE-2": "set_rouge2", "ROUGE-L": "rougeL", "BLEU": "bleu"}


def _orders() -> str:
    rows = [(name, *(_shown(one) for one in figures)) for name, figures in LISTWISE.items()]
    rows += [
        (f"`reference_overlap(measure={measure})`",
         *(_shown(ORDERED[name, "rest"][row][1]) for name in ("antique-dev", "trec-dl-nf")))
        for row, measure in OVERLAP.items()
    ]  # fmt: skip
    return (
        "## Order of several answers to a question\n\nSpearman with people's grades, mean over "
        "questions, lists of references drawn from the graded answers (33221100 and 3210); the "
        "trained judge cross-validated by question "
        "([its figures](../non-factoid.md#how-well-it-orders-answers)).\n\n"
        + _table(("judge", "ANTIQUE, half", "TREC-DL-NF"), rows)
    )


def _printed() -> str:
    """What the papers print for judges that ask a model or need weights."""
    rows = [
        ("`llm_evouna`", "GPT-3.5", *_mean("wang-2023", "table-5-models", "GPT-3.5")),
        ("`bertscore`", "BERT", *_mean("wang-2023", "table-5-models", "BERTScore")),
        ("`entailment(statements=chat, test=chat)`", "GPT-3.5",
         *_mean("yao-2024", "table-1-entailment-model", "Entailment")),
    ]  # fmt: skip
    trained = {}
    for one in printed_cells("yao-2024", "table-2-trained"):
        trained[one.row, one.column] = "" if one.paper is None else f"{one.paper:.1f}"
    rows += [
        (f"`learned(...)`, variant {variant}", "Llama-2, half of the questions",
         trained[row, "F1"], trained[row, "accuracy"])
        for row, variant in LEARNED.items()
    ]  # fmt: skip
    facts = _table(("judge", "with", "F1", "accuracy"), rows, left=2)
    ordered = []
    for model, table in (("Mistral-7B", "table-2-mistral"), ("ChatGPT", "table-2-chatgpt")):
        for row, judge in LINKAGE.items():
            found = {one.column: one.paper for one in printed_cells("yang-2024", table)
                     if one.row == row}  # fmt: skip
            ordered.append(
                (judge, model, *(_shown(found[column]) for column in ("ANTIQUE S", "TREC S")))
            )
    return (
        "## Published figures\n\nFor judges that use a model, or need weights that do not "
        "ship; not measured by us, and not on the same questions as above. EVOUNA-NQ, per cent: "
        "mean of the five systems, of `learned` the authors' test half (on which Table 2 of Yao & "
        f"Barbosa has 93.5 and 90.2 for `entailment`):\n\n{facts}\nSpearman, all of ANTIQUE, and "
        "TREC-DL-NF (Yang et al. 2024, Table 2):\n\n"
        + _table(("judge", "with", "ANTIQUE", "TREC-DL-NF"), ordered, left=2)
    )


LINKAGE = {
    "pointwise, no references": "`pointwise(references=hidden)`",
    "pointwise": "`pointwise`",
    "pairwise": "`pairwise`",
    "LINKAGE, 0-shot": "`listwise`",
    "LINKAGE, few-shot": "`listwise(examples=FILE)`",
}

LEARNED = {"Llama-2 (SFT)": "plain", "Llama-2 + NLI (SFT)": "nli", "CVI": "cvi"}


def _mean(paper: str, table: str, row: str) -> tuple[str, str]:
    """Mean F1 and accuracy over the five systems."""
    cells = [one for one in printed_cells(paper, table) if one.row == row]
    found = []
    for figure in ("F1", "accuracy"):
        values = [one.paper for one in cells if one.column.endswith(f" {figure}")]
        known = [value for value in values if value is not None]
        found.append(f"{sum(known) / len(known):.1f}")
    return found[0], found[1]


def _without(ours: Sequence[Entry], above: str) -> str:
    """The judges that have no figure above, with the reason."""
    missing = [one for one in ours if f"`{one.name}`" not in above and f"`{one.name}(" not in above]
    rows = [(f"`{one.name}`", NEVER.get(one.name, "not measured")) for one in missing]
    header = ("judge", "why")
    return f"## Without a figure\n\n{_table(header, rows, left=len(header))}"


def _details() -> str:
    """Directives of the site that write each judge's options from its docstring."""
    parts = ["## Options in detail\n"]
    for heading, modules in DETAILS.items():
        parts.append(f"### {heading}\n")
        parts += [
            f"::: {module}\n    options:\n      heading_level: 4\n      show_root_heading: false\n"
            for module in modules
        ]
    return "\n".join(parts)


def main(arguments: Sequence[str]) -> None:
    """Print the page, or take up the files that are named."""
    if arguments:
        record([Path(one) for one in arguments], Path(__file__).with_name(RECORD))
        return
    sys.stdout.write(page())


if __name__ == "__main__":
    main(sys.argv[1:])
