"""Renders the pages to PNG with our own browser, and writes down what is in them: the ground truth.

Run as `python -m benchmarks.pages.render [NAME ...]`. It fills `.cache/tuning` and `.cache/held`: NAME.png is the full
page, NAME.json its lines of text (`texts`, what the score compares), its text with its style (`blocks`), its pictures
and its controls, all with their boxes. A page that has not changed is not rendered again.
"""

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.pages import pictures
from weft.studio.browser.browser import Browser
from weft.studio.browser.page import DESKTOP, MOBILE, PageResponse, Viewport, media_type, project_path

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
SETS = ("tuning", "held")
PROBE = (HERE / "truth.js").read_text("utf-8").partition("\n")[2].rstrip()


def pages() -> Iterator[tuple[str, Path]]:
    """Every page as (set, file), in a fixed order."""
    for which in SETS:
        for path in sorted((HERE / which).glob("*.html")):
            yield which, path


def viewport(path: Path) -> Viewport:
    """Pages named mobile-… are phone pages; all others are seen on a desktop."""
    return MOBILE if path.stem.startswith("mobile-") else DESKTOP


def fingerprint(path: Path) -> str:
    digest = hashlib.sha256()
    for part in (path, Path(__file__), HERE / "truth.js", Path(pictures.__file__)):
        digest.update(part.read_bytes())
    return digest.hexdigest()[:16]


def serve(url: str) -> PageResponse | None:
    path = project_path(url)
    if path is None or path.partition("/")[0] not in (*SETS, "pictures") or not (HERE / path).is_file():
        return None
    return PageResponse(200, media_type(path), (HERE / path).read_bytes())


async def render(browser: Browser, which: str, path: Path, target: Path) -> None:
    window = viewport(path)
    seen = await browser.render(serve, f"{which}/{path.name}", window, mobile=window is MOBILE, probe=PROBE)
    if seen.failed or seen.overflow:
        sys.exit(f"{path.name} is not whole: {seen.failed or f'{seen.overflow} px too wide'}.")
    truth = {
        "page": path.stem,
        "fingerprint": fingerprint(path),
        "width": seen.size[0],
        "height": seen.size[1],
        "texts": seen.texts,
        **seen.probed,
    }
    target.with_suffix(".png").write_bytes(seen.picture)
    target.with_suffix(".json").write_bytes(msgspec.json.format(msgspec.json.encode(truth), indent=1))


def fresh(path: Path, target: Path) -> bool:
    truth = target.with_suffix(".json")
    if not truth.exists() or not target.with_suffix(".png").exists():
        return False
    return msgspec.json.decode(truth.read_bytes()).get("fingerprint") == fingerprint(path)


async def fill(names: set[str]) -> None:
    browser = Browser()
    try:
        for which, path in pages():
            target = CACHE / which / path.stem
            if (names and path.stem not in names) or fresh(path, target):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            await render(browser, which, path, target)
            print(target.with_suffix(".png").relative_to(HERE))
    finally:
        await asyncio.to_thread(browser.close)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these pages")
    names = set(parser.parse_args().names)
    unknown = names - {path.stem for _, path in pages()}
    if unknown:
        sys.exit(f"There is no page called {', '.join(sorted(unknown))} in tuning or held.")
    pictures.main()
    asyncio.run(fill(names))


if __name__ == "__main__":
    main()
