from .columns import COLUMNS as COLUMNS
from .columns import Reading as Reading
from .columns import read_columns as read_columns
from .effects import reasons as reasons
from .examiner import Examiner as Examiner
from .sentence_likeness import cosines as cosines
from .weight_files import open_weights as open_weights
from .weight_files import platt as platt
