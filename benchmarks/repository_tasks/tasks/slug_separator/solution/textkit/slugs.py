"""Parts of addresses made from titles."""

import re

MAXIMUM = 80


def slugify(text, separator="-"):
    """Lower-case words of a text with a separator between them."""
    return separator.join(re.findall(r"[^\W_]+", text.lower()))


def shorten(slug, maximum=MAXIMUM):
    """Cuts a slug to a maximum length without a separator at its end."""
    return re.sub(r"[-_]+$", "", slug[:maximum])
