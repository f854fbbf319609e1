from .claim_splitting import claims as claims
from .entailment_files import read_entailment_pairs as read_entailment_pairs
from .sentence_forms import is_sentence as is_sentence
from .statement import statements as statements
