from .cell import Cell as Cell
from .reproduced_tables import ReproductionResult as ReproductionResult
from .reproduced_tables import reproduce_tables as reproduce_tables
from .reproduction import PAPERS as PAPERS
from .reproduction import Reproduced as Reproduced
from .reproduction import reproduce as reproduce
