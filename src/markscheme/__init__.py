"""markscheme judges answers to questions against reference answers, and measures its judges.

    import markscheme

    result = markscheme.judge("answers.jsonl", ["examiner", "exact_match"])
    print(result)

Names are loaded when first used, so that importing costs next to nothing.
"""

from typing import Any

import lazy_loader

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_OPTIONS = "Agree Calibrate Compare Diff Estimate Plan Rank Read"
_RESEARCH = "AmendOptions HierarchyOptions ReliabilityOptions amend hierarchy probe reliability"
_MOVED = {
    **{f"{name}Options": "markscheme.options" for name in _OPTIONS.split()},
    **dict.fromkeys(_RESEARCH.split(), "markscheme_research"),
    **dict.fromkeys(("CascadeOptions", "choose_cascade"), "markscheme_research"),
    "judge_name": "markscheme.contract",
    "write_answers": "markscheme.tables",
}
"""Names of 0.1.0 that are elsewhere now, each with its module; understood here for one version."""


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        return _moved(name, _MOVED[name])
    if name == "judges":  # Called as a function in 0.1.0; the package says what replaces it.
        import markscheme.judges

        return markscheme.judges
    if name == "__version__":
        from markscheme.contract import version

        return version()
    return _attribute(name)


def _moved(name: str, module: str) -> Any:
    import importlib
    import warnings

    from markscheme.errors import MissingExtraError

    try:
        value = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name != "markscheme_research":
            raise
        raise MissingExtraError(f"markscheme.{name}", "research") from None
    warnings.warn(
        f"markscheme.{name} is {module}.{name} now; the old name will be removed in 0.3",
        DeprecationWarning,
        stacklevel=3,
    )
    return value
