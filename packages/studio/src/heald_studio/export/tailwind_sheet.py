"""Compiles the Tailwind style sheet of a page in the browser."""

from collections.abc import Mapping
from html import unescape

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import BrowserError
from heald_studio.export.markup_rewriter import insert_before_body_end
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.projects.pages import ENDINGS
from heald_studio.stacks.stack import Stack

Files = Mapping[str, str | bytes]

TEXT_SUFFIXES = (*ENDINGS, ".css", ".js", ".jsx", ".mjs", ".svg", ".ts", ".tsx", ".vue")
TAILWIND = lazy_pattern(r"cdn\.tailwindcss\.com|@tailwindcss/browser")
TAILWIND_CONFIG = lazy_pattern(r"\s*(?:window\.)?tailwind\.config\s*=")
_OTHER_USE = lazy_pattern(r"\btailwind\.(?!config\b|css\b)")
_CANDIDATE = lazy_pattern(r"[^\s\"'`<>]{2,200}")
_MAX_CANDIDATES = 20_000
_GENERATED = r"""() => [...document.querySelectorAll("style")].map((each) => each.textContent)
  .filter((text) => /tailwindcss v\d/.test(text)).pop() || "" """


async def compile_tailwind(stack: Stack, files: Files, browser: Browser) -> str:
    """Compile the utilities that the files name; empty if they use no Tailwind, or it cannot be compiled here."""
    texts = [decode_content(content) for path, content in files.items() if path.lower().endswith(TEXT_SUFFIXES)]
    page = decode_content(files.get(stack.entry, files.get(PAGE, "")))
    loads = [
        tag for tag in start_tags(page) if tag.name == "script" and TAILWIND.search(tag.attributes.get("src") or "")
    ]
    if not loads or any(_OTHER_USE.search(TAILWIND.sub("", text)) for text in texts):
        return ""
    candidates = dict.fromkeys(candidate for text in texts for candidate in _CANDIDATE.findall(unescape(text)))
    names = " ".join(list(candidates)[:_MAX_CANDIDATES]).replace("&", "&amp;").replace('"', "&quot;")
    probe = f'<template-names hidden class="{names}"></template-names>'
    preview = ProjectPreview(stack, {**files, stack.entry: insert_before_body_end(page, probe)})
    try:
        seen = await browser.render(preview, full_page=False, quiet_seconds=0.3, probe=_GENERATED)
    except BrowserError:
        return ""
    return seen.probed if isinstance(seen.probed, str) else ""


def decode_content(content: str | bytes) -> str:
    return content if isinstance(content, str) else content.decode("utf-8", "replace")
