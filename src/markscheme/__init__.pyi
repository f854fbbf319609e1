from .analysis import explain as explain
from .analysis import probe as probe
from .api import Judgment as Judgment
from .api import Result as Result
from .api import judge as judge
from .api import mark as mark
from .contract import Judge as Judge
from .contract import judge_name as judge_name
from .contract import judges as judges
from .contract import parse_judge as parse_judge
from .contract import register as register
from .contract import signature as signature
from .errors import MarkschemeError as MarkschemeError
from .report import report as report
from .tables import ReadOptions as ReadOptions
from .tables import read_answers as read_answers
from .tables import write_answers as write_answers

__version__: str
