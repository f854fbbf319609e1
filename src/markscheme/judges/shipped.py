"""The judges that come with markscheme: which module registers which.

A judge is found by its name without importing the others, so that a command starts in the time that
its own judges need. A judge that is missing here is found as well, after all modules were imported;
`tests/contract/test_registry.py` names it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path

_FOLDER = Path(__file__).parent
_PACKAGE = "markscheme.judges"
_PROMPTED = "prompted.prompt_judges"

_NAMES = {
    "combined.auto": ("auto",),
    "combined.calibrated": ("calibrated",),
    "combined.cascade": ("cascade",),
    "combined.panel": ("panel",),
    "embedding.similarity": ("embedding_cosine",),
    "entailment.entailment": ("entailment",),
    "examiner.examiner": ("examiner",),
    "lexical.overlap": ("bleu", "char_similarity", "rouge1", "rouge2", "rougeL"),
    "lexical.regex": ("regex",),
    "lexical.words": ("contains", "exact_match", "token_f1"),
    "listwise.listwise": ("listwise", "pairwise", "pointwise"),
    "listwise.listwise_examiner": ("listwise_examiner",),
    # Every prompt file of the package is a judge too, named as the file.
    _PROMPTED: ("llm_prompt", *sorted(file.stem for file in _FOLDER.glob("prompted/prompts/*"))),
}

MODULES: Mapping[str, str] = {
    name: f"{_PACKAGE}.{module}" for module, names in _NAMES.items() for name in names
}
"""The module that registers each name."""


def load() -> None:
    """Import every module of the package, which registers all judges and parts of judges."""
    for module in pkgutil.walk_packages([str(_FOLDER)], prefix=f"{_PACKAGE}."):
        if not module.ispkg:
            importlib.import_module(module.name)
