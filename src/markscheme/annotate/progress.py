"""How far a person and the project are, from counts that are kept and not counted anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from markscheme.annotate import tables as t
from markscheme.annotate.people import Person
from markscheme.annotate.project import Project

_PEOPLE = select(
    func.sum(t.people.c.first_rated),
    func.count().filter(t.people.c.role == "annotator", t.people.c.active == 1),
)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Counts for the top of the page.

    Attributes:
        done: items the person has answered.
        share: how many are about theirs, where the others do as many; None for adjudicators.
        labels: first labels of the project.
        wanted: first labels that finish it.
        seconds_left: for the person, at their pace; None before there is a pace.
    """

    done: int
    share: int | None
    labels: int
    wanted: int
    seconds_left: float | None

    @property
    def part(self) -> float:
        """Of the person's share, from 0 to 1."""
        return min(1.0, self.done / self.share) if self.share else 0.0


def progress_of(connection: Connection, person: Person, project: Project) -> Progress:
    """Progress of a person, whose own counts are taken as given."""
    people = connection.execute(_PEOPLE).one()
    labels, annotators = int(people[0] or 0), int(people[1] or 0)
    wanted = project.labels_wanted
    share = None
    if person.role == "annotator" and annotators:
        share = min(project.items, math.ceil(wanted / annotators))
        share = max(share, person.first_rated)
    left = None
    if share is not None and person.pace_seconds is not None:
        left = (share - person.first_rated) * person.pace_seconds
    return Progress(
        done=person.rated if share is None else person.first_rated,
        share=share,
        labels=labels,
        wanted=wanted,
        seconds_left=left,
    )
