"""Plain arrays: coefficients, levels, resampling by system, by input and by both."""
