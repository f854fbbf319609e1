from .claims import Claims as Claims
from .finetuned.v_information import conditional_information as conditional_information
from .finetuned.v_information import informed_share as informed_share
