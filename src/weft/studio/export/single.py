"""A project as one page that needs nothing else: styles, scripts, pictures, fonts and libraries are inside it.

It is made from the preview, so that what was seen is what is kept. A reference that leads nowhere is left as it was.
"""

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from urllib.parse import urljoin

import msgspec

from weft.core.errors import ConfigurationError
from weft.studio.browser.serving import ORIGIN, Answer
from weft.studio.export.icons import icon_script
from weft.studio.export.inlining import data_address, inlined, safe_script, safe_style, style_text
from weft.studio.export.markup import Markup
from weft.studio.export.modules import Modules
from weft.studio.stacks.preview import PAGE, Preview
from weft.studio.stacks.references import LIBRARIES
from weft.studio.stacks.stack import Stack
from weft.studio.stacks.tags import Tag
from weft.studio.stacks.vite import FILES

MAX_PAGE = 64_000_000

_SOURCES = {
    "audio": ("src",),
    "embed": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src",),
    "input": ("src",),
    "object": ("data",),
    "source": ("src",),
    "track": ("src",),
    "video": ("src", "poster"),
}
_CODE = (".css", ".htm", ".html", ".js", ".json", ".jsx", ".md", ".mjs", ".ts", ".tsx", ".txt")
_HINTS = ("dns-prefetch", "modulepreload", "preconnect", "prefetch", "preload")
_SCRIPTS = ("", "text/javascript", "application/javascript")


def single_page(stack: Stack, files: Mapping[str, str | bytes], *, title: str = "") -> str:
    """The page. `title` names one that has no name of its own."""
    preview = Preview(stack, files)
    page = preview.answer(PAGE)
    if page is None:
        raise ConfigurationError(f"The project has no {stack.entry} yet, so there is no page to export.")
    html = _Page(page.body.decode(), preview, files).run()
    if title and "<title" not in html.lower():
        html = _in_head(html, f"<title>{escape(title)}</title>")
    if len(html) > MAX_PAGE:
        raise ConfigurationError(f"One page would have more than {MAX_PAGE:,} characters; export a zip instead.")
    return html


class _ImportMap(msgspec.Struct, frozen=True):
    imports: dict[str, str] = {}


class _Page(Markup):
    def __init__(self, page: str, preview: Preview, files: Mapping[str, str | bytes]) -> None:
        super().__init__(page)
        self._preview = preview
        self._base = ORIGIN + PAGE
        self._modules = Modules(self._get)
        self._imports: dict[str, str] = {}
        self._late: list[str] = []
        self._texts = [text for path, text in files.items() if isinstance(text, str) and path.endswith(_CODE)]
        self._assets = _named(path for path in files if not path.endswith(_CODE))

    def run(self) -> str:
        html = super().run()
        if self._late:
            html = _before_end(html, "".join(self._late))
        if self._modules.names or self._imports:
            imports = {"imports": {**self._imports, **self._modules.names}}
            text = json.dumps(imports).replace("<", "\\u003c")
            html = _in_head(html, f'<script type="importmap">{text}</script>')
        icons = icon_script(self._texts, self._get)
        return _in_head(html, icons) if icons else html

    def start(self, tag: Tag) -> str:
        if tag.name == "link":
            return self._link(tag)
        changes: dict[str, str | None] = {}
        for key in _SOURCES.get(tag.name, ()):
            changes[key] = inlined(tag.attributes.get(key) or "", self._base, self._get)
        if tag.name in ("img", "source") and (several := tag.attributes.get("srcset")):
            changes["srcset"] = self._set(several)
        if style := tag.attributes.get("style"):
            changes["style"] = style_text(style, self._base, self._get)
        return self.changed(tag, {key: value for key, value in changes.items() if value is not None})

    def raw(self, tag: Tag, text: str) -> str:
        attributes, source = tag.attributes, self.source(tag)
        if tag.name == "style":
            return f"{source}{safe_style(style_text(text, self._base, self._get))}</style>"
        kind = (attributes.get("type") or "").strip().lower()
        if kind == "importmap":
            self._import_map(text)
            return ""
        if attributes.get("src"):
            return self._script(kind, tag)
        if attributes.get("id") == FILES:
            return f"{source}{self._project(text)}</script>"
        if kind == "module":
            text = self._modules.code(text, self._base)
        return f"{source}{self._with_assets(text)}</script>"

    def _get(self, address: str) -> Answer | None:
        return self._preview(address)

    def _link(self, tag: Tag) -> str:
        attributes, source = tag.attributes, self.source(tag)
        kinds = (attributes.get("rel") or "").lower().split()
        if any(kind in _HINTS for kind in kinds):
            return ""
        address = attributes.get("href") or ""
        if "stylesheet" not in kinds:
            data = inlined(address, self._base, self._get) if "icon" in kinds else None
            return source if data is None else self.changed(tag, {"href": data})
        target = _absolute(self._base, address)
        answer = self._get(target)
        if answer is None:
            return source
        media = attributes.get("media")
        head = f'<style media="{escape(media)}">' if media else "<style>"
        return f"{head}{safe_style(style_text(answer.body.decode('utf-8', 'replace'), target, self._get))}</style>"

    def _script(self, kind: str, tag: Tag) -> str:
        attributes, source = tag.attributes, self.source(tag)
        if "nomodule" in attributes:
            return ""
        target = _absolute(self._base, attributes["src"] or "")
        if kind == "module":
            name = self._modules.add(target)
            return f"{source}</script>" if name is None else f'<script type="module">import "{name}";</script>'
        answer = self._get(target)
        if answer is None:
            return f"{source}</script>"
        code = answer.body.decode("utf-8", "replace")
        if LIBRARIES not in target:
            code = self._with_assets(code)
        head = self.changed(tag, {}, drop=("src", "defer", "async"))
        element = f"{head}{safe_script(code)}</script>"
        if kind in _SCRIPTS and "defer" in attributes:
            self._late.append(element)
            return ""
        return element

    def _import_map(self, text: str) -> None:
        try:
            found = msgspec.json.decode(text, type=_ImportMap).imports
        except (msgspec.DecodeError, ValueError):
            return
        for name, address in found.items():
            module = self._modules.add(_absolute(self._base, address))
            self._imports[name] = self._modules.names[module] if module else address

    def _project(self, text: str) -> str:
        """What the loader of a project is given, its other files as data."""
        given: dict[str, dict[str, str]] = json.loads(text)
        for path, address in given["addresses"].items():
            given["addresses"][path] = inlined(address, self._base, self._get) or address
        for path, code in given["files"].items():
            given["files"][path] = self._with_assets(code, rooted=True)
        return json.dumps(given, ensure_ascii=False).replace("<", "\\u003c")

    def _with_assets(self, code: str, *, rooted: bool = False) -> str:
        """Code with the files and pictures that it names in quotes inside it; `rooted` names begin with a slash."""

        def data(found: re.Match[str]) -> str:
            path = found["path"]
            if rooted and not path.startswith("/"):
                return found[0]
            answer = self._get(_absolute(self._base, path))
            if answer is None or answer.type.startswith(("text/", "application/json")):
                return found[0]
            return f"{found['quote']}{data_address(answer)}{found['quote']}"

        return self._assets.sub(data, code)

    def _set(self, text: str) -> str:
        parts: list[str] = []
        for part in re.split(r",\s+", text.strip()):
            address, _, size = part.strip().partition(" ")
            data = inlined(address, self._base, self._get)
            parts.append(f"{data or address} {size}".strip())
        return ", ".join(parts)


def _named(paths: Iterable[str]) -> re.Pattern[str]:
    """A pattern for quoted text that is the path of one of these files, or of a library."""
    spellings = {each for path in paths for each in (path, path.removeprefix("public/"))}
    files = "|".join(re.escape(path) for path in sorted(spellings, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"""(?P<quote>\\?["'`])(?P<path>(?:\.?/)?(?:{files})|/{LIBRARIES}[^"'`\\\s]+)(?P=quote)""")


def _absolute(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _in_head(html: str, text: str) -> str:
    """The page with a text at the start of its head, before anything that runs."""
    found = re.search(r"<head\b[^>]{0,2000}>", html, re.IGNORECASE) or re.search(
        r"<html\b[^>]{0,2000}>|<!doctype[^>]{0,2000}>", html, re.I
    )
    at = found.end() if found else 0
    return f"{html[:at]}{text}{html[at:]}"


def _before_end(html: str, text: str) -> str:
    at = html.lower().rfind("</body>")
    return f"{html}{text}" if at < 0 else f"{html[:at]}{text}{html[at:]}"
