"""Captures pages of the web, in a browser that reaches nothing but a proxy with the rules for outgoing requests."""

import asyncio
from urllib.parse import urlsplit

import msgspec

from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher
from heald.tools.web.urls import parse_target
from heald_studio.browser.browser import Browser
from heald_studio.browser.capture_proxy import MAX_BYTES, CaptureProxy
from heald_studio.browser.page import DESKTOP, MOBILE, BrowserError, Rendering, Viewport

_SECONDS = 30.0


class Captured(msgspec.Struct, frozen=True):
    desktop: Rendering
    mobile: Rendering


async def capture(
    url: str,
    viewport: Viewport = DESKTOP,
    *,
    mobile: bool = False,
    outgoing: WebFetcher | None = None,
    max_bytes: int = MAX_BYTES,
    seconds: float = _SECONDS,
) -> Rendering:
    """Capture the page at an address. Raises BrowserError, of kind `url_not_allowed` if the address is not public."""
    renderings = await _capture_views(url, [(viewport, mobile)], outgoing or WebFetcher(), max_bytes, seconds)
    return renderings[0]


async def capture_both(url: str, *, outgoing: WebFetcher | None = None) -> Captured:
    """Capture the page as on a desktop and as on a phone."""
    views = [(DESKTOP, False), (MOBILE, True)]
    return Captured(*await _capture_views(url, views, outgoing or WebFetcher(), MAX_BYTES, _SECONDS))


async def _capture_views(
    url: str, views: list[tuple[Viewport, bool]], rules: WebFetcher, max_bytes: int, seconds: float
) -> list[Rendering]:
    try:
        target = parse_target(url if "://" in url else f"https://{url}")
        await rules.checked_addresses(target)
    except ToolFault as fault:
        raise BrowserError(str(fault), fault.kind) from None
    async with CaptureProxy(rules, target.host, max_bytes=max_bytes).serving() as proxy:
        browser = Browser(pages=1, seconds=seconds, proxy=proxy.address)
        looking = asyncio.ensure_future(_visit_all(browser, target.url, views))
        full = asyncio.ensure_future(proxy.exceeded.wait())
        try:
            await asyncio.wait((looking, full), return_when=asyncio.FIRST_COMPLETED)
            if proxy.exceeded.is_set():
                raise BrowserError(f"The page loads more than {max_bytes / 1e6:g} MB; give a lighter one.", "too_large")
            return looking.result()
        except BrowserError as error:
            raise _explain_refusal(error, proxy) from None
        finally:
            looking.cancel()
            full.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            await asyncio.to_thread(browser.close)


async def _visit_all(browser: Browser, url: str, views: list[tuple[Viewport, bool]]) -> list[Rendering]:
    return [await browser.visit(url, viewport, mobile=mobile) for viewport, mobile in views]


def _explain_refusal(error: BrowserError, proxy: CaptureProxy) -> BrowserError:
    """Return the error with the proxy's reason, if it refused the host of the page."""
    why = proxy.refused.get((urlsplit(error.url).hostname or "").strip("[]"))
    return BrowserError(why, "url_not_allowed", url=error.url) if why else error
