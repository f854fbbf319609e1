"""A template for plugins of markscheme: one file each for a judge, a data set and a command.

Nothing is imported here, so that markscheme loads only the file that it needs.
"""
