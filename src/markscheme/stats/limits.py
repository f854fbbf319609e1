"""How much is enough: below these, a figure is shown without what would rest on it."""

LEAST_QUESTIONS = 10
"""Questions (items, where each has its own) that tell how far a figure may be off."""
LEAST_OF_A_LABEL = 5
"""Answers with either label, for intervals of F1, kappa and MCC: with 1 to 3 accepted answers of 50
macro F1 covered 79%."""
LEAST_FOR_JUDGES = 20
"""Labels that show a judge's errors, for an estimate or a fit: with 15 of answers half of which are
right, and a judge that recognises 70% of these and 99% of the others, estimates covered 91%.
Differences are held by `LEAST_QUESTIONS` of each system alone."""
QUESTIONS_A_FIGURE = 10
"""Labelled questions for each figure that is fitted to labels: a mean, and every judge's weight.
With 20 labels and three judges like that one, all of them weighted, estimates covered 89%."""
LEAST_OF_OVERLAP = 20
"""Pairs of labels of the same answers, to say how many labels are wrong."""
LEAST_OF_GOLD = 10
"""Labels of right, and of wrong gold items, to say how many of either kind are wrong."""
LEAST_SHARED = 2
"""Answers that others labelled too, for how far one person's labels are above theirs."""
LEAST_RANKED = 50
"""Questions for an interval of average precision: of a weak judge on 30 it covered 91.7%."""
MOST_WRONG = 0.4
"""A rate of wrong labels from which figures say next to nothing about the truth."""
ASSURANCE = 0.8
"""How often a plan, or a comparison, is to show what it is for."""
