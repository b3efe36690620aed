"""Makes a project open from disk: a double click on its page needs no network and no server.

Libraries, fonts and placeholder pictures of CDNs are copied into `vendor/`, with their licences. Modules, which a
browser does not load from disk, are put into one script there. Tailwind's utilities are compiled to a style sheet if a
browser is installed; otherwise its compiler is copied. A project for Vite keeps its sources; its page opens
`dist/index.html`. One for Astro or Next.js has its pages in `dist/` or `out/`. An address that is not vendored stays as
it was.
"""

import asyncio
import hashlib
import json
import posixpath
import re
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

import msgspec

from heald.core.lazy import lazy_pattern
from heald.core.markup import StartTag
from heald_studio.browser.browser import Browser, shared_browser
from heald_studio.browser.page import ORIGIN, PageResponse
from heald_studio.cdn.addresses import HOSTS, PLACEHOLDER_HOSTS, parse_address
from heald_studio.cdn.packages import Package, find_file, read_file
from heald_studio.cdn.serve import serve_library
from heald_studio.export.icon_registry import icon_registry
from heald_studio.export.markup_rewriter import MarkupRewriter, insert_in_head
from heald_studio.export.module_bundle import ModuleBundle
from heald_studio.export.single_page import single_page
from heald_studio.export.tailwind_sheet import (
    TAILWIND,
    TAILWIND_CONFIG,
    Files,
    compile_tailwind,
    decode_content,
)
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.preview.routes import has_routes, is_route_file, route_of
from heald_studio.projects.pages import ENDINGS, list_pages
from heald_studio.stacks.stack import Stack

FOLDER = "vendor/"
STYLES = f"{FOLDER}tailwind.css"
_ORIGINAL = "data-original"  # holds the address that a compiled style sheet replaces; its settings are kept beside it
_COMPILED = lazy_pattern(rf'<link rel="stylesheet" href="[^"]*{STYLES}" {_ORIGINAL}="([^"]+)">\n?')
_KEPT_CONFIG = f'<script type="text/plain" {_ORIGINAL}="">'
_MODULES = f"{FOLDER}modules.js"
_BUILT = "dist/"
_EXPORTED = "out/"  # where Next.js exports a site to
_PUBLIC = "public/"  # a build copies what is in it beside the page
_OPEN_BUILT = '<script>if (location.protocol === "file:") location.replace("{path}");</script>'
_URL = lazy_pattern(r"""(?P<head>url\(\s*|@import\s+)(?P<quote>["']?)(?P<address>[^"'()\s;]+)(?P=quote)""")
_HOSTED = lazy_pattern(rf"https?://(?:{'|'.join(re.escape(host) for host in PLACEHOLDER_HOSTS)})/[^\"'`\s<>)\\]+")
_HINTS = frozenset({"dns-prefetch", "modulepreload", "preconnect", "prefetch", "preload"})
_REMOTE = ("integrity", "crossorigin", "nonce")
_SOURCES = ("src", "poster", "data")
_HEAD_END = lazy_pattern(r"</head\s*>", re.IGNORECASE)


async def offline_project(stack: Stack, files: Files, *, browser: Browser | None = None) -> dict[str, str | bytes]:
    """Return the files of a project with everything that its pages load, so that they open from disk.

    `browser` compiles style sheets; by default it is the one of this process.
    """
    page = files.get(stack.entry, files.get(PAGE))
    if page is None or stack.preview == "svg":
        return dict(files)
    if stack.preview == "vite":
        return await asyncio.to_thread(_vite_project, stack, files)
    if has_routes(stack.entry):
        return await asyncio.to_thread(_source_project, stack, files)
    css = await compile_tailwind(stack, files, browser or shared_browser())
    return await asyncio.to_thread(_page_project, stack, files, css)


def _vite_project(stack: Stack, files: Files) -> dict[str, str | bytes]:
    made: dict[str, str | bytes] = dict(files)
    contents = {
        path: decode_content(content).encode() for path, content in files.items() if path.lower().endswith(ENDINGS)
    }
    for path in [page.path for page in list_pages(contents, PAGE)]:
        source = decode_content(files[path])
        built = f"{_BUILT}{path}"
        opening = _OPEN_BUILT.format(path=posixpath.relpath(built, posixpath.dirname(path) or "."))
        made[path] = source if opening in source else insert_in_head(source, opening)
        made[built] = single_page(stack, files, path=path)
    return _copy_public(files, _BUILT) | made


def _source_project(stack: Stack, files: Files) -> dict[str, str | bytes]:
    built = _EXPORTED if stack.preview == "next" else _BUILT
    routes = {path: route_of(path, stack.entry) for path in files if is_route_file(path, stack.entry)}
    pages = {f"{built}{route or 'index'}.html": single_page(stack, files, path=path) for path, route in routes.items()}
    return _copy_public(files, built) | dict(files) | pages


def _copy_public(files: Files, folder: str) -> dict[str, str | bytes]:
    """Return what a build copies beside its pages."""
    public = {path.removeprefix(_PUBLIC): content for path, content in files.items() if path.startswith(_PUBLIC)}
    return {f"{folder}{path}": content for path, content in public.items()}


def _page_project(stack: Stack, files: Files, css: str) -> dict[str, str | bytes]:
    vendor = _Vendor()
    preview = ProjectPreview(stack, files)
    made: dict[str, str | bytes] = dict(files)
    for path, content in files.items():
        text = decode_content(content) if path.lower().endswith((*ENDINGS, ".css")) else ""
        if path.lower().endswith(ENDINGS):
            changed = _OfflinePage(path, text, preview, vendor, files, css).rewrite()
        else:
            changed = vendor.localise_styles(text, ORIGIN + path, path)
        made[path] = changed if changed != text else content
    if css:
        vendor.files[STYLES] = css.encode()
    return made | vendor.files


def restore_compiler(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Undo the compilation of Tailwind in files that were exported, so that new utilities work in previews."""
    if STYLES not in files:
        return dict(files)
    restored = {path: content for path, content in files.items() if path != STYLES}
    for path, content in restored.items():
        if path.lower().endswith(ENDINGS):
            page = _COMPILED.sub(r'<script src="\1"></script>\n', decode_content(content))
            restored[path] = page.replace(_KEPT_CONFIG, "<script>").encode()
    return restored


class _Vendor:
    """The files below `vendor/`."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def save(self, address: str) -> str | None:
        """Save the file behind the address of a CDN. Returns its path; None if it is not vendored."""
        try:
            host = (urlsplit(address).hostname or "").lower()
        except ValueError:
            return None
        answer = serve_library(address) if host in HOSTS else None
        if answer is None:
            return None
        path = self._path(address, host, answer)
        if path in self.files:
            return path
        self.files[path] = answer.body
        if answer.type.startswith("text/css"):
            styles = self.localise_styles(answer.body.decode("utf-8", "replace"), address, path)
            self.files[path] = styles.encode()
        return path

    def localise_styles(self, css: str, base: str, path: str) -> str:
        """Save what a style sheet at `path` loads from CDNs, and point its addresses there."""

        def local(match: re.Match[str]) -> str:
            saved = self.save(urljoin(base, match["address"]))
            if saved is None:
                return match[0]
            near = posixpath.relpath(saved, posixpath.dirname(path) or ".")
            return f"{match['head']}{match['quote']}{near}{match['quote']}"

        return _URL.sub(local, css)

    def _path(self, address: str, host: str, answer: PageResponse) -> str:
        package_address = parse_address(address)
        file_of_package = (
            find_file(package_address.name, package_address.path, package_address.version)
            if package_address is not None and not package_address.module
            else None
        )
        if file_of_package is not None:
            self._save_licence(file_of_package[0])
            return f"{FOLDER}{file_of_package[0].name}@{file_of_package[0].version}/{file_of_package[1]}"
        ending = "svg" if "svg" in answer.type else "css" if "css" in answer.type else "js"
        return f"{FOLDER}{host}/{hashlib.sha256(address.encode()).hexdigest()[:10]}.{ending}"

    def _save_licence(self, package: Package) -> None:
        for name in package.files:
            if "licen" in name.lower() and "/" not in name:
                self.files[f"{FOLDER}{package.name}@{package.version}/{name}"] = read_file(package, name)


class _ImportAddresses(msgspec.Struct, frozen=True):
    """The names of an import map and their addresses."""

    imports: dict[str, str] = {}


_import_maps = msgspec.json.Decoder(_ImportAddresses)


class _OfflinePage(MarkupRewriter):
    def __init__(self, path: str, page: str, preview: ProjectPreview, vendor: _Vendor, files: Files, css: str) -> None:
        super().__init__(page)
        self._base = ORIGIN + path
        self._path = path
        self._preview = preview
        self._vendor = vendor
        self._files = files
        self._compiled = bool(css) and bool(TAILWIND.search(page))
        self._compiler = ""
        self._bundle = ModuleBundle(preview)
        self._imports: dict[str, str] = {}

    def rewrite(self) -> str:
        html = super().rewrite()
        if self._compiled:
            link = f'<link rel="stylesheet" href="{self._near(STYLES)}" {_ORIGINAL}="{self._compiler}">\n'
            end = _HEAD_END.search(html)
            html = f"{html[: end.start()]}{link}{html[end.start() :]}" if end else insert_in_head(html, link)
        if self._bundle.names or self._imports:
            self._vendor.files[self._modules_path] = self._module_script().encode()
            html = insert_in_head(html, f'<script src="{self._near(self._modules_path)}"></script>')
        icons = icon_registry(
            (decode_content(content) for content in self._files.values() if isinstance(content, str)), self._preview
        )
        return insert_in_head(html, icons) if icons else html

    def rewrite_tag(self, tag: StartTag) -> str:
        if tag.name == "link":
            return self._link(tag)
        changes = {key: saved for key in _SOURCES if (saved := self._saved(tag.attributes.get(key) or ""))}
        changes |= {key: near for key in (*_SOURCES, "href") if (near := self._beside(tag.attributes.get(key) or ""))}
        if style := tag.attributes.get("style"):
            local = self._vendor.localise_styles(style, self._base, self._path)
            changes |= {"style": local} if local != style else {}
        return self.change_attributes(tag, changes)

    def rewrite_raw(self, tag: StartTag, text: str) -> str:
        source = self.tag_source(tag)
        if tag.name == "style":
            return f"{source}{self._vendor.localise_styles(text, self._base, self._path)}</style>"
        kind = (tag.attributes.get("type") or "").strip().lower()
        address = tag.attributes.get("src") or ""
        if kind == "importmap":
            return self._import_map(text)
        if address:
            return self._script(tag, kind, address)
        if self._compiled and TAILWIND_CONFIG.match(text):
            return f"{_KEPT_CONFIG}{text}</script>"
        if kind == "module":
            text = self._bundle.rewrite_imports(text, self._base)
        return f"{source}{_HOSTED.sub(lambda match: self._saved(match[0]) or match[0], text)}</script>"

    def _script(self, tag: StartTag, kind: str, address: str) -> str:
        target = urljoin(self._base, address)
        if self._compiled and TAILWIND.search(address):
            self._compiler = address
            return ""
        if kind == "module":
            name = self._bundle.add(target)
            if name is not None:
                return f'<script type="module">import "{name}";</script>'
        elif kind in ("text/babel", "text/jsx") and (answer := self._preview(target)) is not None:
            code = re.sub(r"</(?=script)", r"<\\/", answer.body.decode("utf-8", "replace"), flags=re.IGNORECASE)
            return f"{self.change_attributes(tag, {}, drop=('src', *_REMOTE))}{code}</script>"
        saved = self._saved(address)
        if saved is None:
            return f"{self.tag_source(tag)}</script>"
        return f"{self.change_attributes(tag, {'src': saved}, drop=_REMOTE)}</script>"

    def _link(self, tag: StartTag) -> str:
        address = tag.attributes.get("href") or ""
        kinds = (tag.attributes.get("rel") or "").lower().split()
        host = (urlsplit(urljoin(self._base, address)).hostname or "").lower()
        if host in HOSTS and _HINTS.intersection(kinds):
            return ""
        saved = self._saved(address)
        return self.tag_source(tag) if saved is None else self.change_attributes(tag, {"href": saved}, drop=_REMOTE)

    def _import_map(self, text: str) -> str:
        try:
            imports = _import_maps.decode(text).imports
        except (msgspec.DecodeError, ValueError):
            return f'<script type="importmap">{text}</script>'
        for name, address in imports.items():
            module = self._bundle.add(urljoin(self._base, address))
            self._imports[name] = self._bundle.names[module] if module else address
        return ""

    def _module_script(self) -> str:
        """Write the script that makes all modules known: an import map with their code as data."""
        imports = json.dumps({"imports": {**self._imports, **self._bundle.names}}, indent=0)
        return (
            f"const modules = {imports};\n"
            'const element = document.createElement("script");\n'
            'element.type = "importmap";\n'
            "element.textContent = JSON.stringify(modules);\n"
            "document.currentScript.after(element);\n"
        )

    @property
    def _modules_path(self) -> str:
        return _MODULES if self._path == PAGE else f"{FOLDER}modules-{self._path.replace('/', '-')}.js"

    def _saved(self, address: str) -> str | None:
        saved = self._vendor.save(urljoin(self._base, address.strip())) if address.strip() else None
        return None if saved is None else self._near(saved)

    def _beside(self, address: str) -> str | None:
        """Return the address on disk of a page or file that is addressed from the root, or without its ending."""
        address = address.strip()
        path = re.split(r"[?#]", address, maxsplit=1)[0]
        rest = address[len(path) :]
        if not path or ":" in path or path.startswith("//"):
            return None
        rooted = path.startswith("/")
        full = posixpath.normpath(path.lstrip("/") if rooted else posixpath.join(posixpath.dirname(self._path), path))
        names = (full, *(f"{full}{ending}" for ending in ENDINGS), f"{full}/{PAGE}") if full != "." else (PAGE,)
        neighbour = next((name for name in names if name in self._files), None)
        if neighbour is None or (neighbour == full and not rooted):
            return None
        return self._near(neighbour) + rest

    def _near(self, path: str) -> str:
        return posixpath.relpath(path, posixpath.dirname(self._path) or ".")
