"""A page read tag by tag and written again as it was, except for what is changed on the way."""

from collections.abc import Mapping
from html import escape

from weft.studio.stacks.tags import Tag, tags


class Markup:
    """Subclasses change what they want to; the rest goes through letter by letter."""

    def __init__(self, page: str) -> None:
        self.page = page

    def run(self) -> str:
        """The page, changed."""
        out: list[str] = []
        at = 0
        for tag in tags(self.page):
            out.append(self.page[at : tag.start])
            if tag.name in ("script", "style") and tag.content is not None:
                out.append(self.raw(tag, self.page[slice(*tag.content)]))
                at = tag.close
            else:
                out.append(self.start(tag))
                at = tag.end
        out.append(self.page[at:])
        return "".join(out)

    def start(self, tag: Tag) -> str:
        """What stands in the place of a start tag."""
        return self.source(tag)

    def raw(self, tag: Tag, text: str) -> str:
        """What stands in the place of a whole script or style element."""
        return self.page[tag.start : tag.close]

    def source(self, tag: Tag) -> str:
        """A start tag as it is written."""
        return self.page[tag.start : tag.end]

    def changed(self, tag: Tag, changes: Mapping[str, str], *, drop: tuple[str, ...] = ()) -> str:
        """A start tag with some attributes set or dropped, the others as they are written."""
        out: list[str] = []
        at = tag.start
        for key, start, end in tag.spans:
            if key not in changes and key not in drop:
                continue
            kept = self.page[at:start]
            if key in drop:
                out.append(kept.rstrip())
            else:
                out.append(f'{kept}{self.page[start : start + len(key)]}="{escape(changes[key])}"')
            at = end
        out.append(self.page[at : tag.end])
        return "".join(out)
