"""`python -m markscheme` is the `markscheme` command."""

from markscheme.cli import main

main()
