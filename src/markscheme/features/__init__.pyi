from .values import VALUES as VALUES
from .values import compare_rows as compare_rows
from .values import value_features as value_features
from .wording import WORDING as WORDING
from .wording import denies as denies
from .wording import without_asides as without_asides
from .wording import wording_features as wording_features
