"""Figures of published papers, computed again from the data their authors released."""
