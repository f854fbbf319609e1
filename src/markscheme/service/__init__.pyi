from .app import DrainingServer as DrainingServer
from .app import make_app as make_app
from .settings import Limits as Limits
from .settings import Settings as Settings
from .settings import read_keys as read_keys
