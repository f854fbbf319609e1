"""Judging over HTTP: judgments, rewards for training, jobs for large files."""
