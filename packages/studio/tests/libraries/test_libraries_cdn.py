"""Addresses of CDNs, fonts and placeholders: what each one means."""

from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heald_studio.cdn.addresses import HOSTS, parse_address
from heald_studio.cdn.fonts import font_css
from heald_studio.cdn.placeholders import placeholder
from heald_studio.cdn.serve import serve_library


@pytest.mark.parametrize(
    ("url", "name", "version", "path", "module"),
    [
        ("https://cdn.tailwindcss.com", "tailwindcss-cdn", "3", "", False),
        (
            "https://cdn.tailwindcss.com/3.4.1?plugins=forms",
            "tailwindcss-cdn",
            "3",
            "tailwindcss-with-all-plugins.js",
            False,
        ),
        ("https://cdn.jsdelivr.net/npm/vue@3/dist/vue.global.js", "vue", "3", "dist/vue.global.js", False),
        ("https://cdn.jsdelivr.net/npm/@ionic/core/css/core.css", "@ionic/core", "", "css/core.css", False),
        ("https://cdn.jsdelivr.net/npm/ionicons@7/+esm", "ionicons", "7", "", True),
        ("https://cdn.jsdelivr.net/npm/react-dom@19/client/+esm", "react-dom", "19", "client", True),
        ("https://unpkg.com/@babel/standalone", "@babel/standalone", "", "", False),
        ("https://unpkg.com/vue@next?module", "vue", "next", "", True),
        ("https://esm.sh/react@19.0.0-rc.1", "react", "19.0.0-rc.1", "", True),
        ("https://cdnjs.cloudflare.com/ajax/libs/react/18.2.0/umd/react.js", "react", "18.2.0", "umd/react.js", False),
        (
            "https://cdnjs.cloudflare.com/ajax/libs/bootstrap/5.3.0/css/b.css",
            "bootstrap",
            "5.3.0",
            "dist/css/b.css",
            False,
        ),
    ],
)
def test_an_address_is_understood(url: str, name: str, version: str, path: str, module: bool) -> None:
    address = parse_address(url)
    assert address is not None
    assert (address.name, address.version, address.path, address.module) == (name, version, path, module)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/npm/vue",
        "https://cdn.jsdelivr.net/gh/user/repo/file.js",
        "https://cdnjs.cloudflare.com/ajax/libs/unknown/1/x.js",
        "https://unpkg.com/",
        "https://[bad/",
        "data:text/css,x",
        "",
    ],
)
def test_what_is_no_address_of_a_package(url: str) -> None:
    assert parse_address(url) is None
    assert serve_library(url) is None


@settings(deadline=None)
@given(st.sampled_from(HOSTS), st.text(max_size=80))
def test_no_address_ever_breaks_it(host: str, rest: str) -> None:
    serve_library(f"https://{host}/{rest}")
    serve_library(f"https://{host}/npm/{quote(rest)}?family={rest}&text={rest}")


@pytest.mark.parametrize("path", ["..%2f..%2flock.json", "../../lock.json", "%00", ".integrity%00", "/etc/passwd", "."])
def test_nothing_beside_a_package_is_served(path: str) -> None:
    assert serve_library(f"https://unpkg.com/vue@3/{path}") is None


def test_fonts_come_from_this_machine() -> None:
    css = font_css(
        "https://fonts.googleapis.com/css2?family=Inter:wght@400;700&family=Fira+Code&family=Lora&display=swap"
    )
    assert css.count('font-family:"Inter"') == 2
    assert 'local("Inter"),local("Helvetica Neue")' in css
    assert 'local("Fira Code"),local("Menlo")' in css
    assert 'local("Lora"),local("Georgia")' in css
    assert "http" not in css


@pytest.mark.parametrize("name", ['a"}body{', "x;}", "<b>", "a\\", ""])
def test_no_name_of_a_font_can_escape_its_rule(name: str) -> None:
    assert font_css(f"https://fonts.googleapis.com/css2?family={quote(name)}") == ""


@pytest.mark.parametrize(
    ("url", "width", "height", "words"),
    [
        ("https://placehold.co/600x400", "600", "400", "600 × 400"),
        ("https://placehold.co/80", "80", "80", "80 × 80"),
        ("https://placehold.co/600x400/png?text=A+%3Cb%3E", "600", "400", "A <b>"),
        ("https://via.placeholder.com/150/0000FF/808080?text=Hi", "150", "150", "Hi"),
        ("https://picsum.photos/seed/boat/200/300", "200", "300", None),
        ("https://picsum.photos/id/237/0/0", "1", "1", None),
        ("https://dummyimage.com/", "300", "200", "300 × 200"),
    ],
)
def test_placeholders_are_drawn(url: str, width: str, height: str, words: str | None) -> None:
    drawing = ElementTree.fromstring(placeholder(url))
    assert (drawing.get("width"), drawing.get("height")) == (width, height)
    assert drawing[1].text == words


@settings(deadline=None)
@given(st.text(max_size=60))
def test_a_placeholder_is_always_a_drawing(text: str) -> None:
    ElementTree.fromstring(placeholder(f"https://placehold.co/9x9/{quote(text)}?text={quote(text)}").encode())
