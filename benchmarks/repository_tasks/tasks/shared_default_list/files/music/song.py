from dataclasses import dataclass


@dataclass
class Song:
    title: str
    seconds: int
