"""Figures of a score as text. They are never rounded towards the better side: only a page without a fault reads 1."""

from math import ceil, floor

_BELOW_A_DIGIT = 1e-9
"""Binary fractions such as 0.29 are a little less than what they stand for."""


def floor_figure(value: float) -> float:
    """Return a figure with three digits, not rounded up."""
    return floor(value * 1000 + _BELOW_A_DIGIT) / 1000


def format_figure(value: float) -> str:
    """Format a figure from 0 to 1, such as 0.997."""
    return f"{floor_figure(value):.3f}"


def format_whole_percent(value: float) -> str:
    """Format a share in whole percent, such as 99 %."""
    return f"{floor(value * 100 + _BELOW_A_DIGIT)} %"


def format_percent(value: float, *, less_is_better: bool = False) -> str:
    """Format a share in percent with one digit: rounded down, or up where less is better."""
    tenths = ceil(value * 1000 - _BELOW_A_DIGIT) if less_is_better else floor(value * 1000 + _BELOW_A_DIGIT)
    return f"{tenths / 10:.1f} %"
