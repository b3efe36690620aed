"""Assignments of square matrices: the least cost, also after rows have changed."""

from itertools import permutations

import numpy as np

from heald_studio.score.square_assignment import Matrix, SquareAssignment


def _cost(assignment: SquareAssignment) -> float:
    columns = assignment.column_of_row
    assert sorted(columns) == list(range(len(columns)))
    return float(assignment.costs[np.arange(len(columns)), columns].sum())


def _least(costs: Matrix) -> float:
    size = len(costs)
    return min(sum(costs[row, column] for row, column in enumerate(order)) for order in permutations(range(size)))


def test_the_least_cost_is_found() -> None:
    random = np.random.default_rng(7)
    for size in (1, 2, 3, 5, 6):
        costs = -random.random((size, size)).round(2)
        assert abs(_cost(SquareAssignment(costs)) - _least(costs)) < 1e-9


def test_changed_rows_give_the_least_cost_again_and_leave_the_first_as_it_was() -> None:
    random = np.random.default_rng(8)
    for _ in range(40):
        costs = -random.random((6, 6)).round(1)
        first = SquareAssignment(costs)
        before = _cost(first)
        row = -random.random(6).round(1)
        changed = costs.copy()
        changed[2], changed[3] = row, 0.0
        assert abs(_cost(first.with_rows({2: row, 3: np.zeros(6)})) - _least(changed)) < 1e-9
        assert _cost(first) == before
