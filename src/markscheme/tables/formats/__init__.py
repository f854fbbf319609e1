"""Exports of other tools, one file a format: how each is recognised by its content and read."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
