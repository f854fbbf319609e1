"""`markscheme research hierarchy`: a run's answer hierarchy against people, as Yao & Barbosa do."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli import Judgments, Shown, command, notes
from markscheme.flags import Answers, Labels, Option
from markscheme_research.studies import HierarchyOptions


@command("research hierarchy", example="markscheme research hierarchy runs/answers-6dae129e")
def hierarchy(
    judgments: Judgments,
    options: HierarchyOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
    roc: Annotated[bool, Option("Draw the ROC curve of the marks as text.")] = False,
) -> None:
    """Count answers in each set, and test whether people accept more of the higher sets.

    Prints counts of the four sets, one-tailed Fisher tests between neighbouring sets, F1 and
    accuracy under every policy of what counts as right, AUROC and Brunner-Munzel test of the marks
    under every scheme in the run, and what was not judged. Without labels: the counts only. JSON
    output (--format json, or --out FILE.json) has the ROC curve as data.
    """
    from markscheme_research import studies

    found = studies.hierarchy(judgments, labels, options, answers=answers)
    if not found.labelled:
        notes.print("no labels in this file, so the sets are counted only; give some by --labels")
    shown.show(found)
    if roc and shown.format == "table":
        for picture in found.roc_pictures():
            print(picture)
