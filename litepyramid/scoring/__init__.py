"""Scores: the formulas, summaries scored by system, systems compared."""
