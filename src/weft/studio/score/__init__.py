"""The visual score: how close a rendering comes to its target, and where it does not."""

from weft.studio.browser.rendering import TextBlock
from weft.studio.score.difference import Difference
from weft.studio.score.heat import heat_map
from weft.studio.score.picture import Picture, PictureError
from weft.studio.score.reading import read_text
from weft.studio.score.score import Score, score

__all__ = ["Difference", "Picture", "PictureError", "Score", "TextBlock", "heat_map", "read_text", "score"]
