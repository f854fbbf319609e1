"""A project: its settings, as they are made once and read at every start."""

from __future__ import annotations

import importlib.resources
import secrets
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args

import orjson
from sqlalchemy import Connection, func, insert, select, update

from markscheme.annotate import tables as t
from markscheme.annotate.scales import SCALES, Scale, scale
from markscheme.errors import MarkschemeError

References = Literal["shown", "on-request", "hidden"]
Order = Literal["shuffled", "by-question", "file", "informative"]


@dataclass(frozen=True, kw_only=True)
class Project:
    """What is decided when a project is made.

    Attributes:
        title: shown on every page.
        scale: name of what annotators may say.
        references: `shown`, `on-request` (one key away) or `hidden`.
        per_item: annotators an item.
        adjudicate: whether a third person settles disagreements.
        order: of items: `shuffled`, `by-question` (questions shuffled, their answers together), as
            in the `file`, or `informative` (drawn by chances that a judge's scores give).
        gold_every: one known item after this many others.
        seed: of the order.
        guidelines: the text annotators read.
        items: how many there are, gold apart.
        gold: how many gold items.
        source: the file the answers came from, for people.
        digest: hash of that file.
        uid: random; distinguishes projects that a browser meets at the same address.
    """

    title: str
    scale: str = "verdict"
    references: References = "on-request"
    per_item: int = 1
    adjudicate: bool = True
    order: Order = "shuffled"
    gold_every: int = 10
    seed: int = 0
    guidelines: str = ""
    items: int = 0
    gold: int = 0
    source: str = ""
    digest: str = ""
    uid: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def choices(self) -> Scale:
        """The scale itself."""
        return scale(self.scale)

    @property
    def labels_wanted(self) -> int:
        """Labels by first annotators that finish the project."""
        return self.items * self.per_item

    def checked(self) -> Project:
        """Itself, if it makes sense; with the standard guidelines where it has none.

        Raises:
            MarkschemeError: a setting is not among its choices.
        """
        scale(self.scale)
        for name, value, choices in (
            ("references", self.references, get_args(References)),
            ("order", self.order, get_args(Order)),
        ):
            if value not in choices:
                raise MarkschemeError(f"{name} {value!r} is none of {', '.join(choices)}")
        if self.per_item < 1 or self.gold_every < 1:
            raise MarkschemeError("annotators an item and items between gold are at least 1")
        adjudicate = self.adjudicate and SCALES[self.scale].adjudicated
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
    """How many items (gold apart) are `open`, `disagreed` and `settled`."""
    found = connection.execute(select(t.items.c.stage, func.count()).group_by(t.items.c.stage))
    return {"open": 0, "disagreed": 0, "settled": 0} | dict(found.all())
