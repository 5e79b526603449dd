"""How well machine units simulate human ones: features, regressor, mix, curve."""
