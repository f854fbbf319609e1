from .features import NAMES as NAMES
from .features import entailment_features as entailment_features
from .features import settled as settled
from .place_names import containers as containers
from .place_names import places as places
