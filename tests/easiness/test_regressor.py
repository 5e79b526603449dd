import json
import warnings

import numpy as np
import pytest
from cases import cases, refused, same

from litepyramid.easiness.regressor import (
    EasinessRegressor,
    TreeSettings,
    fit_trees,
    predict_trees,
)
from litepyramid.easiness.sentence_features import FeatureTable, constituency_features
from litepyramid.errors import ModelError


def table(n=40, names=("length", "depth"), name="mine", seed=0):
    rng = np.random.default_rng(seed)
    return FeatureTable(name, names, rng.integers(0, 9, (n, len(names))))


@pytest.fixture(scope="module")
def trained():
    features = table()
    about = {"data": "made up"}
    return fit_trees(features, features.values[:, 0] / 9, about=about), features


def walk(tree, row):
    """One tree of the authors' file, followed by hand."""
    node = 0
    while tree["left_children"][node] != -1:
        left = row[tree["split_indices"][node]] < tree["split_conditions"][node]
        node = tree["left_children" if left else "right_children"][node]
    return tree["split_conditions"][node]


@pytest.mark.parametrize("name", ["TAC08/all_xgb.json", "REALSumm/fold0_xgb.json"])
def test_the_released_regressors_load_without_a_warning_and_predict(data, name):
    path = data / "regressors" / name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regressor = EasinessRegressor.load(path)
        rain = constituency_features(["(S (NP (NN Rain)) (VP (VBZ falls)))"])
        values = np.vstack([rain, np.random.default_rng(5).integers(0, 30, (20, 69))])
        features = FeatureTable(regressor.feature_set, regressor.names, values)
        predicted = predict_trees(regressor, features)

    assert regressor.booster.num_boosted_rounds() == 40
    model = json.loads(path.read_text())["learner"]
    grown = model["gradient_booster"]["model"]["trees"]
    expected = [0.5 + sum(walk(tree, row) for tree in grown) for row in values.tolist()]
    assert predicted == pytest.approx(expected, abs=1e-5)
    assert 0 < predicted[0] < 1


def test_other_features_and_no_sentences_are_refused(trained):
    for features in (table(names=("depth", "length")), table(name="other")):
        with refused("trained on other features", ModelError):
            predict_trees(trained[0], features)
    with refused("0 sentences"):
        fit_trees(table(), np.full(40, np.nan))
    with refused(r"rounds is 0.*a regressor to centre"):
        fit_trees(table(), np.zeros(40), TreeSettings(rounds=0))


# Of the first, a circle, XGBoost would go round for ever; by the last it crashes.
NO_TREES = """
left_children    | 0 | 0          | children
right_children   | 0 | 1000000000 | children
right_children   | 0 | 1          | children
parents          | 1 | 3          | parents
split_indices    | 0 | 2          | split on no feature
split_type       | 0 | 1          | categories
split_conditions | 0 | "x"        | something else than numbers
sum_hessian      | 0 | Infinity   | not finite
default_left     | 0 | 2          | flags
tree_param       | "size_leaf_vector" | "-5" | several values
"""


@pytest.mark.parametrize(("name", "index", "value", "words"), cases(NO_TREES))
def test_a_tree_that_is_none_is_named(trained, tmp_path, name, index, value, words):
    path = tmp_path / "r.json"
    trained[0].save(path)
    model = json.loads(path.read_text())
    tree = model["learner"]["gradient_booster"]["model"]["trees"][2]
    tree[name][json.loads(index)] = json.loads(value)
    path.write_text(json.dumps(model))
    with refused(f"tree 2: .*{words}", ModelError):
        EasinessRegressor.load(path)


def test_a_regressor_is_centred_and_goes_on(trained, tmp_path):
    start, features = trained
    harder = features.values[:, 0] / 9 - 0.2
    centred = fit_trees(features, harder, TreeSettings(rounds=0), start=start)
    said = predict_trees(centred, features)
    same(said - predict_trees(start, features), centred.offset)
    same(said.mean(), harder.mean(), 1e-6)

    wiggly = harder + 0.2 * (features.values[:, 1] > 4)
    more = fit_trees(features, wiggly, TreeSettings(rounds=20), start=start)
    refined = predict_trees(more, features)
    assert np.abs(refined - wiggly).mean() < np.abs(said - wiggly).mean() / 2
    # What was begun with is as it was.
    same(predict_trees(start, features), features.values[:, 0] / 9, 0.05)
    more.save(tmp_path / "r.json")
    again = EasinessRegressor.load(tmp_path / "r.json")
    assert predict_trees(again, features).tolist() == refined.tolist()

    twice = fit_trees(features, harder + 0.5, TreeSettings(rounds=0), start=centred)
    assert twice.offset == pytest.approx(centred.offset + 0.5)
