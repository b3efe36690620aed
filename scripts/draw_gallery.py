"""Draw the thumbnails of the studio's gallery: the first page of each finished project, as a small WebP.

    python scripts/draw_gallery.py

Run it after a change of a project under packages/studio/src/heald_studio/gallery/.
"""

import asyncio
from io import BytesIO
from pathlib import Path

from PIL import Image

import heald_studio.gallery
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Viewport
from heald_studio.gallery.finished_project import FinishedProject, list_finished
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.stacks.installed import find_stack

GALLERY = Path(heald_studio.gallery.__file__).parent
WINDOW = Viewport(1200, 750)
PICTURE = (480, 300)


async def draw(browser: Browser, project: FinishedProject) -> None:
    preview = ProjectPreview(find_stack(project.stack, None), project.files())
    rendering = await browser.render(preview, PAGE, WINDOW, full_page=False, quiet_seconds=1.0)
    if rendering.console or rendering.failed:
        raise SystemExit(f"{project.name}: {[*rendering.console, *rendering.failed]}")
    picture = Image.open(BytesIO(rendering.picture)).convert("RGB").resize(PICTURE, Image.Resampling.LANCZOS)
    path = GALLERY / project.name / "thumbnail.webp"
    picture.save(path, quality=82, method=6)
    print(f"{path.relative_to(GALLERY)}: {path.stat().st_size:,} bytes")


async def main() -> None:
    browser = Browser(pages=1)
    try:
        for project in list_finished():
            await draw(browser, project)
    finally:
        browser.close()


if __name__ == "__main__":
    asyncio.run(main())
