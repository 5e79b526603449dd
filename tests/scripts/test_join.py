"""How mini's join is fitted: what words count, out of fold."""

from types import SimpleNamespace

import join
import numpy as np
import pytest

from litepyramid.judges.mini import logit


def made_up(rng, system, name, units=40):
    """A summary whose labels follow `lexical` and the distance of words."""
    lexical = rng.uniform(0.05, 0.95, units)
    distances = rng.uniform(0.0, 0.8, units)
    odds = 1.0 + 0.8 * logit(lexical) - 3.0 * distances
    labels = (rng.uniform(size=units) < 1 / (1 + np.exp(-odds))).astype(float)
    texts = [f"Unit {n} of {name}." for n in range(units)]
    logits = np.zeros((units, 3))
    summary = join.Summary(system, name, "Some text.", texts, labels, logits, distances)
    return summary, lexical


def test_both_features_have_the_same_standardised_weight():
    rng = np.random.default_rng(2)
    some, lexical = zip(*[made_up(rng, "a", str(n)) for n in range(60)], strict=True)
    fitted = join.fitted_join([*some], [*lexical])
    spread = np.std(logit(np.concatenate(lexical)))
    other = np.std(np.concatenate([one.distances for one in some]))
    assert fitted.lexical * spread == pytest.approx(fitted.distance * other)
    assert 0.4 < fitted.lexical < 1.2
    assert {name: getattr(fitted, name) for name in join.HEARD} == join.HEARD


def test_no_summary_is_judged_by_what_it_was_fitted_to(monkeypatch):
    rng = np.random.default_rng(3)
    summaries = []
    for system in "abcd":
        for name in "pqrs":
            summaries.append(made_up(rng, system, name, units=4)[0])
    data = SimpleNamespace(
        example_folds=[("p", "q"), ("r", "s")], system_folds=[("a", "b"), ("c", "d")]
    )

    fits = []

    def fitted(some):
        fits.append(some)
        return some

    def presences(judge, some):
        if judge is fits[-1]:
            for one in some:
                inside = [(one.system == o.system, one.input == o.input) for o in judge]
                learnt = any(one is other for other in judge)
                assert learnt or not any(a or b for a, b in inside)
        return [np.full(len(one.units), 0.5) for one in some]

    monkeypatch.setattr(join, "fitted_lexical", fitted)
    monkeypatch.setattr(join, "presences", presences)
    monkeypatch.setattr(join, "RecallJudge", lambda: None)
    monkeypatch.setattr(join, "fitted_join", lambda some, lexical: None)
    monkeypatch.setattr(join, "joined", lambda one, some, lexical: lexical)
    found = join.out_of_fold(data, summaries)
    assert [len(fit) for fit in fits] == [4] * 4
    assert [len(values) for values in found.values()] == [16] * 3
