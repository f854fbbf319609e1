"""What a report shows, one file a section; a section appears where the data has it."""

from __future__ import annotations

from collections.abc import Callable

from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.reports.sections.accuracy import accuracy
from markscheme.reports.sections.against_people import against_people
from markscheme.reports.sections.cost import cost
from markscheme.reports.sections.curves import reliability_curves, roc
from markscheme.reports.sections.errors import errors
from markscheme.reports.sections.marks import marks
from markscheme.reports.sections.modes import mode_errors, modes
from markscheme.reports.sections.pairs import pairs, runs
from markscheme.reports.sections.people import people
from markscheme.reports.sections.relations import relations
from markscheme.reports.sections.unjudged import unjudged
from markscheme.reports.sections.verdicts import verdicts

MAKERS: tuple[Callable[[Material], Section | None], ...] = (
    people,
    accuracy,
    runs,
    pairs,
    against_people,
    verdicts,
    modes,
    mode_errors,
    relations,
    errors,
    roc,
    reliability_curves,
    marks,
    cost,
    unjudged,
)
"""In the order they are read."""


def sections(material: Material) -> list[Section]:
    """Every section that the material has something for."""
    return [found for make in MAKERS if (found := make(material)) is not None]


def absent(material: Material) -> list[str]:
    """What a reader may miss, and what would bring it."""
    said = [material.left_out] if material.left_out else []
    if not material.labelled and not said:
        said.append(
            "No answer has a label, so there is nothing on agreement with people, on failure modes "
            "or on calibration. Give labels with --labels FILE; 'markscheme plan-labels' says "
            "which answers to label."
        )
    elif 0 < material.labelled < material.answers.height:
        said.append(
            f"{material.labelled:,} of {material.answers.height:,} answers have a label; whatever "
            "is compared with people's verdicts is of these."
        )
        if isinstance(material.estimated, str):
            said.append(f"What people would accept of all is not estimated: {material.estimated}.")
    return said
