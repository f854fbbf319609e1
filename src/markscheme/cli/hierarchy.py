"""`markscheme hierarchy`: a run's answer hierarchy, tested against people, as Yao & Barbosa do."""

from __future__ import annotations

from typing import Annotated

from markscheme.agreement import HierarchyOptions
from markscheme.cli.app import notes
from markscheme.cli.options import Judgments, Shown, command
from markscheme.cli.output import Format
from markscheme.options import Answers, Labels, Option


@command("hierarchy")
def hierarchy(
    judgments: Judgments,
    options: HierarchyOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
    roc: Annotated[bool, Option("Draw the ROC curve of the marks as text.")] = False,
) -> None:
    """Which sets the answers fall into, and whether people accept more of the higher ones.

    Counts of the four sets, one-tailed Fisher tests between neighbours, F1 and accuracy under every
    policy of what counts as right, AUROC and Brunner-Munzel test of the marks under every scheme
    that the run knows of, and what was not judged. Without labels, the counts alone. JSON output
    (--format json, or --out FILE.json) has the ROC curve as data.
    """
    from markscheme import agreement

    found = agreement.hierarchy(judgments, labels, options, answers=answers)
    if not found.labelled:
        notes.print("no labels in this file, so the sets are counted only; give some by --labels")
    shown.show(found)
    if roc and shown.format is Format.TABLE:
        for picture in found.roc_pictures():
            print(picture)
