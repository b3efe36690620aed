"""ES modules in one page: every module that is reached becomes an entry of the page's import map."""

import re
from collections.abc import Iterable
from urllib.parse import urljoin, urlsplit

from weft.studio.browser.serving import Answer
from weft.studio.export.inlining import Get, data_address

_STATIC = re.compile(r"""(?P<head>\b(?:from|import)\s*(?:\(\s*)?)(?P<quote>["'])(?P<name>[^"'\n]+)(?P=quote)""")
_BUILT = re.compile(r"""(?P<head>\bimport\(\s*`)\./(?=\$\{[^}]*\}(?P<tail>[\w.-]+\.js))""")
_META = re.compile(r"\bimport\.meta\.url\b")
_CHUNK = re.compile(r"""["']([\w-]{4,60})["']""")
_MAX_MODULES = 3_000


class Modules:
    """The modules of a page. `names` maps what scripts import to the module as a data URL."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self.names: dict[str, str] = {}
        self._built: list[tuple[str, str]] = []
        """Folders and endings of modules whose names are put together while the page runs."""

    def add(self, address: str) -> str | None:
        """The name under which the module at an address can be imported, None if there is none."""
        name = _name(address)
        if name in self.names:
            return name
        answer = self._get(address)
        if answer is None or len(self.names) >= _MAX_MODULES:
            return None
        self.names[name] = ""
        code = self.code(answer.body.decode("utf-8", "replace"), address)
        self.names[name] = data_address(Answer(200, "text/javascript;charset=utf-8", code.encode()))
        return name

    def code(self, code: str, base: str) -> str:
        """A module's text with what it imports by the names that the map has."""

        def static(found: re.Match[str]) -> str:
            wanted = found["name"]
            if not wanted.startswith(("./", "../", "/", "https://", "http://")):
                return found[0]
            name = self.add(urljoin(base, wanted))
            return found[0] if name is None else f"{found['head']}{found['quote']}{name}{found['quote']}"

        def built(found: re.Match[str]) -> str:
            self._built.append((urljoin(base, "./"), found["tail"]))
            return f"{found['head']}{_name(urljoin(base, './'))}"

        code = _BUILT.sub(built, _STATIC.sub(static, code))
        for folder, tail in self._built:
            for chunk in _chunks(code):
                self.add(f"{folder}{chunk}{tail}")
        return _META.sub(lambda _: f'"{base}"', code)


def _chunks(code: str) -> Iterable[str]:
    return dict.fromkeys(found[1] for found in _CHUNK.finditer(code))


def _name(address: str) -> str:
    parts = urlsplit(address)
    return f"m/{parts.hostname}{parts.path}"
