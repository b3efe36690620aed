"""What a picture turned out to be: the sentence that the local converter thinks, and that `heald build` prints."""

import re
from typing import Literal

PictureSource = Literal["page", "sketch", "photo"]
_WORDS: dict[PictureSource, str] = {
    "page": "a screenshot of a page",
    "sketch": "a drawing by hand",
    "photo": "the photograph of a screen",
}
_SENTENCE = re.compile(
    rf"^Read as (?:{'|'.join(_WORDS.values())})(?: with \d+ pixels for each CSS pixel)?\.$", re.MULTILINE
)


def describe_source(source: PictureSource, ratio: int) -> str:
    """Describe a picture with `ratio` pixels for each CSS pixel in one sentence."""
    scale = f" with {ratio} pixels for each CSS pixel" if ratio > 1 else ""
    return f"Read as {_WORDS[source]}{scale}."


def find_source(text: str) -> str | None:
    """Return the sentence of `describe_source` that a text has as a line."""
    match = _SENTENCE.search(text)
    return match[0] if match is not None else None
