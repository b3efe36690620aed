from dataclasses import dataclass


@dataclass
class Member:
    name: str
    joined: int
    email: str | None = None
