"""A screenshot becomes a page without a language model: it is seen, arranged and written.

    seen = see(data, report)      # boxes, texts, pictures; `report` hears how far it is, and a rough page early on
    page = arrange(seen)          # a tree of elements with their CSS
    files = write(page, stack)    # {path: text or bytes}

Each step takes plain frozen data and gives plain frozen data; none touches the network or the disk (but for reading
fonts and models). What cannot be read for certain stays a picture, and `notes` say so.
"""

from weft.vision.arrangement import arrange
from weft.vision.errors import ModelsMissing, PictureTooLarge, UnreadablePicture, VisionError
from weft.vision.page import Node, Page
from weft.vision.seen import Seen
from weft.vision.sight import Progress, Report, see
from weft.vision.stacks import STACKS, Files, write

__all__ = [
    "STACKS",
    "Files",
    "ModelsMissing",
    "Node",
    "Page",
    "PictureTooLarge",
    "Progress",
    "Report",
    "Seen",
    "UnreadablePicture",
    "VisionError",
    "arrange",
    "see",
    "write",
]
