"""Collects the icons of Ionic that a page names, so that they need no request."""

import json
from collections.abc import Iterable

from heald.core.lazy import lazy_pattern
from heald_studio.export.inlining import (
    GetUrl,
)

_QUOTED = lazy_pattern(r"""["']([a-z][a-z0-9-]{1,50})["']""")
_FOLDER = "https://unpkg.com/ionicons/dist/ionicons/svg/"
_MAX = 300


def icon_registry(texts: Iterable[str], get: GetUrl) -> str:
    """Make a script element with every icon that the texts name; empty if they use none."""
    used = [text for text in texts if "<ion-icon" in text or "ion-icon" in text]
    names = dict.fromkeys(match[1] for text in used for match in _QUOTED.finditer(text))
    icons: dict[str, str] = {}
    for name in names:
        answer = get(f"{_FOLDER}{name}.svg") if len(icons) < _MAX else None
        if answer is not None:
            icons[name] = f"data:image/svg+xml;utf8,{answer.body.decode('utf-8', 'replace')}"
    if not icons:
        return ""
    entries = json.dumps(list(icons.items())).replace("<", "\\u003c")
    return f"<script>window.Ionicons={{map:new Map({entries})}};</script>"
