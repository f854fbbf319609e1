"""The labelling web app: people judge answers, blind, and nothing they say is lost."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
