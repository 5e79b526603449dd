"""How well extracted units simulate human ones: features, regressor, mix."""

from litepyramid.easiness.predict import fit, predict
from litepyramid.easiness.regressor import EasinessRegressor
from litepyramid.files import remembering

__all__ = ["EasinessRegressor", "fit", "predict"]

for _name in ("fit", "predict"):
    globals()[_name] = remembering(globals()[_name])
