"""`markscheme research references`: lists of graded references, written, drawn, stored, used."""

from __future__ import annotations

from typing import Annotated, Literal

from markscheme.cli import AskedModels, OutFile, Shown, command, console, group, notes, opened
from markscheme.flags import Argument, Columns, Count, Default, Fields, Option, Seed
from markscheme.tables import FileOptions
from markscheme_research.options import DRAWN, Composition, DataDir, Graded

group(
    "research references",
    "Lists of graded references (build, draw, apply, shots), and patterns written out (expand).",
)


@command(
    "research references build",
    example="markscheme research references build questions.jsonl --model gpt-4o --out lists.jsonl",
)
def build(
    questions: Annotated[
        str,
        Argument(
            "File of questions; the first reference, if any, is the golden answer.",
            metavar="QUESTIONS",
        ),
    ],
    out: OutFile,
    columns: Columns,
    models: AskedModels,
    also: Annotated[
        tuple[str, ...], Option("A further model for the lower-grade references; repeatable.")
    ] = (),
    composition: Annotated[str, Composition] = "3210",
    examples: Annotated[
        str | None,
        Option(
            "File of lists for other questions, shown to the model as examples of each grade.",
            ("--example-lists",),
            aliases=("--examples",),
        ),
    ] = None,
    max_tokens: Annotated[
        int, Option("Maximum length of a reference, in tokens.", minimum=1, rare=True)
    ] = 300,
    seed: Seed = 0,
) -> None:
    """Have chat models write a list of graded references for each question, to be reused.

    The golden answer is rewritten (or written, if there is none), so that all references have the
    same style; then lower-grade ones are written by named techniques, spread over the models. The
    file has one line per question, with grades, techniques, models and a version; 'references
    apply' adds the lists to answers.
    """
    from markscheme.results import check_ending
    from markscheme_research.lists import write_lists

    check_ending(out, (".jsonl", ".ndjson"))
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
    """Draw references from graded answers, and write the other answers with them for judging.

    The result is a file of answers in random order, for 'markscheme judge' and 'agree'.
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
    example="markscheme research references shots antique --out shots.jsonl",
)
def shots(
    data: Graded,
    out: OutFile,
    columns: Columns,
    count: Count = 3,
    composition: Annotated[str | None, Composition, Default("usual")] = None,
    apart: Annotated[
        tuple[str, ...],
        Option("File or dataset that is to be judged, whose questions are not taken; repeatable."),
    ] = (),
    seed: Seed = 0,
    data_dir: DataDir = None,
) -> None:
    """Choose solved examples for listwise: question, list, answer, and its rank by people.

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
    lists: Annotated[str, Argument("File that 'references build' wrote.")],
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
    read: FileOptions,
    shown: Annotated[Shown, Fields(without=("out",))],
    kind: Annotated[
        Literal["regex"] | None,
        Option("regex: treat all references as patterns, even without a column reference_kind."),
    ] = None,
    most: Annotated[int, Option("Maximum number of texts per pattern.", minimum=1)] = 12,
) -> None:
    """Expand references that are regular expressions into texts, which every judge can read.

    Each text matches its pattern as a whole. A pattern that matches unlimited texts is left as it
    is and counted; the judge `regex` reads the patterns themselves.
    """
    from markscheme_research.studies import expand_references

    found = expand_references(answers, most=most, kind=kind, options=read)
    found.write(out)
    shown.show(found)
    notes.print(f"written to {out}", markup=False)
