"""Builds the prompt of a creation or a change from text templates."""

from collections.abc import Collection, Mapping

import msgspec

from heald.core.messages import Image, Message, Text
from heald_pictures.design_request import DesignRequest, FileSpan, SelectedElement, design_data
from heald_studio.prompt.history import PICTURE_CHARACTERS, history_messages, latest_files, shot_content
from heald_studio.prompt.request import ChosenElement, PromptRequest, Shot
from heald_studio.prompt.selected_element import describe_element, locate_element
from heald_studio.prompt.texts import PromptTexts
from heald_studio.stacks.stack import Stack

MAX_PROMPT = 400_000  # characters: about 100,000 tokens, which every current vision model accepts


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
        listing, spans = list_files(here, request.assets, room)
        text = texts.render(name, files=listing) + "\n\n"
        content.insert(0, Text(text))
        spans = _moved(spans, text.find(listing))
        room -= len(listing)
    history = history_messages(request.history, stack.entry, max(room, 0))
    if history and history[-1].role == "user":
        before = [part for part in history.pop().content if isinstance(part, Text | Image)]
        content = [*before, *content]
        spans = [msgspec.structs.replace(span, block=len(before)) for span in spans]
    design = design_data(_design_request(request, stack, element, spans))
    return Prompt(system=system, messages=[*history, Message(role="user", content=list(content), structured=design)])


def agent_instructions(request: PromptRequest, stack: Stack, texts: PromptTexts) -> str:
    """Build the system text for an agent that works on the files with tools of its own."""
    return _render_system(request, stack, texts, texts.render("agent"))


def _design_request(
    request: PromptRequest, stack: Stack, chosen: ChosenElement | None, spans: Collection[FileSpan]
) -> DesignRequest:
    """Build the same request for a model that does not read prose, such as the local converter."""
    element = None
    if chosen is not None:
        number = chosen.index if chosen.count > 1 else 0
        element = SelectedElement(html=chosen.html.strip(), file=chosen.file, line=chosen.line, number=number)
    return DesignRequest(
        kind="update" if request.is_update else "create",
        instruction=request.text.strip(),
        stack=stack.name,
        entry=stack.entry,
        element=element,
        files=list(spans),
        pages=[shot.page for shot in request.shots if shot.page],
        picture_kind=request.shots[0].kind if request.shots else "",
        scale=request.shots[0].scale if request.shots else 0,
    )


def _moved(spans: Collection[FileSpan], by: int) -> list[FileSpan]:
    """Shift the spans to the text that holds the listing; none if `by` is negative."""
    if by < 0:
        return []
    return [FileSpan(span.path, span.block, span.start + by, span.end + by) for span in spans]


def _system(request: PromptRequest, stack: Stack, texts: PromptTexts, tools: Collection[str]) -> str:
    return _render_system(request, stack, texts, _tool_text(texts, tools))


def _render_system(request: PromptRequest, stack: Stack, texts: PromptTexts, tool_text: str) -> str:
    system = texts.render("system", tools=tool_text, label=stack.label, rules=stack.rules)
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


def list_files(files: Mapping[str, str], assets: Collection[str], room: int) -> tuple[str, list[FileSpan]]:
    """List the files as text with their spans: in full while there is room, short ones first, the rest by name."""
    fits: set[str] = set()
    for path in sorted(files, key=lambda file: len(files[file])):
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
