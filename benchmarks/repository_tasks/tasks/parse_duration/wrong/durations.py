"""Durations that people write."""

import re

UNITS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text):
    """Whole seconds of a duration."""
    if text.isdecimal():
        return int(text)
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([hms])", text))


def format_duration(seconds):
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
