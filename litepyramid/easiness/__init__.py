"""How well extracted units simulate human ones: features, regressor, mix, curve."""
