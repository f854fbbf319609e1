from .sources import ModelOptions as ModelOptions
from .sources import Models as Models
from .sources import default_ledger as default_ledger
