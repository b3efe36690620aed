"""Parts of addresses made from titles."""

import re

MAXIMUM = 80


def slugify(text, separator="-"):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def shorten(slug, maximum=MAXIMUM):
    """Cuts a slug to a maximum length without a separator at its end."""
    return re.sub(r"[-_]+$", "", slug[:maximum])
