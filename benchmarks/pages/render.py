"""Renders the pages to PNG with our own browser, and writes down what is in them: the ground truth.

Run as `python -m benchmarks.pages.render [NAME ...]`. It fills `.cache/SET` for each of the sets: NAME.png is the full
page, NAME.json its lines of text (`texts`, what the score compares), its text with its style (`blocks`), its pictures
and controls, and its links, controls, icons and photographs as the evaluation compares them (`parts`). A page that has
not changed is not rendered again. Pages of `tuning` and `held` are files; those of `open` and `sealed` are made
(`made.py`).
"""

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.pages import made, pictures
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import DESKTOP, MOBILE, PageResponse, Viewport, media_type, project_path
from heald_studio.evaluate.page_parts import with_parts

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
WRITTEN, MADE = ("tuning", "held"), {"open": made.OPEN, "sealed": made.SEALED}
SETS = (*WRITTEN, *MADE)
PROBE = with_parts((HERE / "truth.js").read_text("utf-8").partition("\n")[2].rstrip())


def pages() -> Iterator[tuple[str, str]]:
    """Every page as (set, name), in a fixed order."""
    for which in WRITTEN:
        yield from ((which, path.stem) for path in sorted((HERE / which).glob("*.html")))
    for which, names in MADE.items():
        yield from ((which, name) for name in names)


def page_html(which: str, name: str) -> bytes:
    return made.make_page(name).encode() if which in MADE else (HERE / which / f"{name}.html").read_bytes()


def viewport(name: str) -> Viewport:
    """Pages named mobile-… and phone-… are phone pages; all others are seen on a desktop."""
    return MOBILE if name.startswith("mobile-") or made.is_narrow(name) else DESKTOP


def fingerprint(which: str, name: str) -> str:
    digest = hashlib.sha256(page_html(which, name))
    for part in (Path(__file__), HERE / "truth.js", Path(pictures.__file__)):
        digest.update(part.read_bytes())
    digest.update(PROBE.encode())
    return digest.hexdigest()[:16]


def serve(url: str) -> PageResponse | None:
    path = project_path(url)
    if path is None:
        return None
    folder, _, file = path.partition("/")
    if folder in MADE and file.removesuffix(".html") in MADE[folder]:
        return PageResponse(200, media_type(path), page_html(folder, file.removesuffix(".html")))
    if folder not in (*WRITTEN, "pictures", "tools") or not (HERE / path).is_file():
        return None
    return PageResponse(200, media_type(path), (HERE / path).read_bytes())


async def render(browser: Browser, which: str, name: str, target: Path) -> None:
    window = viewport(name)
    seen = await browser.render(serve, f"{which}/{name}.html", window, mobile=window is MOBILE, probe=PROBE)
    if seen.failed or seen.overflow:
        sys.exit(f"{name} is not whole: {seen.failed or f'{seen.overflow} px too wide'}.")
    truth = {
        "page": name,
        "fingerprint": fingerprint(which, name),
        "width": seen.size[0],
        "height": seen.size[1],
        "texts": seen.texts,
        **seen.probed,
    }
    target.with_suffix(".png").write_bytes(seen.picture)
    target.with_suffix(".json").write_bytes(msgspec.json.format(msgspec.json.encode(truth), indent=1))


def fresh(which: str, name: str, target: Path) -> bool:
    truth = target.with_suffix(".json")
    if not truth.exists() or not target.with_suffix(".png").exists():
        return False
    return msgspec.json.decode(truth.read_bytes()).get("fingerprint") == fingerprint(which, name)


async def fill(names: set[str]) -> None:
    browser = Browser()
    try:
        for which, name in pages():
            target = CACHE / which / name
            if (names and name not in names) or fresh(which, name, target):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            await render(browser, which, name, target)
            print(target.with_suffix(".png").relative_to(HERE))
    finally:
        await asyncio.to_thread(browser.close)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these pages")
    names = set(parser.parse_args().names)
    unknown = names - {name for _, name in pages()}
    if unknown:
        sys.exit(f"There is no page called {', '.join(sorted(unknown))} in any set.")
    pictures.main()
    asyncio.run(fill(names))


if __name__ == "__main__":
    main()
