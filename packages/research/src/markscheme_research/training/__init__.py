"""Training of fine-tuned judges, of the entailment test and of the listwise examiner."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
