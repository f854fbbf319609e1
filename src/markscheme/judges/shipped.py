"""The judges that come with markscheme. Importing this module registers them all."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

_FOLDER = Path(__file__).parent

for _module in pkgutil.walk_packages([str(_FOLDER)], prefix="markscheme.judges."):
    if not _module.ispkg and _module.name != __name__:
        importlib.import_module(_module.name)
