"""The front page of the command line: commands under headings, and an example of each."""

from __future__ import annotations

import copy
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperGroup

PANELS: dict[str, tuple[str, ...]] = {
    "Start here": (
        "judge", "explain", "report", "diff", "agree", "plan-labels", "estimate", "annotate",
    ),
    "Look closer": ("failures", "compare", "view", "verify", "claims"),
    "Set up": ("columns", "init", "judges", "serve"),
    "Further commands, in groups": ("train", "research", "llm", "data"),
}  # fmt: skip
"""The commands and groups under each heading, in the order they are shown."""

GROUPS: dict[str, tuple[str, dict[str, str]]] = {
    "research": (
        "Rank systems, try judges, study lists, reproduce papers.",
        {
            name: name
            for name in ("bench", "tune-judge", "jury", "rank", "amend", "hierarchy",
                         "reliability", "probe", "calibrate", "cascade", "entail",
                         "study", "reproduce")
        },
    ),
    "llm": (
        "Language models as judges: examples, batches, the ledger of replies, drift.",
        {"examples": "llm-examples", "batch": "batch", "ledger": "ledger", "drift": "drift"},
    ),
    "data": (
        "Public datasets, lists of references, statements, labels.",
        {"datasets": "datasets", "references": "references", "statements": "statements",
         "labels": "annotate-export"},
    ),
}  # fmt: skip
"""Groups: what each is for, and its commands by the names under which they stood before. Those
names are understood still, and not shown."""

MOVED = {
    old: f"{group} {new}" for group, (_, names) in GROUPS.items() for new, old in names.items()
}
"""Names of before to those of now."""


def name_of_now(name: str) -> str:
    """A command's name as it is shown: `study seeds` is `research study seeds`."""
    first, space, rest = name.partition(" ")
    return MOVED.get(first, first) + space + rest


def name_of_before(name: str) -> str:
    """A command's name without its group, as the command files have it."""
    group, _, rest = name.partition(" ")
    first, space, last = rest.partition(" ")
    if group in GROUPS and first in GROUPS[group][1]:
        return GROUPS[group][1][first] + space + last
    return name


EXAMPLES: dict[str, str] = {
    "judge": "markscheme judge answers.jsonl --fail-under 0.8",
    "explain": 'markscheme explain -q "When did it open?" -r 1975 -a "In 1985."',
    "failures": "markscheme failures runs/answers-6dae129e",
    "report": "markscheme report runs/answers-6dae129e",
    "compare": "markscheme compare runs/answers-6dae129e --systems",
    "diff": "markscheme diff yesterday.jsonl today.jsonl --fail-on-regression",
    "agree": "markscheme agree runs/answers-6dae129e --labels labels.csv",
    "plan-labels": "markscheme plan-labels runs/answers-6dae129e --label-count 200 --out todo.csv",
    "estimate": "markscheme estimate runs/answers-6dae129e --labels labels.csv",
    "annotate": "markscheme annotate todo.csv",
    "columns": "markscheme columns answers.csv",
    "init": "markscheme init",
    "datasets show": "markscheme datasets show nq-open",
    "datasets check": "markscheme datasets check nq-open",
    "datasets fetch": "markscheme datasets fetch nq-open",
    "datasets export": "markscheme datasets export nq-open --out nq-open.jsonl",
    "references build": "markscheme references build antique --out lists.jsonl",
    "references draw": "markscheme references draw antique --composition 3210 --out drawn.jsonl",
    "references shots": "markscheme references shots antique --out shots.toml",
    "references expand": "markscheme references expand answers.jsonl --out ready.jsonl",
    "references apply": "markscheme references apply lists.jsonl answers.jsonl --out ready.jsonl",
    "statements": "markscheme statements answers.jsonl",
    "annotate-export": "markscheme annotate-export labels.db --out labels.csv",
    "judges": 'markscheme judges "token_f1(threshold=0.6)"',
    "claims": 'markscheme claims -q "When was it released?" -r 1975 -a "In 1985, and it won."',
    "llm-examples": "markscheme llm-examples labelled.jsonl --out examples.toml",
    "verify": "markscheme verify runs/answers-6dae129e",
    "view": "markscheme view",
    "entail": "markscheme entail pairs.jsonl",
    "batch write": "markscheme batch write answers.jsonl -j llm_grader -m gpt-4o -o asked.jsonl",
    "batch read": "markscheme batch read replies.jsonl",
    "ledger stats": "markscheme ledger stats",
    "ledger export": "markscheme ledger export replies.jsonl",
    "drift": "markscheme drift anchors.jsonl -j llm_grader -m gpt-4o-mini --every 7",
    "ledger import": "markscheme ledger import replies.jsonl",
    "calibrate": "markscheme calibrate runs/answers-6dae129e --labels labels.csv",
    "cascade": "markscheme cascade runs/answers-6dae129e --first contains --then gpt-4o",
    "jury": "markscheme jury runs/answers-6dae129e --labels labels.csv --save-weights jury.json",
    "tune-judge": "markscheme tune-judge labelled.jsonl -j llm_grader -j llm_evouna -m gpt-4o-mini "
    "--try-samples 1,5 --max-cost 5 --dry-run",
    "serve": "markscheme serve --port 8080",
    "bench": "markscheme bench nq301 --judge examiner",
    "rank": "markscheme rank runs/answers-6dae129e --labels labels.csv",
    "amend": "markscheme amend answers.jsonl --labels labels.csv --out amended.jsonl",
    "hierarchy": "markscheme hierarchy runs/answers-6dae129e",
    "reliability": "markscheme reliability answers.jsonl --judge llm_grader --samples 3",
    "probe": "markscheme probe contains answers.jsonl",
    "study lists": "markscheme study lists antique",
    "study seeds": "markscheme study seeds antique",
    "study shots": "markscheme study shots antique",
    "study order": "markscheme study order antique",
    "study cost": "markscheme study cost antique",
    "reproduce": "markscheme reproduce kamalloo-2023/figure-3",
    "train examiner": "markscheme train examiner --data labelled.jsonl --out weights",
    "train entailment": "markscheme train entailment --data pairs.jsonl --out weights",
    "train learned": "markscheme train learned --data seen.jsonl --base-model FOLDER -o weights",
    "train listwise": "markscheme train listwise --out weights",
    "train question-kind": "markscheme train question-kind --out weights",
}
"""One example of each command, with which its help begins."""

_OTHERS = "Others"


def example_of(name: str) -> str | None:
    """The example of a command, by its name of before, as it is typed now."""
    example = EXAMPLES.get(name)
    if example is None:
        return None
    return example.replace(f"markscheme {name}", f"markscheme {name_of_now(name)}", 1)


class Front(TyperGroup):
    """The application: its commands stand under the headings of `PANELS`, the others in groups."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of `PANELS`, others after them; those that are in groups are not."""
        known = [name for names in PANELS.values() for name in names]
        place = {name: number for number, name in enumerate(known)}
        there = [name for name in super().list_commands(ctx) if name not in MOVED]
        return sorted([*there, *GROUPS], key=lambda name: place.get(name, len(place)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, with its heading; or one of the groups."""
        found: Any = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in GROUPS:
            about, names = GROUPS[cmd_name]
            found = TyperGroup(
                name=cmd_name,
                commands={
                    new: _called(new, self.commands[old])
                    for new, old in names.items()
                    if old in self.commands
                },
                help=about,
                no_args_is_help=True,
                rich_markup_mode="markdown",
                context_settings=self.context_settings,
            )  # fmt: skip
        if found is not None:
            panels = (panel for panel, names in PANELS.items() if cmd_name in names)
            found.rich_help_panel = next(panels, _OTHERS)
        return found


def _called(name: str, command: Any) -> Any:
    """The command under another name, by which lists show it."""
    called = copy.copy(command)
    called.name = name
    return called


def add_examples(to: typer.Typer, path: tuple[str, ...] = ()) -> None:
    """Let the help of every command begin with its example; lists of commands keep the summary."""
    for one in to.registered_commands:
        example = example_of(" ".join((*path, str(one.name))))
        said = one.help or (one.callback.__doc__ if one.callback else "") or ""
        if example and "For instance:" not in said:
            one.short_help = one.short_help or said.strip().partition("\n")[0]
            one.help = f"For instance: `{example}`\n\n{cleandoc(said)}"
    for group in to.registered_groups:
        if group.typer_instance is not None:
            add_examples(group.typer_instance, (*path, str(group.name)))
