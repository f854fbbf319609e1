from .containment import containers as containers
from .containment import places as places
from .features import NAMES as NAMES
from .features import entailment_features as entailment_features
from .features import settled as settled
