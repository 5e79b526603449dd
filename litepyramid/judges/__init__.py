"""Judges: how far each unit is present in each summary. One interface, one cache."""

DEFAULT_JUDGE = "mini"
"""The judge of every command and function that is told none."""
