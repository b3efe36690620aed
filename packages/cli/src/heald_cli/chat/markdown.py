"""Renders Markdown while it streams: a block is rendered by rich once the next block has begun, and never changes then.

Text of the model loses its control characters first, so the only escape sequences are the colours that rich adds.
"""

import io
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from heald.commands.terminal import ThemeName
from heald.tools.sanitize import TextSanitizer

_MAX_BLOCK = 30_000
_MAX_LINE = 8_000
"""A block that is longer, or has a longer line, is printed as plain text: layout would take too long."""
_LIVE_CHARACTERS = 2_000
"""Of an unfinished block that is longer, the end is shown as plain text."""
_PARSE_AT_ONCE = 2_000
_LINKS = {"markdown.link": "underline", "markdown.link_url": "none"}
_THEMES: Mapping[ThemeName, Theme] = {
    "dark": Theme({"markdown.code": "cyan", **_LINKS}),
    "light": Theme({"markdown.code": "blue", **_LINKS}),
}
_CHECKBOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


class Renderer:
    """Lays text and Markdown out in rows of the terminal's width."""

    def __init__(self, columns: Callable[[], int], *, colours: bool, theme: ThemeName = "dark") -> None:
        self.theme: ThemeName = theme
        """Whether the terminal's background is dark or light."""
        self._columns = columns
        self._colours = colours
        self._console = Console(
            file=io.StringIO(),
            force_terminal=colours,
            color_system="standard" if colours else None,
            legacy_windows=False,
            emoji=False,
        )

    def wrap(self, line: str) -> list[str]:
        """Break a line, which may hold colours, at spaces."""
        return self._render(Text.from_ansi(line))

    def plain(self, text: str) -> list[str]:
        return self._render(Text(text))

    def markdown(self, tokens: list[Token]) -> list[str]:
        document = _Markdown("", hyperlinks=False, code_theme=f"ansi_{self.theme}")
        document.parsed = tokens
        with self._console.use_theme(_THEMES[self.theme]):
            return self._render(document)

    def _render(self, content: RenderableType) -> list[str]:
        self._console.width = columns = max(self._columns(), 10)
        lines = self._console.render_lines(content, self._console.options.update(width=columns), pad=False)
        rows: list[str] = []
        for line in lines:
            while line and not line[-1].text.strip():
                line = line[:-1]  # rich fills rows with spaces
            rows.append("".join(self._encode(segment) for segment in line).rstrip(" "))
        return rows

    def _encode(self, segment: Segment) -> str:
        if segment.control or segment.style is None or not self._colours:
            return "" if segment.control else segment.text
        return segment.style.render(segment.text)


class MarkdownStream:
    """Feed it pieces of text; it returns the rows of the blocks that are finished."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._filter = TextSanitizer()
        self._splitter = _parser()
        self._splitter.core.ruler.disable(["inline", "text_join"])
        self._parser = _parser()
        self._references: dict[str, Any] = {}  # link definitions of earlier blocks
        self._pending = ""
        self._parse_at = 0
        self._is_first = True

    def feed(self, text: str) -> list[str]:
        text = self._filter.feed(text).replace("\r", "").replace("\t", "    ")
        self._pending += text
        if "\n" not in text or len(self._pending) < self._parse_at:
            return []
        rows = self._finish_blocks()
        size = len(self._pending)
        self._parse_at = size + size // 8 if size > _PARSE_AT_ONCE else 0  # keeps the sum of all parses linear
        return rows

    @property
    def partial(self) -> list[str]:
        """Rows of the block that is being written."""
        if not self._pending.strip():
            return []
        rows = self._block(self._pending, dict(self._references), live=True)
        return rows if self._is_first or not rows else ["", *rows]

    def close(self) -> list[str]:
        """End the text: the rows of all blocks that are left."""
        self._pending += self._filter.close() + "\n"
        rows = self._finish_blocks(is_last=True)
        self._is_first = True
        return rows

    def _finish_blocks(self, *, is_last: bool = False) -> list[str]:
        lines = self._pending.split("\n")
        whole = lines[:-1]  # the last line may go on
        tokens = self._splitter.parse("\n".join(whole), {})
        ends = [token.map[1] for token in tokens if token.level == 0 and token.map is not None and token.nesting >= 0]
        if is_last and ends:
            ends[-1] = len(whole)
        elif ends:
            ends.pop()
        rows: list[str] = []
        start = 0
        for end in ends:
            block = self._block("\n".join(whole[start:end]), self._references)
            start = end
            if block:
                rows += block if self._is_first else ["", *block]
                self._is_first = False
        self._pending = "\n".join(lines[start:]) if not is_last else ""
        return rows

    def _block(self, source: str, references: dict[str, Any], *, live: bool = False) -> list[str]:
        if live and len(source) > _LIVE_CHARACTERS:
            return self._renderer.plain(source[-_LIVE_CHARACTERS:])
        if len(source) > _MAX_BLOCK or max(map(len, source.split("\n"))) > _MAX_LINE:
            return self._renderer.plain(source.strip("\n"))
        tokens = self._parser.parse(source, references)
        for token in tokens:
            _prepare(token)
        rows = self._renderer.markdown(tokens)
        while rows and not rows[0]:
            rows.pop(0)
        while rows and not rows[-1]:
            rows.pop()
        return rows


def _parser() -> MarkdownIt:
    """Make the parser. HTML is text: a model that writes a tag means to show it."""
    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


def _prepare(token: Token) -> None:
    """Keep the line breaks of paragraphs, write pictures as text, and draw the boxes of task lists."""
    for at, child in enumerate(token.children or ()):
        if child.type == "softbreak":
            child.type = "hardbreak"
        elif child.type == "image":
            child.type, child.content = "text", f"{child.content} ({child.attrGet('src')})".strip()
        elif at == 0 and child.type == "text" and token.level >= 3:
            for mark, box in _CHECKBOXES.items():
                if child.content.startswith(mark):
                    child.content = box + child.content.removeprefix(mark)


class _CodeBlock(CodeBlock):
    """Code with a line at its left, without a background that would be copied along."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Syntax(
            str(self.text).rstrip(), self.lexer_name, theme=self.theme, word_wrap=True, background_color="default"
        )
        inner = options.update(width=max(options.max_width - 2, 1))
        for row in console.render_lines(code, inner, pad=False):
            yield Segment("│ ", Style(dim=True))
            yield from row
            yield Segment.line()


class _Heading(Heading):
    """Headings at the left, bold; the first level is underlined."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        self.text.stylize(Style(bold=True, underline=self.tag == "h1"))
        yield self.text


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "heading_open": _Heading,
    }
