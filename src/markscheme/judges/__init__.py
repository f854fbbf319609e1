"""The judges that ship, one family a folder."""

import sys
import warnings
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _Callable(ModuleType):
    """`markscheme.judges()` was a function in 0.1.0, and is understood for one version."""

    def __call__(self) -> Mapping[str, Any]:
        """The registered judges by name."""
        from markscheme.contract import judges

        warnings.warn(
            "markscheme.judges() is markscheme.list_judges() now; the old name will be removed in "
            "0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        return judges()


sys.modules[__name__].__class__ = _Callable
