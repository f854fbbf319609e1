"""How much is enough: below these, a figure is shown without what would rest on it."""

LEAST_OF_A_LABEL = 5
"""Answers with either label, for intervals of F1, kappa and MCC: with 1 to 3 accepted answers of 50
macro F1 covered 79%."""
LEAST_FOR_JUDGES = 20
"""Labels from which a judge helps in an estimate; of 15 of a system, differences covered 90%."""
LEAST_QUESTIONS = 10
"""Questions with a label, for any estimate but the labels' own."""
LEAST_OF_OVERLAP = 20
"""Pairs of labels of the same answers, to say how many labels are wrong."""
