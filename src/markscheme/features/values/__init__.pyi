from .columns import VALUES as VALUES
from .columns import value_features as value_features
