"""The texts that prompts are made of: ours, and those of a folder that stand in for them.

A text holds places like `{{request}}`. A text of one's own may leave places out, but not name ones that there are not:
that is said at once, not found out by a puzzled model.
"""

import re
from functools import cache
from importlib import resources
from pathlib import Path

from weft.core.errors import ConfigurationError

_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")
_FILLED = re.compile(r"(?P<line>(?m:^)(?=\{\{[a-z_]+\}\}(?m:$)))?\{\{(?P<place>[a-z_]+)\}\}(?P<rest>\n*)")
_MAX_BYTES = 256_000


class Texts:
    """Texts by name. `folder` may hold files `<name>.md` that are used instead of ours."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def raw(self, name: str) -> str:
        """A text with its places."""
        own = self._own(name)
        if own is None:
            return _ours(name)
        unknown = set(_PLACE.findall(own)) - set(_PLACE.findall(_ours(name)))
        if unknown:
            known = ", ".join(sorted(set(_PLACE.findall(_ours(name))))) or "none"
            raise ConfigurationError(
                f"The prompt {name}.md names {{{{{min(unknown)}}}}}; the places in it are: {known}."
            )
        return own

    def fill(self, name: str, /, **values: str) -> str:
        """A text with its places filled. What fills one is not looked at again; an empty one takes its line along."""

        def value(found: re.Match[str]) -> str:
            text = values.get(found["place"], "").strip("\n")
            return text + found["rest"] if text or found["line"] is None else ""

        return _FILLED.sub(value, self.raw(name)).strip()

    def _own(self, name: str) -> str | None:
        file = self._folder / f"{name}.md" if self._folder is not None else None
        if file is None or not file.is_file():
            return None
        data = file.read_bytes()
        if len(data) > _MAX_BYTES:
            raise ConfigurationError(f"The prompt {name}.md is larger than {_MAX_BYTES} bytes; shorten it.")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise ConfigurationError(f"The prompt {name}.md is not UTF-8 text.") from None


def names() -> list[str]:
    """The names of all texts."""
    folder = resources.files("weft.studio.prompts") / "texts"
    return sorted(file.name.removesuffix(".md") for file in folder.iterdir() if file.name.endswith(".md"))


@cache
def _ours(name: str) -> str:
    return (resources.files("weft.studio.prompts") / "texts" / f"{name}.md").read_text("utf-8")
