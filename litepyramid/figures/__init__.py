"""Figures of results, one hand for all, for a column of a paper."""
