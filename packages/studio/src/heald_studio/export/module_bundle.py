"""Bundles the ES modules of a page, so that they load without addresses."""

import re
from urllib.parse import urljoin, urlsplit

from heald.core.lazy import lazy_pattern
from heald_studio.browser.page import PageResponse
from heald_studio.export.inlining import (
    GetUrl,
    encode_data_url,
)

_STATIC = lazy_pattern(r"""(?P<head>\b(?:from|import)\s*(?:\(\s*)?)(?P<quote>["'])(?P<name>[^"'\n]+)(?P=quote)""")
_DYNAMIC = lazy_pattern(r"""(?P<head>\bimport\(\s*`)\./(?=\$\{[^}]*\}(?P<tail>[\w.-]+\.js))""")
_META = lazy_pattern(r"\bimport\.meta\.url\b")
_CHUNK = lazy_pattern(r"""["']([\w-]{4,60})["']""")
_MAX_MODULES = 3_000


class ModuleBundle:
    """The modules of a page. `names` maps what scripts import to the module as a data URL."""

    def __init__(self, get: GetUrl) -> None:
        self._get = get
        self.names: dict[str, str] = {}
        self._dynamic: list[tuple[str, str]] = []  # folders and endings of modules with computed names

    def add(self, address: str) -> str | None:
        """Add the module at an address. Returns the name to import it by; None if there is no module."""
        name = _module_name(address)
        if name in self.names:
            return name
        answer = self._get(address)
        if answer is None or len(self.names) >= _MAX_MODULES:
            return None
        self.names[name] = ""
        code = self.rewrite_imports(answer.body.decode("utf-8", "replace"), address)
        self.names[name] = encode_data_url(PageResponse(200, "text/javascript;charset=utf-8", code.encode()))
        return name

    def rewrite_imports(self, code: str, base: str) -> str:
        """Rewrite the imports of a module to the names of the import map."""

        def static(match: re.Match[str]) -> str:
            specifier = match["name"]
            if not specifier.startswith(("./", "../", "/", "https://", "http://")):
                return match[0]
            name = self.add(urljoin(base, specifier))
            return match[0] if name is None else f"{match['head']}{match['quote']}{name}{match['quote']}"

        def built(match: re.Match[str]) -> str:
            self._dynamic.append((urljoin(base, "./"), match["tail"]))
            return f"{match['head']}{_module_name(urljoin(base, './'))}"

        code = _DYNAMIC.sub(built, _STATIC.sub(static, code))
        for folder, tail in self._dynamic:
            for chunk in dict.fromkeys(_CHUNK.findall(code)):
                self.add(f"{folder}{chunk}{tail}")
        return _META.sub(lambda _: f'"{base}"', code)


def _module_name(address: str) -> str:
    parts = urlsplit(address)
    return f"m/{parts.hostname}{parts.path}"
