"""Coefficients by scipy."""

from scipy.stats import kendalltau


def tau_of_means(X, Z) -> float:
    """Kendall's τ of the systems' means over inputs of (systems, inputs) scores."""
    x = X.mean(axis=1)
    z = Z.mean(axis=1)
    return float(kendalltau(x, z).statistic)
