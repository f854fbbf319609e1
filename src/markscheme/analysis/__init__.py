"""Failure modes, bias probes, and studies of how judges behave."""
