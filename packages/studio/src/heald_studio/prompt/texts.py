"""The texts that prompts are made from; a folder of the user can replace them."""

import re
from functools import cache
from importlib import resources
from pathlib import Path

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern
from heald_studio.user_files import list_user_files, read_user_file

_PLACE = lazy_pattern(r"\{\{([a-z_]+)\}\}")
_FILLED_PLACE = lazy_pattern(r"(?P<line>(?m:^)(?=\{\{[a-z_]+\}\}(?m:$)))?\{\{(?P<place>[a-z_]+)\}\}(?P<rest>\n*)")


class PromptTexts:
    """Prompt texts by name. A file `<name>.md` in `folder` replaces the built-in text of that name."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def check(self) -> None:
        """Read every text of the folder. Raises ConfigurationError for a wrong folder, name or text."""
        for file in list_user_files(self._folder, "prompts") if self._folder is not None else ():
            if file.stem not in prompt_names():
                raise ConfigurationError(f"{file} replaces no prompt; name it {', '.join(prompt_names())} with .md.")
            self.template(file.stem)

    def template(self, name: str) -> str:
        """Return a text with its places, such as `{{request}}`. An own text may omit places, but not add others."""
        builtin = _builtin_text(name)
        file = self._folder / f"{name}.md" if self._folder is not None else None
        if file is None or not file.exists():
            return builtin
        text = read_user_file(file)
        builtin_places = set(_PLACE.findall(builtin))
        unknown = set(_PLACE.findall(text)) - builtin_places
        if unknown:
            places = ", ".join(sorted(builtin_places)) or "none"
            raise ConfigurationError(f"{file} names {{{{{min(unknown)}}}}}; the places in it are: {places}.")
        return text

    def render(self, name: str, /, **values: str) -> str:
        """Fill the places of a text. A place whose value is empty is removed with its line."""

        def value(match: re.Match[str]) -> str:
            text = values.get(match["place"], "").strip("\n")
            return text + match["rest"] if text or match["line"] is None else ""

        return _FILLED_PLACE.sub(value, self.template(name)).strip()


def prompt_names() -> list[str]:
    """Return the names of all texts."""
    folder = resources.files("heald_studio") / "prompts"
    return sorted(file.name.removesuffix(".md") for file in folder.iterdir() if file.name.endswith(".md"))


@cache
def _builtin_text(name: str) -> str:
    return (resources.files("heald_studio") / "prompts" / f"{name}.md").read_text("utf-8")
