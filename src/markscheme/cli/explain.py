"""`markscheme explain`: why the examiner decides as it does on one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from markscheme.analysis import ExplainOptions
from markscheme.cli.app import console
from markscheme.cli.options import Shown, command
from markscheme.errors import MarkschemeError
from markscheme.flags import Answer, Argument, Question, References

if TYPE_CHECKING:
    from markscheme.analysis import Explanation


@command("explain", example='markscheme explain -q "When did it open?" -r 1975 -a "In 1985."')
def explain(
    *,
    run: Annotated[
        str | None, Argument("Run, or file of answers, that contains the answer.", metavar="RUN")
    ] = None,
    answer_id: Annotated[
        str | None,
        Argument(
            "Id of the answer, as 'markscheme failures RUN --details FILE' writes it.", metavar="ID"
        ),
    ] = None,
    question: Question = "",
    reference: References = (),
    answer: Answer = "",
    options: ExplainOptions,
    shown: Shown,
) -> None:
    """Explain the examiner's judgment of one answer: verdict, matched words, deciding features.

    The answer is either one of a run, by its id, or the one that -q, -r and -a give.
    """
    from markscheme.analysis import answer_of
    from markscheme.analysis import explain as find_reasons

    if run is not None:
        question, reference, answer = answer_of(run, answer_id)
    elif not (question and reference and answer):
        raise MarkschemeError(
            "explain requires -q QUESTION, -r REFERENCE and -a ANSWER, or RUN and the ID of one of "
            "its answers"
        )
    found = find_reasons(question, reference, answer, options)
    shown.show(found, lambda: _print(found))


def _print(found: Explanation) -> None:
    from rich.text import Text

    judgment = found.judgment
    verdict = "accepted" if judgment["verdict"] else "not accepted"
    console.print(f"{verdict}, probability {judgment['score']:.3f}, marks {judgment['marks']:.2f}")
    console.print(judgment["explanation"])
    marked = Text(found.answer)
    for start, end in found.spans:
        marked.stylize("bold reverse green", start, end)
    for start, end in found.contradicting:
        marked.stylize("bold reverse red", start, end)
    console.print(Text("\nanswer, words of the reference marked:\n  ") + marked)
    if found.spans:
        words = ", ".join(repr(found.answer[start:end]) for start, end in found.spans)
        console.print(f"matched: {words}")
    if found.contradicting:
        words = ", ".join(repr(found.answer[start:end]) for start, end in found.contradicting)
        console.print(f"against the reference, as the encoder reads it: {words}")
    if found.values:
        console.print(f"values: {found.values}")
    for table in found.tables[1:]:
        console.print()
        console.print(table.rich())
        for note in table.notes:
            console.print(note, soft_wrap=not console.is_terminal)
