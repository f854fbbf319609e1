"""Figures of published papers, computed again from the data their authors released."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
