"""Agreement of two judges, against scikit-learn and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from litepyramid.errors import InputError
from litepyramid.training.agree import cohen_kappa, judges_agree


def result(path, judge, presence, unit="died"):
    path.write_text(json.dumps({
        "scores": [
            {"system": system, "input": "1", "presence": values}
            for system, values in presence.items()
        ],
        "units": [{"input": "1", "units": [{"text": "rain"}, {"text": unit}]}],
        "signature": {"judge": judge, "seed": "1"},
    }))  # fmt: skip
    return path


def test_kappa_is_scikit_learns():
    rng = np.random.default_rng(0)
    for share in (0.1, 0.5, 0.9):
        a, b = rng.random((2, 200)) < share
        b[:100] = a[:100]
        assert cohen_kappa(a, b) == pytest.approx(cohen_kappa_score(a, b))
    assert np.isnan(cohen_kappa([1, 1], [1, 1]))


def test_means_agreement_and_differences_by_hand(tmp_path, cli):
    one = result(tmp_path / "a.json", "x", {"s": [0.9, 0.2], "t": [0.5, None], "u": [0.1, 0.1]})
    two = result(tmp_path / "b.json", "y", {"s": [0.8, 0.7], "t": [0.4, 0.3], "v": [1.0, 1.0]})
    found = judges_agree(one, two, show=2)
    assert (found.judges, found.pairs, found.left_out) == (("x", "y"), 3, 5)
    assert found.first == pytest.approx((0.9 + 0.2 + 0.5) / 3)
    assert found.agreement == pytest.approx(1 / 3)
    assert found.pearson == pytest.approx(np.corrcoef([0.9, 0.2, 0.5], [0.8, 0.7, 0.4])[0, 1])
    assert [(d.system, d.unit) for d in found.different] == [("s", "died"), ("s", "rain")]
    assert dict(found.signature.fields) == {"judge_1": "x", "judge_2": "y"}
    shown = cli("judge", "agree", one, two)
    assert "Same answer 0.333" in shown.stdout
    assert json.loads(cli("judge", "agree", one, two, "-f", "json").stdout)["pairs"] == 3


def test_files_that_do_not_fit_are_one_error(tmp_path):
    one = result(tmp_path / "a.json", "x", {"s": [0.9, 0.2]})
    with pytest.raises(InputError, match="no pair that both judges judged"):
        judges_agree(one, result(tmp_path / "b.json", "y", {"t": [0.9, 0.2]}))
    with pytest.raises(InputError, match="3 values for 2 units"):
        judges_agree(one, result(tmp_path / "b.json", "y", {"s": [0.9, 0.2, 0.1]}))
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(InputError, match="is not a result of score"):
        judges_agree(one, tmp_path / "b.json")
