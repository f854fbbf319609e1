"""`markscheme explain`: why the examiner decides as it does on one answer."""

from __future__ import annotations

from typing import Annotated

import typer

from markscheme.cli.app import app, console


@app.command("explain")
def explain(
    question: Annotated[str, typer.Option("--question", "-q", help="The question.")],
    reference: Annotated[
        list[str], typer.Option("--reference", "-r", help="A reference; several may be given.")
    ],
    answer: Annotated[str, typer.Option("--answer", "-a", help="What a system said.")],
    weights: Annotated[
        str | None, typer.Option(help="Folder of an examiner trained by 'markscheme train'.")
    ] = None,
    features: Annotated[int, typer.Option(help="How many deciding features to show.")] = 6,
) -> None:
    """Explain the examiner's judgment of one answer: verdict, matched words, deciding features."""
    from rich.text import Text

    from markscheme.judges.examiner import reasons
    from markscheme.results import Table
    from markscheme.tables import ReadOptions, read_answers

    # What 'markscheme judge' refuses has no judgment to explain.
    row = {"question": question, "references": reference, "answer": answer}
    read_answers([row], ReadOptions(reference_separator="none"))
    found = reasons(question, reference, answer, weights=weights)
    judgment = found.judgment
    verdict = "accepted" if judgment["verdict"] else "not accepted"
    console.print(f"{verdict}, probability {judgment['score']:.3f}, marks {judgment['marks']:.2f}")
    console.print(judgment["explanation"], markup=False)
    shown = Text(answer)
    for start, end in found.spans:
        shown.stylize("bold reverse green", start, end)
    console.print(Text("\nanswer, words of the reference marked:\n  ") + shown)
    if found.spans:
        words = ", ".join(repr(answer[start:end]) for start, end in found.spans)
        console.print(f"matched: {words}", markup=False)
    if found.rule:
        console.print("decided by a rule, not by the trees: see 'ruled' in docs/examiner.md")
        return
    rows = [
        (f"{effect:+.2f}", name, f"{value:g}", meaning)
        for name, meaning, value, effect in found.features[:features]
    ]
    table = Table(
        title="What moved the verdict: change in log-odds against an ordinary answer's value",
        header=("effect", "feature", "value", "meaning"),
        rows=tuple(rows),
        numeric=frozenset({"effect", "value"}),
    )
    console.print()
    console.print(table.rich())
