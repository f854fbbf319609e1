from .order import absent as absent
from .order import sections as sections
