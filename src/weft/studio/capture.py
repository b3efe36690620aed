"""Pictures of a page on the web whose address somebody typed.

The browser that looks at it is one of its own, and all it can reach is a proxy that holds every request to the rules
for outgoing ones: the page, its redirects, its parts and its WebSockets.
"""

import asyncio
from urllib.parse import urlsplit

import msgspec

from weft.studio.browser.browser import Browser
from weft.studio.browser.proxy import MAX_BYTES, Proxy
from weft.studio.browser.rendering import DESKTOP, MOBILE, BrowserError, Rendering, Viewport
from weft.tools.outcome import ToolFault
from weft.tools.web.outgoing import Outgoing
from weft.tools.web.target import parse_target

_SECONDS = 30.0


class Captured(msgspec.Struct, frozen=True):
    desktop: Rendering
    mobile: Rendering


async def capture(
    url: str,
    viewport: Viewport = DESKTOP,
    *,
    mobile: bool = False,
    full_page: bool = True,
    outgoing: Outgoing | None = None,
    max_bytes: int = MAX_BYTES,
    seconds: float = _SECONDS,
) -> Rendering:
    """A picture of the page at an address. A BrowserError says why there is none; `url_not_allowed` is its kind if
    the address, or one that it leads to, is not on the public internet."""
    found = await _visits(url, [(viewport, mobile)], full_page, outgoing or Outgoing(), max_bytes, seconds)
    return found[0]


async def capture_both(
    url: str,
    *,
    full_page: bool = True,
    outgoing: Outgoing | None = None,
    max_bytes: int = MAX_BYTES,
    seconds: float = _SECONDS,
) -> Captured:
    """The page as it looks on a desktop and on a phone."""
    wanted = [(DESKTOP, False), (MOBILE, True)]
    desktop, phone = await _visits(url, wanted, full_page, outgoing or Outgoing(), max_bytes, seconds)
    return Captured(desktop, phone)


async def _visits(
    url: str, wanted: list[tuple[Viewport, bool]], full_page: bool, rules: Outgoing, max_bytes: int, seconds: float
) -> list[Rendering]:
    try:
        target = parse_target(url if "://" in url else f"https://{url}")
        await rules.checked(target)
    except ToolFault as fault:
        raise BrowserError(str(fault), fault.kind) from None
    async with Proxy(rules, target.host, max_bytes=max_bytes).serving() as proxy:
        browser = Browser(pages=1, seconds=seconds, proxy=proxy.address)
        looking = asyncio.ensure_future(_looks(browser, target.url, wanted, full_page))
        full = asyncio.ensure_future(proxy.exceeded.wait())
        try:
            await asyncio.wait((looking, full), return_when=asyncio.FIRST_COMPLETED)
            if proxy.exceeded.is_set():
                raise BrowserError(f"The page loads more than {max_bytes / 1e6:g} MB; give a lighter one.", "too_large")
            return looking.result()
        except BrowserError as error:
            raise _explained(error, proxy) from None
        finally:
            looking.cancel()
            full.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            await asyncio.to_thread(browser.close)


async def _looks(browser: Browser, url: str, wanted: list[tuple[Viewport, bool]], full_page: bool) -> list[Rendering]:
    return [await browser.visit(url, viewport, mobile=mobile, full_page=full_page) for viewport, mobile in wanted]


def _explained(error: BrowserError, proxy: Proxy) -> BrowserError:
    """What the proxy knows about a page that could not be loaded."""
    why = proxy.refused.get((urlsplit(error.url).hostname or "").strip("[]"))
    return BrowserError(why, "url_not_allowed", url=error.url) if why else error
