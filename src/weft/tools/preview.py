"""A file as it grows in the arguments of a call that the model is still writing."""

from collections.abc import Iterable
from typing import Protocol

Growth = tuple[tuple[str | int, ...], str]
"""Which string of the arguments grew by what, as `wires.partial_json` says it."""


class Preview(Protocol):
    """Follows the arguments of one call. What it says in all is the content that the tool will write."""

    def grow(self, growths: Iterable[Growth]) -> Iterable[tuple[str, str]]:
        """The arguments grew. Gives out `(path, text)`: that file's preview grew by that text."""
        ...

    def end(self) -> Iterable[tuple[str, str]]:
        """The arguments are complete: what is left to show."""
        ...


class WholeFile:
    """Of tools that take a file's whole text. The path counts once the text begins, or at the end."""

    def __init__(self, path: str = "path", text: str = "content") -> None:
        self._path_key, self._text_key = (path,), (text,)
        self._path: list[str] = []
        self._held: list[str] = []  # text that came before the path

    def grow(self, growths: Iterable[Growth]) -> Iterable[tuple[str, str]]:
        for key, text in growths:
            if key == self._path_key:
                self._path.append(text)
            elif key == self._text_key:
                if self._path and not self._held:
                    yield "".join(self._path), text
                else:
                    self._held.append(text)

    def end(self) -> Iterable[tuple[str, str]]:
        if self._held and self._path:
            yield "".join(self._path), "".join(self._held)
            self._held = []
