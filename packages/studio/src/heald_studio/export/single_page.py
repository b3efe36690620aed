"""Exports a project as one page that needs nothing else: styles, scripts, pictures, fonts and libraries are inside it.

The page is made from the preview, so that it shows the same. An address that cannot be resolved stays as it was.
"""

import json
import re
from collections.abc import Iterable, Mapping
from html import escape

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.markup import StartTag
from heald_studio.browser.page import ORIGIN
from heald_studio.export.icon_registry import icon_registry
from heald_studio.export.inlining import (
    encode_data_url,
    escape_script,
    escape_style,
    inline_styles,
    inline_url,
    join_url,
)
from heald_studio.export.markup_rewriter import MarkupRewriter, insert_before_body_end, insert_in_head
from heald_studio.export.module_bundle import ModuleBundle
from heald_studio.preview.local_urls import LIBRARY_PATH
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.preview.vite import PROJECT_ELEMENT
from heald_studio.stacks.stack import Stack

MAX_PAGE = 64_000_000
_SOURCES = {
    **dict.fromkeys(("audio", "embed", "img", "input", "source", "track"), ("src",)),
    "image": ("href", "xlink:href"),
    "object": ("data",),
    "video": ("src", "poster"),
}
_CODE = (".astro", ".css", ".htm", ".html", ".js", ".json", ".jsx", ".md", ".mjs", ".svelte", ".ts", ".tsx", ".txt")
_HINTS = ("dns-prefetch", "modulepreload", "preconnect", "prefetch", "preload")
_SCRIPTS = ("", "text/javascript", "application/javascript")


def single_page(stack: Stack, files: Mapping[str, str | bytes], *, title: str = "", path: str = PAGE) -> str:
    """Export a page of the project as one file, with `title` if it has none. Raises ConfigurationError."""
    preview = ProjectPreview(stack, files)
    page = preview.answer(path)
    if page is None or not page.type.startswith("text/html"):
        entry = stack.entry if path == PAGE else path
        raise ConfigurationError(f"The project has no {entry} yet, so there is no page to export.")
    html = _SinglePage(page.body.decode(), preview, files, path).rewrite()
    if title and "<title" not in html.lower():
        html = insert_in_head(html, f"<title>{escape(title)}</title>")
    if len(html) > MAX_PAGE:
        raise ConfigurationError(f"One page would have more than {MAX_PAGE:,} characters; export a zip instead.")
    return html


class _ImportMap(msgspec.Struct, frozen=True):
    imports: dict[str, str] = {}


_import_maps = msgspec.json.Decoder(_ImportMap)


class _SinglePage(MarkupRewriter):
    def __init__(self, page: str, preview: ProjectPreview, files: Mapping[str, str | bytes], path: str) -> None:
        super().__init__(page)
        self._preview = preview
        self._base = ORIGIN + path
        self._modules = ModuleBundle(self._preview)
        self._imports: dict[str, str] = {}
        self._deferred: list[str] = []
        self._texts = [text for path, text in files.items() if isinstance(text, str) and path.endswith(_CODE)]
        self._assets = _asset_pattern(path for path in files if not path.endswith(_CODE))
        self._public = {path.removeprefix("public/") for path in files if path.startswith("public/")}

    def rewrite(self) -> str:
        html = super().rewrite()
        if self._deferred:
            html = insert_before_body_end(html, "".join(self._deferred))
        if self._modules.names or self._imports:
            imports = {"imports": {**self._imports, **self._modules.names}}
            text = json.dumps(imports).replace("<", "\\u003c")
            html = insert_in_head(html, f'<script type="importmap">{text}</script>')
        icons = icon_registry(self._texts, self._preview)
        return insert_in_head(html, icons) if icons else html

    def rewrite_tag(self, tag: StartTag) -> str:
        if tag.name == "link":
            return self._link(tag)
        changes: dict[str, str | None] = {}
        for key in _SOURCES.get(tag.name, ()):
            changes[key] = inline_url(tag.attributes.get(key) or "", self._base, self._preview)
        if tag.name in ("img", "source") and (several := tag.attributes.get("srcset")):
            changes["srcset"] = self._inline_srcset(several)
        if style := tag.attributes.get("style"):
            changes["style"] = inline_styles(style, self._base, self._preview)
        return self.change_attributes(tag, {key: value for key, value in changes.items() if value is not None})

    def rewrite_raw(self, tag: StartTag, text: str) -> str:
        attributes, source = tag.attributes, self.tag_source(tag)
        if tag.name == "style":
            return f"{source}{escape_style(inline_styles(text, self._base, self._preview))}</style>"
        kind = (attributes.get("type") or "").strip().lower()
        if kind == "importmap":
            self._import_map(text)
            return ""
        if attributes.get("src"):
            return self._script(kind, tag)
        if attributes.get("id") == PROJECT_ELEMENT:
            return f"{source}{self._inline_project(text)}</script>"
        if kind == "module":
            text = self._modules.rewrite_imports(text, self._base)
        return f"{source}{self._inline_assets(text)}</script>"

    def _link(self, tag: StartTag) -> str:
        attributes, source = tag.attributes, self.tag_source(tag)
        kinds = (attributes.get("rel") or "").lower().split()
        if any(kind in _HINTS for kind in kinds):
            return ""
        address = attributes.get("href") or ""
        if "stylesheet" not in kinds:
            data = inline_url(address, self._base, self._preview) if "icon" in kinds else None
            return source if data is None else self.change_attributes(tag, {"href": data})
        target = join_url(self._base, address)
        answer = self._preview(target)
        if answer is None:
            return source
        media = attributes.get("media")
        head = f'<style media="{escape(media)}">' if media else "<style>"
        css = inline_styles(answer.body.decode("utf-8", "replace"), target, self._preview)
        return f"{head}{escape_style(css)}</style>"

    def _script(self, kind: str, tag: StartTag) -> str:
        attributes, source = tag.attributes, self.tag_source(tag)
        if "nomodule" in attributes:
            return ""
        target = join_url(self._base, attributes["src"] or "")
        if kind == "module":
            name = self._modules.add(target)
            return f"{source}</script>" if name is None else f'<script type="module">import "{name}";</script>'
        answer = self._preview(target)
        if answer is None:
            return f"{source}</script>"
        code = answer.body.decode("utf-8", "replace")
        if LIBRARY_PATH not in target:
            code = self._inline_assets(code)
        head = self.change_attributes(tag, {}, drop=("src", "defer", "async"))
        element = f"{head}{escape_script(code)}</script>"
        if kind in _SCRIPTS and "defer" in attributes:
            self._deferred.append(element)
            return ""
        return element

    def _import_map(self, text: str) -> None:
        try:
            imports = _import_maps.decode(text).imports
        except (msgspec.DecodeError, ValueError):
            return
        for name, address in imports.items():
            module = self._modules.add(join_url(self._base, address))
            self._imports[name] = self._modules.names[module] if module else address

    def _inline_project(self, text: str) -> str:
        """Encode the data of the loader, with the other files of the project as data URLs."""
        project: dict[str, dict[str, str]] = json.loads(text)
        for path, address in project["addresses"].items():
            project["addresses"][path] = inline_url(address, self._base, self._preview) or address
        for path, code in project["files"].items():
            project["files"][path] = self._inline_assets(code, rooted=True)
        return json.dumps(project, ensure_ascii=False).replace("<", "\\u003c")

    def _inline_assets(self, code: str, *, rooted: bool = False) -> str:
        """Replace quoted paths of assets in code by data URLs; `rooted` ones begin with a slash or are in `public/`."""

        def data(match: re.Match[str]) -> str:
            path = match["path"]
            if rooted and not path.startswith("/") and path not in self._public:
                return match[0]
            answer = self._preview(join_url(self._base, path))
            if answer is None or answer.type.startswith(("text/", "application/json")):
                return match[0]
            return f"{match['quote']}{encode_data_url(answer)}{match['quote']}"

        return self._assets.sub(data, code)

    def _inline_srcset(self, text: str) -> str:
        parts: list[str] = []
        for part in re.split(r",\s+", text.strip()):
            address, _, size = part.strip().partition(" ")
            data = inline_url(address, self._base, self._preview)
            parts.append(f"{data or address} {size}".strip())
        return ", ".join(parts)


def _asset_pattern(paths: Iterable[str]) -> re.Pattern[str]:
    """Compile a pattern for the quoted path of one of these files, or of a library."""
    spellings = {spelling for path in paths for spelling in (path, path.removeprefix("public/"))}
    files = "|".join(re.escape(path) for path in sorted(spellings, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"""(?P<quote>\\?["'`])(?P<path>(?:\.?/)?(?:{files})|/{LIBRARY_PATH}[^"'`\\\s]+)(?P=quote)""")
