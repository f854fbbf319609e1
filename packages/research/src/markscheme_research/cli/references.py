"""`markscheme research references`: lists of graded references, written, drawn, stored, used."""

from __future__ import annotations

from typing import Annotated, Literal

from markscheme.cli import AskedModels, OutFile, Shown, command, console, group, notes, opened
from markscheme.flags import Argument, Columns, Count, Default, Fields, Option, Seed
from markscheme_research.options import DRAWN, Composition, DataDir, Graded

group(
    "research references",
    "Lists of graded references (build, draw, apply, shots), and patterns written out (expand).",
)


@command(
    "research references build",
    example="markscheme research references build antique --out lists.jsonl",
)
def build(
    questions: Annotated[
        str,
        Argument("A file; the first reference, if any, is the golden answer.", metavar="QUESTIONS"),
    ],
    out: OutFile,
    columns: Columns,
    models: AskedModels,
    also: Annotated[
        tuple[str, ...], Option("A further model for the worse references; may be repeated.")
    ] = (),
    composition: Annotated[str, Composition] = "3210",
    examples: Annotated[
        str | None,
        Option(
            "Lists of other questions to show: what is a 2, a 1, a 0?",
            ("--example-lists",),
            aliases=("--examples",),
        ),
    ] = None,
    max_tokens: Annotated[int, Option("Longest reference, in tokens.", minimum=1, rare=True)] = 300,
    seed: Seed = 0,
) -> None:
    """Have chat models write a list of references for each question, once and for all.

    The golden answer is rewritten, so that all have the same style (or written, where there is
    none), then worse ones by named techniques, spread over the models. One line per question, with
    grades, techniques, models and a version; 'references apply' adds the lists to answers.
    """
    from markscheme_research.lists import write_lists

    with opened(models) as asked:
        found = write_lists(
            questions, asked, also=also, composition=composition, examples=examples,
            max_tokens=max_tokens, seed=seed, columns=columns,
        )  # fmt: skip
        spending = asked.budget.spending
    found.write(out)
    console.print(
        f"{found.complete} of {found.frame.height} lists complete: {out}",
        markup=False,
        soft_wrap=True,
    )
    for reason, count in found.incomplete.items():
        console.print(f"  {count} not complete: {reason}", markup=False)
    notes.print(f"language models: {spending}", markup=False)


@command(
    "research references draw",
    example="markscheme research references draw antique --composition 3210 --out drawn.jsonl",
)
def draw(
    data: Graded,
    out: OutFile,
    columns: Columns,
    composition: Annotated[str | None, Composition, Default("usual")] = None,
    protocol: Annotated[Literal["rest", "butref"], DRAWN] = "rest",
    seed: Seed = 0,
    data_dir: DataDir = None,
) -> None:
    """Draw references out of graded answers; the rest, with these lists, are to be judged.

    The file is one of answers, for 'markscheme judge' and 'agree'. The order is random.
    """
    from markscheme.tables import write_answers
    from markscheme_research.lists import draw_lists

    found = draw_lists(
        data, composition=composition, protocol=protocol, seed=seed, columns=columns,
        data_dir=data_dir,
    )  # fmt: skip
    write_answers(found.answers, out)
    console.print(
        f"{found.rows:,} answers to {found.questions:,} questions, lists of {found.shortest} to "
        f"{found.longest} references ({found.composition}, {protocol}, seed {seed}): {out}",
        markup=False,
        soft_wrap=True,
    )


@command(
    "research references shots",
    example="markscheme research references shots antique --out shots.toml",
)
def shots(
    data: Graded,
    out: OutFile,
    columns: Columns,
    count: Count = 3,
    composition: Annotated[str | None, Composition, Default("usual")] = None,
    apart: Annotated[
        tuple[str, ...],
        Option(
            "What is to be judged: its questions are not taken. A file or a dataset; may be "
            "repeated."
        ),
    ] = (),
    seed: Seed = 0,
    data_dir: DataDir = None,
) -> None:
    """Choose solved examples for listwise: question, list, answer, and the rank people give it.

    Each comes from a different question, and grades alternate, so that no rank is favoured. Use
    them with listwise(examples='FILE'), which refuses examples of a question that it judges.
    """
    from markscheme_research.lists import choose_shots, shot_lines

    chosen, left = choose_shots(
        data, count=count, composition=composition, apart=apart, seed=seed, columns=columns,
        data_dir=data_dir,
    )  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    chosen.write_ndjson(out)
    for line in shot_lines(chosen):
        console.print(line, markup=False)
    console.print(
        f"{chosen.height} examples: {out}; use them as listwise(examples='{out}'), on other "
        f"questions ({left:,} of {data} are left)",
        markup=False,
        soft_wrap=True,
    )


@command(
    "research references apply",
    example="markscheme research references apply lists.jsonl answers.jsonl --out ready.jsonl",
)
def apply(
    lists: Annotated[str, Argument("What 'references build' wrote.")],
    answers: Annotated[str, Argument("Answers to the same questions.")],
    out: OutFile,
    columns: Columns,
) -> None:
    """Add stored lists to answers, by question, for 'markscheme judge'."""
    from markscheme.tables import write_answers
    from markscheme_research.lists import apply_lists

    table, found, missing = apply_lists(answers, lists, columns=columns)
    write_answers(table, out)
    console.print(f"{found:,} answers with a list: {out}", markup=False)
    if missing:
        notes.print(
            f"{missing:,} answers to questions without a complete list keep what references they "
            "had",
            markup=False,
        )


@command(
    "research references expand",
    example="markscheme research references expand answers.jsonl --out ready.jsonl",
)
def expand(
    answers: Annotated[str, Argument("Answers whose references are patterns.", metavar="ANSWERS")],
    out: OutFile,
    columns: Columns,
    shown: Annotated[Shown, Fields(without=("out",))],
    kind: Annotated[
        Literal["regex"] | None,
        Option("regex: all references are patterns, though no column reference_kind says so."),
    ] = None,
    most: Annotated[int, Option("Texts at most for each pattern.", minimum=1)] = 12,
) -> None:
    """Write regular expressions out as texts, so that every judge can read the references.

    Each text matches its pattern as a whole. A pattern that matches unlimited texts is left as it
    is and counted; the judge `regex` reads the patterns themselves.
    """
    from markscheme_research.studies import expand_references

    found = expand_references(answers, most=most, kind=kind, columns=columns)
    found.write(out)
    shown.show(found)
    notes.print(f"written to {out}", markup=False)
