"""What the mock server sends: prose cut like tokens, and a page of HTML as the arguments of a tool call.

Everything is deterministic, so the server, the rows and the checks agree on it without talking.
"""

import json
from collections.abc import Sequence
from functools import cache
from itertools import cycle, islice

_PROSE = (
    "The loom stood by the window, where the light was best in the morning. Every thread had its place: the"
    " warp held still under tension, and the heald crossed it, over and under, again and again, until there"
    " was cloth. “It is only patience,” she said, “and counting.” Nobody who watched her hands for long"
    " believed the first half."
)

_HEAD = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n\t<meta charset="utf-8">\n\t<title>Dashboard</title>\n'
    '\t<link rel="stylesheet" href="/static/app.css">\n</head>\n<body class="bg-gray-50">\n<main id="root">\n'
)

_CARD = (
    '\t<section class="card shadow-md p-{pad}" id="card-{i}" data-state="{state}">\n'
    '\t\t<h2 class="text-xl">Order №{i} — “{word}”</h2>\n'
    '\t\t<p style="color:#{colour:06x}; margin:0 auto">{sentence}</p>\n'
    '\t\t<a href="https://example.org/orders/{i}?tab=all&amp;p={pad}" onclick="open(\'{word}\')">More</a>\n'
    '\t\t<script>window.cards.push({{"id": {i}, "pattern": /\\d+\\/{pad}/, "note": \'a\\\\b\'}});</script>\n'
    "\t</section>\n"
)

_STATES = ("open", "paid", "shipped", "returned")


@cache
def text_deltas(count: int) -> tuple[str, ...]:
    """That many pieces of prose, each a word with the space before it."""
    words = _PROSE.split(" ")
    pieces = [words[0], *(f" {word}" for word in words[1:]), " "]
    return tuple(islice(cycle(pieces), count))


@cache
def html(size: int) -> str:
    """A page whose JSON form is about that many bytes, with quotes, tabs, backslashes and some non-ASCII."""
    words = _PROSE.split(" ")
    parts = [_HEAD]
    length = _encoded_length(_HEAD)
    number = 0
    while length < size:
        start = number * 7 % (len(words) - 12)
        card = _CARD.format(
            i=number,
            pad=number % 9,
            state=_STATES[number % len(_STATES)],
            word=words[start].strip("“”.,:"),
            colour=number * 7919 % 0xFFFFFF,
            sentence=" ".join(words[start : start + 12]),
        )
        parts.append(card)
        length += _encoded_length(card)
        number += 1
    return "".join(parts)


def to_json(value: object) -> str:
    """JSON as a model writes it: no spaces after separators, non-ASCII characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cut(text: str, size: int = 8) -> Sequence[str]:
    """The text in pieces of that many characters, wherever the cut falls."""
    return tuple(text[start : start + size] for start in range(0, len(text), size))


def _encoded_length(text: str) -> int:
    return len(to_json(text).encode())
