"""What a report shows, one file a section; a section appears where the data has it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
