"""What a browser gets for a project: no address of the network is left, and nothing in a file can break the page."""

import json
import re
import tracemalloc
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stack_projects import RED, project

from heald_studio.browser.page import ORIGIN
from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.preview.local_urls import localise_urls
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.stacks.installed import find_stack, load_stacks

needs_libraries = pytest.mark.skipif(not is_installed(), reason=MISSING)


def page_of(name: str, files: Mapping[str, str | bytes], base: str = "/") -> str:
    answer = ProjectPreview(find_stack(name), files, base=base).answer(PAGE)
    assert answer is not None
    assert answer.type == "text/html; charset=utf-8"
    return answer.body.decode()


@needs_libraries
@pytest.mark.parametrize("name", list(load_stacks()))
@pytest.mark.parametrize("base", ["/", "/preview/abc/"])
def test_every_address_in_the_page_is_served(name: str, base: str) -> None:
    files = project(name)
    preview = ProjectPreview(find_stack(name), files, base=base)
    page = page_of(name, files, base)
    addresses = re.findall(
        r"""(?:src|href)="([^"#]+)\"""", page.partition('id="heald-files"')[0] + page.rpartition("json")[2]
    )
    assert not [address for address in addresses if re.match(r"(https?:)?//", address)]
    for address in addresses:
        path, _, query = address.removeprefix(base).partition("?")
        if path != "_libraries/fonts.googleapis.com":
            assert preview.answer(path, query) is not None, address


def test_addresses_are_turned_below_the_base_and_hashes_dropped() -> None:
    text = (
        '<script src="https://unpkg.com/vue@3" integrity="sha384-x" crossorigin="anonymous" defer></script>'
        "<link href=//cdn.jsdelivr.net/npm/bootstrap integrity='x' rel=stylesheet>"
        '<script src="own.js" integrity="sha384-kept"></script><a href="https://unpkg.community/x">https://example.com</a>'
    )
    assert localise_urls(text, "/p/") == (
        '<script src="/p/_libraries/unpkg.com/vue@3" defer></script>'
        "<link href=/p/_libraries/cdn.jsdelivr.net/npm/bootstrap rel=stylesheet>"
        '<script src="own.js" integrity="sha384-kept"></script><a href="https://unpkg.community/x">https://example.com</a>'
    )


@settings(deadline=None)
@given(st.text())
def test_text_without_our_hosts_is_left_alone(text: str) -> None:
    assert localise_urls(text, "/") == text


def test_files_are_served_with_their_types() -> None:
    preview = ProjectPreview(
        find_stack("html_css"), {"index.html": "<p>", "a/b.png": RED, "s.css": "@import url(//unpkg.com/x.css)"}
    )
    answer = preview.answer("a/b.png")
    assert answer is not None
    assert (answer.type, answer.body) == ("image/png", RED)
    style = preview.answer("s.css")
    assert style is not None
    assert style.body == b"@import url(/_libraries/unpkg.com/x.css)"
    for missing in ("none", "../index.html", "_libraries/evil.test/x", "_libraries/", "a", "_heald/loader.js"):
        assert preview.answer(missing) is None


def test_as_serve_it_answers_the_origin_and_libraries_only() -> None:
    preview = ProjectPreview(find_stack("html_css"), {"index.html": "<p>hi"})
    assert preview(ORIGIN) == preview(f"{ORIGIN}index.html") == preview.answer(PAGE)
    assert preview("https://example.com/") is None
    placeholder = preview("https://placehold.co/10x10")
    assert placeholder is not None


def test_an_empty_project_has_no_page() -> None:
    assert ProjectPreview(find_stack("html_css"), {}).answer(PAGE) is None
    assert ProjectPreview(find_stack("svg"), {}).answer(PAGE) is None


def test_a_drawing_stands_in_a_page_of_its_own() -> None:
    page = page_of("svg", {"image.svg": '<?xml version="1.0"?><svg id="d"/>'})
    assert '<body><svg id="d"/></body>' in page
    assert "<?xml" not in page
    assert "&lt;b&gt;" in page_of("svg", {"image.svg": "<b>no drawing"})


@needs_libraries
@settings(deadline=None)
@given(st.text())
def test_no_module_can_escape_its_element(text: str) -> None:
    text += "</script><script>alert(1)//<!--"
    page = page_of("react_vite", {**find_stack("react_vite").scaffold, "src/App.jsx": text})
    inside = page.partition('id="heald-files">')[2].partition("</script>")[0]
    assert json.loads(inside)["files"]["src/App.jsx"] == text.encode("utf-8", "replace").decode()
    assert "alert(1)" not in page.replace(inside, "")


@needs_libraries
def test_only_packages_that_are_used_are_loaded() -> None:
    scaffold = find_stack("react_vite").scaffold
    assert "lucide-react.js" not in page_of("react_vite", dict(scaffold))
    used = {**scaffold, "src/App.jsx": 'import { X } from "lucide-react"'}
    assert "/_heald/packages/lucide-react.js" in page_of("react_vite", used)
    plain = {**scaffold, "src/index.css": "p { color: red }"}
    assert "@tailwindcss/browser" in page_of("react_vite", dict(scaffold))
    assert "@tailwindcss/browser" not in page_of("react_vite", plain)


def test_a_vite_page_without_modules_is_a_page() -> None:
    assert page_of("react_vite", {"index.html": "<p>plain"}) == "<p>plain"


def test_packages_that_a_page_makes_up_are_not_kept() -> None:
    """A generated page may ask for a package of any name, as often as it likes."""
    preview = ProjectPreview(find_stack("react_vite"), project("react_vite"))
    preview.answer("_heald/packages/first.js")
    tracemalloc.start()
    for number in range(500):
        assert preview.answer(f"_heald/packages/{'x' * 2_000}{number}.js") is None
    traced_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert traced_bytes < 200_000
