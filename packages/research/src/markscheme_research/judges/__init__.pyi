from .claims import Claims as Claims
from .finetuned.v_information import conditional_information as conditional_information
from .finetuned.v_information import informed_share as informed_share
from .jury import JuryWeights as JuryWeights
from .reference_overlap import Measure as Measure
from .reference_overlap import ReferenceOverlap as ReferenceOverlap
from .similarity import bertscore_f1 as bertscore_f1
