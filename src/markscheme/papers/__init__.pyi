from .cell import Cell as Cell
from .reproduction import PAPERS as PAPERS
from .reproduction import Reproduced as Reproduced
from .reproduction import reproduce as reproduce
