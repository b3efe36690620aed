"""Renders pages of other people and writes what each holds, for `role_rows.py`.

    python role_pages.py FOLDER DOCUMENTS [--folder-pages 3] [--site-pages 45] [--every 4 --rest 1]

FOLDER has one folder for each site or collection of templates, with its HTML files and what these load. A page is as wide as the picture NAME.png beside it, or 1280 pixels. Scripts are taken out,
so that a page is the same every time; nothing is loaded from the network. `--every 4 --rest 1` uses only pages whose
name is a number that is 1 modulo 4: the others of Design2Code are for measuring.

DOCUMENTS gets SITE/PAGE.json for each page that renders sensibly; sites that are there are not rendered again.
"""

import argparse
import asyncio
import json
import re
from pathlib import Path

from PIL import Image
from role_documents import PROBE, Document

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import BrowserError, PageResponse, Serve, Viewport
from heald_studio.evaluate.page_document import serve_folder

AT_ONCE = 4
WIDTH, WINDOW_HEIGHT = 1280, 720
FEWEST_LINES, MOST_LINES, TALLEST = 8, 1500, 9000  # of a page that is used
FURTHEST_DOWN = 4  # folders below the site
UNUSED = re.compile(
    r"node_modules|bower_components|/docs?/|/vendors?/|/plugins?/|/demo/|/test|/assets/|/api/|/lib|/_", re.I
)
SCRIPTS = re.compile(rb"<script\b.*?</script\s*>|<noscript\b.*?</noscript\s*>", re.I | re.S)
MOVING = b"<style>*,*::before,*::after{animation:none!important;transition:none!important}</style>"


def list_pages(site: Path, choice: argparse.Namespace) -> list[Path]:
    """Return the pages of a site to try, the start page of each folder first."""
    every, rest = choice.every, choice.rest
    folders: dict[Path, list[Path]] = {}
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.htm")]):
        below = path.relative_to(site)
        is_numbered = path.stem.isdecimal()
        if len(below.parts) > FURTHEST_DOWN or UNUSED.search(f"/{below}"):
            continue
        if every > 1 and not (is_numbered and int(path.stem) % every == rest):
            continue
        folders.setdefault(path.parent, []).append(path)
    pages: list[Path] = []
    for paths in folders.values():
        paths.sort(key=lambda path: (not path.stem.lower().startswith("index"), path.name))
        pages += paths[: choice.folder_pages]
    step = max(len(pages) / choice.site_pages, 1.0)
    return [pages[int(at * step)] for at in range(min(len(pages), choice.site_pages))]


def serve_still(site: Path) -> Serve:
    """Return a `Serve` for the files of a site whose pages have lost their scripts and their motion."""
    serve = serve_folder(site)

    def serve_without_scripts(url: str) -> PageResponse | None:
        response = serve(url)
        if not isinstance(response, PageResponse) or "html" not in response.type:
            return response
        return PageResponse(response.status, response.type, SCRIPTS.sub(b"", response.body) + MOVING)

    return serve_without_scripts


def is_sensible(document: Document) -> bool:
    """Whether a page has text and links, a usual length, and most of its style sheets."""
    if not document or document["loaded"] < document["sheets"] / 2 or document["height"] > TALLEST:
        return False
    lines = document["lines"]
    return FEWEST_LINES <= len(lines) <= MOST_LINES and any(line["link"] for line in lines)


async def render(browser: Browser, site: Path, path: Path, probe: str) -> Document:
    """Return what a page holds; empty if it cannot be rendered."""
    width = WIDTH
    if path.with_suffix(".png").is_file():
        with Image.open(path.with_suffix(".png")) as image:
            width = image.width
    try:
        view = Viewport(width, WINDOW_HEIGHT)
        name = path.relative_to(site).as_posix()
        rendering = await browser.render(serve_still(site), name, view, full_page=False, probe=probe)
    except BrowserError:
        return {}
    return rendering.probed or {}


async def write_documents(choice: argparse.Namespace) -> None:
    probe = (Path(__file__).parent / PROBE).read_text("utf-8").partition("\n")[2].rstrip()
    browser = Browser(pages=AT_ONCE)
    sites = sorted(path for path in choice.folder.iterdir() if path.is_dir())
    try:
        for site in sites:
            to = choice.documents / site.name
            if to.is_dir():
                continue
            pages = list_pages(site, choice)
            documents = await asyncio.gather(*(render(browser, site, path, probe) for path in pages))
            to.mkdir(parents=True)
            sensible = [
                (path, document) for path, document in zip(pages, documents, strict=True) if is_sensible(document)
            ]
            for path, document in sensible:
                page = {"page": path.relative_to(choice.folder).as_posix(), **document}
                name = path.relative_to(site).as_posix().replace("/", "+")
                (to / f"{name}.json").write_text(json.dumps(page), "utf-8")
            print(f"{site.name}: {len(sensible)} of {len(pages)} pages", flush=True)
    finally:
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--folder-pages", type=int, default=3)
    parser.add_argument("--site-pages", type=int, default=45)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--rest", type=int, default=0)
    asyncio.run(write_documents(parser.parse_args()))


if __name__ == "__main__":
    main()
