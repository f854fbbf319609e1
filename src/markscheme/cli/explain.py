"""`markscheme explain`: why the examiner decides as it does on one answer."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

from markscheme.analysis import ExplainOptions
from markscheme.cli.options import Shown, command
from markscheme.errors import MarkschemeError
from markscheme.flags import ANSWER, Argument, Fields, Question, References
from markscheme.tables import FileOptions


@command("explain", example='markscheme explain -q "When did it open?" -r 1975 -a "In 1985."')
def explain(
    *,
    run: Annotated[
        str | None, Argument("Run, or file of answers, that contains the answer.", metavar="RUN")
    ] = None,
    answer_id: Annotated[
        str | None,
        Argument("Id of the answer, as 'markscheme failures RUN' shows it.", metavar="ID"),
    ] = None,
    question: Question = "",
    reference: References = (),
    answer: Annotated[str | None, ANSWER] = None,
    options: ExplainOptions,
    read: FileOptions,
    shown: Annotated[Shown, Fields(without=("quiet",))],
) -> None:
    """Explain the examiner's judgment of one answer: why, which words matched, what counted most.

    The answer is either one of a run, by its id, or the one in -q, -r and -a. These are read like
    a row of a file: ' | ' or ' || ' in -r separates several references.
    """
    from markscheme.analysis import answer_of
    from markscheme.analysis import explain as find_reasons
    from markscheme.tables import reference_texts

    if run is not None:
        if question or reference or answer is not None:
            raise MarkschemeError(
                "explain takes RUN and the ID of one of its answers, or -q, -r and -a, not both"
            )
        question, reference, answer = answer_of(run, answer_id, read)
    elif not question or not reference or answer is None:
        raise MarkschemeError(
            "explain requires -q QUESTION, -r REFERENCE and -a ANSWER, or RUN and the ID of one of "
            "its answers"
        )
    else:
        reference = tuple(chain.from_iterable(map(reference_texts, reference)))
    shown.show(find_reasons(question, reference, answer, options))
