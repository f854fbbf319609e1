"""`markscheme research tags`: errors to tag by hand, and their tags next to those of the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.cli import Judgments, Shown, command, notes
from markscheme.errors import MarkschemeError
from markscheme.flags import Answers, Labels, Option
from markscheme_research.studies import TagOptions


@command(
    "research tags",
    example="markscheme research tags runs/answers-6dae129e --to-tag errors.csv",
)
def tags(
    judged: Judgments,
    options: TagOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
    to_tag: Annotated[
        Path | None,
        Option("Draw errors and write them to this file, with an empty column 'tag'.", output=True),
    ] = None,
    tagged: Annotated[
        str | None,
        Option("File of the drawn errors with their tags.", ("--tags",), metavar="FILE"),
    ] = None,
) -> None:
    """Draw errors to tag by hand; then count the tags and compare with those of the rules.

    First pass --to-tag FILE, and fill in its column 'tag'. Then pass --tags FILE, with the other
    options unchanged: this prints the counts and shares of every tag (Wang et al. 2023, Table 11),
    and how often the rules agree.
    """
    from markscheme_research.studies import errors_by_hand

    if (to_tag is None) == (tagged is None):
        raise MarkschemeError("give --to-tag FILE to draw errors, or --tags FILE to count tags")
    found = errors_by_hand(judged, labels, options, answers=answers, tags=tagged)
    shown.show(found)
    if to_tag is not None:
        found.write(to_tag)
        notes.print(
            f"{found.frame.height:,} errors written to {to_tag}: fill in its column 'tag' with "
            f"one of {', '.join(found.data['tags'])}",
            markup=False, soft_wrap=True,
        )  # fmt: skip
