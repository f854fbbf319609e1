"""markscheme marks answers to questions the way a careful examiner does.

    import markscheme

    result = markscheme.judge("answers.jsonl", ["examiner", "exact_match"])
    print(result)

Names are loaded when first used, so that importing costs next to nothing.
"""

from typing import Any

import lazy_loader

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from markscheme.contract import version

        return version()
    return _attribute(name)
