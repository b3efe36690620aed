"""Durations that people write."""

import re

UNITS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text):
    """Whole seconds of a duration."""
    text = text.strip()
    if text.isdecimal():
        return int(text)
    match = re.fullmatch(r"(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?", text)
    if not text or match is None:
        raise ValueError(f"{text!r} is not a duration; write it like 1h30m.")
    return sum(int(part or 0) * size for part, size in zip(match.groups(), UNITS.values()))


def format_duration(seconds):
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
