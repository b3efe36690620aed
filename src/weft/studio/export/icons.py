"""The icons of an Ionic page, which its components would fetch one by one: registered in the page beforehand."""

import json
import re
from collections.abc import Iterable

from weft.studio.export.inlining import Get

_QUOTED = re.compile(r"""["']([a-z][a-z0-9-]{1,50})["']""")
_FOLDER = "https://unpkg.com/ionicons/dist/ionicons/svg/"
_MAX = 300


def icon_script(texts: Iterable[str], get: Get) -> str:
    """A script element with every icon that the texts name; empty if they use none."""
    used = [text for text in texts if "<ion-icon" in text or "ion-icon" in text]
    names = dict.fromkeys(found[1] for text in used for found in _QUOTED.finditer(text))
    icons: dict[str, str] = {}
    for name in names:
        answer = get(f"{_FOLDER}{name}.svg") if len(icons) < _MAX else None
        if answer is not None:
            icons[name] = f"data:image/svg+xml;utf8,{answer.body.decode('utf-8', 'replace')}"
    if not icons:
        return ""
    entries = json.dumps(list(icons.items())).replace("<", "\\u003c")
    return f"<script>window.Ionicons={{map:new Map({entries})}};</script>"
