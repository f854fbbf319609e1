"""What papers on judging answers need beyond judging: tables, data sets, studies."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
