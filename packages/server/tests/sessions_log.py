"""Events of a log that tests of streams make themselves."""

from heald.core.envelope import Event, new_event
from heald.core.events import TextDelta

LOG = "ses_a"


def delta_event(seq: int, text: str = "word ") -> Event:
    delta = TextDelta(0, "block", text)
    return new_event(seq, f"{LOG}-1-{seq}", LOG, "ex", delta.type, delta.layer, 0.0, 1, delta)
