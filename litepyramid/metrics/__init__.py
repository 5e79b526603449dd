"""Metrics to compare with, behind one small interface."""
