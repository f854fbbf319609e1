"""The judges that come with markscheme: which module registers which.

A judge is found by its name without importing the others, so that a command starts in the time that
its own judges need: the names are read from the text of the files, where each is written out in
`@register("name", ...)` at the start of a line.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_FOLDER = Path(__file__).parent
_PACKAGE = "markscheme.judges"
_PROMPTS = "prompted.prompt_judges"
_REGISTERED = re.compile(rb'\n@register\(\s*"(\w+)"')


def _written() -> Iterator[tuple[str, str]]:
    for file in sorted(_FOLDER.glob("*/*.py")):
        for name in _REGISTERED.findall(file.read_bytes()):
            yield name.decode(), f"{_PACKAGE}.{file.parent.name}.{file.stem}"
    # Every prompt file of the package is a judge too, named as the file.
    for file in sorted(_FOLDER.glob("prompted/prompts/*")):
        yield file.stem, f"{_PACKAGE}.{_PROMPTS}"


MODULES: Mapping[str, str] = dict(_written())
"""The module that registers each name."""


def load() -> None:
    """Import every module of the package, which registers all judges and parts of judges."""
    for module in pkgutil.walk_packages([str(_FOLDER)], prefix=f"{_PACKAGE}."):
        if not module.ispkg:
            importlib.import_module(module.name)
