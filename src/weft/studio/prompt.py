"""Builds the prompt of a creation or a change from text templates, which a folder of your own can replace."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from html import unescape
from importlib import resources
from pathlib import Path

import msgspec

from weft.core.design_request import DesignRequest, FileSpan, SelectedElement
from weft.core.errors import ConfigurationError
from weft.core.lazy import lazy_pattern
from weft.core.markup import StartTag, start_tags
from weft.core.messages import Image, Message, Text
from weft.studio.prompt_history import PICTURE_CHARACTERS, history_messages, latest_files, shot_content
from weft.studio.request import ChosenElement, PromptRequest, Shot
from weft.studio.stack import Stack, list_own_files, read_own_file

_PLACE = lazy_pattern(r"\{\{([a-z_]+)\}\}")
_FILLED_PLACE = lazy_pattern(r"(?P<line>(?m:^)(?=\{\{[a-z_]+\}\}(?m:$)))?\{\{(?P<place>[a-z_]+)\}\}(?P<rest>\n*)")
_SOURCE_ATTRIBUTE = lazy_pattern(r"""\sdata-weft-source=(?:"([^"]*)"|'([^']*)')""")
_SOURCE_LINE = lazy_pattern(r"(?P<file>[^:]+):(?P<line>\d{1,7})")
_TAG_NAME = lazy_pattern(r"<([a-zA-Z][\w-]*)")
_CLASS_ATTRIBUTE = lazy_pattern(r"""\sclass=(?:"([^"]*)"|'([^']*)')""")
_WORDS = lazy_pattern(r">([^<>]{3,})<")
_MAX_HTML = 6_000
MAX_PROMPT = 400_000  # characters: about 100,000 tokens, which every current vision model accepts


class PromptTexts:
    """Prompt texts by name. A file `<name>.md` in `folder` replaces the built-in text of that name."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def check(self) -> None:
        """Read every text of the folder. Raises ConfigurationError for a wrong folder, name or text."""
        for file in list_own_files(self._folder, "prompts") if self._folder is not None else ():
            if file.stem not in prompt_names():
                raise ConfigurationError(f"{file} replaces no prompt; name it {', '.join(prompt_names())} with .md.")
            self.template(file.stem)

    def template(self, name: str) -> str:
        """Return a text with its places, such as `{{request}}`. An own text may omit places, but not add others."""
        builtin = _builtin_text(name)
        file = self._folder / f"{name}.md" if self._folder is not None else None
        if file is None or not file.exists():
            return builtin
        own = read_own_file(file)
        known = set(_PLACE.findall(builtin))
        unknown = set(_PLACE.findall(own)) - known
        if unknown:
            places = ", ".join(sorted(known)) or "none"
            raise ConfigurationError(f"{file} names {{{{{min(unknown)}}}}}; the places in it are: {places}.")
        return own

    def render(self, name: str, /, **values: str) -> str:
        """Fill the places of a text. A place whose value is empty is removed with its line."""

        def value(found: re.Match[str]) -> str:
            text = values.get(found["place"], "").strip("\n")
            return text + found["rest"] if text or found["line"] is None else ""

        return _FILLED_PLACE.sub(value, self.template(name)).strip()


def prompt_names() -> list[str]:
    """Return the names of all texts."""
    folder = resources.files("weft.studio") / "prompts"
    return sorted(file.name.removesuffix(".md") for file in folder.iterdir() if file.name.endswith(".md"))


@cache
def _builtin_text(name: str) -> str:
    return (resources.files("weft.studio") / "prompts" / f"{name}.md").read_text("utf-8")


def locate_element(element: ChosenElement, files: Mapping[str, str]) -> ChosenElement:
    """Find the file and line of the element if possible, and remove the preview's marks from its HTML."""
    marked = _SOURCE_ATTRIBUTE.search(element.html[:2_000])
    html = _SOURCE_ATTRIBUTE.sub("", element.html)
    element = msgspec.structs.replace(element, html=html)
    if element.file:
        return element
    if marked is not None and (place := _SOURCE_LINE.fullmatch(unescape(marked[1] or marked[2] or ""))) is not None:
        return msgspec.structs.replace(element, file=place["file"], line=int(place["line"]))
    return _locate_in_html(element, files) or _locate_in_code(element, files) or element


def describe_element(element: ChosenElement, texts: PromptTexts) -> str:
    """Describe the element for the prompt."""
    which = f", number {element.index} of the {element.count} that look alike" if element.count > 1 else ""
    html = element.html.strip()
    if len(html) > _MAX_HTML:
        html = f"{html[:_MAX_HTML]}\n… ({len(html) - _MAX_HTML} more characters)"
    place = ""
    if element.file:
        place = f"It is written in `{element.file}`" + (f", line {element.line}." if element.line else ".")
    if element.path:
        place += f"{' ' if place else ''}Its place in the page is `{element.path}`."
    return texts.render("element", which=which, html=html, place=place)


def _tags_with_lines(text: str) -> Iterator[tuple[StartTag, int]]:
    """Yield the start tags of a text, each with its line."""
    line, at = 1, 0
    for tag in start_tags(text):
        line += text.count("\n", at, tag.start)
        at = tag.start
        yield tag, line


def _locate_in_html(element: ChosenElement, files: Mapping[str, str]) -> ChosenElement | None:
    """Find an element by its start tag in HTML files, by its number if there are several."""
    wanted = next(start_tags(element.html), None)
    if wanted is None:
        return None
    places = [
        (path, line)
        for path, text in files.items()
        if path.endswith((".html", ".htm", ".svg", ".vue"))
        for tag, line in _tags_with_lines(text)
        if tag.name == wanted.name and tag.attributes == wanted.attributes
    ]
    if not places:
        return None
    index = element.index if 0 < element.index <= len(places) else 1
    if len(places) > 1 and element.index == 0:
        file = places[0][0] if len({path for path, _ in places}) == 1 else ""
        return msgspec.structs.replace(element, file=file) if file else None
    file, line = places[index - 1]
    return msgspec.structs.replace(element, file=file, line=line)


def _locate_in_code(element: ChosenElement, files: Mapping[str, str]) -> ChosenElement | None:
    """Find an element by its classes or its text, if only one line of the project has them."""
    head = element.html[: element.html.find(">") + 1]
    classes = _CLASS_ATTRIBUTE.search(head)
    words = _WORDS.search(element.html)
    tag = _TAG_NAME.match(element.html.lstrip())
    for text in (classes and (classes[1] or classes[2]), words and words[1].strip()):
        if not text or tag is None:
            continue
        found = [(path, code.count("\n", 0, at) + 1) for path, code in files.items() if (at := code.find(text)) >= 0]
        if len(found) == 1 and files[found[0][0]].count(text) == 1:
            return msgspec.structs.replace(element, file=found[0][0], line=found[0][1])
    return None


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    system: str
    messages: list[Message]


def build_prompt(
    request: PromptRequest,
    stack: Stack,
    *,
    texts: PromptTexts | None = None,
    tools: Collection[str] = (),
    budget: int = MAX_PROMPT,
) -> Prompt:
    """Build the system text and the messages of a request. Only the named `tools` are described."""
    texts = texts or PromptTexts()
    files = request.files or latest_files(request.history, stack.entry)
    element = None
    if request.element is not None and request.element.html.strip():
        element = locate_element(request.element, files)
    system = _system(request, stack, texts, tools)
    content: list[Text | Image] = [*_picture_parts(request.shots), Text(_request_text(request, element, texts))]
    room = budget - len(system) - sum(_size(part) for part in content)
    name, here = ("files", files) if files else ("start", {} if stack.is_single_file else stack.scaffold)
    spans: list[FileSpan] = []
    if here or request.assets:
        shown, spans = _file_listing(here, request.assets, room)
        text = texts.render(name, files=shown) + "\n\n"
        content.insert(0, Text(text))
        spans = _moved(spans, text.find(shown))
        room -= len(shown)
    history = history_messages(request.history, stack.entry, max(room, 0))
    if history and history[-1].role == "user":
        before = [part for part in history.pop().content if isinstance(part, Text | Image)]
        content = [*before, *content]
        spans = [msgspec.structs.replace(span, block=len(before)) for span in spans]
    design = _design_request(request, stack, element, spans)
    return Prompt(system=system, messages=[*history, Message(role="user", content=list(content), design=design)])


def _design_request(
    request: PromptRequest, stack: Stack, found: ChosenElement | None, spans: Collection[FileSpan]
) -> DesignRequest:
    """Build the same request for a model that does not read prose, such as the local converter."""
    element = None
    if found is not None:
        number = found.index if found.count > 1 else 0
        element = SelectedElement(html=found.html.strip(), file=found.file, line=found.line, number=number)
    return DesignRequest(
        kind="update" if request.is_update else "create",
        instruction=request.text.strip(),
        stack=stack.name,
        entry=stack.entry,
        element=element,
        files=list(spans),
        pages=[shot.page for shot in request.shots if shot.page],
    )


def _moved(spans: Collection[FileSpan], by: int) -> list[FileSpan]:
    """Shift the spans to the text that holds the listing; none if `by` is negative."""
    if by < 0:
        return []
    return [FileSpan(span.path, span.block, span.start + by, span.end + by) for span in spans]


def _system(request: PromptRequest, stack: Stack, texts: PromptTexts, tools: Collection[str]) -> str:
    system = texts.render("system", tools=_tool_text(texts, tools), label=stack.label, rules=stack.rules)
    system = f"Stack: {stack.name} ({stack.entry})\n\n{system}"
    design = request.design_system
    if design is None or not design.text.strip():
        return system
    return f"{system}\n\n{texts.render('design_system', name=design.name, text=design.text)}"


def _tool_text(texts: PromptTexts, tools: Collection[str]) -> str:
    """Return the text about tools with the entries of the named ones; empty if there are none."""
    head, *entries = texts.template("tools").split("\n- `")
    named = [entry.rstrip() for entry in entries if entry.partition("`")[0] in tools]
    return "\n- `".join((head, *named)) if named else ""


def _request_text(request: PromptRequest, element: ChosenElement | None, texts: PromptTexts) -> str:
    words = request.text.strip()
    if request.is_update:
        asked = texts.render("update", request=words or "Make it look like the picture.")
    elif request.mode == "text" or not request.shots:
        asked = texts.render("create_text", request=words)
    else:
        count = len(request.shots)
        pictures = "the picture" if count == 1 else f"the {count} pictures, which show one design"
        if pages := [shot.page for shot in request.shots if shot.page]:
            pictures = f"the {count} pictures: a site of {len(pages)} pages, {', '.join(pages)}, one for each picture"
        also = f"\nThe person adds:\n\n{words}" if words else ""
        asked = texts.render(f"create_{request.mode}", pictures=pictures, request=also)
    outline = f"\n\n{texts.render('outline', outline=request.outline)}" if request.outline else ""
    return f"{asked}{outline}" if element is None else f"{asked}{outline}\n\n{describe_element(element, texts)}"


def _picture_parts(shots: Collection[Shot]) -> list[Text | Image]:
    names = [f"Picture {number}" if len(shots) > 1 else "" for number in range(1, len(shots) + 1)]
    labels = [f"The page {shot.page}" if shot.page else shot.label for shot in shots]
    return shot_content(
        [Shot(shot.image, label or name) for shot, label, name in zip(shots, labels, names, strict=True)]
    )


def _file_listing(files: Mapping[str, str], assets: Collection[str], room: int) -> tuple[str, list[FileSpan]]:
    """List the files as text with their spans: in full while there is room, short ones first, the rest by name."""
    fits: set[str] = set()
    for path in sorted(files, key=lambda each: len(files[each])):
        room -= len(files[path]) + len(path) + 40
        if room < 0:
            break
        fits.add(path)
    parts: list[str] = []
    spans: list[FileSpan] = []
    for path, text in files.items():
        if path in fits:
            head = f'<file path="{path}">\n'
            start = sum(len(part) + 1 for part in parts) + len(head)
            spans.append(FileSpan(path, 0, start, start + len(text)))
            parts.append(f"{head}{text}{'' if text.endswith(chr(10)) else chr(10)}</file>")
        else:
            parts.append(f'<file path="{path}" lines="{text.count(chr(10)) + 1}" left-out="read it with read_file"/>')
    if assets:
        parts.append("Other files: " + ", ".join(assets))
    return "\n".join(parts), spans


def _size(part: Text | Image) -> int:
    return PICTURE_CHARACTERS if isinstance(part, Image) else len(part.text)
