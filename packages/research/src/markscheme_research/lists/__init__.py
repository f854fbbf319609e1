"""Judges by graded lists of references: lists written and drawn, and how judges behave by them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
