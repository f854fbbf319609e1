"""A judge in a file of one's own, as the command line names it: `./mine.py:Judge`.

Names that reach us otherwise (over HTTP, from a run's folder, from Python) never import a file.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

from markscheme.contract.origin import with_imports
from markscheme.contract.registry import name_of
from markscheme.errors import JudgeError

_IN_FILE = re.compile(
    r"(?P<file>[^()]+\.py):(?P<name>[^\W\d]\w*)(?P<parameters>\(.*\))?", re.DOTALL
)


def judge_in_file(text: str) -> str:
    """The name of a judge that `FILE.py:CLASS`, with its parameters, denotes; other texts as given.

    The file is imported under its own name, from its folder, so that what lies beside it can be
    imported there and other processes find it.

    Raises:
        JudgeError: there is no such file, it cannot be imported, or it registers no such judge.
    """
    found = _IN_FILE.fullmatch(text.strip())
    if found is None:
        return text
    path = Path(found["file"]).expanduser().resolve()
    if not path.is_file():
        raise JudgeError(f"the judge {text!r} is in no file: {path} is not there")
    made = getattr(_imported(path), found["name"], None)
    if not isinstance(made, type):
        raise JudgeError(f"{path} has no class {found['name']!r}")
    try:
        name = name_of(object.__new__(made))
    except JudgeError:
        raise JudgeError(
            f"{found['name']} of {path} is not registered; write @markscheme.register('a_name') "
            "above its @dataclass(frozen=True, kw_only=True)"
        ) from None
    return name + (found["parameters"] or "")


def _imported(path: Path) -> ModuleType:
    known = sys.modules.get(path.stem)
    if known is None:
        folder = str(path.parent)
        if folder not in sys.path:
            sys.path.append(folder)
        importlib.invalidate_caches()
        written, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # old code of a new file
        try:
            known = importlib.import_module(path.stem)
        except (Exception, SystemExit) as error:
            raise JudgeError(
                f"{path} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        finally:
            sys.dont_write_bytecode = written
    for file in with_imports([path]):  # what lies beside it too may have a name that is taken
        made = sys.modules.get(".".join(file.relative_to(path.parent).with_suffix("").parts))
        place = getattr(made, "__file__", None)
        if made is not None and (place is None or Path(place).resolve() != file):
            raise JudgeError(f"{file.name} has the name of another module ({made}); rename it")
    return known
