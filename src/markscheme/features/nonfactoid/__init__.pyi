from .features import word_features as word_features
from .meaning import meaning_features as meaning_features
from .meaning import style_inputs as style_inputs
from .meaning import token_weights as token_weights
from .rows import Matrix as Matrix
from .rows import Rows as Rows
from .words import Rarity as Rarity
