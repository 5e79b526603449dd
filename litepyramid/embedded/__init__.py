"""What ships inside the package: weights, the small parser, the example data."""
