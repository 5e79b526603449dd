"""Figures of results in one style, for a column of a paper."""
