"""A broken invariant."""

import msgspec


class Violation(msgspec.Struct, frozen=True):
    """What was broken, at which event of which session, in one sentence."""

    invariant: str
    seq: int
    message: str
    session: str = ""

    def __str__(self) -> str:
        return f"{self.invariant} at {self.session}:{self.seq}: {self.message}"
