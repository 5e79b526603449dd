"""Metrics to compare with, and to search with, behind one small interface."""

from litepyramid.metrics.metric import METRICS, Metric, metric_named

__all__ = ["METRICS", "Metric", "metric_named"]
