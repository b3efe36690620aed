"""The stories of Storybook: which component a file shows, and the names of its stories."""

import posixpath

from heald.core.lazy import lazy_pattern
from heald_studio.design.component import DesignComponent

STORY_FILE = lazy_pattern(r"\.(?:stories|story)\.(?:tsx?|jsx?|mdx|svelte|vue)$")
_TITLE = lazy_pattern(r"(?<![\w])title\s*[:=]\s*\{?[\"'`]([^\"'`]+)[\"'`]")
_COMPONENT = lazy_pattern(r"(?<![\w])component\s*[:=]\s*\{?\s*([A-Z]\w*)")
_STORY = lazy_pattern(r"(?m)^export\s+(?:const|function|let)\s+([A-Z]\w*)|<Story\s+[^>]*name=[\"']([^\"']+)[\"']")
_MAX_STORIES = 12


def read_stories(path: str, text: str) -> DesignComponent | None:
    """Read the stories of a file; None if they are not those of a component."""
    component, title = _COMPONENT.search(text), _TITLE.search(text)
    stem = posixpath.basename(path).partition(".")[0]
    name = component[1] if component else (title[1].rpartition("/")[2] if title else stem).replace(" ", "")
    stories = [match[1] or match[2] for match in _STORY.finditer(text)]
    if not name or not stories:
        return None
    return DesignComponent(name=name[:60], file=path, stories=tuple(story[:40] for story in stories[:_MAX_STORIES]))
