"""A folder that `markscheme research train learned` wrote: adapters, what they are for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import orjson

from markscheme.errors import ModelError
from markscheme.models.local import one_at_a_time
from markscheme_research.judges.finetuned.causal import Causal, adapting, open_causal
from markscheme_research.judges.finetuned.templates import VARIANTS
from markscheme_research.transformers_models import (
    Written,
    causal_revision,
    lora_library,
    written,
)

SETTINGS = "learned.json"
ADAPTER = "adapter_model.safetensors"


@dataclass(frozen=True)
class LearnedFolder:
    """Adapters of one learned judge, one subfolder a role, and `learned.json`."""

    folder: Path

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What `learned.json` says.

        Raises:
            ModelError: it is missing, unreadable, or of another version of markscheme.
        """
        path = self._file(SETTINGS)
        try:
            found = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError as error:
            raise ModelError(f"{path} is not valid JSON ({error}); train again") from None
        variant = str(found.get("variant")) if isinstance(found, dict) else ""
        if variant not in VARIANTS or set(found.get("templates", ())) != set(VARIANTS[variant]):
            raise ModelError(
                f"{path} is of another version of markscheme; train again with "
                "'markscheme research train learned'"
            )
        return dict(found)

    @property
    def variant(self) -> str:
        """`plain`, `nli` or `cvi`."""
        return str(self.settings["variant"])

    @property
    def templates(self) -> Mapping[str, str]:
        """The template of each role, as it was trained."""
        return dict(self.settings["templates"])

    @property
    def base(self) -> tuple[str, str]:
        """Name and revision of the model that the adapters belong to."""
        found = self.settings["base"]
        return str(found["name"]), str(found["revision"])

    @property
    def four_bits(self) -> bool:
        """Whether the adapters were trained on weights in 4 bits."""
        return bool(self.settings["base"].get("four_bits", False))

    @cached_property
    def revision(self) -> str:
        """Twelve hexadecimal digits over adapters and templates, for signatures."""
        digest = hashlib.sha256(orjson.dumps(self.templates, option=orjson.OPT_SORT_KEYS))
        for role in sorted(self.templates):
            digest.update(self._file(f"{role}/{ADAPTER}").read_bytes())
        return digest.hexdigest()[:12]

    def open(self, model: str | None) -> Causal:
        """The base model with all adapters; `choose` says which of them speaks.

        Args:
            model: where the base model lies, if not where it lay in training.

        Raises:
            MissingExtraError: torch, transformers or peft is not installed.
            ModelError: the base model cannot be loaded, or is another one.
        """
        peft = lora_library("peft")
        name, revision = self.base
        commit = revision.removeprefix("commit:") if revision.startswith("commit:") else None
        try:
            causal = open_causal(
                model or name, commit=None if model else commit, four_bits=self.four_bits
            )
        except ModelError as error:
            raise ModelError(
                f"{error}. The adapters in {self.folder} belong to {name!r}; say where it is "
                "with model=FOLDER, as in learned(weights=..., model=...)"
            ) from None
        found = causal_revision(model or name, causal.model)
        if found.partition(":")[0] == revision.partition(":")[0] and found != revision:
            raise ModelError(
                f"the weights of {model or name!r} ({found}) are not those that the adapters in "
                f"{self.folder} were trained on ({revision}); give that model, or train again"
            )
        adapted: Any = causal.model
        with adapting():
            for role in self.templates:
                self._file(f"{role}/{ADAPTER}")
                place = str(self.folder / role)
                if adapted is causal.model:
                    adapted = peft.PeftModel.from_pretrained(adapted, place, adapter_name=role)
                else:
                    adapted.load_adapter(place, adapter_name=role)
        return replace(causal, model=adapted.eval())

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise ModelError(
                f"{self.folder} holds no {name}; give a folder that 'markscheme research train "
                "learned' wrote"
            )
        return path


@one_at_a_time
def open_adapted(folder: Path, model: str | None) -> Causal:
    """A folder's base model with its adapters, loaded once a process unless the files change."""
    found = LearnedFolder(folder)
    return _open(folder, model, found.revision, written(model or found.base[0]))


@lru_cache(maxsize=1)
def _open(folder: Path, model: str | None, _revision: str, _written: Written) -> Causal:
    return LearnedFolder(folder).open(model)
