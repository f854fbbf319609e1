from .columns import VALUES as VALUES
from .columns import compare_rows as compare_rows
from .columns import value_features as value_features
