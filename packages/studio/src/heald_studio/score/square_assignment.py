"""Assigns the rows of a square matrix to its columns at the least cost, and again after a few rows have changed."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


class SquareAssignment:
    """The Hungarian method with prices that are kept: changing a row costs one search and not a new solution."""

    def __init__(self, costs: Matrix) -> None:
        size = len(costs)
        self.costs = costs
        self.column_of_row: NDArray[np.intp] = np.full(size, -1, np.intp)
        self._row_of_column: NDArray[np.intp] = np.full(size, -1, np.intp)
        self._row_prices: Matrix = costs.min(axis=1) if size else np.zeros(0)
        self._column_prices: Matrix = np.zeros(size)
        for row in range(size):
            self._assign(row)

    def with_rows(self, changes: dict[int, Matrix]) -> "SquareAssignment":
        """Return the assignment of the matrix whose rows `changes` replaces."""
        other = SquareAssignment.__new__(SquareAssignment)
        other.costs = self.costs.copy()
        other.column_of_row = self.column_of_row.copy()
        other._row_of_column = self._row_of_column.copy()
        other._row_prices = self._row_prices.copy()
        other._column_prices = self._column_prices.copy()
        for row, costs in changes.items():
            other.costs[row] = costs
            other._row_of_column[other.column_of_row[row]] = -1
            other.column_of_row[row] = -1
            other._row_prices[row] = (costs - other._column_prices).min()
        for row in changes:
            other._assign(row)
        return other

    def _assign(self, start: int) -> None:
        """Find the shortest augmenting path from a free row."""
        size = len(self.costs)
        shortest = np.full(size, np.inf)
        before = np.full(size, -1, np.intp)
        is_open = np.ones(size, bool)
        walked_rows: list[int] = []
        walked_columns: list[int] = []
        row, least = start, 0.0
        while True:
            walked_rows.append(row)
            reached = least + self.costs[row] - self._row_prices[row] - self._column_prices
            better = is_open & (reached < shortest)
            shortest[better] = reached[better]
            before[better] = row
            column = int(np.where(is_open, shortest, np.inf).argmin())
            least = float(shortest[column])
            is_open[column] = False
            if self._row_of_column[column] < 0:
                break
            walked_columns.append(column)
            row = int(self._row_of_column[column])
        self._row_prices[start] += least
        for walked in walked_rows[1:]:
            self._row_prices[walked] += least - shortest[self.column_of_row[walked]]
        for walked in walked_columns:
            self._column_prices[walked] -= least - shortest[walked]
        while True:
            row = int(before[column])
            self._row_of_column[column] = row
            column, self.column_of_row[row] = int(self.column_of_row[row]), column
            if row == start:
                return
