"""Projects of several pages: listed, added, renamed, deleted, and built from a picture for each."""

import re
from pathlib import Path

import pytest

from heald_pictures.design_request import design_of
from heald_studio.projects.pages import (
    CannotChangePages,
    PageChange,
    add_page,
    change_pages,
    delete_page,
    list_pages,
    name_pages,
    rename_page,
)
from heald_studio.projects.project import SitePage, VariantRef
from heald_studio.projects.route_pages import CannotChangeRoutes
from heald_studio.request import BuildRequest, View
from heald_studio.stacks.installed import find_stack
from studio_support import OWNER, desk, page, view, writes

HTML = find_stack("html_css")
INDEX = """<!doctype html>
<html lang="en"><head><title>Harbour</title><link rel="stylesheet" href="styles.css"></head>
<body>
<header><nav>
  <ul>
    <li><a class="link" href="index.html" aria-current="page">Home</a></li>
    <li><a class="link" href="menu.html#today">Menu</a></li>
  </ul>
</nav></header>
<main class="wide"><h1>Coffee</h1><p>See the <a href="/menu.html">menu</a>.</p></main>
<footer>Since 1911</footer>
</body></html>
"""
FILES = {
    "index.html": INDEX.encode(),
    "menu.html": INDEX.replace("Harbour", "The menu").replace("Coffee", "Menu").encode(),
    "docs/plan.html": b'<!doctype html><title>Plan</title><a href="../menu.html">Menu</a>',
    "partials/card.html": b"<div>A part, and no page</div>",
    "vendor/other.html": b"<!doctype html><title>Foreign</title>",
    "styles.css": b"body { margin: 0 }",
    "parts.js": b'const links = { menu: "menu.html", other: "my-menu.html" };',
}


def _text(changed: dict[str, bytes | None], path: str) -> str:
    data = changed[path]
    assert data is not None
    return data.decode()


def test_every_document_is_a_page_and_the_entry_is_the_first() -> None:
    pages = list_pages(FILES, "index.html")
    assert pages == [
        SitePage("index.html", "Harbour"),
        SitePage("docs/plan.html", "Plan"),
        SitePage("menu.html", "The menu"),
    ]


def test_a_new_page_has_the_frame_of_another_and_every_navigation_links_to_it() -> None:
    changed = add_page(FILES, HTML, "About us", like="menu.html")
    assert sorted(changed) == ["about-us.html", "index.html", "menu.html"]
    new = _text(changed, "about-us.html")
    assert "<title>About us</title>" in new
    assert '<main class="wide">\n    <h1>About us</h1>\n  </main>' in new
    assert "Since 1911" in new
    assert "Menu</h1>" not in new
    for path in changed:
        assert '    <li><a class="link" href="about-us.html">About us</a></li>\n' in _text(changed, path)


def test_a_page_that_is_linked_already_gets_no_second_link() -> None:
    linked = {"index.html": INDEX.replace('href="menu.html#today"', 'href="/about-us"').encode()}
    assert list(add_page(linked, HTML, "About us")) == ["about-us.html"]


def test_a_renamed_page_keeps_the_links_to_it() -> None:
    changed = rename_page(FILES, HTML, "menu.html", "Dishes")
    assert changed["menu.html"] is None
    assert 'href="dishes.html#today"' in _text(changed, "index.html")
    assert 'href="/dishes.html"' in _text(changed, "index.html")
    assert 'href="dishes.html#today"' in _text(changed, "dishes.html")
    assert 'href="../dishes.html"' in _text(changed, "docs/plan.html")
    assert _text(changed, "parts.js") == 'const links = { menu: "dishes.html", other: "my-menu.html" };'


def test_a_deleted_page_leaves_the_navigations() -> None:
    changed = delete_page(FILES, HTML, "menu.html")
    assert changed["menu.html"] is None
    index = _text(changed, "index.html")
    assert "menu.html#today" not in index
    assert '<li><a class="link" href="index.html" aria-current="page">Home</a></li>' in index


@pytest.mark.parametrize(
    ("action", "path", "name", "why"),
    [
        ("rename", "index.html", "start", "first page"),
        ("delete", "index.html", "", "first page"),
        ("delete", "none.html", "", "no page none.html"),
        ("delete", "styles.css", "", "no page styles.css"),
        ("rename", "menu.html", "Menu", "called menu.html already"),
        ("add", "", "menu", "has menu.html already"),
        ("add", "", "../../etc/passwd", None),
        ("add", "", " / ", "needs a name"),
    ],
)
def test_pages_that_cannot_be_changed(action: str, path: str, name: str, why: str | None) -> None:
    change = {
        "add": lambda: add_page(FILES, HTML, name),
        "rename": lambda: rename_page(FILES, HTML, path, name),
        "delete": lambda: delete_page(FILES, HTML, path),
    }[action]
    if why is None:
        assert all("/" not in name_of_page for name_of_page in change())
        return
    with pytest.raises(CannotChangePages, match=re.escape(why)):
        change()


def test_a_page_of_a_vite_project_has_a_module_of_its_own() -> None:
    vite = find_stack("react_vite")
    files = {path: text.encode() for path, text in vite.scaffold.items()}
    changed = add_page(files, vite, 'A "quoted" name')
    assert sorted(changed) == ["a-quoted-name.html", "src/a-quoted-name.jsx"]
    assert 'src="/src/a-quoted-name.jsx"' in _text(changed, "a-quoted-name.html")
    assert '<h1 className="text-3xl font-semibold">{"A \\"quoted\\" name"}</h1>' in _text(
        changed, "src/a-quoted-name.jsx"
    )


def test_the_first_named_picture_is_the_entry_and_names_are_unique() -> None:
    named = name_pages(["Start", "", "Prices.png", "prices.png", "index"])
    assert named == ["index.html", "", "prices.html", "prices-2.html", "index-2.html"]


async def test_a_version_knows_its_pages_and_a_change_of_them_is_a_version(tmp_path: Path) -> None:
    site = {"index.html": page("Harbour"), "menu.html": page("Menu")}
    async with desk(tmp_path, {"site": writes(site)}) as studio:
        project, version = await studio.built(BuildRequest(text="A site", models=("site",)))
        assert [listed.path for listed in version.variants[0].pages] == ["index.html", "menu.html"]
        change = PageChange(action="rename", path="menu.html", name="Dishes")
        second = await studio.studio.edit_pages(OWNER, project.id, VariantRef(version.id, 0), change)
        assert (second.kind, [listed.path for listed in second.variants[0].pages]) == (
            "edit",
            ["index.html", "dishes.html"],
        )


async def test_a_model_is_asked_for_a_page_for_each_picture(tmp_path: Path) -> None:
    site = {"index.html": page("Harbour"), "menu.html": page("Menu")}
    async with desk(tmp_path, {"site": writes(site)}) as studio:
        views = tuple(View(view().picture, "", path) for path in ("index.html", "menu.html"))
        await studio.built(BuildRequest(mode="image", views=views, models=("site",)))
        message = studio.asked("site")[-1]
        assert "a site of 2 pages, index.html, menu.html, one for each picture" in message.text
        design = design_of(message)
        assert design is not None
        assert design.pages == ["index.html", "menu.html"]
        assert "The page menu.html" in message.text


NEXT = find_stack("next_shadcn")
NEXT_FILES = {
    "app/page.tsx": b'import Link from "next/link";\nexport default () => <Link href="/about#team">About</Link>;\n',
    "app/about/page.tsx": b"export default () => <h1>About us</h1>;\n",
    "app/(shop)/cart/page.tsx": b"export default () => <><h1>{title}</h1><h2>Cart</h2></>;\n",
    "app/items/[id]/page.tsx": b"export default () => null;\n",
    "app/layout.tsx": b"",
    "components/page.tsx": b"",
}
ASTRO = find_stack("astro_tailwind")
ASTRO_FILES = {path: text.encode() for path, text in ASTRO.scaffold.items()}


def test_the_page_files_of_next_and_astro_are_pages() -> None:
    assert list_pages(NEXT_FILES, NEXT.entry) == [
        SitePage("app/page.tsx", ""),
        SitePage("app/(shop)/cart/page.tsx", "Cart"),
        SitePage("app/about/page.tsx", "About us"),
    ]
    assert [page.path for page in list_pages(ASTRO_FILES, ASTRO.entry)] == ["src/pages/index.astro"]


def test_the_pages_of_next_and_astro_are_added_renamed_and_deleted() -> None:
    added = change_pages(NEXT_FILES, NEXT, PageChange(action="add", name="Our “team”"))
    assert list(added) == ["app/our-team/page.tsx"]
    assert '{"Our “team”"}' in _text(added, "app/our-team/page.tsx")
    renamed = change_pages(NEXT_FILES, NEXT, PageChange(action="rename", path="app/about/page.tsx", name="Team"))
    assert renamed["app/about/page.tsx"] is None
    assert 'href="/team#team"' in _text(renamed, "app/page.tsx")
    assert "About us" in _text(renamed, "app/team/page.tsx")
    deleted = change_pages(NEXT_FILES, NEXT, PageChange(action="delete", path="app/about/page.tsx"))
    assert deleted == {"app/about/page.tsx": None}
    about = change_pages(ASTRO_FILES, ASTRO, PageChange(action="add", name="About"))
    assert '<Layout title={"About"}>' in _text(about, "src/pages/about.astro")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (PageChange(action="add", name="about"), "has the page /about already"),
        (PageChange(action="rename", path="app/page.tsx", name="home"), "is the first page"),
        (PageChange(action="delete", path="app/layout.tsx"), r"no page app/layout.tsx; its pages are app/\(shop\)"),
    ],
)
def test_what_cannot_be_changed_in_next_is_one_sentence(change: PageChange, sentence: str) -> None:
    with pytest.raises(CannotChangeRoutes, match=sentence):
        change_pages(NEXT_FILES, NEXT, change)


def test_a_new_page_of_svelte_is_a_document_a_module_and_a_component() -> None:
    svelte = find_stack("svelte_vite")
    files = {path: text.encode() for path, text in svelte.scaffold.items()}
    added = add_page(files, svelte, "Our team")
    assert list(added) == ["our-team.html", "src/our-team.js", "src/OurTeam.svelte"]
    assert 'src="/src/our-team.js"' in _text(added, "our-team.html")
    assert 'import OurTeam from "./OurTeam.svelte";' in _text(added, "src/our-team.js")
    site = files | {path: data for path, data in added.items() if data is not None}
    assert delete_page(site, svelte, "our-team.html") == dict.fromkeys(added)
