"""The labelling web app: people judge answers, blind, and nothing they say is lost."""
