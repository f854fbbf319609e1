"""What happened to an item, as sentences: `Ann labelled it Correct`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from markscheme.annotate.scales import Scale


def sentence(
    action: str, detail: str, *, name: str | None, scale: Scale, people: Mapping[int, str]
) -> str:
    """One event of the audit trail as a sentence without its end; an action that is not known is
    named as it is stored.

    Args:
        action: what was done, as stored.
        detail: the event's JSON.
        name: who did it; None where nobody is known.
        scale: names the values.
        people: names by id, for events that mention somebody else.
    """
    who = name or "Somebody"
    found = orjson.loads(detail)
    if action == "undo":
        return f"{who} took back: {_said(found['before'], scale)}"
    if action == "conflict":
        return (
            f"{who} sent an answer from an outdated page, which was not saved: "
            f"{_said(found['sent'], scale)}; unchanged: {_said(found['kept'], scale)}"
        )
    if action == "put back by the admin":
        return f"{who} put it back before others ({found['ratings']} open or skipped)"
    if action == "given out by the admin":
        return f"{who} gave it to {people.get(found['person'], 'somebody')}"
    if action.endswith(" by the admin"):  # Projects of 0.1.0 have another verb here.
        return f"{who} decided it as {scale.name_of(found['value'])}"
    if "after" not in found:
        return f"{who}: {action}"
    note = f", with the note “{found['after']['note']}”" if found["after"]["note"] else ""
    helped = " after seeing the suggestion" if found["after"]["after_suggestion"] else ""
    after = _said(found["after"], scale)
    if action.startswith("change to "):
        return f"{who} changed {_said(found['before'], scale)} to {after}{helped}{note}"
    verbs = {"skipped": "skipped it", "cannot tell": "could not tell"}
    return f"{who} {verbs.get(after, f'labelled it {after}')}{helped}{note}"


def _said(rating: Mapping[str, Any], scale: Scale) -> str:
    """A rating in words."""
    if rating["state"] != "labelled":
        # Claimed is what an item is after an answer to it was taken back.
        states = {"claimed": "no answer"}
        return states.get(rating["state"], str(rating["state"]).replace("_", " "))
    if rating["ranks"]:
        return "with ranks " + ", ".join(map(str, rating["ranks"]))
    return scale.name_of(rating["value"])
