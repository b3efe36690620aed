"""The row of `heald doctor` about the local converter: its models and icon sets."""

from heald.commands.finding import FROM_CHECKOUT, Findings, missing, ok
from heald.core.distribution import DISTRIBUTION


def check() -> Findings:
    from heald_local.see.icon_sets import find_icon_set
    from heald_local.see.models import available

    name = f"{DISTRIBUTION}[local]"
    if not available():
        yield missing(name, "the models that read text are not installed", FROM_CHECKOUT)
    elif find_icon_set() is None:
        yield missing(name, "the icon sets are not installed: icons are traced, and have no names", FROM_CHECKOUT)
    else:
        yield ok(name, "pages are built without any model, and text in pictures is read")
