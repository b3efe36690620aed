"""Reads the design system of a repository from the texts of its files. Nothing of the repository is run."""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags
from heald_studio.design.component import DesignComponent
from heald_studio.design.component_file import COMPONENT_FILE, NOT_COMPONENT, read_components
from heald_studio.design.story_file import STORY_FILE, read_stories
from heald_studio.design.style_variables import TAILWIND, StyleVariables, read_style_variables
from heald_studio.design.tailwind_theme import CONFIG, TailwindTheme, default_scales
from heald_studio.design.theme_object import THEME_FILE, read_theme_object
from heald_studio.design.token import DesignToken, TokenKind
from heald_studio.design.token_file import TOKEN_FILE, read_token_file

MAX_COMPONENTS = 300
_SHEETS = (".css", ".scss", ".less", ".pcss")
_NEXT_FONT = lazy_pattern(r"\b([A-Z]\w+)\(\s*\{[^{}]*?variable:\s*[\"'](--[\w-]+)[\"']", re.DOTALL)
_ALIAS = lazy_pattern(r"\b([A-Z]\w+) as ([A-Z]\w+)")
_BASE = lazy_pattern(r"(?:^|/)(?:ui|primitives|atoms|design-system)/")
"""Folders of components that others are made of; they come first."""
_SHORT_NAME = lazy_pattern(r"^(?:--|\$)?(?:(?:color|font|text|spacing|radius)-)?")


class DesignReading(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of a design system, for correction by a person."""

    name: str
    tokens: list[DesignToken]
    components: list[DesignComponent] = []
    sources: list[str] = []
    """The files or addresses that something was read from."""
    notes: list[str] = []
    """What could not be read, and what to do about it."""


def is_design_file(path: str) -> bool:
    """Whether a file may say something about a design system, by its path."""
    if path.endswith(_SHEETS):
        return not path.endswith((".min.css", ".module.css", ".module.scss"))
    if NOT_COMPONENT.search(path) and not STORY_FILE.search(path):
        return False
    patterns = (CONFIG, TOKEN_FILE, STORY_FILE, COMPONENT_FILE, THEME_FILE)
    return any(pattern.search(path) for pattern in patterns) or _is_layout(path)


def _is_layout(path: str) -> bool:
    """Whether a file may declare the fonts of Next.js."""
    return re.search(r"(?:^|/)(?:layout|_app|fonts?)\.(?:tsx|jsx|ts|js)$", path) is not None


def read_files(files: Mapping[str, str], name: str) -> DesignReading:
    """Read the design system of the files of a repository, by path."""
    sheets = {
        path: text
        for path, text in sorted(files.items(), key=lambda item: item[0].count("/"))
        if path.endswith(_SHEETS)
    }
    for path, text in files.items():
        if path.endswith((".vue", ".svelte", ".astro", ".html")):
            contents = [tag.content for tag in start_tags(text) if tag.name == "style"]
            blocks = "\n".join(text[slice(*content)] for content in contents if content is not None)
            if ":root" in blocks or "@theme" in blocks:
                sheets[path] = blocks
    variables = read_style_variables(sheets)
    for path, text in files.items():
        if _is_layout(path) and "next/font" in text:
            aliases = {alias: font for font, alias in _ALIAS.findall(text)}
            for font, variable in _NEXT_FONT.findall(text):
                variables.add(variable, f'"{aliases.get(font, font).replace("_", " ")}"')
    themes = [TailwindTheme(files, path, variables) for path in sorted(files) if CONFIG.search(path)]
    sources: dict[str, None] = {}
    tokens: list[DesignToken] = []
    for theme in themes:
        sources |= dict.fromkeys([theme.path] if theme.tokens else [])
        tokens += theme.tokens
    for path, text in sorted(files.items()):
        extra: list[DesignToken] = []
        if TOKEN_FILE.search(path):
            extra = read_token_file(text)
        elif THEME_FILE.search(path) and not CONFIG.search(path):
            extra = read_theme_object(files, path)
        sources |= dict.fromkeys([path] if extra else [])
        tokens += extra
    sheet_tokens = list(variables.tokens())
    if sheet_tokens:
        sources |= dict.fromkeys(path for path in sheets if "--" in sheets[path] or "$" in sheets[path])
    tokens = _unique([*tokens, *sheet_tokens])
    tokens += _tailwind_scales(themes, sheets, variables)
    components = _components(files)
    unread = [
        f"{theme.path}: {', '.join(theme.unread[:6])} is not a written value; add it below."
        for theme in themes
        if theme.unread
    ]
    return DesignReading(name=name, tokens=tokens, components=components, sources=list(sources), notes=unread)


def read_sheets(sheets: Mapping[str, str]) -> list[DesignToken]:
    """Read the design system of style sheets, which are in the order of a page's cascade."""
    variables = read_style_variables(sheets, is_cascade=True)
    return [*_unique(variables.tokens()), *_tailwind_scales([], sheets, variables)]


def _tailwind_scales(
    themes: list[TailwindTheme], sheets: Mapping[str, str], variables: StyleVariables
) -> Iterator[DesignToken]:
    is_v4 = bool(variables.theme) or any("tailwindcss" in text and "@tailwind" not in text for text in sheets.values())
    if not themes and not is_v4 and not any(TAILWIND.search(text) for text in sheets.values()):
        return
    replaced: set[TokenKind] = {kind for theme in themes for kind in theme.replaced}
    if "--spacing" in variables.theme:
        replaced.add("space")
    yield from default_scales(replaced, is_v4=is_v4 and not themes)


def _unique(tokens: Iterable[DesignToken]) -> list[DesignToken]:
    """Leave out a token that repeats the value of one with the same name, as a theme does with its variables."""
    result: dict[tuple[str, str, str, str], DesignToken] = {}
    for token in sorted(tokens, key=lambda token: bool(token.mode)):
        short = _SHORT_NAME.sub("", token.name).lower()
        if token.value and (token.kind, short, token.value, "") not in result:
            result.setdefault((token.kind, short, token.value, token.mode), token)
    return list(result.values())


def _components(files: Mapping[str, str]) -> list[DesignComponent]:
    components: dict[str, DesignComponent] = {}
    for path, text in sorted(files.items()):
        if COMPONENT_FILE.search(path) and not NOT_COMPONENT.search(path):
            for component in read_components(path, text):
                components.setdefault(component.name, component)
    for path, text in sorted(files.items()):
        story = read_stories(path, text) if STORY_FILE.search(path) else None
        if story is not None:
            before = components.get(story.name, story)
            components[story.name] = msgspec.structs.replace(before, stories=story.stories)
    ranked = sorted(components.values(), key=lambda component: not (component.stories or _BASE.search(component.file)))
    return ranked[:MAX_COMPONENTS]
