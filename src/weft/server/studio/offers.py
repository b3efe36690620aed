"""Examples: things to build that a person can choose with a click.

With a key they are sentences and screenshots; without one screenshots alone, for the local converter builds what it
sees.
"""

from importlib import resources

from weft.server.refusal import Refusal
from weft.server.studio.views import Example

_SENTENCES = {
    "bakery": "A landing page for a bakery, with opening hours and a map placeholder",
    "pricing": "A pricing page with three plans and a switch between monthly and yearly",
    "shop": "A dark dashboard for a small shop: orders today, revenue, a table of the last ten orders",
}
_PICTURES = {
    "login": "Screenshot of a page to sign in",
    "pricing": "Screenshot of a page with prices",
    "dashboard": "Screenshot of a dashboard",
}


def offered(*, has_keys: bool) -> list[Example]:
    """What can be built here and now."""
    pictures = [Example(f"{name}.png", title, f"/studio/examples/{name}.png") for name, title in _PICTURES.items()]
    return [*(Example(name, title) for name, title in _SENTENCES.items() if has_keys), *pictures]


def picture(name: str) -> bytes:
    """The screenshot of an example."""
    if name.removesuffix(".png") not in _PICTURES or not name.endswith(".png"):
        raise Refusal("not_found", "There is no example of that name; /studio lists those there are.")
    return (resources.files("weft.server.studio") / "examples" / name).read_bytes()
