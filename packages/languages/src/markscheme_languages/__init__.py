"""Weights alone: the examiner's encoder for other languages than English, in `weights/`."""
