"""The command line as it is where the research package is not installed, though here it is."""

from __future__ import annotations

CORE_ALONE = """
import importlib.metadata, importlib.util, sys
points, spec = importlib.metadata.entry_points, importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: (
    None if name == "markscheme_research" else spec(name, *more)
)
importlib.metadata.entry_points = lambda **asked: [
    one for one in points(**asked) if not one.value.startswith("markscheme_research")
]
from markscheme.cli import run
sys.exit(run(sys.argv[1:]))
"""
"""A program that runs a command line as where the research package is not installed."""
