"""Files embedded in the package: weights, the small parser, the example data."""
