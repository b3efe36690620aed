"""A stack: the languages and libraries of a project."""

from typing import Literal

import msgspec

PreviewKind = Literal["page", "svg", "vite"]
"""The kind of its files: pages, a drawing, or modules that a bundler would join."""


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
