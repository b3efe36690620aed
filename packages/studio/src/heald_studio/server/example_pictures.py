"""The examples that the page offers: sentences, and pictures that ship with the studio."""

from importlib import resources
from importlib.resources.abc import Traversable

from heald_server.http.errors import ApiError
from heald_studio.server.views import Example

_SENTENCES = {
    "bakery": "A landing page for a bakery, with opening hours and a map placeholder",
    "pricing": "A pricing page with three plans and a switch between monthly and yearly",
    "shop": "A dark dashboard for a small shop: orders today, revenue, a table of the last ten orders",
}
_PICTURES = {
    "login": "Sign-in page",
    "pricing": "Pricing page",
    "dashboard": "Dashboard",
}


def list_examples(root_path: str, *, has_keys: bool) -> list[Example]:
    """Without a key only pictures: the local model does not understand sentences."""
    folder = f"{root_path}/studio/examples"
    pictures = [Example(f"{name}.png", title, f"{folder}/{name}.png") for name, title in _PICTURES.items()]
    return [*(Example(name, title) for name, title in _SENTENCES.items() if has_keys), *pictures]


def read_example(name: str) -> bytes:
    if name.removesuffix(".png") not in _PICTURES or not name.endswith(".png"):
        raise ApiError("not_found", "There is no example of that name; /studio lists those there are.")
    return example_folder().joinpath(name).read_bytes()


def example_folder() -> Traversable:
    return resources.files("heald_studio") / "server" / "examples"
