from .claims import Claims as Claims
from .entailment import Entailment as Entailment
from .statement_makers import statement_maker as statement_maker
