"""The bridge: a small script in every preview. It tells the page around it what happens inside, and nothing else.

What it says is data for a page that trusts none of it. It learns one thing: whether a click chooses an element.
"""

from functools import cache
from importlib import resources
from re import IGNORECASE
from re import compile as pattern

from weft.core.json import encode

_HEAD = pattern(rb"<head\b[^>]*>", IGNORECASE)
_HTML = pattern(rb"<html\b[^>]*>|<!doctype[^>]*>", IGNORECASE)


def with_bridge(page: bytes) -> bytes:
    """A page with the script before anything else in it."""
    script = b"<script>" + _script() + b"</script>"
    for place in (_HEAD, _HTML):
        found = place.search(page[:20_000])
        if found is not None:
            return page[: found.end()] + script + page[found.end() :]
    return script + page


@cache
def for_drafts() -> bytes:
    """An empty page that shows what it is given by the page around it, with the bridge in it."""
    return b"<!doctype html><script>(" + _resource("draft.js") + b")(" + encode(_script().decode()) + b")</script>"


@cache
def _script() -> bytes:
    return _resource("bridge.js")


def _resource(name: str) -> bytes:
    return (resources.files("weft.studio") / name).read_bytes()
