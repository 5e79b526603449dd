"""What a data set holds, plain, so that two of them can be compared."""

import litepyramid as lp


def held(data):
    """Everything that a data set holds, by its parts."""

    def values(facts):
        # NaN is no NaN: as text it is.
        return facts and (facts.systems, facts.units, str(facts.values.tolist()))

    return {
        "units": data.units,
        "stus": data.stus,
        "summaries": data.summaries,
        "references": data.references,
        "documents": data.documents,
        "labels": values(data.labels),
        "presence": values(data.presence),
        "folds": (data.example_folds, data.system_folds),
    }


def same_data(one, other):
    """Whether two data sets hold the same."""
    assert held(one) == held(other)
    return True


def texts_of(data):
    """Every summary by system and input."""
    return dict(data.summaries.cells())


def references_of(data):
    """The references of every input, each as one text."""
    return {e.input: [" ".join(one) for one in e.references] for e in data.references}


def units_of(data):
    """The texts of every input's units."""
    return {entry.input: [*entry.texts] for entry in data.units}


def values_of(source, units, role):
    """The labels, or the presence, of one system, in the order of the units."""
    facts = getattr(lp.load(units=units, **{role: source}), role)
    return facts.values[0].tolist()
