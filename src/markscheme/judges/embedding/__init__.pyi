from .similarity import best_likeness as best_likeness
