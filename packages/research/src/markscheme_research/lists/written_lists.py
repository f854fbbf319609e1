"""Reference lists that a chat model writes: one good answer, then worse ones by named techniques.

After Yang et al. 2024, sections 3.3.2 and 3.3.3: the golden answer is written again, so that all
references are of one style; without one the model answers by itself. The wording is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from markscheme.contract import ChatModel, ChatReply, ChatRequest, Message
from markscheme.errors import JudgeError
from markscheme.judges.listwise import items
from markscheme.judges.prompted import check_apart
from markscheme.text import normalise, normalise_series
from markscheme.text.replies import declines

VERSION = 1
"""Of the stored lines; raised when the wording or the form changes."""

_ONLY = " Reply with the answer alone."
REWRITE = "Answer the question in your own words, keeping to what the given answer says." + _ONLY
ANSWER = "Answer the question as well as you can, in about a hundred words." + _ONLY
TECHNIQUES: dict[str, tuple[int, str]] = {
    "incomplete": (2, "Write a weaker answer: right as far as it goes, but leave out the main "
                   "reasons or steps." + _ONLY),
    "vague": (2, "Write a weaker answer: on the topic, but general, with nothing that helps."
              + _ONLY),
    "mistaken": (1, "Write a poor answer: on the topic, but wrong in its main point." + _ONLY),
    "beside_the_point": (1, "Write a poor answer: to another question on the same topic." + _ONLY),
    "nonsense": (0, "Write a useless answer: it has nothing to do with the question." + _ONLY),
}  # fmt: skip
"""Ways to make an answer worse, and the grade each gives; the best answer has grade 3."""

BEST = 3
_AGAIN = 1_000_000
"""Added to the number of a sample that is requested a second time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Graded:
    """The stored list of one question: references best first, and their grades."""

    question: str
    references: tuple[str, ...]
    grades: tuple[int, ...]


def build_lists(
    answers: pl.DataFrame,
    models: Sequence[ChatModel],
    *,
    composition: str = "3210",
    seed: int = 0,
    examples: Sequence[Graded] = (),
    max_tokens: int = 300,
) -> pl.DataFrame:
    """A list of references for every question of an answers table.

    The first model writes the best answer (from the question's first reference, if it has one);
    worse ones are spread over all models and techniques, by the seed.

    Args:
        answers: `question` and `references`.
        models: one or more chat models.
        composition: one digit per reference, 3 (best) to 0.
        seed: which technique and model each worse reference comes from.
        examples: graded lists of other questions; the prompt for a worse answer shows
            their answers of that grade (the paper shows three).
        max_tokens: of one answer.

    Returns:
        One row per question: `question`, `references` (best first), `reference_grades`,
        `techniques`, `models`, `version`, `status` (`ok`, or why the list is not complete). A reply
        that is empty or cut off, declines or repeats the question is requested once more; a list
        with one that stays so, or with one text under two grades, is not complete and has no
        references.

    Raises:
        JudgeError: the composition is not of digits 0 to 3 with at least one 3, or an example's
            question is among those to write for.
    """
    grades = sorted((int(digit) for digit in composition if digit in "0123"), reverse=True)
    if len(grades) != len(composition) or BEST not in grades:
        raise JudgeError(
            f"composition {composition!r} must be digits from 0 to 3, one a reference, with a 3, "
            "as in 3210 or 33221100"
        )
    questions = answers.group_by("question", maintain_order=True).agg(pl.first("references"))
    check_apart([{"question": one.question} for one in examples], questions["question"], "examples")
    golden = _best(questions, models[0], max_tokens)
    plan: list[tuple[int, int, str, ChatModel]] = []
    for row, question in enumerate(questions["question"]):
        for place, grade in enumerate(grades):
            if place and (technique := _technique(question, grade, place, seed)):
                plan.append((row, grade, technique, models[(row + place + seed) % len(models)]))
    written = _write(plan, questions["question"].to_list(), golden, examples, max_tokens)
    rows = []
    for row, question in enumerate(questions["question"]):
        mine = [one for one in zip(plan, written, strict=True) if one[0][0] == row]
        graded = [(BEST, golden[row]), *((one[1], reply) for one, reply in mine)]
        bad = next((why for _, reply in graded if (why := _trouble(reply, question))), None)
        bad = bad or _repeated([(grade, _text(reply) or "") for grade, reply in graded])
        listed = [] if bad else [(BEST, "best", models[0].name, _text(golden[row]))] + [
            (grade, technique, model.name, _text(reply))
            for (_, grade, technique, model), reply in mine
        ]  # fmt: skip
        rows.append(
            {
                "question": question,
                "references": [one[3] for one in listed],
                "reference_grades": [one[0] for one in listed],
                "techniques": [one[1] for one in listed],
                "models": [one[2] for one in listed],
                "version": VERSION,
                "status": bad or "ok",
            }
        )
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA: dict[str, Any] = {
    "question": pl.String, "references": pl.List(pl.String),
    "reference_grades": pl.List(pl.Int64), "techniques": pl.List(pl.String),
    "models": pl.List(pl.String), "version": pl.Int64, "status": pl.String,
}  # fmt: skip


def _best(questions: pl.DataFrame, model: ChatModel, max_tokens: int) -> list[ChatReply]:
    requests = [
        _request(REWRITE, question, references[0], sample=0, max_tokens=max_tokens)
        if references
        else _request(ANSWER, question, None, sample=0, max_tokens=max_tokens)
        for question, references in zip(
            questions["question"], questions["references"].to_list(), strict=True
        )
    ]
    return _complete(model, requests, questions["question"].to_list())


def _complete(
    model: ChatModel, requests: Sequence[ChatRequest], questions: Sequence[str]
) -> list[ChatReply]:
    """Replies to requests, one a question; what is not an answer is requested once more."""
    replies = model.complete(requests)
    bad = [
        place
        for place, reply in enumerate(replies)
        if reply.status == "ok" and _trouble(reply, questions[place])
    ]
    again = [replace(requests[place], sample=requests[place].sample + _AGAIN) for place in bad]
    for place, reply in zip(bad, model.complete(again) if again else (), strict=True):
        if not _trouble(reply, questions[place]):
            replies[place] = reply
    return replies


def _trouble(reply: ChatReply, question: str) -> str | None:
    """Why a reply is no answer to put into a list; None if it is one."""
    if reply.status != "ok":
        return reply.error or reply.status
    text = _text(reply)
    if text is None:
        return "an empty reply"
    refusal = declines(text)
    if refusal and not declines(question):
        return refusal
    if normalise(text) == normalise(question):
        return "the reply repeats the question"
    return None if reply.finished else "cut off by the token limit"


def _repeated(graded: Sequence[tuple[int, str]]) -> str | None:
    """Why a list has no order: one text under two grades."""
    grades: dict[str, int] = {}
    for grade, text in graded:
        if grades.setdefault(normalise(text), grade) != grade:
            return "the same text has two grades"
    return None


def _write(
    plan: Sequence[tuple[int, int, str, ChatModel]],
    questions: Sequence[str],
    golden: Sequence[ChatReply],
    examples: Sequence[Graded],
    max_tokens: int,
) -> list[ChatReply]:
    """A reply to each planned reference; rows whose best answer failed repeat that failure."""
    found: list[ChatReply | None] = [None] * len(plan)
    by_model: dict[int, list[int]] = {}
    for place, (row, _, _, model) in enumerate(plan):
        if _text(golden[row]) is None:
            found[place] = golden[row]
        else:
            by_model.setdefault(id(model), []).append(place)
    for places in by_model.values():
        requests = []
        for place in places:
            row, grade, technique, _ = plan[place]
            order = TECHNIQUES[technique][1] if grade < BEST else REWRITE
            shown = _shown(examples, grade) if grade < BEST else ""
            given = _text(golden[row])
            requests.append(
                _request(
                    order, questions[row], given, sample=place, shown=shown, max_tokens=max_tokens
                )
            )
        own_questions = [questions[plan[place][0]] for place in places]
        for place, reply in zip(
            places, _complete(plan[places[0]][3], requests, own_questions), strict=True
        ):
            found[place] = reply
    return [reply for reply in found if reply is not None]


def _technique(question: str, grade: int, place: int, seed: int) -> str:
    """One of the techniques of a grade; the best grade is written again."""
    choices = [name for name, (given, _) in TECHNIQUES.items() if given == grade]
    if not choices:
        return "best"
    digest = blake2b(f"{seed}\x1f{place}\x1f{question}".encode(), digest_size=4).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


def _shown(examples: Sequence[Graded], grade: int) -> str:
    """Answers of a grade, each with the best one, for other questions."""
    lines = []
    for one in examples:
        marked = dict(zip(one.grades[::-1], one.references[::-1], strict=True))
        if grade in marked:
            lines.append(
                f"Question: {one.question}\nGiven answer: {one.references[0]}\n"
                f"Weaker answer: {marked[grade]}"
            )
    return "\n\n".join(lines)


def _request(
    order: str, question: str, given: str | None, *, sample: int, max_tokens: int, shown: str = ""
) -> ChatRequest:
    parts = [order, *([f"Examples, for other questions:\n\n{shown}"] if shown else [])]
    parts += [f"Question: {question}", *([f"Given answer: {given}"] if given else [])]
    message = Message(role="user", content="\n\n".join(parts))
    return ChatRequest(messages=(message,), max_tokens=max_tokens, temperature=0.8, sample=sample)


def _text(reply: ChatReply) -> str | None:
    text = (reply.text or "").strip() if reply.status == "ok" else ""
    return text or None


def read_lists(path: str) -> list[Graded]:
    """Complete lists of a stored file; incomplete ones, and lists of nothing, are left out.

    Raises:
        JudgeError: it cannot be read, a line is no list, was written by a newer version, or no
            list is complete.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
        rows = [orjson.loads(line) for line in lines if line.strip()]
        found = [_graded(row) for row in rows if row.get("status", "ok") == "ok"]
        found = [one for one in found if any(text.strip() for text in one.references)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise JudgeError(
            f"cannot read the lists {path!r} ({type(error).__name__}: {error}); a line needs "
            "question, references (best first) and reference_grades, as 'markscheme research "
            "references build' writes them"
        ) from None
    newest = max((row.get("version", VERSION) for row in rows), default=VERSION)
    if newest > VERSION:
        raise JudgeError(
            f"the lists {path!r} have version {newest}, and this package knows up to {VERSION}; "
            "update markscheme"
        )
    if not found:
        raise JudgeError(f"no list in {path!r} is complete; build them again")
    return found


def _graded(row: dict[str, Any]) -> Graded:
    pairs = zip(row["reference_grades"], row["references"], strict=True)
    ordered = sorted(((int(grade), str(text)) for grade, text in pairs), key=lambda one: -one[0])
    return Graded(
        question=str(row["question"]),
        references=tuple(text for _, text in ordered),
        grades=tuple(grade for grade, _ in ordered),
    )


def with_lists(answers: pl.DataFrame, lists: Sequence[Graded]) -> tuple[pl.DataFrame, int]:
    """Answers with stored lists as their references, by question after normalisation.

    Args:
        answers: an answers table; its own references are replaced where a list is known.
        lists: one a question; of several the last counts, and one of nothing replaces nothing.

    Returns:
        The table, and how many rows are unchanged because no list is known.
    """
    lists = [one for one in lists if one.references]
    table = pl.DataFrame(
        {
            "_key": normalise_series(pl.Series([one.question for one in lists], dtype=pl.String)),
            "_texts": pl.Series([list(one.references) for one in lists], dtype=pl.List(pl.String)),
            "_grades": pl.Series([list(one.grades) for one in lists], dtype=pl.List(pl.Int64)),
        }
    ).unique("_key", keep="last")
    joined = answers.with_columns(_key=normalise_series(answers["question"])).join(
        table, on="_key", how="left", maintain_order="left"
    )
    missing = joined["_texts"].null_count()
    kind, bare = pl.col("reference_kind"), pl.col("references").list.len() == 0
    without = pl.col("_texts").is_null()
    # An empty list would say of an answer without references that the question has no answer.
    own = pl.when(~bare | kind.eq_missing("none")).then("references")
    return (
        joined.with_columns(
            references=pl.coalesce("_texts", own),
            reference_grades=pl.when(without).then("reference_grades").otherwise("_grades"),
            reference_kind=pl.when(without).then(kind),
        ).drop("_key", "_texts", "_grades"),
        missing,
    )


# --- Solved examples of ranking in a list, out of answers that people graded ---


def solved_examples(answers: pl.DataFrame, *, count: int, seed: int = 0) -> pl.DataFrame:
    """Solved examples out of labelled candidates with graded references.

    The rank of a candidate is 1 plus the references of a higher grade than its label. Examples
    come from different questions and their labels spread evenly, so that no rank is favoured.

    Raises:
        JudgeError: fewer questions than examples.
    """
    usable = answers.filter(
        pl.col("label").is_not_null() & (pl.col("references").list.len() > 1)
    ).sample(fraction=1.0, shuffle=True, seed=seed)
    labels = usable["label"].unique().sort(descending=True).to_list()
    chosen: list[dict[str, Any]] = []
    for turn in range(count):
        taken = [row["question"] for row in chosen]
        left = usable.filter(~pl.col("question").is_in(taken))
        wanted = left.filter(pl.col("label") == labels[turn % len(labels)]) if labels else left
        part = wanted if wanted.height else left
        if part.is_empty():
            raise JudgeError(f"{count} examples need as many questions; there are {turn}")
        item, label = items(part[:1])[0], float(part["label"][0])
        rank = 1 + sum(grade > label for grade in item.grades)
        chosen.append(
            {"question": item.question, "references": list(item.references),
             "answer": item.answer, "rank": rank}
        )  # fmt: skip
    return pl.DataFrame(chosen)
