"""What stands at a CDN's address, from this machine: `library(url)` for every page that would go to the network."""

from urllib.parse import urlsplit

from weft.studio.browser.serving import Answer, media_type
from weft.studio.libraries import cdn, fonts, modules, placeholders
from weft.studio.libraries.packages import content, find

HOSTS = (*cdn.HOSTS, *fonts.HOSTS, *placeholders.HOSTS)
"""Every host whose addresses are answered here."""

_WARNINGS = (
    (b'console.warn("cdn.tailwindcss.com should not be used in production', b'void("'),
    (b'console.warn("You are using the in-browser Babel transformer.', b'void("'),
)
"""What libraries say about being loaded from a CDN: not so here, so it is no warning for anybody."""


def library(url: str) -> Answer | None:
    """The vendored file, font or placeholder picture for an address; None if there is none for it."""
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return None
    if host in placeholders.HOSTS:
        return _text("image/svg+xml", placeholders.placeholder(url))
    if host in fonts.HOSTS:
        return _text("text/css", fonts.font_css(url))
    asked = cdn.address(url)
    if asked is None:
        return None
    return _module(asked) or _file(asked)


def _module(asked: cdn.Address) -> Answer | None:
    if not asked.module:
        return None
    file = modules.FILES.get((asked.name, asked.path))
    found = find(asked.name, file or "", "19")
    if file is None or found is None:
        return _native_module(asked)
    if asked.version:
        path = f"/{asked.path}" if asked.path else ""
        return _script(modules.pointer(f"{asked.up}{asked.name}{path}{asked.suffix}"))
    source = content(*found).decode()
    return _script(modules.as_module(source, asked.name, asked.up, asked.suffix))


def _native_module(asked: cdn.Address) -> Answer | None:
    """A package that has a module of its own: its files import each other, so the address points to the file."""
    main = {"vue": "dist/vue.esm-browser.prod.js", "ionicons": "dist/ionicons/ionicons.esm.js"}.get(asked.name)
    main = "dist/ionic/ionic.esm.js" if asked.name == "@ionic/core" else main
    if main is None or asked.path:
        return None
    target = f"{asked.up}{asked.name}/{main}"
    return _script(f'export * from "{target}";\nimport * as all from "{target}";\nexport default all;\n')


def _file(asked: cdn.Address) -> Answer | None:
    name, path = asked.name, asked.path
    if name == "@ionic/core" and path.startswith("dist/ionic/svg/"):
        name, path = "ionicons", path.replace("dist/ionic/", "dist/ionicons/")
    found = find(name, path, asked.version)
    if found is None:
        return None
    package, path = found
    data = content(package, path)
    for warning, quiet in _WARNINGS:
        data = data.replace(warning, quiet + warning.partition(b'"')[2])
    return Answer(200, media_type(path), data)


def _script(text: str) -> Answer:
    return _text("text/javascript", text)


def _text(kind: str, text: str) -> Answer:
    return Answer(200, f"{kind}; charset=utf-8", text.encode())
