"""The options that public functions take, one frozen class a function; each is loaded when used.

    from markscheme.options import AgreeOptions

    markscheme.agree(judgments, labels, options=AgreeOptions(by="system"))

Where a flag of the command line sets a field, the two have one name and one help text.
"""

from typing import Any

import lazy_loader

_attribute, __dir__, __all__ = lazy_loader.attach_stub("markscheme", __file__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        from markscheme import flags

        if hasattr(flags, name):  # Until 0.2 what describes flags was here.
            import warnings

            warnings.warn(
                f"markscheme.options.{name} is markscheme.flags.{name} now; the old name will be "
                "removed in 0.3",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(flags, name)
    return _attribute(name)
