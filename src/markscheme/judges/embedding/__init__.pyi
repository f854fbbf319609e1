from .reference_overlap import Measure as Measure
from .reference_overlap import ReferenceOverlap as ReferenceOverlap
from .similarity import BertScore as BertScore
