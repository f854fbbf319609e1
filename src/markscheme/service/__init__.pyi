from .app import make_app as make_app
from .keys import read_keys as read_keys
from .serve import LOCAL as LOCAL
from .serve import DrainingServer as DrainingServer
from .settings import Batching as Batching
from .settings import Limits as Limits
from .settings import Settings as Settings
