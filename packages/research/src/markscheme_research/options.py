"""Options that several research commands have, each defined once: see `markscheme.flags`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.flags import Argument, Option

Composition = Option(
    "Grades of the listed references, one digit each (0: the lowest grade): 3210, 33221100; or "
    "top (one of the best grade) or none.",
    ("--composition", "-c"),
)
DRAWN = Option(
    "rest: do not judge the answers drawn as references. butref: judge all of them but the first "
    "of each list, which leaks the references.",
    ("--drawn-references",),
    aliases=("--protocol",),
    alias_values={"--butref": "butref"},
    rare=True,
)
ROUNDS = Option("Number of trees in each ensemble.", minimum=1)
FOLDS = Option("Number of cross-validation folds for the held-out report.", minimum=2)
ENTAILED = Option("Label that means entailment, where labels are numbers.")
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
        "Part of ANTIQUE: all; dev, which the shipped weights were trained on; test, the other "
        "half; or auto: all if ANTIQUE.json is present, else dev.",
        rare=True,
    ),
]
DRAWS = Option(
    "Number of random draws of reference lists.", ("--draws",), aliases=("--seeds",), minimum=1
)
FirstQuestions = Annotated[
    int | None,
    Option("Use only the first N questions of a set or table.", ("--first-questions",), minimum=1),
]
DataDir = Annotated[
    Path | None,
    Option(
        "Folder with the datasets, or a dataset's file. Without it: $MARKSCHEME_DATA, else your "
        "cache.",
        rare=True,
    ),
]
