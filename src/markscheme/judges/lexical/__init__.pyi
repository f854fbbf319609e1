from .reference_overlap import Measure as Measure
from .reference_overlap import ReferenceOverlap as ReferenceOverlap
from .regex import Regex as Regex
