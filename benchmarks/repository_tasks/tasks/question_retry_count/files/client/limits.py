"""Limits that no configuration may exceed."""

MOST_RETRIES = 6
LONGEST_PAUSE = 60
