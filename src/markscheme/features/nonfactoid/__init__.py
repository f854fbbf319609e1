"""An answer against a list of graded references, for answers that are no mere fact."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
