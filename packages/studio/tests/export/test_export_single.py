"""One page that needs nothing else: rendered with nothing else to be had."""

import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heald.core.errors import ConfigurationError
from heald.core.markup import start_tags
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import serve_files
from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.export.inlining import escape_script, escape_style, inline_styles
from heald_studio.export.markup_rewriter import MarkupRewriter
from heald_studio.export.single_page import single_page
from heald_studio.stacks.installed import find_stack, load_stacks
from needed_programs import needs_chromium

PNG = b"\x89PNG\r\n\x1a\nfake"
DATA = "data:image/png;base64,iVBORw0KGgpmYWtl"


needs_libraries = pytest.mark.skipif(not is_installed(), reason=MISSING)


def exported(files: Mapping[str, str | bytes], name: str = "html_css", title: str = "") -> str:
    return single_page(find_stack(name), files, title=title)


@needs_libraries
@needs_chromium
@pytest.mark.parametrize("name", list(load_stacks()))
async def test_every_stack_runs_from_one_file(
    browser: Browser, sample: Callable[[str], dict[str, str | bytes]], name: str
) -> None:
    page = single_page(find_stack(name), sample(name))
    seen = await browser.render(serve_files({"index.html": page}), quiet_seconds=0.8)
    assert (seen.console, seen.failed) == ((), ())
    assert "Harbour" in " ".join(block.text for block in seen.texts)
    if name == "react_vite":
        assert "later" in {block.text for block in seen.texts}


def test_everything_a_page_names_is_inside() -> None:
    files: dict[str, str | bytes] = {
        "index.html": '<!doctype html><html><head><link rel="stylesheet" href="a/s.css" media="print">'
        '<link rel="icon" href="dot.png"><link rel="preload" href="dot.png" as="image">'
        '<script src="app.js" defer></script></head>'
        '<body style="background: url(dot.png)"><img class=big src=dot.png srcset="dot.png 1x, /dot.png 2x">'
        '<video poster="./dot.png"></video><p>a &amp; b &copy; &#233; <!-- kept --></p>'
        '<script>show("dot.png", \'./dot.png\', "other.png")</script></body></html>',
        "a/s.css": '@import "b.css"; @import url("c.css") screen; p { background: url("../dot.png#x") }',
        "a/b.css": "b { color: red }",
        "a/c.css": "i { background: url(../dot.png) }",
        "app.js": 'load(`dot.png`); document.write("</script>")',
        "dot.png": PNG,
    }
    page = exported(files)
    assert "dot.png" not in page
    assert f'<style media="print">b {{ color: red }} @media screen{{i {{ background: url("{DATA}") }}}}' in page
    assert f'p {{ background: url("{DATA}#x") }}' in page
    assert f'<img class=big src="{DATA}" srcset="{DATA} 1x, {DATA} 2x">' in page
    assert f'<link rel="icon" href="{DATA}">' in page
    assert 'rel="preload"' not in page
    assert f'show("{DATA}", \'{DATA}\', "other.png")' in page
    assert "<p>a &amp; b &copy; &#233; <!-- kept --></p>" in page
    assert page.endswith(f'<script>load(`{DATA}`); document.write("\\x3c/script>")</script></body></html>')


def test_what_is_not_there_is_left_as_it_was() -> None:
    page = (
        '<p><img src="none.png"><script src="none.js"></script><link rel="stylesheet" href="https://x.test/a.css"></p>'
    )
    assert exported({"index.html": page}) == page


def test_modules_are_put_into_an_import_map() -> None:
    files = {
        "index.html": '<html><head></head><body><script type="module" src="a.js"></script></body></html>',
        "a.js": 'import { b } from "./lib/b.js"; b();',
        "lib/b.js": 'import "../a.js"; export const b = () => 1;',
    }
    page = exported(files)
    assert '<script type="module">import "m/project.heald.invalid/a.js";</script>' in page
    import_map = re.search(r'<head><script type="importmap">(\{.*?\})</script>', page)
    assert import_map is not None
    assert '"m/project.heald.invalid/lib/b.js": "data:text/javascript;charset=utf-8;base64,' in import_map[1]


@needs_chromium
async def test_modules_that_import_each_other_run(browser: Browser) -> None:
    files = {
        "index.html": "<!doctype html><title>T</title><script type=module>import { word } from './a.js'; "
        "document.body.append(word() + (await import('./lib/late.js')).default)</script><p>start</p>",
        "a.js": 'import { b } from "./lib/b.js"; export const word = () => "Har" + b();',
        "lib/b.js": 'import "../a.js"; export const b = () => "bour";',
        "lib/late.js": 'export default " late";',
    }
    seen = await browser.render(serve_files({"index.html": exported(files)}), quiet_seconds=0.3)
    assert seen.console == ()
    assert "Harbour late" in " ".join(block.text for block in seen.texts)


def test_a_title_is_escaped() -> None:
    page = exported({"index.html": "<html><head></head><p>x</html>"}, title="</title><script>alert(1)</script>")
    assert "<head><title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title></head>" in page
    assert "alert" not in exported({"index.html": "<title>Mine</title><p>x"}, title="alert")


def test_an_empty_project_states_what_is_missing() -> None:
    with pytest.raises(ConfigurationError, match=r"has no index\.html yet"):
        exported({})


@settings(deadline=None)
@given(st.text())
def test_no_code_can_end_its_element(code: str) -> None:
    for text in (code, code + "</SCRIPT >", "<!--" + code + "<script"):
        assert not re.search(r"</script|<!--|<script", escape_script(text), re.IGNORECASE)
    assert "</style" not in escape_style(code + "</style></STYLE").lower()


@settings(deadline=None)
@given(st.text())
def test_a_style_sheet_is_never_broken_by_what_is_missing(css: str) -> None:
    assert inline_styles(css, "https://x.invalid/", lambda _: None) == css


@pytest.mark.parametrize(
    "page",
    [
        "<!DOCTYPE html><p a=1 B='2' c>x</p>",
        "<a href=x>&nbsp;&unknown;&#x41;</a><br/><!-- c --><svg viewBox='0 0 1 1'><path d=''/></svg>",
        "<script>if (a < b && c > d) { x = '<p>' }</script><style>a > b {}</style>",
        "text only",
        "<?xml version='1.0'?><p>",
    ],
)
def test_a_page_that_is_not_changed_stays_as_it_is(page: str) -> None:
    assert MarkupRewriter(page).rewrite() == page


@settings(deadline=None)
@given(st.text(alphabet="<>!-/scriptle='\" \nabé&"))
def test_any_page_goes_through_as_it_is(page: str) -> None:
    assert MarkupRewriter(page).rewrite() == page
    assert MarkupRewriter("<p>" + page).rewrite() == "<p>" + page


def test_attributes_are_set_and_dropped() -> None:
    markup = MarkupRewriter("<img alt='a b' SRC=\"x\" hidden data-n=1/>")
    (tag,) = start_tags(markup.page)
    assert tag.attributes == {"alt": "a b", "src": "x", "hidden": None, "data-n": "1/"}
    changed = markup.change_attributes(tag, {"src": 'y"&'}, drop=("hidden",))
    assert changed == "<img alt='a b' SRC=\"y&quot;&amp;\" data-n=1/>"
