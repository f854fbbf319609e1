"""Why answers fail: failure modes of exact match, errors of judges, and probes for their biases."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
