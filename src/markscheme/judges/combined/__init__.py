"""Judges made of other judges: cascades, panels, calibrated scores, routing by question."""
