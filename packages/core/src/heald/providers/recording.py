"""Records provider traffic in a file and plays it back byte for byte, in the same pieces, without a network.

    with heald.providers.record("traffic.jsonl"):
        ...  # every turn of a real endpoint is written as it happens
    with heald.providers.replay("traffic.jsonl"):
        ...  # the same turns, from the file; no key needed

Each line of the file is a JSON object with one exchange: the request without its secrets, the response's status,
headers and timed pieces, and how it ended.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from heald.providers.defaults import tape_of_context
from heald.providers.traffic_player import TrafficPlayer
from heald.providers.traffic_recorder import TrafficRecorder


@contextmanager
def record(path: str | os.PathLike[str]) -> Generator[None]:
    """Append the traffic of every turn inside the block to a file, without keys."""
    yield from _run(TrafficRecorder(Path(path)))


@contextmanager
def replay(path: str | os.PathLike[str], *, speed: float = 0.0) -> Generator[None]:
    """Answer every turn inside the block from a file. `speed` 1 keeps the recorded pace, 0 does not wait."""
    yield from _run(TrafficPlayer(Path(path), speed))


def _run(tape: TrafficRecorder | TrafficPlayer) -> Generator[None]:
    token = tape_of_context.set(tape)
    try:
        yield
    finally:
        tape_of_context.reset(token)
