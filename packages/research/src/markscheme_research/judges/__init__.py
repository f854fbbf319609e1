"""Judges of papers beyond the core: fine-tuned models, encoders, answers claim by claim."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
