"""Running judges: plan (each distinct item once), judge in batches, save as it goes, resume."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
