"""Judges: how far a unit is present in a summary."""
