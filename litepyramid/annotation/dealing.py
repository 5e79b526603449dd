"""Assignment of tasks to annotators, several per task, evenly."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def deal(tasks: int, annotators: int, per_task: int, checks: int, seed: int) -> list[list[int]]:
    """Which tasks each annotator does: loads differ by one at most, pairs meet about equally often.

    A task goes to the `per_task` people with the least to do so far, among them to those who have
    met least. The checks, drawn at random, go to everybody.

    Returns:
        For each annotator the indices of tasks, ascending.

    Example:
        >>> deal(4, 2, 1, 0, 1)
        [[0, 2], [1, 3]]
        >>> [len(own) for own in deal(20, 6, 3, 2, 1)]
        [11, 11, 11, 11, 11, 11]
    """
    rng = np.random.default_rng(seed)
    shared = set(rng.choice(tasks, min(checks, tasks), replace=False).tolist()) if checks else set()
    own: list[list[int]] = [[] for _ in range(annotators)]
    load, met = np.zeros(annotators), np.zeros((annotators, annotators))
    for task in range(tasks):
        chosen = list(range(annotators)) if task in shared else []
        while task not in shared and len(chosen) < per_task:
            cost = load * 1e6 + met[:, chosen].sum(axis=1)
            cost[chosen] = np.inf
            chosen.append(int(np.argmin(cost)))
        for i in chosen:
            own[i].append(task)
            load[i] += task not in shared
        for i, j in combinations(chosen, 2):
            met[i, j] += 1
            met[j, i] += 1
    return own
