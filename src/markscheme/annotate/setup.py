"""Making a project from a file, or opening the one that is there; and the links of its people."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from itertools import count, islice
from pathlib import Path
from typing import get_args

from sqlalchemy import Connection, update

from markscheme.annotate import tables as t
from markscheme.annotate.database import Store
from markscheme.annotate.intake import Intake, is_gold_of, make_items, read_file, save_items
from markscheme.annotate.options import CHANGEABLE, AnnotateOptions, Order
from markscheme.annotate.people import (
    ADMIN,
    Role,
    add_person,
    count_role,
    everyone,
    labels_given,
    new_token,
    plain_name,
)
from markscheme.annotate.project import Project, change_setting, load_project, save_project
from markscheme.annotate.ratings import settle_again
from markscheme.annotate.suggest import are_scores_of, read_scores, save_suggestions
from markscheme.annotate.trail import MADE, begin, log, may_go_on
from markscheme.errors import RunError
from markscheme.flags import with_keywords
from markscheme.text import counted


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


def read_plan(options: AnnotateOptions, where: str) -> Plan:
    """Read what a new project is made of, so that a file of no use leaves no project behind.

    Raises:
        RunError: there is no file to label.
        DataError, MarkschemeError: files or settings cannot be used.
    """
    file = options.file
    if file is None:
        raise RunError(f"there is no project in {where}; give the FILE to label")
    options = with_keywords(AnnotateOptions, options, {})
    usual = {
        "title": f"Labels for {Path(file).name}",
        "per_item": 2 if len(options.annotators) > 1 else 1,
    }
    settings = usual | dict(options.settings)
    project = Project(**settings, digest=digest(file)).completed()
    answers, scores = read_file(file, options.reading()), None
    if options.scores is not None:
        scores = read_scores(options.scores, options.judge, answers["answer_id"])
    intake = make_items(answers, project, relabel=options.relabel, scores=scores)
    if scores is not None and all(item["score"] is None for item in intake.items):
        raise RunError(f"{options.scores} has judged none of the answers of {file}")
    gold = _read_gold(options, project)
    project = replace(
        project,
        items=len(intake.items),
        known=intake.known,
        gold=len(gold.items) if gold else 0,
    )
    return Plan(project=project, intake=intake, gold=gold)


def prepare(store: Store, options: AnnotateOptions, plan: Plan | None = None) -> Ready:
    """Make the project, or open it, in one transaction.

    Args:
        store: where it is, or will be.
        options: what was requested.
        plan: what a new project is made of, where that has been read.

    Raises:
        RunError: no project and no file; settings that an existing project cannot change.
        DataError, MarkschemeError: files, names or settings cannot be used.
    """
    options = with_keywords(AnnotateOptions, options, {})
    existing = store.read(load_project)
    if existing is None:
        return _make(store, options, plan or read_plan(options, store.shown))
    return store.write(lambda connection: _reopen(connection, existing, options))


def _make(store: Store, options: AnnotateOptions, plan: Plan) -> Ready:
    project, intake, gold = plan.project, plan.intake, plan.gold
    # Who labelled in the file is somebody else, as long as nobody says otherwise.
    before = {name for _, name, _ in intake.known_ratings}
    free = (name for n in count(1) if (name := f"annotator{n}") not in before)
    names = options.annotators or tuple(islice(free, project.per_item))

    def work(connection: Connection) -> Ready:
        if load_project(connection) is not None:
            raise RunError("another process has just made this project; start again")
        save_project(connection, project)
        known = save_items(connection, intake, gold, project.seed)
        begin(connection, MADE, known=known)
        tokens = _add(connection, (ADMIN,), "admin")
        tokens += _add(connection, names, "annotator")
        tokens += _add(connection, options.adjudicators, "adjudicator")
        notes = [*_said(project, intake, gold), *_warnings(connection, project, options)]
        return Ready(project=project, tokens=tuple(tokens), notes=tuple(notes))

    return store.write(work)


def _reopen(connection: Connection, project: Project, options: AnnotateOptions) -> Ready:
    may_go_on(connection)  # Nobody labels what could not be kept.
    notes = []
    before, settled = project, []
    if project.order not in get_args(Order):
        connection.execute(
            update(t.items).where(t.items.c.stage != "gold").values(place=t.items.c.id)
        )
        change_setting(connection, "order", "file")
        notes.append(
            f"the order {project.order!r} is gone: the remaining items come in the file's order"
        )
        project = replace(project, order="file")
    other = _other(connection, project, options)
    if other:
        words = " ".join(f"--{name} {value}".strip() for name, value in other.items())
        raise RunError(
            f"the project is made already and its {', '.join(other)} cannot change; leave out "
            f"{words} to continue it, or make another one with --project PATH"
        )
    notes.append(
        f"{counted(project.items, 'item')}, {labels_given(connection):,} of "
        f"{counted(project.labels_wanted, 'label')}"
    )
    requested = {name: v for name, v in options.settings.items() if name in CHANGEABLE}
    wanted = replace(project, **requested).completed()
    for name in CHANGEABLE:
        if (value := getattr(wanted, name)) != getattr(project, name):
            change_setting(connection, name, value)
            notes.append(f"{name.replace('_', ' ')} changed")
    project = wanted
    if not {"per_item", "adjudicate"}.isdisjoint(options.settings):
        settled = settle_again(connection, project)
    if project != before or settled:
        log(connection, "settings changed", {"items": settled}, covers=("settings", "items"))
    if options.file is not None and digest(options.file) != project.digest:
        notes.append(
            f"{options.file} is not the file that the project was made from; the project keeps "
            "the answers it has"
        )
    tokens: list[tuple[str, Role, str]] = []
    known = everyone(connection)
    if options.new_links:
        tokens += [(p.name, p.role, new_token(connection, p.id)) for p in known if p.active]
    here = {person.name: person for person in known}
    people: dict[Role, tuple[str, ...]] = {
        "annotator": options.annotators,
        "adjudicator": options.adjudicators,
    }
    for role, names in people.items():
        for name in names:
            person = here.get(plain_name(name))
            # Somebody who is here with another role is not changed in silence.
            if person is None or person.role != role:
                tokens += _add(connection, (name,), role)
            elif not person.active:
                notes.append(
                    f"{person.name} is shut out, and their link does not work; the admin's page "
                    "lets them in again"
                )
    notes += _warnings(connection, project, options)
    return Ready(project=project, tokens=tuple(tokens), notes=tuple(notes))


def _warnings(connection: Connection, project: Project, options: AnnotateOptions) -> list[str]:
    return [
        *_too_few(connection, project),
        *_idle(connection, project),
        *_gold_out_of_reach(connection, project),
        *_suggestions(connection, project, options),
    ]


def _other(connection: Connection, project: Project, options: AnnotateOptions) -> dict[str, str]:
    """Options for what a project keeps for good, with values that are not this one's own."""
    other = {
        name: shlex.quote(str(value))
        for name, value in options.settings.items()
        if name not in CHANGEABLE and value != asdict(project)[name]
    }
    if options.relabel and project.known:
        other["relabel"] = ""
    gold, scores = _read_gold(options, project), options.scores
    if gold is not None and not is_gold_of(connection, gold):
        other["gold"] = shlex.quote(str(options.gold))
    if scores is not None and not are_scores_of(connection, scores, options.judge):
        other["scores"] = shlex.quote(scores)
    return other


def _read_gold(options: AnnotateOptions, project: Project) -> Intake | None:
    if options.gold is None:
        return None
    return make_items(read_file(options.gold, options.reading()), project, gold=True)


def _too_few(connection: Connection, project: Project) -> list[str]:
    """What to say where an item wants more people than there are: all the work would be in vain."""
    people = count_role(connection, "annotator")
    if people >= project.per_item:
        return []
    return [
        f"warning: an item gets its label once {project.per_item} people have labelled it, and "
        f"there {'is' if people == 1 else 'are'} {people}: add --annotator NAME (now, later, or on "
        f"the admin's page), or start again with --per-item {max(people, 1)}"
    ]


def _idle(connection: Connection, project: Project) -> list[str]:
    """What to say where adjudicators have a link, and no disagreement will come to them."""
    if not count_role(connection, "adjudicator"):
        return []
    if not project.choices.adjudicated:
        reason = "ranks are averaged"
    elif not project.adjudicate:
        reason = "--no-adjudicate resolves disagreements without them; --adjudicate changes that"
    elif project.per_item == 1:
        reason = "one person labels each item; --per-item 2 has two who can differ"
    else:
        return []
    return [f"warning: nothing will come to the adjudicators: {reason}"]


def _add(connection: Connection, names: tuple[str, ...], role: Role) -> list[tuple[str, Role, str]]:
    return [(name, role, add_person(connection, name, role)) for name in names]


def _suggestions(connection: Connection, project: Project, options: AnnotateOptions) -> list[str]:
    if options.suggest is None:
        return []
    judge, valued, scored = save_suggestions(connection, project, options.suggest, options.judge)
    log(connection, "suggestions changed", {"judge": judge}, covers=("suggestions",))
    notes = []
    if valued:
        what = counted(valued, "item")
        notes.append(f"{judge} speaks after the annotator on {what}, where it says something else")
    if scored:
        notes.append(
            f"{judge} shows its score after every label of {counted(scored, 'item')}: it has no "
            f"value of the scale {project.scale!r} to compare"
        )
    return notes


def _said(project: Project, intake: Intake, gold: Intake | None) -> list[str]:
    notes = [
        f"{counted(project.items, 'item')} from {counted(intake.answers, 'answer')} (equal ones "
        f"once), {counted(project.per_item, 'person', 'people')} an item"
    ]
    if intake.without_answer:
        what = "left out" if project.scale == "rank" else "shown as (no answer)"
        notes.append(f"rows without an answer, {what}: {intake.without_answer:,}")
    if intake.alone:
        notes.append(
            f"rows left out, as their question has no different answer to rank: {intake.alone:,}"
        )
    if intake.known_labels:
        notes.append(_of_known(intake))
    if gold is not None:
        notes.append(f"{project.gold:,} gold items, one after every {project.gold_every}")
    return notes


def _of_known(intake: Intake) -> str:
    """What becomes of the labels that the file has."""
    labels = counted(intake.known_labels, "label is", "labels are")
    if intake.reason:
        return (
            f"{labels} in the file already; their answers are shown like others, {intake.reason}, "
            "and the export has the new labels alone"
        )
    said = []
    if intake.known or intake.unused_labels:
        said.append(
            f"{counted(intake.known, 'item has', 'items have')} a label in the file already: "
            "nobody is shown them, and the export has their labels too (--relabel shows them for a "
            "second opinion, and exports the new labels alone)"
        )
    if intake.undecided:
        said.append(
            f"{counted(intake.undecided, 'item has', 'items have')} labels of annotators in the "
            "file already, and none of its own: they are shown, and these labels count too"
        )
    if intake.unused_labels:
        labels = counted(intake.unused_labels, "label is", "labels are")
        said.append(
            f"{labels} left out, as equal answers have others or the scale has none such: "
            "their answers are shown"
        )
    return "; ".join(said)


def _gold_out_of_reach(connection: Connection, project: Project) -> list[str]:
    """What to say where people end before they meet all gold items."""
    share = project.share(max(count_role(connection, "annotator"), 1))
    if project.gold_among(share) == project.gold:
        return []
    reached = counted(project.gold_among(share), "gold item")
    text = (
        f"warning: {counted(share, 'item')} to label a person, and one gold item after every "
        f"{project.gold_every}: each person meets {reached} of {project.gold:,}"
    )
    most = share // project.gold
    more = f"--gold-every {most} brings all" if most else f"--gold-every 1 brings {share:,}"
    return [f"{text}; {more}"]


def digest(file: str) -> str:
    """Hash of a file's content; empty where it cannot be read."""
    try:
        return blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""
