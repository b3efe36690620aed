"""The one builder of prompts: a creation or a change, from pictures, words or a recording, for any stack.

It only puts together: what it says stands in the text files beside it. Its output is the system text and the messages
of a conversation in the neutral form.
"""

from collections.abc import Collection, Mapping

import msgspec

from weft.core.content import Image, Text
from weft.core.messages import Message
from weft.studio.prompts.element import element_text, located
from weft.studio.prompts.past import PICTURE, present, told
from weft.studio.prompts.request import Request, Shot
from weft.studio.prompts.texts import Texts
from weft.studio.stacks.stack import Stack

BUDGET = 400_000
"""Characters of a whole prompt: about 100,000 tokens, which every current vision model takes."""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    system: str
    messages: list[Message]


def build_prompt(
    request: Request,
    stack: Stack,
    *,
    texts: Texts | None = None,
    tools: Collection[str] = (),
    budget: int = BUDGET,
) -> Prompt:
    """What a model is told. `tools` are the names of those it has; only these are spoken of."""
    texts = texts or Texts()
    files = request.files or present(request.history, stack.entry)
    system = _system(request, stack, texts, tools)
    content: list[Text | Image] = [*_shown(request.shots), Text(_asked(request, files, texts))]
    room = budget - len(system) - sum(_size(part) for part in content)
    name, here = ("files", files) if files else ("start", {} if stack.is_single_file else stack.scaffold)
    if here or request.assets:
        shown = _files(here, request.assets, room)
        content.insert(0, Text(texts.fill(name, files=shown) + "\n\n"))
        room -= len(shown)
    history = told(request.history, stack.entry, max(room, 0))
    if history and history[-1].role == "user":
        content = [*(part for part in history.pop().content if isinstance(part, Text | Image)), *content]
    return Prompt(system=system, messages=[*history, Message(role="user", content=list(content))])


def _system(request: Request, stack: Stack, texts: Texts, tools: Collection[str]) -> str:
    system = texts.fill("system", tools=_tools(texts, tools), label=stack.label, rules=stack.rules)
    system = f"Stack: {stack.name} ({stack.entry})\n\n{system}"  # for programs: the local converter reads this line
    design = request.design_system
    if design is None or not design.text.strip():
        return system
    return f"{system}\n\n{texts.fill('design_system', name=design.name, text=design.text)}"


def _tools(texts: Texts, tools: Collection[str]) -> str:
    """The text about tools with the entries of those that there are; nothing if there are none."""
    head, *entries = texts.raw("tools").split("\n- `")
    kept = [entry.rstrip() for entry in entries if entry.partition("`")[0] in tools]
    return "\n- `".join((head, *kept)) if kept else ""


def _asked(request: Request, files: Mapping[str, str], texts: Texts) -> str:
    words = request.text.strip()
    if request.is_update:
        asked = texts.fill("update", request=words or "Make it look like the picture.")
    elif request.mode == "text" or not request.shots:
        asked = texts.fill("create_text", request=words)
    else:
        count = len(request.shots)
        pictures = "the picture" if count == 1 else f"the {count} pictures, which show one design"
        also = f"\nThe person adds:\n\n{words}" if words else ""
        asked = texts.fill(f"create_{request.mode}", pictures=pictures, request=also)
    if request.element is None or not request.element.html.strip():
        return asked
    return f"{asked}\n\n{element_text(located(request.element, files), texts)}"


def _shown(shots: Collection[Shot]) -> list[Text | Image]:
    content: list[Text | Image] = []
    for number, shot in enumerate(shots, 1):
        label = shot.label or (f"Picture {number}" if len(shots) > 1 else "")
        content += [Text(f"{label}:")] if label else []
        content.append(shot.image)
    return content


def _files(files: Mapping[str, str], assets: Collection[str], room: int) -> str:
    """Every file in full, the short ones first served with room; the rest by name."""
    fits: set[str] = set()
    for path in sorted(files, key=lambda each: len(files[each])):
        room -= len(files[path]) + len(path) + 40
        if room < 0:
            break
        fits.add(path)
    parts: list[str] = []
    for path, text in files.items():
        if path in fits:
            parts.append(f'<file path="{path}">\n{text}{"" if text.endswith(chr(10)) else chr(10)}</file>')
        else:
            parts.append(f'<file path="{path}" lines="{text.count(chr(10)) + 1}" left-out="read it with read_file"/>')
    if assets:
        parts.append("Other files: " + ", ".join(assets))
    return "\n".join(parts)


def _size(part: Text | Image) -> int:
    return PICTURE if isinstance(part, Image) else len(part.text)
