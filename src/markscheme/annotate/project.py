"""A project: its settings, as they are made once and read at every start."""

from __future__ import annotations

import importlib.resources
import math
import secrets
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import orjson
from sqlalchemy import Connection, func, insert, select, update

from markscheme.annotate import tables as t
from markscheme.annotate.options import Order, References, ScaleName
from markscheme.annotate.scales import SCALES, Scale


@dataclass(frozen=True, kw_only=True)
class Project:
    """What is decided when a project is made.

    Attributes:
        title, scale, ..., guidelines: as in `AnnotateOptions`.
        items: how many there are, gold apart.
        known: of these, how many had a label in the file, which nobody is shown. They come first.
        gold: how many gold items.
        digest: hash of the file the answers came from.
        uid: random; distinguishes projects that a browser meets at the same address.
    """

    title: str
    scale: ScaleName = "verdict"
    references: References = "on-request"
    per_item: int = 1
    adjudicate: bool = True
    order: Order = "shuffled"
    gold_every: int = 10
    seed: int = 0
    guidelines: str = ""
    items: int = 0
    known: int = 0
    gold: int = 0
    digest: str = ""
    uid: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def choices(self) -> Scale:
        """The scale itself."""
        return SCALES[self.scale]

    @property
    def to_label(self) -> int:
        """How many items people are shown, gold apart."""
        return self.items - self.known

    @property
    def labels_wanted(self) -> int:
        """Labels by first annotators that finish the project."""
        return self.to_label * self.per_item

    def share(self, annotators: int) -> int:
        """Items that fall to each of so many first annotators (one or more)."""
        return min(self.to_label, math.ceil(self.labels_wanted / annotators))

    def gold_among(self, share: int) -> int:
        """Gold items that somebody meets who labels so many others."""
        return min(self.gold, share // self.gold_every)

    def completed(self) -> Project:
        """Itself, with the standard guidelines where it has none."""
        adjudicate = self.adjudicate and self.choices.adjudicated
        text = self.guidelines.strip() or standard_guidelines(self.scale)
        return replace(self, adjudicate=adjudicate, guidelines=text)


def standard_guidelines(name: str) -> str:
    """The starting text for a scale, after EVOUNA's and Kamalloo et al.'s standards."""
    folder = importlib.resources.files("markscheme.annotate") / "guidelines"
    return (folder / f"{name}.txt").read_text(encoding="utf-8").strip()


def save_project(connection: Connection, project: Project) -> None:
    """Keep the settings of a new project."""
    rows = [{"name": n, "value": orjson.dumps(v).decode()} for n, v in asdict(project).items()]
    connection.execute(insert(t.settings), rows)


def change_setting(connection: Connection, name: str, value: Any) -> None:
    """Set one of a project's settings again."""
    connection.execute(
        update(t.settings)
        .where(t.settings.c.name == name)
        .values(value=orjson.dumps(value).decode())
    )


def load_project(connection: Connection) -> Project | None:
    """The settings, or None where the database holds no project yet."""
    kept = {n: orjson.loads(v) for n, v in connection.execute(select(t.settings))}
    known = {known.name for known in fields(Project)}
    return Project(**{n: v for n, v in kept.items() if n in known}) if kept else None


def stages(connection: Connection) -> dict[str, int]:
    """How many items (gold apart) are `open`, `disagreed` and `settled`.

    Of the last, `labelled` have a label: of the others nobody can tell, or they are ranks.
    """
    rows = connection.execute(
        select(t.items.c.stage, func.count(), func.count(t.items.c.final)).group_by(t.items.c.stage)
    ).all()
    labelled = {stage: labels for stage, _, labels in rows}.get("settled", 0)
    found = {stage: items for stage, items, _ in rows}
    return {"open": 0, "disagreed": 0, "settled": 0, "labelled": labelled} | found
