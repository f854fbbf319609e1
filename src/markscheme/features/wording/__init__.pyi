from .columns import WORDING as WORDING
from .columns import wording_features as wording_features
