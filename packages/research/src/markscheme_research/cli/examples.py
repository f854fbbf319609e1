"""`markscheme research examples`: solved examples for `llm_evouna_icl` from other labels."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli import OutFile, command, console
from markscheme.flags import Argument, Count, Option, Seed
from markscheme.tables import FileOptions


@command(
    "research examples",
    example="markscheme research examples labelled.jsonl --out examples.jsonl",
)
def examples(
    labelled: Annotated[
        str,
        Argument(
            "Answers with labels 0 and 1, of a dataset other than the one to judge.",
            metavar="LABELLED",
        ),
    ],
    out: OutFile,
    read: FileOptions,
    count: Count = 4,
    system: Annotated[str | None, Option("Use answers of this system only.")] = None,
    seed: Seed = 0,
) -> None:
    """Choose solved examples by k-means over questions (Wang et al. 2023, section 6.4).

    Use them with `llm_evouna_icl(examples='FILE')`.
    """
    from markscheme.results import check_ending
    from markscheme.tables import write_table
    from markscheme_research.studies import choose_solved_examples, solved_example_lines

    check_ending(out, (".jsonl",))
    chosen = choose_solved_examples(labelled, read, count=count, system=system, seed=seed)
    write_table(chosen, out)
    for line in solved_example_lines(chosen):
        console.print(line)
    console.print(
        f"{chosen.height} examples in {out}; use them as llm_evouna_icl(examples='{out}')"
    )
