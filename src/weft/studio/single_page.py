"""Exports a project as one page that needs nothing else: styles, scripts, pictures, fonts and libraries are inside it.

The page is made from the preview, so that it shows the same. An address that cannot be resolved stays as it was.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from html import escape
from urllib.parse import urljoin, urlsplit

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.lazy import lazy_pattern
from weft.core.markup import StartTag, start_tags
from weft.studio.browser.page import ORIGIN, PageResponse
from weft.studio.preview import LIBRARY_PATH, PAGE, PROJECT_ELEMENT, ProjectPreview
from weft.studio.stack import Stack

GetUrl = Callable[[str], PageResponse | None]  # the response at an address, None if there is none

_URL = lazy_pattern(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^"'()\s]+))\s*\)""")
_IMPORT = lazy_pattern(r"""@import\s+(?:url\(\s*)?(?:"([^"]+)"|'([^']+)'|([^"'()\s;]+))\s*\)?([^;@]{0,500});""")
_END_SCRIPT = lazy_pattern(r"<(?=/script|!--|script)", re.IGNORECASE)
_END_STYLE = lazy_pattern(r"</(?=style)", re.IGNORECASE)
_KEPT = ("data:", "#", "blob:", "about:", "mailto:", "javascript:")
_DEPTH = 8
_QUOTED = lazy_pattern(r"""["']([a-z][a-z0-9-]{1,50})["']""")
_FOLDER = "https://unpkg.com/ionicons/dist/ionicons/svg/"
_MAX = 300
_STATIC = lazy_pattern(r"""(?P<head>\b(?:from|import)\s*(?:\(\s*)?)(?P<quote>["'])(?P<name>[^"'\n]+)(?P=quote)""")
_DYNAMIC = lazy_pattern(r"""(?P<head>\bimport\(\s*`)\./(?=\$\{[^}]*\}(?P<tail>[\w.-]+\.js))""")
_META = lazy_pattern(r"\bimport\.meta\.url\b")
_CHUNK = lazy_pattern(r"""["']([\w-]{4,60})["']""")
_MAX_MODULES = 3_000
MAX_PAGE = 64_000_000
_SOURCES = {
    **dict.fromkeys(("audio", "embed", "img", "input", "source", "track"), ("src",)),
    "image": ("href", "xlink:href"),
    "object": ("data",),
    "video": ("src", "poster"),
}
_CODE = (".css", ".htm", ".html", ".js", ".json", ".jsx", ".md", ".mjs", ".ts", ".tsx", ".txt")
_HINTS = ("dns-prefetch", "modulepreload", "preconnect", "prefetch", "preload")
_HEAD = lazy_pattern(r"<head\b[^>]{0,2000}>", re.IGNORECASE)
_HTML = lazy_pattern(r"<html\b[^>]{0,2000}>|<!doctype[^>]{0,2000}>", re.IGNORECASE)
_SCRIPTS = ("", "text/javascript", "application/javascript")


def encode_data_url(answer: PageResponse) -> str:
    kind = answer.type.replace("; ", ";")
    return f"data:{kind};base64,{b64encode(answer.body).decode()}"


def inline_url(address: str, base: str, get: GetUrl) -> str | None:
    """Convert an address to a data URL; None if it is one already or cannot be resolved."""
    address = address.strip()
    if not address or address.lower().startswith(_KEPT):
        return None
    where, mark, fragment = address.partition("#")
    answer = get(_join_url(base, where))
    return None if answer is None else encode_data_url(answer) + mark + fragment


def inline_styles(css: str, base: str, get: GetUrl, depth: int = 0) -> str:
    """Inline the imports and addresses of a style sheet."""

    def imported(found: re.Match[str]) -> str:
        target = _join_url(base, found[1] or found[2] or found[3])
        answer = get(target) if depth < _DEPTH else None
        if answer is None or not answer.type.startswith("text/css"):
            return found[0]
        inner = inline_styles(answer.body.decode("utf-8", "replace"), target, get, depth + 1)
        media = found[4].strip()
        return f"@media {media}{{{inner}}}" if media else inner

    def address(found: re.Match[str]) -> str:
        data = inline_url(found[1] or found[2] or found[3] or "", base, get)
        return found[0] if data is None else f'url("{data}")'

    return _URL.sub(address, _IMPORT.sub(imported, css))


def escape_style(css: str) -> str:
    return _END_STYLE.sub(r"<\\/", css)


def escape_script(code: str) -> str:
    """Escape code for a script element: `<` becomes `\\x3c` before an element or comment, in strings too."""
    return _END_SCRIPT.sub(r"\\x3c", code)


def _join_url(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def icon_registry(texts: Iterable[str], get: GetUrl) -> str:
    """Make a script element with every icon that the texts name; empty if they use none."""
    used = [text for text in texts if "<ion-icon" in text or "ion-icon" in text]
    names = dict.fromkeys(found[1] for text in used for found in _QUOTED.finditer(text))
    icons: dict[str, str] = {}
    for name in names:
        answer = get(f"{_FOLDER}{name}.svg") if len(icons) < _MAX else None
        if answer is not None:
            icons[name] = f"data:image/svg+xml;utf8,{answer.body.decode('utf-8', 'replace')}"
    if not icons:
        return ""
    entries = json.dumps(list(icons.items())).replace("<", "\\u003c")
    return f"<script>window.Ionicons={{map:new Map({entries})}};</script>"


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

        def static(found: re.Match[str]) -> str:
            wanted = found["name"]
            if not wanted.startswith(("./", "../", "/", "https://", "http://")):
                return found[0]
            name = self.add(urljoin(base, wanted))
            return found[0] if name is None else f"{found['head']}{found['quote']}{name}{found['quote']}"

        def built(found: re.Match[str]) -> str:
            self._dynamic.append((urljoin(base, "./"), found["tail"]))
            return f"{found['head']}{_module_name(urljoin(base, './'))}"

        code = _DYNAMIC.sub(built, _STATIC.sub(static, code))
        for folder, tail in self._dynamic:
            for chunk in dict.fromkeys(_CHUNK.findall(code)):
                self.add(f"{folder}{chunk}{tail}")
        return _META.sub(lambda _: f'"{base}"', code)


def _module_name(address: str) -> str:
    parts = urlsplit(address)
    return f"m/{parts.hostname}{parts.path}"


class MarkupRewriter:
    """Rewrites tags of a page. What a subclass does not change is copied exactly."""

    def __init__(self, page: str) -> None:
        self.page = page

    def rewrite(self) -> str:
        out: list[str] = []
        at = 0
        for tag in start_tags(self.page):
            out.append(self.page[at : tag.start])
            if tag.name in ("script", "style") and tag.content is not None:
                out.append(self.rewrite_raw(tag, self.page[slice(*tag.content)]))
                at = tag.close
            else:
                out.append(self.rewrite_tag(tag))
                at = tag.end
        out.append(self.page[at:])
        return "".join(out)

    def rewrite_tag(self, tag: StartTag) -> str:
        return self.tag_source(tag)

    def rewrite_raw(self, tag: StartTag, text: str) -> str:
        return self.page[tag.start : tag.close]

    def tag_source(self, tag: StartTag) -> str:
        return self.page[tag.start : tag.end]

    def change_attributes(self, tag: StartTag, changes: Mapping[str, str], *, drop: tuple[str, ...] = ()) -> str:
        """Set or drop attributes of a start tag; the others stay as written."""
        out: list[str] = []
        at = tag.start
        for key, start, end in tag.spans:
            if key not in changes and key not in drop:
                continue
            before = self.page[at:start]
            if key in drop:
                out.append(before.rstrip())
            else:
                out.append(f'{before}{self.page[start : start + len(key)]}="{escape(changes[key])}"')
            at = end
        out.append(self.page[at : tag.end])
        return "".join(out)


def single_page(stack: Stack, files: Mapping[str, str | bytes], *, title: str = "", path: str = PAGE) -> str:
    """Export a page of the project as one file, with `title` if it has none. Raises ConfigurationError."""
    preview = ProjectPreview(stack, files)
    page = preview.answer(path)
    if page is None or not page.type.startswith("text/html"):
        wanted = stack.entry if path == PAGE else path
        raise ConfigurationError(f"The project has no {wanted} yet, so there is no page to export.")
    html = _SinglePage(page.body.decode(), preview, files, path).rewrite()
    if title and "<title" not in html.lower():
        html = insert_in_head(html, f"<title>{escape(title)}</title>")
    if len(html) > MAX_PAGE:
        raise ConfigurationError(f"One page would have more than {MAX_PAGE:,} characters; export a zip instead.")
    return html


class _ImportMap(msgspec.Struct, frozen=True):
    imports: dict[str, str] = {}


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
        target = _join_url(self._base, address)
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
        target = _join_url(self._base, attributes["src"] or "")
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
            found = msgspec.json.decode(text, type=_ImportMap).imports
        except (msgspec.DecodeError, ValueError):
            return
        for name, address in found.items():
            module = self._modules.add(_join_url(self._base, address))
            self._imports[name] = self._modules.names[module] if module else address

    def _inline_project(self, text: str) -> str:
        """Encode the data of the loader, with the other files of the project as data URLs."""
        given: dict[str, dict[str, str]] = json.loads(text)
        for path, address in given["addresses"].items():
            given["addresses"][path] = inline_url(address, self._base, self._preview) or address
        for path, code in given["files"].items():
            given["files"][path] = self._inline_assets(code, rooted=True)
        return json.dumps(given, ensure_ascii=False).replace("<", "\\u003c")

    def _inline_assets(self, code: str, *, rooted: bool = False) -> str:
        """Replace quoted paths of assets in code by data URLs; `rooted` ones begin with a slash or are in `public/`."""

        def data(found: re.Match[str]) -> str:
            path = found["path"]
            if rooted and not path.startswith("/") and path not in self._public:
                return found[0]
            answer = self._preview(_join_url(self._base, path))
            if answer is None or answer.type.startswith(("text/", "application/json")):
                return found[0]
            return f"{found['quote']}{encode_data_url(answer)}{found['quote']}"

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
    spellings = {each for path in paths for each in (path, path.removeprefix("public/"))}
    files = "|".join(re.escape(path) for path in sorted(spellings, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"""(?P<quote>\\?["'`])(?P<path>(?:\.?/)?(?:{files})|/{LIBRARY_PATH}[^"'`\\\s]+)(?P=quote)""")


def insert_in_head(html: str, text: str) -> str:
    """Insert a text at the start of the page's head, before any script."""
    found = _HEAD.search(html) or _HTML.search(html)
    at = found.end() if found else 0
    return f"{html[:at]}{text}{html[at:]}"


def insert_before_body_end(html: str, text: str) -> str:
    """Insert a text at the end of the page's body."""
    at = html.lower().rfind("</body>")
    return f"{html}{text}" if at < 0 else f"{html[:at]}{text}{html[at:]}"
