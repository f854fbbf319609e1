from .cell import Cell as Cell
from .reproduction import PAPERS as PAPERS
from .reproduction import Reproduced as Reproduced
from .reproduction import ReproductionResult as ReproductionResult
from .reproduction import reproduce as reproduce
from .reproduction import reproduce_tables as reproduce_tables
