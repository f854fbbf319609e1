"""markscheme marks answers to questions the way a careful examiner does."""
