"""markscheme marks answers to questions the way a careful examiner does.

    import markscheme

    result = markscheme.judge("answers.jsonl", ["examiner", "exact_match"])
    print(result)

Names are loaded when first used, so that importing costs next to nothing.
"""

from typing import Any

import lazy_loader

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


_MOVED = {
    "AmendOptions", "HierarchyOptions", "ReliabilityOptions", "amend", "hierarchy", "probe",
    "reliability",
}  # fmt: skip
"""Names of 0.1.0 that are in `markscheme_research` now, and understood here for one version."""


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        import importlib
        import warnings

        from markscheme.errors import MissingExtraError

        try:
            found = getattr(importlib.import_module("markscheme_research"), name)
        except ModuleNotFoundError:
            raise MissingExtraError(f"markscheme.{name}", "research") from None
        warnings.warn(
            f"markscheme.{name} is markscheme_research.{name} now; the old name goes in 0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        return found
    if name == "judges":  # Called as a function in 0.1.0; the package says what replaces it.
        import markscheme.judges

        return markscheme.judges
    if name == "__version__":
        from markscheme.contract import version

        return version()
    return _attribute(name)
