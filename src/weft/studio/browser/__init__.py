"""The browser: pages of a project rendered in headless Chromium, with the network cut off."""

from weft.studio.browser.browser import Browser, shared_browser
from weft.studio.browser.chromium import find_chromium
from weft.studio.browser.rendering import DESKTOP, MOBILE, BrowserError, Rendering, TextBlock, Viewport
from weft.studio.browser.serving import ORIGIN, Answer, Serve, media_type, path_of, serve_files

__all__ = [
    "DESKTOP",
    "MOBILE",
    "ORIGIN",
    "Answer",
    "Browser",
    "BrowserError",
    "Rendering",
    "Serve",
    "TextBlock",
    "Viewport",
    "find_chromium",
    "media_type",
    "path_of",
    "serve_files",
    "shared_browser",
]
