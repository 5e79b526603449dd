"""How well extracted units simulate human ones: features, regressor, mix."""

from litepyramid.easiness.predict import fit, predict
from litepyramid.easiness.regressor import EasinessRegressor

__all__ = ["EasinessRegressor", "fit", "predict"]
