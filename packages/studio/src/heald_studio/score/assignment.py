"""Assigns pairs with the largest total weight: the Hungarian method, for each connected part."""

from collections.abc import Mapping

Weights = Mapping[tuple[int, int], float]
"""The weight, above 0, of each pair (row, column) that may be chosen."""


def assign_pairs(weights: Weights) -> dict[int, int]:
    """Solve the assignment problem: choose pairs with the largest sum of weights.

    The problem falls into independent parts; each is solved by the Hungarian method with shortest augmenting paths.
    """
    chosen: dict[int, int] = {}
    for rows, columns in _connected_parts(weights):
        if len(rows) == 1 and len(columns) == 1:
            chosen[rows[0]] = columns[0]
            continue
        size = max(len(rows), len(columns))
        costs = [[0.0] * size for _ in range(size)]
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                costs[i][j] = -weights.get((row, column), 0.0)
        for i, j in enumerate(_hungarian(costs)):
            if i < len(rows) and j < len(columns) and (rows[i], columns[j]) in weights:
                chosen[rows[i]] = columns[j]
    return chosen


def _connected_parts(weights: Weights) -> list[tuple[list[int], list[int]]]:
    """Return the groups of rows and columns that pairs connect, in ascending order."""
    of_row: dict[int, list[int]] = {}
    of_column: dict[int, list[int]] = {}
    for row, column in weights:
        of_row.setdefault(row, []).append(column)
        of_column.setdefault(column, []).append(row)
    pieces: list[tuple[list[int], list[int]]] = []
    visited: set[int] = set()
    for start in sorted(of_row):
        if start in visited:
            continue
        rows, columns, waiting = {start}, set[int](), [start]
        while waiting:
            for column in of_row[waiting.pop()]:
                if column in columns:
                    continue
                columns.add(column)
                fresh = set(of_column[column]) - rows
                rows |= fresh
                waiting.extend(fresh)
        visited |= rows
        pieces.append((sorted(rows), sorted(columns)))
    return pieces


def _hungarian(costs: list[list[float]]) -> list[int]:
    """Return the column of each row of a square matrix at the least cost."""
    size = len(costs)
    of_column = [-1] * (size + 1)
    row_price, column_price = [0.0] * size, [0.0] * (size + 1)
    for row in range(size):
        of_column[size] = row
        at = size
        least = [float("inf")] * size
        back = [size] * size
        done = [False] * (size + 1)
        while of_column[at] >= 0:
            done[at] = True
            here = of_column[at]
            price, line = row_price[here], costs[here]
            step, then = float("inf"), at
            for column in range(size):
                if done[column]:
                    continue
                cost = line[column] - price - column_price[column]
                if cost < least[column]:
                    least[column], back[column] = cost, at
                if least[column] < step:
                    step, then = least[column], column
            for column in range(size + 1):
                if done[column]:
                    row_price[of_column[column]] += step
                    column_price[column] -= step
                elif column < size:
                    least[column] -= step
            at = then
        while at != size:
            of_column[at] = of_column[back[at]]
            at = back[at]
    columns = [0] * size
    for column in range(size):
        columns[of_column[column]] = column
    return columns
