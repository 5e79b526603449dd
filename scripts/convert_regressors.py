"""Converts easiness regressors of old XGBoost versions, the paper authors' among them.

    python scripts/convert_regressors.py ../shared/data/regressors -o FOLDER

Each JSON file of a folder (or each file named) is written as UBJ with its feature names and set
inside, under the same name and sub-folder; predictions stay the same to the last bit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from litepyramid.easiness.features import FeatureTable
from litepyramid.easiness.regressor import load_regressor, predict, save_regressor
from litepyramid.errors import LitepyramidError


def convert(source: Path, goal: Path) -> None:
    """Converts one file and checks that it predicts what it did."""
    regressor = load_regressor(source)
    goal.parent.mkdir(parents=True, exist_ok=True)
    save_regressor(regressor, goal)
    values = np.random.default_rng(0).integers(0, 40, (1000, len(regressor.names)))
    features = FeatureTable(regressor.feature_set, regressor.names, values)
    before, after = predict(regressor, features), predict(load_regressor(goal), features)
    if not np.array_equal(before, after):
        raise LitepyramidError("the converted regressor predicts otherwise", path=goal)
    print(f"{source} -> {goal}: {regressor.feature_set}, {len(regressor.names)} features, same")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="+", help="files, or folders of .json files")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    try:
        for source in arguments.sources:
            files = sorted(source.rglob("*.json")) if source.is_dir() else [source]
            root = source if source.is_dir() else source.parent
            for file in files:
                convert(file, arguments.output / file.relative_to(root).with_suffix(".ubj"))
    except LitepyramidError as error:
        sys.exit(f"convert_regressors: {error}")


if __name__ == "__main__":
    main()
