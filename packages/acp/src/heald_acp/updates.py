"""Reads what agents report in `session/update`: calls, content, usage and cost. Every field may be missing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from heald.core.json import JsonObject, as_int, as_list, as_object, as_objects, encode_text
from heald.core.messages import Image, ResultPart, Text
from heald.core.turn import Usage
from heald.providers.tool_host import Outcome
from heald.wires.billed_cost import read_amount

DONE = ("completed", "failed")
PATH_NAMES = ("file_path", "filePath", "filepath", "path", "abs_path", "notebook_path", "absolute_path")
"""The names that agents have for the argument with a path."""
_KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
_MAX_TERMINAL = 1_000_000
"""Characters of a terminal's output that are kept, the last ones."""
TOOL_NAMES = tuple(f"acp_{kind}" for kind in _KINDS)
"""The names of calls in the log."""


@dataclass
class ReportedCall:
    """A call as the agent has described it so far. Each report replaces the fields that it has."""

    id: str
    kind: str = "other"
    title: str = ""
    status: str = "pending"
    raw_input: JsonObject = field(default_factory=dict[str, object])
    raw_output: object = None
    locations: list[str] = field(default_factory=list[str])
    content: list[JsonObject] = field(default_factory=list[JsonObject])
    terminal: str = ""
    """The output of a terminal of the agent's own, which some agents report beside the content."""

    def update(self, report: JsonObject) -> None:
        kind, title, status = report.get("kind"), report.get("title"), report.get("status")
        self.kind = kind if isinstance(kind, str) and kind in _KINDS else self.kind
        self.title = title if isinstance(title, str) and title else self.title
        if self.status not in DONE:
            self.status = status if isinstance(status, str) else self.status
        self.raw_input = as_object(report.get("rawInput")) or self.raw_input
        self.raw_output = report.get("rawOutput", self.raw_output)
        paths = [place["path"] for place in as_objects(report.get("locations")) if isinstance(place.get("path"), str)]
        self.locations = paths or self.locations
        self.content = as_objects(report.get("content")) or self.content
        self.terminal = (self.terminal + _terminal_output(as_object(report.get("_meta"))))[-_MAX_TERMINAL:]

    @property
    def name(self) -> str:
        """The name of the call in the log: by its kind, so that rules count for every agent."""
        is_plan = self.kind == "other" and self.raw_input.keys() == {"todos"}
        return "acp_think" if is_plan else f"acp_{self.kind}"

    @property
    def diffs(self) -> list[JsonObject]:
        return [part for part in self.content if part.get("type") == "diff"]

    @property
    def paths(self) -> list[str]:
        """The files that it names, as the agent writes them."""
        named = [value for name in PATH_NAMES if isinstance(value := self.raw_input.get(name), str)]
        changed = [path for diff in self.diffs if isinstance(path := diff.get("path"), str)]
        return list(dict.fromkeys([*self.locations, *named, *changed]))

    def arguments(self) -> JsonObject:
        """The arguments in the log: those of the agent, with the files that only its report names."""
        if self.raw_input:
            is_named = any(name in self.raw_input for name in (*PATH_NAMES, "paths", "command"))
            return {**self.raw_input, **({} if is_named or not self.paths else {"paths": self.paths})}
        arguments: JsonObject = {}
        if self.kind == "execute":
            arguments["command"] = self.title
        elif self.title:
            arguments["title"] = self.title
        if self.paths:
            arguments["paths"] = self.paths
        changes = [{"path": d.get("path"), "old": d.get("oldText"), "new": d.get("newText")} for d in self.diffs]
        if changes:
            arguments["changes"] = changes
        return arguments

    def outcome(self) -> Outcome:
        """The result of a call that is done."""
        parts: list[ResultPart] = [part for block in self.content for part in _result_parts(block)]
        if not parts and self.terminal:
            parts = [Text(self.terminal)]
        if not parts:
            output = as_object(self.raw_output).get("output", self.raw_output)
            text = output if isinstance(output, str) else encode_text(output) if output else self.status
            parts = [Text(text)]
        only = parts[0] if len(parts) == 1 else None
        return Outcome(only.text if isinstance(only, Text) else parts, self.status == "failed")


def _terminal_output(meta: JsonObject) -> str:
    """The new output in a report: the extension of agents that run commands themselves."""
    texts = (as_object(meta.get(name)).get("data") for name in ("terminal_output", "terminal_output_delta"))
    return "".join(text for text in texts if isinstance(text, str))


def _result_parts(block: JsonObject) -> Iterable[ResultPart]:
    if block.get("type") == "diff":
        yield Text(f"{block.get('path')} was changed.")
    elif block.get("type") == "content":
        yield from content_parts([as_object(block.get("content"))])


def content_parts(blocks: Sequence[JsonObject]) -> Iterable[ResultPart]:
    """Convert content blocks: text, pictures, and links and resources as text."""
    for block in blocks:
        match block.get("type"):
            case "text":
                yield Text(str(block.get("text") or ""))
            case "image" if isinstance(block.get("data"), str):
                yield Image(media_type=str(block.get("mimeType") or "image/png"), data=block["data"])
            case "resource_link":
                yield Text(str(block.get("uri") or ""))
            case "resource":
                resource = as_object(block.get("resource"))
                yield Text(str(resource.get("text") or resource.get("uri") or ""))
            case _:
                continue


def text_of(content: object) -> str:
    """The text of one content block."""
    return "".join(part.text for part in content_parts([as_object(content)]) if isinstance(part, Text))


def read_plan(update: JsonObject) -> JsonObject:
    """Return a plan as the arguments of `todo_list`."""
    states = {"completed": "done", "in_progress": "in_progress"}
    return {
        "items": [
            {"text": str(entry["content"])[:500], "status": states.get(str(entry.get("status")), "pending")}
            for entry in as_objects(update.get("entries"))
            if str(entry.get("content") or "").strip()
        ][:100]
    }


def read_cost(update: JsonObject) -> float | None:
    """Return the cost of the agent's session so far in US dollars, if a `usage_update` has it."""
    cost = as_object(update.get("cost"))
    return read_amount(cost.get("amount")) if cost.get("currency") == "USD" else None


def read_usage(report: JsonObject) -> Usage | None:
    """Return the tokens of a report: of `usage`, or of the quota that Gemini CLI reports."""
    quota = as_object(as_object(as_object(report.get("_meta")).get("quota")).get("token_count"))
    counts = as_object(report.get("usage")) or as_object(as_object(report.get("_meta")).get("usage")) or quota
    read, written = _count(counts, "inputTokens", "input_tokens"), _count(counts, "outputTokens", "output_tokens")
    if read is None and written is None:
        return None
    thought, cached = _count(counts, "thoughtTokens"), _count(counts, "cachedReadTokens", "cachedInputTokens")
    stored, total = _count(counts, "cachedWriteTokens"), _count(counts, "totalTokens")
    if read is not None and cached and total == read + (written or 0) + (thought or 0):
        read = max(read - cached, 0)  # this agent counts cached tokens as input, too
    return Usage(input=read, cache_read=cached, cache_write=stored, output=written, reasoning=thought)


def _count(counts: JsonObject, *names: str) -> int | None:
    values = (as_int(counts.get(name)) for name in names)
    return next((value for value in values if value is not None and value >= 0), None)


def model_choices(session: JsonObject) -> tuple[str, list[str]]:
    """Return how a session's model is set, and the names of the models: by `set_model` or by a config option."""
    for choice in as_objects(session.get("configOptions")):
        if choice.get("category") == "model" or choice.get("id") == "model":
            return str(choice.get("id")), [str(item.get("value")) for item in _options(choice)]
    models = as_objects(as_object(session.get("models")).get("availableModels"))
    return "", [str(model.get("modelId")) for model in models]


def _options(choice: JsonObject) -> Iterable[JsonObject]:
    for item in as_objects(choice.get("options")):
        yield from as_objects(as_list(item["options"])) if "options" in item else [item]


def mode_names(session: JsonObject) -> list[str]:
    """Return the modes that a session can have."""
    return [str(mode.get("id")) for mode in as_objects(as_object(session.get("modes")).get("availableModes"))]
