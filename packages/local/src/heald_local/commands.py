"""Parses instructions in plain words: small edits of a page, and commands that become tool calls.

An edit sets a colour, a text or a size, or removes or duplicates an element. An instruction that is not understood
as a whole is not followed at all:

    parse_edits('make "Order now" red and remove the footer')
    → [SetColour(EditTarget(text="Order now"), "red"), RemoveElement(EditTarget(tag="footer"))]
"""

import re
from dataclasses import dataclass

from heald.core.json import JsonObject
from heald.providers.scripted import Part, ScriptedCall
from heald_local.request import FinishedCall, LocalRequest

_OPEN, _CLOSE = "\"“‘'`«", "\"”’'`»"
_QUOTED = rf"[{_OPEN}](?P<{{0}}>[^{_CLOSE}]+)[{_CLOSE}]"
_KINDS = (
    {"header": "header", "footer": "footer", "form": "form", "table": "table"}
    | dict.fromkeys(("navigation", "nav", "menu"), "nav")
    | dict.fromkeys(("sidebar", "side bar", "aside"), "aside")
    | dict.fromkeys(("page", "body"), "body")
    | dict.fromkeys(("title", "heading", "headline"), "h1")
)
_THIS = r"it|this|that|(?:the|this|that)\s+(?:selected\s+|chosen\s+)?(?:element|one|thing|item|selection)"
_NOUN = r"(?:\s+(?:button|link|text|heading|title|paragraph|label|item|card|element|word|words|line|image|section))?"
_TARGET = rf"(?:{_THIS}|(?:the\s+)?{_QUOTED.format('quoted')}{_NOUN}|(?:the\s+)?(?P<kind>{'|'.join(_KINDS)}))"
_VALUE = r"#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/]+\)|[a-z]{3,20}"
_LENGTH = r"\d{1,4}(?:\.\d{1,3})?\s*(?:px|rem|em|pt|%)?"
_SIDE = r"(?P<side>background|text|font|border)?\s*(?:colou?r)?"
_SIZES = (
    {"width": "width", "height": "height", "padding": "padding", "margin": "margin"}
    | dict.fromkeys(("font size", "text size", "size"), "font-size")
    | dict.fromkeys(("radius", "border radius", "corner radius"), "border-radius")
)
_SIZE = rf"(?P<size>{'|'.join(sorted(_SIZES, key=len, reverse=True))})"
_SET = r"(?:make|set|change|turn|give|colou?r|paint)"
_FLAGS = re.IGNORECASE | re.DOTALL


@dataclass(frozen=True, slots=True)
class EditTarget:
    """An element by its text or its tag; with neither, the selected element."""

    text: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class SetText:
    target: EditTarget
    text: str


@dataclass(frozen=True, slots=True)
class SetColour:
    """`side` is background, text or border; empty if it was not named."""

    target: EditTarget
    colour: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class SetProperty:
    target: EditTarget
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RemoveElement:
    target: EditTarget


@dataclass(frozen=True, slots=True)
class DuplicateElement:
    target: EditTarget


@dataclass(frozen=True, slots=True)
class MakeSticky:
    target: EditTarget


@dataclass(frozen=True, slots=True)
class MoveElement:
    """To the beginning or the end of what the element is in."""

    target: EditTarget
    is_first: bool


@dataclass(frozen=True, slots=True)
class SetLanguage:
    """`code` is that of BCP 47, such as `de`."""

    code: str
    target: EditTarget = EditTarget(tag="html")


Edit = SetText | SetColour | SetProperty | RemoveElement | DuplicateElement | MakeSticky | MoveElement | SetLanguage

_TEXT = [
    re.compile(
        rf"(?:change|replace|rename|set|turn)\s+(?:the\s+)?(?:text\s+|word\s+|words\s+|title\s+|heading\s+)?{_QUOTED.format('quoted')}"
        rf"{_NOUN}\s+(?:to|with|by|into)\s+(?:say\s+|read\s+)?{_QUOTED.format('text')}",
        _FLAGS,
    ),
    re.compile(
        rf"(?:change|set|make)\s+(?:the\s+)?(?:text|label|wording|caption|words)(?:\s+of\s+{_TARGET})?\s+(?:to|say|read)\s+"
        rf"{_QUOTED.format('text')}",
        _FLAGS,
    ),
    re.compile(rf"(?:let|make|change|set)\s+{_TARGET}\s+(?:to\s+)?(?:to|say|read)\s+{_QUOTED.format('text')}", _FLAGS),
]
_PAINT = [
    re.compile(rf"{_SET}\s+{_TARGET}\s+{_SIDE}\s*(?:to\s+)?(?P<colour>{_VALUE})", _FLAGS),
    re.compile(
        rf"{_SET}\s+(?:the\s+)?{_SIDE}\s*(?:of\s+{_TARGET})?\s*(?:to\s+|:\s*|=\s*)?(?P<colour>{_VALUE})", _FLAGS
    ),
    re.compile(rf"{_SIDE}\s*(?:to\s+|:\s*|=\s*)?(?P<colour>{_VALUE})", _FLAGS),
]
_MEASURE = [
    re.compile(
        rf"{_SET}\s+(?:the\s+)?{_SIZE}(?:\s+of\s+{_TARGET})?\s*(?:to\s+|:\s*|=\s*)?(?P<length>{_LENGTH})", _FLAGS
    ),
    re.compile(rf"{_SET}\s+{_TARGET}\s+(?P<length>{_LENGTH})\s*(?P<dimension>wide|tall|high|large|big)", _FLAGS),
    re.compile(rf"{_SIZE}\s*(?:to\s+|:\s*|=\s*)?(?P<length>{_LENGTH})", _FLAGS),
]
_GROW = re.compile(
    rf"make\s+{_TARGET}\s+(?:a\s+(?:bit|little)\s+)?(?P<grow>bigger|larger|smaller|bold|bolder|italic)", _FLAGS
)
_REMOVE = re.compile(rf"(?:remove|delete|drop|take\s+out|get\s+rid\s+of)\s+{_TARGET}", _FLAGS)
_DUPLICATE = re.compile(rf"(?:duplicate|copy|clone|repeat)\s+{_TARGET}", _FLAGS)
_HIDE = re.compile(rf"hide\s+{_TARGET}", _FLAGS)
_STICKY = re.compile(rf"(?:make|keep|let)\s+{_TARGET}\s+(?:stay\s+)?(?:sticky|fixed|at\s+the\s+top)", _FLAGS)
_ALIGN = re.compile(
    rf"(?:align\s+{_TARGET}\s+(?:to\s+the\s+)?(?P<side>left|right|cent(?:er|re))"
    rf"|cent(?:er|re)\s+{_TARGET.replace('?P<quoted>', '?P<quoted2>').replace('?P<kind>', '?P<kind2>')})",
    _FLAGS,
)
_MOVE = re.compile(
    rf"(?:move|put)\s+{_TARGET}\s+(?:(?:to|on|at)\s+)?(?:the\s+)?(?P<place>left|right|top|bottom|first|last|start|end)(?:\s+side)?",
    _FLAGS,
)
_CODE_LENGTH = 2  # letters of the code of a language
_FIRST = frozenset({"left", "top", "first", "start"})
_LANGUAGES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "russian": "ru",
    "polish": "pl",
    "turkish": "tr",
    "arabic": "ar",
    "hebrew": "he",
    "chinese": "zh",
    "japanese": "ja",
    "korean": "ko",
    "greek": "el",
    "czech": "cs",
    "swedish": "sv",
}
_LANGUAGE = re.compile(
    r"(?:set|change)\s+(?:the\s+)?(?:page(?:'s)?\s+)?language(?:\s+of\s+the\s+page)?\s+to\s+(?P<language>[a-z]{2,10}(?:-[a-z]{2})?)",
    _FLAGS,
)
EXAMPLES = ("make the heading red", "change Old words to New words", "hide the footer", "move the sidebar right")
"""Some of what is understood; `heald build --help` lists more."""
_POLITE = re.compile(
    r"^(?:please|kindly|can you|could you|would you)[\s,]+|[\s,]*(?:please|thanks|thank you)?[\s.!?]*$", re.I
)
_AND = re.compile(
    rf"\s*(?:;|\n+|,\s*(?:and|then)\s|\sand\s(?:then\s)?|,\s)(?=(?:[^{_OPEN}{_CLOSE}]*[{_OPEN}][^{_CLOSE}]*[{_CLOSE}])*[^{_OPEN}{_CLOSE}]*$)\s*"
)
_DIMENSIONS = {"wide": "width", "tall": "height", "high": "height", "large": "font-size", "big": "font-size"}
_GROWN = (
    {"smaller": ("zoom", "0.8"), "italic": ("font-style", "italic")}
    | dict.fromkeys(("bigger", "larger"), ("zoom", "1.25"))
    | dict.fromkeys(("bold", "bolder"), ("font-weight", "700"))
)
_LONGEST = 600
_HEADING = re.compile(r"(?:the\s+)?(?:title|heading|headline)", _FLAGS)
_UNQUOTED = re.compile(
    r"(?:change|replace|rename)\s+(?:the\s+text\s+(?:of\s+)?)?(?P<before>\S.{0,199}?)\s+(?:to|with|by)\s+(?P<after>\S.{0,199})",
    _FLAGS,
)


def parse_unquoted(words: str) -> SetText | None:
    """Parse the change of a text without quotes. Only the page shows whether the first words are a text of it."""
    text = _POLITE.sub("", words.strip())
    match = _UNQUOTED.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    before = match["before"]
    return SetText(EditTarget(tag="h1") if _HEADING.fullmatch(before) else EditTarget(text=before), match["after"])


def parse_edits(words: str) -> list[Edit]:
    """Parse all edits of an instruction; return none if any part of it is not understood."""
    text = _POLITE.sub("", words.strip())
    if not text or len(text) > _LONGEST:
        return []
    whole = _parse_edit(text)
    if whole is not None:
        return [whole]
    parts = [_parse_edit(_POLITE.sub("", part.strip())) for part in _AND.split(text) if part.strip()]
    return [part for part in parts if part is not None] if len(parts) > 1 and None not in parts else []


def _parse_edit(text: str) -> Edit | None:
    return (
        _parse_text(text)
        or _parse_size(text)
        or _parse_emphasis(text)
        or _parse_place(text)
        or _parse_language(text)
        or _parse_colour(text)
        or _parse_removal(text)
    )


def _parse_text(text: str) -> Edit | None:
    command = next((candidate for pattern in _TEXT if (candidate := pattern.fullmatch(text))), None)
    return SetText(_parse_target(command), command["text"].strip()) if command is not None else None


def _parse_size(text: str) -> Edit | None:
    command = next((candidate for pattern in _MEASURE if (candidate := pattern.fullmatch(text))), None)
    if command is None:
        return None
    groups = command.groupdict()
    name = (
        _DIMENSIONS[groups["dimension"].lower()]
        if groups.get("dimension")
        else _SIZES[" ".join(groups["size"].lower().split())]
    )
    length = re.sub(r"\s", "", groups["length"].lower())
    return SetProperty(_parse_target(command), name, f"{length}px" if length[-1].isdigit() else length)


def _parse_emphasis(text: str) -> Edit | None:
    match = _GROW.fullmatch(text)
    return SetProperty(_parse_target(match), *_GROWN[match["grow"].lower()]) if match is not None else None


def _parse_colour(text: str) -> Edit | None:
    for pattern in _PAINT:
        match = pattern.fullmatch(text)
        if match is not None and (colour := _css_colour(match["colour"])):
            return SetColour(_parse_target(match), colour, (match["side"] or "").lower().replace("font", "text"))
    return None


def _parse_place(text: str) -> Edit | None:
    """Parse where an element stands: hidden, sticky, aligned, first or last."""
    if (match := _HIDE.fullmatch(text)) is not None:
        return SetProperty(_parse_target(match), "display", "none")
    if (match := _STICKY.fullmatch(text)) is not None:
        return MakeSticky(_parse_target(match))
    if (match := _ALIGN.fullmatch(text)) is not None:
        side = (match["side"] or "center").lower().replace("centre", "center")
        return SetProperty(_parse_target(match), "text-align", side)
    if (match := _MOVE.fullmatch(text)) is not None:
        return MoveElement(_parse_target(match), match["place"].lower() in _FIRST)
    return None


def _parse_language(text: str) -> Edit | None:
    match = _LANGUAGE.fullmatch(text)
    if match is None:
        return None
    word = match["language"].lower()
    code = _LANGUAGES.get(word, word if len(word) == _CODE_LENGTH or "-" in word else "")
    return SetLanguage(code) if code else None


def _parse_removal(text: str) -> Edit | None:
    if (match := _REMOVE.fullmatch(text)) is not None:
        return RemoveElement(_parse_target(match))
    if (match := _DUPLICATE.fullmatch(text)) is not None:
        return DuplicateElement(_parse_target(match))
    return None


def _css_colour(word: str) -> str:
    """Return a CSS colour; empty if the word is none."""
    from PIL.ImageColor import colormap

    plain = " ".join(word.lower().split())
    if plain.startswith("#"):
        return plain if len(plain) in (4, 5, 7, 9) else ""
    if "(" in plain:
        return plain
    return plain if plain in colormap or plain == "transparent" else ""


def _parse_target(match: re.Match[str]) -> EditTarget:
    groups = match.groupdict()
    kind = " ".join((groups.get("kind") or groups.get("kind2") or "").lower().split())
    text = (groups.get("quoted") or groups.get("quoted2") or "").strip()
    return EditTarget(text=text, tag=_KINDS.get(kind, ""))


_PATH = r"[`\"“']?(?P<path>[^\s`\"”'“]+)[`\"”']?"
_COMMANDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "run_command",
        re.compile(r"(?:run|execute)\s*:?\s+`(?P<ticked>[^`]+)`|(?:run|execute|\$|!)\s*:?\s*(?P<command>\S.*)", re.I),
    ),
    (
        "list_files",
        re.compile(
            rf"(?:list|ls|dir)(?:\s+(?:all\s+)?(?:the\s+)?files)?(?:\s+(?:in|of|under|below)(?:\s+the\s+folder)?)?(?:\s+{_PATH})?",
            re.I,
        ),
    ),
    ("read_file", re.compile(rf"(?:read|show|open|cat|print)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?{_PATH}", re.I)),
    (
        "search_files",
        re.compile(
            rf"(?:search|grep|find|look)(?:\s+for)?\s+(?:[\"“'`](?P<quoted>[^\"”'`]+)[\"”'`]|/(?P<pattern>.+)/|(?P<words>\S+))"
            rf"(?:\s+(?:in|under|below)\s+{_PATH})?",
            re.I,
        ),
    ),
)
_SPECIAL = re.compile(r"([^\w\s])", re.ASCII)
_MOST = 8
_SHOWN = 4_000
_TOOLS = {"list_files": "files", "read_file": "files", "search_files": "files", "run_command": "shell"}


def run_commands(request: LocalRequest) -> list[Part] | None:
    """Return the next call, or the answer after the last one; None if the instruction is not a command."""
    lines = [line.strip() for line in request.instruction.splitlines() if line.strip()]
    calls = [_command(line) for line in lines]
    if not calls or len(calls) > _MOST or None in calls or request.element is not None:
        return None
    commands = [call for call in calls if call is not None]
    missing = next((call.name for call in commands if not request.has(call.name)), None)
    if missing is not None:
        return [f"There is no tool {missing} here; give it to the session (--workspace . --tools {_TOOLS[missing]})."]
    done = request.calls_of(*_TOOLS)
    if len(done) < len(commands) and all(finished.result.status != "denied" for finished in done):
        return [commands[len(done)]]
    return ["\n\n".join(_describe_result(finished) for finished in done)]


def _command(line: str) -> ScriptedCall | None:
    for name, pattern in _COMMANDS:
        match = pattern.fullmatch(line.removesuffix("."))
        if match is not None:
            return ScriptedCall(
                name, _arguments(name, {key: value for key, value in match.groupdict().items() if value})
            )
    return None


def _arguments(name: str, groups: dict[str, str]) -> JsonObject:
    path: JsonObject = {"path": groups["path"]} if "path" in groups else {}
    match name:
        case "run_command":
            return {"command": groups.get("ticked") or groups["command"]}
        case "search_files":
            literal = groups.get("quoted") or groups.get("words") or ""
            return {"pattern": groups.get("pattern") or _SPECIAL.sub(r"\\\1", literal), **path}
        case _:
            return path


def _describe_result(done: FinishedCall) -> str:
    text = done.result.text.strip()
    what = done.call.input.get("command") or done.call.input.get("path") or done.call.input.get("pattern") or ""
    command = f"{done.call.name} {what}".strip()
    if done.result.status == "denied":
        return f"`{command}` was not allowed, so it was not done."
    if not done.ok:
        return f"`{command}` failed: {text[:_SHOWN]}"
    cut = "" if len(text) <= _SHOWN else f"\n({len(text) - _SHOWN} more characters)"
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"`{command}`:\n\n{fence}\n{text[:_SHOWN]}\n{fence}{cut}"
