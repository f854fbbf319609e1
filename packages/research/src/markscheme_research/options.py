"""Options that several research commands have, each defined once: see `markscheme.flags`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.flags import Argument, Option

Composition = Option(
    "One digit per reference, its grade above the lowest: 3210, 33221100; or top, none.",
    ("--composition", "-c"),
)
DRAWN = Option(
    "rest: drawn references leave the candidates; butref: they stay, which leaks.",
    ("--drawn-references",),
    aliases=("--protocol",),
    alias_values={"--butref": "butref"},
    rare=True,
)
ROUNDS = Option("Trees of each ensemble.", minimum=1)
FOLDS = Option("Parts for the held-out report.", minimum=2)
ENTAILED = Option("The label of pairs that means entailment, where labels are numbers.")
TrainingData = Annotated[
    tuple[str, ...], Option("Labelled answers; several files may be given.", ("--data",))
]
Graded = Annotated[
    str,
    Argument(
        "antique, trec-dl-nf, webglm, or a file with question, answer and a grade in label "
        "(with references and reference_grades; else these are drawn from the answers).",
        metavar="DATA",
    ),
]
Part = Annotated[
    str,
    Option(
        "Part of ANTIQUE: all; dev, which the shipped weights learned from; test, the other half; "
        "or auto, whichever file is here.",
        rare=True,
    ),
]
DRAWS = Option("Draws of reference lists.", ("--draws",), aliases=("--seeds",), minimum=1)
FirstQuestions = Annotated[
    int | None,
    Option("Only the first N questions of a set or table.", ("--first-questions",), minimum=1),
]
DataDir = Annotated[
    Path | None,
    Option(
        "Folder with the datasets (else MARKSCHEME_DATA, else your cache); or one file.", rare=True
    ),
]
