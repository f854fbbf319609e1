from .agreement import Run as Run
from .agreement import agree as agree
from .agreement import calibrate as calibrate
from .agreement import compare as compare
from .agreement import estimate as estimate
from .agreement import open_run as open_run
from .agreement import plan_labels as plan_labels
from .agreement import rank as rank
from .analysis import diff as diff
from .analysis import explain as explain
from .analysis import failures as failures
from .analysis import list_judges as list_judges
from .analysis import verify as verify
from .api import Judgment as Judgment
from .api import Result as Result
from .api import judge as judge
from .api import mark as mark
from .contract import Judge as Judge
from .contract import parse_judge as parse_judge
from .contract import register as register
from .contract import signature as signature
from .errors import MarkschemeError as MarkschemeError
from .reports import report as report
from .tables import read_answers as read_answers

__version__: str
