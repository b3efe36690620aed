"""Links the pages of a site to each other: a link whose words are the name of a page leads there."""

import re
from collections.abc import Sequence

_LINK = re.compile(r"""(?P<head><a\b[^>]{0,2000}?\bhref=)"#[\w-]*"(?P<rest>[^>]{0,2000}>)(?P<words>[^<]{1,80})</a>""")
_HOME = frozenset({"home", "start", "homepage", "overview"})


def link_pages(text: str, pages: Sequence[str]) -> str:
    """Return the page with links to the others, by their words; the first of the pages is also called home."""
    if len(pages) < 2:
        return text
    names = {_plain(path.rpartition(".")[0]): path for path in reversed(pages)} | dict.fromkeys(_HOME, pages[0])

    def link(match: re.Match[str]) -> str:
        path = names.get(_plain(match["words"]))
        return match[0] if path is None else f'{match["head"]}"{path}"{match["rest"]}{match["words"]}</a>'

    return _LINK.sub(link, text)


def _plain(words: str) -> str:
    return re.sub(r"[^a-z0-9]", "", words.lower())
