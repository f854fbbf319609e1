from .effects import reasons as reasons
from .examiner import Examiner as Examiner
from .sentence_likeness import cosines as cosines
from .weight_files import blend_log_odds as blend_log_odds
from .weight_files import open_weights as open_weights
from .weight_files import platt as platt
