"""What is known about a picture before it is looked at."""

from dataclasses import dataclass

from heald_pictures.design_request import PictureKind


@dataclass(frozen=True, slots=True)
class PictureHint:
    """The kind of a picture, and its pixels for each CSS pixel; empty and 0 if they are to be found out."""

    kind: PictureKind = ""
    scale: int = 0


NO_HINT = PictureHint()
