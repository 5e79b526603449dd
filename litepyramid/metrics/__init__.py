"""Metrics to compare with, each computed by its own kept package."""
