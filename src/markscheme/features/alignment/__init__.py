"""How an answer lines up with its references, as one row of named numbers per answer."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
