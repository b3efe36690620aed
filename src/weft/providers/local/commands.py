"""Plain commands: list, read, search, run. Each line is one, and each becomes a call, one after the other."""

import re

from weft.core.json import JsonObject
from weft.providers.local.asked import Asked, Done
from weft.providers.scripted import Call, Part

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


def obey(asked: Asked) -> list[Part] | None:
    """The next call, or the answer after the last one; None if the words are no commands."""
    lines = [line.strip() for line in asked.words.splitlines() if line.strip()]
    calls = [_command(line) for line in lines]
    if not calls or len(calls) > _MOST or None in calls or asked.chosen is not None:
        return None
    wanted = [call for call in calls if call is not None]
    missing = next((call.name for call in wanted if not asked.has(call.name)), None)
    if missing is not None:
        return [f"There is no tool {missing} here; give it to the session (--workspace . --tools {_TOOLS[missing]})."]
    done = asked.made(*_TOOLS)
    if len(done) < len(wanted) and all(each.result.status != "denied" for each in done):
        return [wanted[len(done)]]
    return ["\n\n".join(_answer(each) for each in done)]


def _command(line: str) -> Call | None:
    for name, pattern in _COMMANDS:
        found = pattern.fullmatch(line.removesuffix("."))
        if found is not None:
            return Call(name, _arguments(name, {key: value for key, value in found.groupdict().items() if value}))
    return None


def _arguments(name: str, found: dict[str, str]) -> JsonObject:
    path: JsonObject = {"path": found["path"]} if "path" in found else {}
    match name:
        case "run_command":
            return {"command": found.get("ticked") or found["command"]}
        case "search_files":
            literal = found.get("quoted") or found.get("words") or ""
            return {"pattern": found.get("pattern") or _SPECIAL.sub(r"\\\1", literal), **path}
        case _:
            return path


def _answer(done: Done) -> str:
    """What came of a call."""
    text = done.result.text.strip()
    what = done.call.input.get("command") or done.call.input.get("path") or done.call.input.get("pattern") or ""
    said = f"{done.call.name} {what}".strip()
    if done.result.status == "denied":
        return f"`{said}` was not allowed, so it was not done."
    if not done.ok:
        return f"`{said}` failed: {text[:_SHOWN]}"
    cut = "" if len(text) <= _SHOWN else f"\n({len(text) - _SHOWN} more characters)"
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"`{said}`:\n\n{fence}\n{text[:_SHOWN]}\n{fence}{cut}"
