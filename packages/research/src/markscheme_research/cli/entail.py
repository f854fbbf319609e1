"""`markscheme research entail`: entailment tests on pairs of texts."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli import AskedModels, Out, Shown, command, notes, opened
from markscheme.flags import Argument, Default, Fields, Option
from markscheme_research.options import ENTAILED


@command("research entail", example="markscheme research entail pairs.jsonl")
def entail(
    pairs: Annotated[
        str,
        Argument(
            "Premise, hypothesis and, where people judged them, label: CSV, TSV, JSON, JSONL or "
            "Parquet.",
            metavar="PAIRS",
        ),
    ],
    models: AskedModels,
    shown: Annotated[Shown, Fields(without=("out",))],
    tests: Annotated[
        tuple[str, ...],
        Option("embedded, chat (requires --model) or nli:NAME_OR_FOLDER; repeatable.", ("--test",)),
        Default("embedded"),
    ] = (),
    entailed: Annotated[str | None, ENTAILED] = None,
    out: Out = None,
) -> None:
    """Test whether premises entail hypotheses, and compare with people's labels.

    For RTE, CB and the like (Yao & Barbosa 2024, appendix A.3). --out writes every pair.
    """
    from markscheme.results import check_ending
    from markscheme_research.studies import WRITERS
    from markscheme_research.studies import entail as judge_pairs

    if out is not None:
        check_ending(out, WRITERS)
    with opened(models) as asked:
        found = judge_pairs(pairs, tests or ("embedded",), entailed=entailed, models=asked)
    shown.show(found)
    if out is not None:
        notes.print(f"written to {found.write(out)}", markup=False)
