"""Durations that people write."""

UNITS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text):
    """Whole seconds of a duration."""
    return int(text)


def format_duration(seconds):
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
