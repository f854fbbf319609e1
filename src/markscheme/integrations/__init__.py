"""markscheme inside the tools that people already use. Each module is imported by its own name."""
