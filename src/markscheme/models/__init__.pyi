from .options import ModelOptions as ModelOptions
from .options import ServerOptions as ServerOptions
from .sources import Models as Models
from .sources import default_ledger as default_ledger
