"""Results as people read them: tables made once, shown in the terminal or written as text."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
