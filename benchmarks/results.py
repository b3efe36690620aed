"""What a run found: samples by row, wire and scenario, and the figures that are computed from them."""

from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from benchmarks.scenarios import Wire

BASELINE = "bare"

Cell = tuple[str, Wire, str]


@dataclass(frozen=True)
class Figures:
    """One cell: seconds of one run, and the same as multiples of the bare loop on the same wire."""

    cpu_median: float
    cpu_min: float
    wall_median: float
    wall_min: float
    samples: int
    times_median: float | None
    times_min: float | None


@dataclass
class Footprint:
    """What a row costs before it does anything, and what it holds at its peak, in seconds and bytes."""

    version: str
    imports: str
    import_seconds: float
    first_turn_seconds: float
    memory_imported: int
    memory_peak: int


@dataclass
class Results:
    """Everything that was measured; a row or cell that failed is kept with the reason in words."""

    rows: tuple[str, ...]
    wires: tuple[Wire, ...]
    scenarios: tuple[str, ...]
    supported: dict[str, tuple[Wire, ...]] = field(default_factory=dict[str, tuple[Wire, ...]])
    footprints: dict[str, Footprint] = field(default_factory=dict[str, Footprint])
    broken: dict[str, str] = field(default_factory=dict[str, str])
    failures: dict[Cell, str] = field(default_factory=dict[Cell, str])
    _cpu: dict[Cell, list[float]] = field(default_factory=dict[Cell, list[float]])
    _wall: dict[Cell, list[float]] = field(default_factory=dict[Cell, list[float]])

    def add(self, cell: Cell, cpu: float, wall: float) -> None:
        self._cpu.setdefault(cell, []).append(cpu)
        self._wall.setdefault(cell, []).append(wall)

    def figures(self, cell: Cell) -> Figures | None:
        cpu = self._cpu.get(cell)
        if not cpu or cell in self.failures:
            return None
        wall = self._wall[cell]
        bare = self._cpu.get((BASELINE, cell[1], cell[2]))
        return Figures(
            cpu_median=median(cpu),
            cpu_min=min(cpu),
            wall_median=median(wall),
            wall_min=min(wall),
            samples=len(cpu),
            times_median=median(cpu) / median(bare) if bare else None,
            times_min=min(cpu) / min(bare) if bare else None,
        )

    def cells(self) -> list[Cell]:
        """The cells that rows support, by scenario, then wire, then row."""
        return [
            (row, wire, name)
            for name in self.scenarios
            for wire in self.wires
            for row in self.rows
            if wire in self.supported.get(row, ())
        ]

    def as_json(self) -> dict[str, Any]:
        """All figures and all samples, for whoever wants to compare two runs."""
        return {
            "rows": {row: asdict(footprint) for row, footprint in self.footprints.items()},
            "broken": self.broken,
            "cells": [self._cell_as_json(cell) for cell in self.cells()],
        }

    def _cell_as_json(self, cell: Cell) -> dict[str, Any]:
        row, wire, name = cell
        figures = self.figures(cell)
        record: dict[str, Any] = {"row": row, "wire": wire, "scenario": name}
        if figures is None:
            return record | {"error": self.failures.get(cell, "not measured")}
        return record | asdict(figures) | {"cpu": self._cpu[cell], "wall": self._wall[cell]}
