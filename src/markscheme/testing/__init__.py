"""For tests of judges and pipelines: a check of any judge, a scripted model, a server with faults.

from markscheme.testing import FaultServer, ScriptedChat, check_judge
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
