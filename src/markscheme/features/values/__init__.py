"""What typed values say of an answer, as numbers that a trained judge reads."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
