"""Builds the documentation site with Zensical, and checks it for dead links.

    python scripts/make_site.py [--version dev] [--latest]

Prepares the pages in `build/site-source`: the docs, README as the first page, a page of reference for each public
module, and the files elsewhere that pages link to. Builds them into `build/site/VERSION`, beside other versions that
may be there, and lists all versions in `build/site/versions.json`, which the pages offer. Needs the packages of
docs/requirements.txt.
"""

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "site-source"
PAGES = SOURCE / "pages"
SITE = ROOT / "build" / "site"
MODULES = {
    "heald": "Agents, tools and models",
    "heald.sessions": "Sessions",
    "heald.providers": "Providers",
    "heald.plugins": "Plugins",
    "heald.testing": "Testing",
    "heald.events": "Events",
    "heald.types": "Types of public signatures",
    "heald_server": "Server",
    "heald_studio": "Studio",
    "heald_check": "Checks",
    "heald_evals": "Evaluations",
    "heald_forges": "Forges",
}
_LINK = re.compile(r"(?P<head>!?\[(?:[^\]\[]|\[[^\]]*\]\([^)]*\))*\]\(\s*)(?P<target>[^)\s]+)(?P<end>[^)]*\))")
_FENCE = re.compile(r"^(```|~~~)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--version", default="dev", help="the folder of the version (dev)")
    parser.add_argument("--latest", action="store_true", help="the version that visitors see first")
    arguments = parser.parse_args()
    prepare_pages()
    if importlib.util.find_spec("zensical") is None:
        print("Zensical is not installed; run `make docs-site`.", file=sys.stderr)
        return 1
    done = subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=SOURCE, check=False)
    if done.returncode:
        return done.returncode
    problems = sorted(find_dead_links(SOURCE / "site"))
    if problems:
        print("Dead links:", *problems, sep="\n", file=sys.stderr)
        return 1
    place_version(arguments.version, is_latest=arguments.latest)
    pages = sum(1 for _ in (SITE / arguments.version).rglob("*.html"))
    print(f"{pages} pages in {(SITE / arguments.version).relative_to(ROOT)}, no dead link")
    return 0


# --- the pages -------------------------------------------------------------------------------------------------------


def prepare_pages() -> None:
    """Copy all pages to `build/site-source`, with links that lead to where their targets are in the site."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    PAGES.mkdir(parents=True)
    waiting = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "SECURITY.md"]
    done: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        target = site_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text, linked = rewrite_links(path)
            target.write_text(text, "utf-8")
            waiting += linked
        else:
            shutil.copyfile(path, target)
    for folder in ("images", "evaluation"):
        shutil.copytree(ROOT / "docs" / folder, PAGES / folder, dirs_exist_ok=True)
    reference = write_reference()
    config = (ROOT / "docs" / "site" / "mkdocs.yml").read_text("utf-8")
    sources = ", ".join(str(path) for path in sorted(ROOT.glob("packages/*/src")))
    config = config.replace("[PACKAGES]", f"[{sources}]").replace("API: API", f"API:\n{reference}")
    (SOURCE / "mkdocs.yml").write_text(config, "utf-8")


def site_path(path: Path) -> Path:
    """Return where a file of the repository is among the pages: those outside of docs are below `source`."""
    if path == ROOT / "README.md":
        return PAGES / "index.md"
    if path.is_relative_to(ROOT / "docs"):
        return PAGES / path.relative_to(ROOT / "docs")
    return PAGES / "source" / path.relative_to(ROOT)


def rewrite_links(page: Path) -> tuple[str, list[Path]]:
    """Return the text of a page with the links of the site, and the files that it links to."""
    linked: list[Path] = []

    def replace(match: re.Match[str]) -> str:
        parts = urlsplit(match["target"])
        if parts.scheme or parts.netloc or not parts.path:
            return match[0]
        path = (page.parent / unquote(parts.path)).resolve()
        if path.is_dir():
            path = path / "README.md" if (path / "README.md").is_file() else path
        if not path.is_file():
            return match["head"].removesuffix("(").strip("![]")  # a folder: its name as plain text
        linked.append(path)
        relative = _relative(page, path)
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        return f"{match['head']}{relative}{fragment}{match['end']}"

    lines: list[str] = []
    inside = False
    for line in page.read_text("utf-8").splitlines():
        if _FENCE.match(line.strip()):
            inside = not inside
        lines.append(line if inside else _LINK.sub(replace, line))
    return "\n".join(lines) + "\n", linked


def _relative(page: Path, path: Path) -> str:
    here, there = site_path(page).parent.parts, site_path(path).parts
    common = next((n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there)))
    return "/".join([*[".."] * (len(here) - common), *there[common:]])


def write_reference() -> str:
    """Write a page for each public module. Returns their entries of the navigation."""
    entries: list[str] = []
    names = (ROOT / "tests" / "public_names.txt").read_text("utf-8").split()
    folder = PAGES / "api"
    folder.mkdir()
    for module, title in MODULES.items():
        exports = [name for name in names if name.rpartition(".")[0] == module and not _is_module(name)]
        sections = "\n\n".join(f"::: {name}" for name in exports)
        (folder / f"{module}.md").write_text(f"# `{module}`: {title}\n\n{sections}\n", "utf-8")
        entries.append(f"          - {module}: api/{module}.md")
    return "\n".join(entries)


def _is_module(name: str) -> bool:
    return name in MODULES


# --- the links -------------------------------------------------------------------------------------------------------


class _Targets(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := attributes.get(name))}
        target = attributes.get("href" if tag in ("a", "link") else "src")
        if target:
            self.links.add(target)


def find_dead_links(site: Path) -> Iterator[str]:
    """Yield each link inside of the site whose file or anchor does not exist. No other host is asked."""
    targets: dict[Path, _Targets] = {}
    for page in site.rglob("*.html"):
        targets[page] = _Targets()
        targets[page].feed(page.read_text("utf-8"))
    for page, page_targets in targets.items():
        if page.name == "404.html":
            continue  # its links are absolute: it is shown for any address
        for link in page_targets.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if path.is_dir():
                path = path / "index.html"
            name = page.relative_to(site)
            if not path.is_file():
                yield f"{name}: {link} does not exist"
            elif parts.fragment and path in targets and unquote(parts.fragment) not in targets[path].anchors:
                yield f"{name}: {link} has no such anchor"


# --- the versions ----------------------------------------------------------------------------------------------------


def place_version(version: str, *, is_latest: bool) -> None:
    """Move the built site to its version, and list all versions as the pages read them."""
    target = SITE / version
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(SOURCE / "site", target)
    listing = SITE / "versions.json"
    versions = json.loads(listing.read_text("utf-8")) if listing.is_file() else []
    others = [entry for entry in versions if entry["version"] != version]
    if is_latest:
        others = [entry | {"aliases": []} for entry in others]
    entry = {"version": version, "title": version, "aliases": ["latest"] if is_latest else []}
    versions = sorted([entry, *others], key=lambda item: _version_key(item["version"]), reverse=True)
    listing.write_text(json.dumps(versions, indent=2) + "\n", "utf-8")
    first = next((item["version"] for item in versions if item["aliases"]), versions[0]["version"])
    refresh = f'<meta http-equiv="refresh" content="0; url={first}/index.html">'
    (SITE / "index.html").write_text(f"<!doctype html>\n<title>Heald</title>\n{refresh}\n", "utf-8")


def _version_key(version: str) -> tuple[int, ...]:
    """Numbers in their order, names such as `dev` before all of them."""
    return tuple(map(int, re.findall(r"\d+", version))) if version[:1].isdigit() else (sys.maxsize,)


if __name__ == "__main__":
    sys.exit(main())
