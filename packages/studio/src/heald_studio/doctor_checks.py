"""Rows of `heald doctor` about the studio: the browser, ffmpeg and the libraries of previews."""

import asyncio
import subprocess

from heald.commands.finding import FROM_CHECKOUT, DoctorFinding, Findings, missing, ok, wrong
from heald.core.distribution import install_advice
from heald.core.errors import HealdError
from heald.tools.process_environment import environment_of

_INSTALL_BROWSER = "Debian: apt install chromium. Elsewhere install Chrome, or set HEALD_CHROMIUM to its path."
_TIMEOUT_SECONDS = 10.0


async def check() -> Findings:
    return [_check_ffmpeg(), await _check_browser(), _check_libraries()]


def _check_ffmpeg() -> DoctorFinding:
    from heald_studio.input.ffmpeg import find_ffmpeg

    ffmpeg = find_ffmpeg()
    if ffmpeg is not None:
        return ok("ffmpeg", _describe_program(ffmpeg))
    text = "not found, so the only recordings that can be read are animated pictures (GIF, WebP)"
    return missing("ffmpeg", text, f"{install_advice('video')}, or Debian, Ubuntu: apt install ffmpeg.")


def _describe_program(program: str) -> str:
    """Return the first line that ffmpeg prints about itself."""
    try:
        process = subprocess.run(
            [program, "-version"],
            env=environment_of(),
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"{program}, which prints no version"
    return f"{process.stdout.decode('utf-8', 'replace').partition(chr(10))[0][:80].strip()} ({program})"


async def _check_browser() -> DoctorFinding:
    """Render a page."""
    from heald_studio.browser.browser import Browser
    from heald_studio.browser.find_chromium import find_chromium
    from heald_studio.browser.page import Viewport, serve_files

    try:
        program = find_chromium()
    except HealdError:
        return missing("chromium", "not found, so pages are neither scored nor captured", _INSTALL_BROWSER)
    browser = Browser(pages=1, seconds=30)
    try:
        rendering = await browser.render(serve_files({"index.html": "<p>It works.</p>"}), viewport=Viewport(320, 200))
        if any("It works." in text.text for text in rendering.texts):
            return ok("chromium", f"{program} renders pages")
        fonts = "Install fonts (Debian: apt install fonts-dejavu)."
        return wrong("chromium", f"{program} renders pages, but without their text", fonts)
    except HealdError as error:
        return wrong("chromium", f"{program} does not render: {error}", _INSTALL_BROWSER)
    finally:
        await asyncio.to_thread(browser.close)


def _check_libraries() -> DoctorFinding:
    from heald_studio.cdn.packages import is_installed, packages

    if is_installed():
        return ok("libraries", f"{len(packages())} packages for previews without a network")
    return missing("libraries", "of previews are not installed; pages that use them lack styles", FROM_CHECKOUT)
