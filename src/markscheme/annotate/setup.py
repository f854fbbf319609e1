"""Making a project from a file, or opening the one that is there; and the links of its people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from markscheme.annotate import tables as t
from markscheme.annotate.database import Store
from markscheme.annotate.intake import Intake, make_items, read_file, save_items
from markscheme.annotate.people import ADMIN, Role, add_person, everyone, new_token
from markscheme.annotate.project import Project, change_setting, load_project, save_project
from markscheme.annotate.ratings import settle_again
from markscheme.annotate.suggest import read_scores, save_suggestions
from markscheme.errors import RunError
from markscheme.tables import ReadOptions

CHANGEABLE = ("guidelines", "references", "title", "gold_every", "per_item", "adjudicate")


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What the command line asks for.

    Attributes:
        file: answers to label; None opens a project that is there.
        settings: of `Project`, those that were requested. Without `per_item`, one person labels
            each item of a new project, and two do where several annotators are named.
        annotators: names.
        adjudicators: names.
        gold: file of answers with known labels to mix in.
        suggest: run whose judgments are shown after a person's own verdict.
        scores: run whose judge's scores choose the order, where that is informative, and narrow the
            running estimate; nobody is shown them. Settings fix it once the project is made.
        judge: which of its judges, for both.
        new_links: whether everybody gets a new link; old ones stop working.
        reading: how files are read.
    """

    file: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    annotators: tuple[str, ...] = ()
    adjudicators: tuple[str, ...] = ()
    gold: str | None = None
    suggest: str | None = None
    scores: str | None = None
    judge: str | None = None
    new_links: bool = False
    reading: ReadOptions = field(default_factory=ReadOptions)


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A project to serve; tokens by name and role, as far as they were made now; what to say."""

    project: Project
    tokens: tuple[tuple[str, Role, str], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A project that is to be made, with the items of its files."""

    project: Project
    intake: Intake
    gold: Intake | None


def read_plan(setup: Setup, where: str) -> Plan:
    """Read what a new project is made of, so that a file of no use leaves no project behind.

    Raises:
        RunError: there is no file to label.
        DataError, MarkschemeError: files or settings cannot be used.
    """
    if setup.file is None:
        raise RunError(f"there is no project in {where}; give the FILE to label")
    usual = {
        "title": f"Labels for {Path(setup.file).name}",
        "per_item": 2 if len(setup.annotators) > 1 else 1,
    }
    settings = usual | dict(setup.settings)
    project = Project(**settings, source=setup.file, digest=digest(setup.file)).checked()
    scores = None if setup.scores is None else read_scores(setup.scores, setup.judge)
    intake = make_items(read_file(setup.file, setup.reading), project, scores=scores)
    if scores is not None and all(item["score"] is None for item in intake.items):
        raise RunError(f"{setup.scores} has judged none of the answers of {setup.file}")
    gold = None
    if setup.gold is not None:
        gold = make_items(read_file(setup.gold, setup.reading), project, gold=True)
    counted = replace(project, items=len(intake.items), gold=len(gold.items) if gold else 0)
    return Plan(project=counted, intake=intake, gold=gold)


def prepare(store: Store, setup: Setup, plan: Plan | None = None) -> Ready:
    """Make the project, or open it, in one transaction.

    Args:
        store: where it is, or will be.
        setup: what was requested.
        plan: what a new project is made of, where that has been read.

    Raises:
        RunError: no project and no file; settings that an existing project cannot change.
        DataError, MarkschemeError: files, names or settings cannot be used.
    """
    existing = store.read(load_project)
    if existing is None:
        return _make(store, setup, plan or read_plan(setup, store.shown))
    return store.write(lambda connection: _reopen(connection, existing, setup))


def _make(store: Store, setup: Setup, plan: Plan) -> Ready:
    project, intake, gold = plan.project, plan.intake, plan.gold
    names = setup.annotators or tuple(f"annotator{n + 1}" for n in range(project.per_item))

    def work(connection: Connection) -> Ready:
        if load_project(connection) is not None:
            raise RunError("another process has just made this project; start again")
        save_project(connection, project)
        save_items(connection, intake)
        if gold is not None:
            save_items(connection, gold)
        tokens = _add(connection, (ADMIN,), "admin")
        tokens += _add(connection, names, "annotator")
        tokens += _add(connection, setup.adjudicators, "adjudicator")
        notes = [*_said(project, intake, gold), *_too_few(connection, project)]
        notes += _suggestions(connection, project, setup)
        return Ready(project=project, tokens=tuple(tokens), notes=tuple(notes))

    return store.write(work)


def _reopen(connection: Connection, project: Project, setup: Setup) -> Ready:
    fixed = {
        name: value
        for name, value in setup.settings.items()
        if name not in CHANGEABLE and value != asdict(project)[name]
    }
    given = {"gold": setup.gold, "scores": setup.scores}
    fixed |= {name: value for name, value in given.items() if value is not None}
    if fixed:
        what = ", ".join(name.replace("_", "-") for name in fixed)
        raise RunError(
            f"the project is made already and its {what} cannot change; make another one with "
            "--project PATH"
        )
    notes = [
        f"{project.items:,} items, {_labels(connection):,} of {project.labels_wanted:,} labels"
    ]
    for name in CHANGEABLE:
        if name in setup.settings and setup.settings[name] != getattr(project, name):
            change_setting(connection, name, setup.settings[name])
            project = replace(project, **{name: setup.settings[name]}).checked()
            notes.append(f"{name.replace('_', ' ')} changed")
    if not {"per_item", "adjudicate"}.isdisjoint(setup.settings):
        settle_again(connection, project)
    if setup.file is not None and digest(setup.file) != project.digest:
        notes.append(
            f"{setup.file} is not the file that the project was made from; the project keeps "
            "the answers it has"
        )
    tokens: list[tuple[str, Role, str]] = []
    known = everyone(connection)
    if setup.new_links:
        tokens += [(p.name, p.role, new_token(connection, p.id)) for p in known if p.active]
    here = {person.name for person in known}
    tokens += _add(connection, tuple(n for n in setup.annotators if n not in here), "annotator")
    tokens += _add(connection, tuple(n for n in setup.adjudicators if n not in here), "adjudicator")
    notes += [*_too_few(connection, project), *_suggestions(connection, project, setup)]
    return Ready(project=project, tokens=tuple(tokens), notes=tuple(notes))


def _too_few(connection: Connection, project: Project) -> list[str]:
    """What to say where an item wants more people than there are: all the work would be in vain."""
    people = sum(one.active and one.role == "annotator" for one in everyone(connection))
    if people >= project.per_item:
        return []
    return [
        f"warning: an item gets its label once {project.per_item} people have labelled it, and "
        f"there {'is' if people == 1 else 'are'} {people}: add --annotator NAME (now, later, or on "
        f"the admin's page), or start again with --per-item {max(people, 1)}"
    ]


def _add(connection: Connection, names: tuple[str, ...], role: Role) -> list[tuple[str, Role, str]]:
    return [(name, role, add_person(connection, name, role)) for name in names]


def _labels(connection: Connection) -> int:
    return int(connection.execute(select(func.sum(t.people.c.first_rated))).scalar() or 0)


def _suggestions(connection: Connection, project: Project, setup: Setup) -> list[str]:
    if setup.suggest is None:
        return []
    judge, items = save_suggestions(connection, project, setup.suggest, setup.judge)
    return [f"{judge} speaks after the annotator on {items:,} items, where it says something else"]


def _said(project: Project, intake: Intake, gold: Intake | None) -> list[str]:
    notes = [
        f"{project.items:,} items from {intake.answers:,} answers (equal ones once), "
        f"{project.per_item} {'person' if project.per_item == 1 else 'people'} an item"
    ]
    if intake.without_answer:
        what = "left out" if project.scale == "rank" else "shown as (no answer)"
        notes.append(f"rows without an answer, {what}: {intake.without_answer:,}")
    if intake.known_labels:
        notes.append(f"{intake.known_labels:,} labels are in the file already; nobody sees them")
    if gold is not None:
        notes.append(f"{project.gold:,} gold items, one after every {project.gold_every}")
    return notes


def digest(file: str) -> str:
    """Hash of a file's content; empty where it cannot be read."""
    try:
        return blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""
