"""Formats durations and costs for people."""


def format_seconds(duration: float) -> str:
    """Format a duration: 12 ms, 3.4 s, 2 min 05 s."""
    if duration < 1:
        return f"{duration * 1000:.0f} ms"
    if duration < 60:
        return f"{duration:.1f} s"
    return f"{int(duration // 60)} min {int(duration % 60):02} s"


def format_usd(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"
