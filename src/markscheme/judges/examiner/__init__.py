"""The examiner: the trained judge that ships, works offline and explains itself."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
