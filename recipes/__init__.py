"""How the weights that ship are made; run from a checkout, not installed (recipes/README.md)."""
