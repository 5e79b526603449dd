"""Judges: how far each unit is present in each summary. One interface, one cache."""
