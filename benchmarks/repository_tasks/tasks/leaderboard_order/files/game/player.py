from dataclasses import dataclass


@dataclass
class Player:
    name: str
    points: int = 0
