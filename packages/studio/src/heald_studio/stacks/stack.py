"""A stack: the languages and libraries of a project."""

from typing import Literal

import msgspec

PreviewKind = Literal["page", "svg", "vite", "next", "astro"]
"""The kind of its files: pages, a drawing, or the sources of a project that Vite, Next.js or Astro builds."""


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    """A way to write pages: its languages, libraries and preview."""

    name: str
    label: str
    """The name that the page shows."""
    entry: str
    """The file that a preview starts from. A project of one file consists of it."""
    preview: PreviewKind = "page"
    rules: str
    """Rules for the model, as they stand in the prompt."""
    scaffold: dict[str, str]
    """The files that a project starts with."""

    @property
    def is_single_file(self) -> bool:
        return len(self.scaffold) <= 1

    @property
    def is_built(self) -> bool:
        """Whether a project is built with node; a preview compiles its sources in the browser."""
        return self.preview in ("vite", "next", "astro")
