from .ports import is_loopback as is_loopback
from .ports import take_port as take_port
