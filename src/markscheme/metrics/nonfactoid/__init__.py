"""Features of an answer beside a list of graded references, for answers that are no mere fact."""
