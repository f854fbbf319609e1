from .combined.calibrated import CalibrationMap as CalibrationMap
from .combined.panel import JuryWeights as JuryWeights
from .outcomes import LEXICAL as LEXICAL
from .outcomes import PATTERNS as PATTERNS
from .outcomes import Thresholded as Thresholded
from .outcomes import by_threshold as by_threshold
from .outcomes import has_patterns as has_patterns
from .weight_folder import save_rarity as save_rarity
