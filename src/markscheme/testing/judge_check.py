"""A check of any judge against the judge contract, for its author's tests.

The idea is scikit-learn's `check_estimator`: the author of a judge calls one function, and every
rule that the rest of the package relies on is tried on rows that are made to break it.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Sequence

import polars as pl

from markscheme.contract import (
    Judge,
    ModelSource,
    Needs,
    entry,
    judge_name,
    name_of,
    needs_of,
    parse_judge,
    run_judge,
    signature,
)
from markscheme.engine import apply
from markscheme.errors import JudgeError, MarkschemeError
from markscheme.models import Models
from markscheme.models.chat import ScriptedChat
from markscheme.tables import ANSWERS_SCHEMA, OUTCOME, SPENT, is_blank, read_answers

_DIFFICULT = (
    "",
    " \t\n ",
    "Paris",
    "PARIS!",
    "the capital is Paris, of course",
    "ｐａｒｉｓ",
    "Pa\u0301ris \u00a0 \u2028 \u200b",
    "\U0001f5fc\U0001f1eb\U0001f1f7",
    "\u202epalindrome\u202c",
    "İstanbul ıI ß ŉ ǰ",
    "((((((((((",
    "a{1000}",
    "\\",
    ".*",
    "[",
    "%s %d {} {0} $x",
    "<script>alert(1)</script>",
    "x" * 1_000_000,
)


def difficult_answers() -> pl.DataFrame:
    """Answers on which judges tend to break, one null among them.

    Nothing, white space, combining and invisible characters, right-to-left marks, patterns, format
    strings, markup, and a text of one million characters.
    """
    return read_answers(
        [
            {
                "question": "What is the capital of France?",
                "references": ["Paris in France", "Paname"],
                "answer": text,
                "id": str(place),
            }
            for place, text in enumerate([*_DIFFICULT, None])
        ]
    )


def check_judge(
    judge: str | Judge,
    *,
    answers: pl.DataFrame | None = None,
    models: ModelSource | None = None,
) -> None:
    """Raise an error that names the first rule of the judge contract that a judge breaks.

    Checked: it is a registered, frozen, keyword-only dataclass with a description; its name reads
    back as an equal judge; it can be sent to another process; its output has the right columns,
    types, ranges and rows; the outcome of a row depends neither on the order of the rows nor on
    the other rows nor on an earlier call; an empty table gives an empty table; and it keeps to the
    needs that it declares (chat model, references, question).

    Args:
        judge: a judge's name, or a judge.
        answers: rows to try it on, besides `difficult_answers()`. Give rows that your judge is made
            for; a judge of a file's questions has nothing to say about the difficult ones.
        models: what it may ask; by default encoders and a scripted chat model that says "Yes".

    Raises:
        JudgeError: a rule is broken; the message names the judge, the rule and what to change.
        UnknownNameError: no judge has that name.

    Example:
        >>> check_judge("token_f1(threshold=0.6)")
    """
    judge = parse_judge(judge) if isinstance(judge, str) else judge
    _check_class(judge)
    name = judge_name(judge)
    _check_name(judge, name)
    chat = ScriptedChat(replies=lambda _: "Yes")
    opened = Models(chat=chat) if models is None else models
    for table in (difficult_answers(), answers):
        if table is not None:
            _check_outcomes(judge, name, table, opened)
    if chat.seen and needs_of(judge).chat is None:
        raise _broken(name, "it asks a chat model and does not declare it", "Needs(chat=True)")


def _broken(name: str, what: str, change: str) -> JudgeError:
    return JudgeError(f"check_judge: {name}: {what}; {change}")


def _check_class(judge: Judge) -> None:
    name = type(judge).__qualname__
    found = entry(name_of(judge))  # which `register` let pass: it is a frozen dataclass
    if not all(field.kw_only for field in dataclasses.fields(judge)):  # type: ignore[arg-type]
        raise _broken(name, "its parameters have an order", "make it @dataclass(kw_only=True)")
    if not found.summary.endswith("."):
        raise _broken(name, "its docstring has no sentence", "begin it with one that ends in '.'")
    try:
        hash(judge)
    except TypeError as error:
        raise _broken(
            name, f"a parameter can be changed in place ({error})", "use a tuple for a list"
        ) from None


def _check_name(judge: Judge, name: str) -> None:
    for text in (name, judge_name(judge, full=True)):
        try:
            again = parse_judge(text)
        except MarkschemeError as error:
            raise _broken(
                name, f"its name {text!r} does not read back ({error})", "see the name grammar"
            ) from error
        if again != judge:
            raise _broken(
                name,
                f"its name {text!r} reads back as another judge, {again!r}",
                "let fields be all of its parameters, and the constructor only store them",
            )
    if judge_name(judge, full=True) not in signature(judge):
        raise _broken(name, "its signature lacks a parameter", "let every parameter be a field")
    try:
        sent = pickle.loads(pickle.dumps(judge))  # noqa: S301 - made a line ago
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _broken(
            name,
            f"it cannot be sent to another process ({error})",
            "define the class at the top level of a module",
        ) from None
    if sent != judge:
        raise _broken(name, "it is another judge in another process", "keep all state in fields")


def _check_outcomes(judge: Judge, name: str, answers: pl.DataFrame, models: ModelSource) -> None:
    needs = needs_of(judge)
    before = hash(judge)
    outcomes = apply(judge, answers, models)
    apply(judge, pl.DataFrame(schema=ANSWERS_SCHEMA), models)  # which checks what comes back

    def same(found: pl.DataFrame, what: str, change: str) -> None:
        columns = [one for one in OUTCOME if one not in _incidental(needs)]
        for column in columns:
            equal = found[column].eq_missing(outcomes[column])
            if not equal.all():
                row = int((~equal).arg_true()[0])
                raise _broken(
                    name,
                    f"{what}: {column}={found[column][row]!r} in row {row}, where it was "
                    f"{outcomes[column][row]!r}",
                    change,
                )

    same(
        apply(judge, answers, models),
        "the same rows judged again have other outcomes",
        "let nothing decide but the row and the parameters (fix seeds, keep no state)",
    )
    same(
        apply(judge, answers.reverse(), models).reverse(),
        "the same rows in another order have other outcomes",
        "return one row an answer, in the order given",
    )
    alone = [apply(judge, answers[row : row + 1], models) for row in range(answers.height)]
    same(
        pl.concat(alone),
        "a row judged alone has another outcome",
        "let no row depend on the others in the table",
    )
    if needs.question == "unused":
        other = answers.with_columns(question=pl.lit("Where does the river Loire rise?"))
        same(
            apply(judge, other, models),
            "it declares question='unused', and another question gives another outcome",
            "declare question='optional' or 'required'",
        )
    _check_references(judge, answers, models, outcomes=outcomes)
    if hash(judge) != before:
        raise _broken(name, "judging changes the judge", "keep no state in it")


def _check_references(
    judge: Judge, answers: pl.DataFrame, models: ModelSource, *, outcomes: pl.DataFrame
) -> None:
    name, needs = judge_name(judge), needs_of(judge)
    none = pl.lit([], dtype=pl.List(pl.String))
    if needs.references == "optional":
        return
    bare = answers.with_columns(references=none)
    if needs.references == "required":
        # Straight to the judge: a run does not ask it about such rows.
        given = bare.select(~is_blank("answer")).to_series().arg_true()
        found = run_judge(judge, bare[given], models)
        judged = given.filter(found["status"] == "judged")
        if judged.len():
            raise _broken(
                name,
                f"it declares references='required', and judges row {judged[0]} without any",
                "give such a row the status 'skipped', or declare references='optional'",
            )
        return
    found = apply(judge, bare, models)
    columns: Sequence[str] = [one for one in OUTCOME if one not in _incidental(needs)]
    if not found.select(columns).equals(outcomes.select(columns)):
        raise _broken(
            name,
            "it declares references='unused', and other references give other outcomes",
            "declare references='optional' or 'required'",
        )


def _incidental(needs: Needs) -> tuple[str, ...]:
    """What may differ from call to call: cost and time; with a chat model its words too."""
    return (*SPENT, "raw") if needs.may_ask_chat else SPENT
