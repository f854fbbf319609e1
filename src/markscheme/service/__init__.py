"""Judging over HTTP: judgments, rewards for training, and until 0.3 jobs for files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
