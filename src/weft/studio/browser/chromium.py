"""The Chromium to run, and how it is told to keep to itself."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from weft.studio.browser.rendering import BrowserError

NOT_FOUND = "Chromium was not found; install it (Debian: apt install chromium) or set WEFT_CHROMIUM=path."

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)

NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
)
"""No name is resolved, and all traffic, to this machine too, goes to a proxy that does not exist."""

ONLY_LOOPBACK = ("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", *NO_NETWORK[1:])
"""The same for the browser itself, which likes to call home; tabs may be given a proxy on this machine."""

_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-lcd-text",
    "--disable-notifications",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-quic",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-speech-api",
    "--disable-sync",
    "--disable-features=AcceptCHFrame,AutofillServerCommunication,CertificateTransparencyComponentUpdater,"
    "DialMediaRouteProvider,DnsOverHttps,IsolateOrigins,IsolateSandboxedIframes,MediaRouter,NetworkTimeServiceQuerying,"
    "OptimizationHints,PaintHolding,PreconnectToSearch,Prerender2,SpeculationRules,Translate,"
    "WebRtcHideLocalIpsWithMdns,site-per-process",
    "--dns-prefetch-disable",
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--js-flags=--max-old-space-size=512",
    "--lang=en-US",
)


def find_chromium() -> Path:
    """The browser to run: WEFT_CHROMIUM if it is set, else the first one that is installed."""
    chosen = os.environ.get("WEFT_CHROMIUM")
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise BrowserError("WEFT_CHROMIUM names no program that can be run; set it to Chromium's path.", "missing")
        return Path(found)
    for name in (*_NAMES, *_PLACES):
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise BrowserError(NOT_FOUND, "missing")


def command_line(program: Path, profile: Path, network: Sequence[str], *, sandbox: bool) -> list[str]:
    guard = [] if sandbox else ["--no-sandbox", "--no-zygote-sandbox"]
    return [str(program), *_FLAGS, *network, *guard, f"--user-data-dir={profile}", f"--crash-dumps-dir={profile}"]
