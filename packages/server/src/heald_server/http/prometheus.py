"""Counters and histograms in the text format of Prometheus."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
_MAX_SERIES = 500
"""Different labels of one metric; more are counted together, because clients choose some of them."""
OTHER = "other"

Labels = tuple[str, ...]


class Counter:
    """A sum for each combination of labels."""

    kind = "counter"

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, amount: float = 1.0) -> None:
        key = labels if labels in self._values or len(self._values) < _MAX_SERIES else (OTHER,) * len(labels)
        self._values[key] = self._values.get(key, 0.0) + amount

    def lines(self) -> Iterable[str]:
        for labels, value in sorted(self._values.items()):
            yield f"{self.name}{format_labels(self.labels, labels)} {format_number(value)}"


class Histogram:
    """Durations in seconds for each combination of labels."""

    kind = "histogram"

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = defaultdict(float)

    def observe(self, seconds: float, *labels: str) -> None:
        key = labels if labels in self._counts or len(self._counts) < _MAX_SERIES else (OTHER,) * len(labels)
        counts = self._counts.setdefault(key, [0] * (len(_SECONDS) + 1))
        counts[bisect_left(_SECONDS, seconds)] += 1
        self._sums[key] += seconds

    def lines(self) -> Iterable[str]:
        names = (*self.labels, "le")
        for labels, counts in sorted(self._counts.items()):
            total = 0
            for limit, count in zip((*map(format_number, _SECONDS), "+Inf"), counts, strict=True):
                total += count
                yield f"{self.name}_bucket{format_labels(names, (*labels, limit))} {total}"
            yield f"{self.name}_sum{format_labels(self.labels, labels)} {format_number(self._sums[labels])}"
            yield f"{self.name}_count{format_labels(self.labels, labels)} {total}"


def format_labels(names: Iterable[str], values: Iterable[str]) -> str:
    pairs = [f'{name}="{_escape(value)}"' for name, value in zip(names, values, strict=True)]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def format_number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
