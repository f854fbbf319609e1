"""A judge of numbers, an entailment test and a maker of statements for markscheme."""

from markscheme_numbers.entailment import BareAnswer, SharedWords
from markscheme_numbers.judge import SameNumbers

__all__ = ["BareAnswer", "SameNumbers", "SharedWords"]
