"""`markscheme research claims`: one long answer, claim by claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from markscheme.cli import AskedModels, Shown, command, console, opened
from markscheme.flags import JUDGE, Answer, Fields, Option, Question, References

if TYPE_CHECKING:
    from markscheme_research.studies import ClaimsResult


@command(
    "research claims",
    example='markscheme research claims -q "When did it open?" -r 1975 -a "In 1985, in May."',
)
def claims(
    question: Question,
    reference: References,
    answer: Answer,
    shown: Annotated[Shown, Fields(without=("quiet",))],
    models: AskedModels,
    context: Annotated[str | None, Option("A passage that may also support claims.")] = None,
    judge: Annotated[str, JUDGE] = "claims",
) -> None:
    """Split an answer into claims; say which are supported, contradicted or extra, and the marks.

    A file of answers is judged by `markscheme judge FILE --judge claims`.
    """
    from markscheme_research.studies import mark_claims

    with opened(models) as asked:
        found = mark_claims(question, reference, answer, judge, context=context, models=asked)
    shown.show(found, lambda: _print(found))


def _print(found: ClaimsResult) -> None:
    console.print(_verdict(found.judgment), markup=False)
    if not found.tables:
        console.print(found.judgment["explanation"], markup=False)
    for table in found.tables:
        console.print()
        console.print(table.rich())
        for note in table.notes:
            console.print(note, markup=False, soft_wrap=True)


def _verdict(found: Mapping[str, Any]) -> str:
    if found["status"] != "judged":
        return f"not judged ({found['status']})"
    verdict = "accepted" if found["verdict"] else "not accepted"
    return f"{verdict}, marks {found['marks']:.2f}, relation {found['relation']}"
