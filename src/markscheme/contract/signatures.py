"""Signatures: what must be equal before two figures may be compared, or a run may go on."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping

from markscheme.contract.grammar import judge_name
from markscheme.contract.judge import Judge
from markscheme.contract.model_source import ModelSource
from markscheme.contract.origin import origin
from markscheme.contract.registry import version


def signature(judge: Judge, models: ModelSource | None = None) -> str:
    """What must be equal before two figures may be compared: every parameter and the version.

    Derived, never listed by hand: all fields (nested judges too), the package version, whatever
    the judge's optional `identity(models)` adds (hash of its weights or prompt, a model's name and
    revision), and for a judge that markscheme does not ship `registered_by=DISTRIBUTION==VERSION`
    and, where its code is no installed file of that distribution (a notebook, a script, an editable
    install), `source=HASH` of the code that defines it.
    """
    parts = [judge_name(judge, full=True), f"markscheme={version()}"]
    parts += [f"{key}={value}" for key, value in sorted(_identities(judge, models).items())]
    return " ".join(parts)


def _identities(judge: Judge, models: ModelSource | None) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for field in dataclasses.fields(judge):  # type: ignore[arg-type]
        value = getattr(judge, field.name)
        inner = value if isinstance(value, tuple) else (value,)
        for index, item in enumerate(inner):
            if dataclasses.is_dataclass(item) and hasattr(item, "judge"):
                for key, text in _identities(typing.cast("Judge", item), models).items():
                    found[f"{field.name}.{index}.{key}"] = text
    identity = getattr(judge, "identity", None)
    if identity is not None:
        found.update(identity(models))
    found.update(origin(type(judge)))
    return found
