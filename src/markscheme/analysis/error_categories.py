"""Where judges and people differ, and why: rates by failure mode, and Wang et al.'s categories.

Wang et al. (2023), section on error analysis, sort the errors of each kind of judge by hand; here
rules sort them, with their evidence. The notes in our hands name the categories and describe some;
where they only name one, its meaning here is ours, as `CATEGORIES` states it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from markscheme.analysis.mode_detection import by_texts, tag
from markscheme.analysis.same import same_date
from markscheme.analysis.wording import Pair, Wording, in_common, stands_in, wording
from markscheme.contract import entry, name_of, parse_judge
from markscheme.errors import MarkschemeError
from markscheme.tables import UNSURE

Kind = Literal["lexical", "neural", "llm"]

CATEGORIES: dict[str, tuple[str, str]] = {
    "paraphrase": ("all", "right, but in other words, and rejected"),
    "synonym": ("all", "right, by another word or name for the same, and rejected"),
    "partial_match": ("lexical", "right, with only part of the reference's words, and rejected"),
    "structure_variation": (
        "lexical",
        "right, with the reference's words in another order or notation, and rejected",
    ),
    "overall_misleading": (
        "lexical",
        "wrong: the answer contains the reference, but says something else as a whole",
    ),
    "threshold_sensitivity": ("neural", "the score is so near the threshold that it decides"),
    "extended_answer": ("neural", "right, but the answer says more, which lowers the score"),
    "contextual_misunderstanding": (
        "neural",
        "similar in wording and wrong, or right and explained without the reference's words",
    ),
    "literal_interpretation": (
        "llm",
        "right, and rejected for a detail of form: a number, date or name written otherwise",
    ),
    "overgeneralisation": ("llm", "wrong: another thing of the same kind is accepted"),
    "misleading_emphasis": (
        "llm",
        "wrong: the answer contains the reference but stresses something else",
    ),
    "unknown": ("llm", "nothing in the texts tells"),
}
"""Categories: the kind of judge that makes such errors ("all" is every kind), and what they are."""

NEAR = 0.1
"""Distance of a score to the threshold below which an error is one of the threshold."""

_SYNONYMS = frozenset(["synonym", "multinominal_entity"])
_FORMS = frozenset(
    [
        "symbolic_equivalence",
        "tokenization",
        "temporal_granularity",
        "multinominal_entity",
        "bridging_abridging",
    ]
)


@dataclass(frozen=True, kw_only=True)
class JudgeKind:
    """What sort of judge one is, and from which score it accepts."""

    kind: Kind
    threshold: float = 0.5


def kind_of(judge: str, threshold: float = 0.5) -> JudgeKind:
    """The kind of a judge by its name: ours by what they need, others by the words of the name.

    Of others it does not say from which score they accept: `threshold` does.

    >>> kind_of("exact_match").kind, kind_of("bertscore(threshold=0.6)"), kind_of("GPT-4").kind
    ('lexical', JudgeKind(kind='neural', threshold=0.6), 'llm')
    """
    try:
        known = parse_judge(judge)
    except MarkschemeError:  # a column of another tool, which may be called anything
        low = judge.lower()
        if re.search(r"gpt|davinci|llm|claude|llama|mistral|gemini|qwen", low):
            return JudgeKind(kind="llm", threshold=threshold)
        words = re.search(r"\bem\b|exact|match|regex|f1", low)
        return JudgeKind(kind="lexical" if words else "neural", threshold=threshold)
    own = getattr(known, "threshold", None)
    limit = own if isinstance(own, float) else 0.5
    if entry(name_of(known)).needs.chat:
        return JudgeKind(kind="llm", threshold=limit)
    lexical = ".judges.lexical." in type(known).__module__
    return JudgeKind(kind="lexical" if lexical else "neural", threshold=limit)


def unsure(rows: pl.DataFrame, judge: str, threshold: float = 0.5) -> pl.Expr:
    """Whether a judge is unsure of an answer: the one limit, for summaries, listings and reports.

    A judge with a scope says so in its explanations. Any other never does: of it, whether the score
    is within `NEAR` of its threshold.

    Args:
        rows: the judge's own judgments.
        judge: its name.
        threshold: as of `kind_of`.
    """
    found = pl.col("explanation").str.contains(UNSURE)
    if "scope" not in rows.columns or rows["scope"].null_count() == rows.height:
        found |= (pl.col("score") - kind_of(judge, threshold).threshold).abs() <= NEAR
    return found.fill_null(value=False)


def error_rates(judged: pl.DataFrame, modes: pl.DataFrame) -> pl.DataFrame:
    """How often each judge rejects the accepted answers of each mode (the paper's Figure 4).

    Args:
        judged: `answer_id`, `judge`, `verdict` (null: not judged).
        modes: as `failure_modes` gives them.

    Returns:
        `judge`, `group`, `mode`, `answers` (with a verdict), `rejected`, `not_judged`, `rate`.
    """
    tagged = modes.select("answer_id", "group", "mode").unique(maintain_order=True)
    verdict = pl.col("verdict")
    return (
        judged.join(tagged, on="answer_id", how="inner", maintain_order="left")
        .group_by("judge", "group", "mode", maintain_order=True)
        .agg(
            answers=verdict.count(),
            rejected=(~verdict).sum(),
            not_judged=verdict.null_count(),
        )
        .with_columns(
            rate=pl.when(pl.col("answers") > 0).then(pl.col("rejected") / pl.col("answers"))
        )
    )


def judge_errors(
    judged: pl.DataFrame,
    kinds: Mapping[str, JudgeKind] | None = None,
    threshold: float = 0.5,
) -> pl.DataFrame:
    """Every judgment that people contradict, with Wang et al.'s category of the error.

    Args:
        judged: `answer_id`, `question`, `references`, `answer`, `judge`, `verdict`, `score`,
            `accepted` (Boolean: people's verdict). Rows without a verdict or label are left out,
            and those whose references are no texts (`reference_kind`).
        kinds: of the judges, where their names in the table are not their own.
        threshold: as of `kind_of`.

    Returns:
        The rows that differ, with `kind`, `error` ("rejects" or "accepts"), `category`, `evidence`.
    """
    wrong = by_texts(judged).filter(pl.col("verdict") != pl.col("accepted"))
    if kinds is None:
        kinds = {name: kind_of(name, threshold) for name in wrong["judge"].unique()}
    found = [_category(kinds[row["judge"]], row) for row in wrong.iter_rows(named=True)]
    return wrong.with_columns(
        kind=pl.Series([kinds[judge].kind for judge in wrong["judge"]], dtype=pl.String),
        error=pl.when("verdict").then(pl.lit("accepts")).otherwise(pl.lit("rejects")),
        category=pl.Series([category for category, _ in found], dtype=pl.String),
        evidence=pl.Series([evidence for _, evidence in found], dtype=pl.String),
    )


def _category(judge: JudgeKind, row: dict[str, Any]) -> tuple[str, str]:
    question, references, score = row["question"], row["references"], row["score"]
    said = wording(row["answer"] or "")
    near = score is not None and abs(score - judge.threshold) <= NEAR
    if judge.kind == "neural" and near:
        return "threshold_sensitivity", f"the score {score:.2f} is near {judge.threshold:g}"
    here = next((one for one in map(wording, references) if stands_in(one.plain, said.plain)), None)
    if row["verdict"]:
        return _accepted(judge.kind, here, references)
    return _rejected(judge.kind, question, references, said, here)


def _accepted(kind: Kind, here: Wording | None, references: list[str]) -> tuple[str, str]:
    """Why a judge accepts what people reject."""
    if here is not None:
        what = f"{here.text!r} is in an answer that people reject"
        return ("misleading_emphasis" if kind == "llm" else "overall_misleading"), what
    what = f"{references[0]!r} is not in the answer"
    if kind == "llm":
        return "overgeneralisation", what
    return ("overall_misleading" if kind == "lexical" else "contextual_misunderstanding"), what


def _rejected(
    kind: Kind, question: str, references: list[str], said: Wording, here: Wording | None
) -> tuple[str, str]:
    """Why a judge rejects what people accept."""
    if kind == "neural" and here is not None:
        extra = len(said.plain) - len(here.plain)
        return "extended_answer", f"{here.text!r} is there, with {extra} words around it"
    found = tag(question, references, said.text)
    mode = found.mode if found else None
    what = found.evidence if found else in_common(said, map(wording, references))
    if kind == "lexical":
        for one in map(wording, references):
            pair = Pair(question=question, reference=one, answer=said)
            if (one.words and one.words == said.words) or same_date(pair):
                return "structure_variation", f"the words of {one.text!r} in another order or form"
        for one in map(wording, references):
            if one.words & said.words and not one.words <= said.words:
                return "partial_match", f"has part of {one.text!r}"
        if here is not None or any(wording(one).words <= said.words for one in references):
            return "structure_variation", what
    if kind == "llm" and mode in _FORMS:
        return "literal_interpretation", what
    if mode in _SYNONYMS:
        return "synonym", what
    if mode is not None:
        return "paraphrase", what
    if kind == "neural":
        return "contextual_misunderstanding", "explained without the reference's words"
    return ("unknown" if kind == "llm" else "paraphrase"), what
