"""`find_tools` and `use_tool`: tools that are offered by name only, found by words, and called by name."""

from collections import Counter
from collections.abc import Callable, Sequence

from heald.core.json import JsonObject, as_object, encode_text, loads
from heald.core.messages import ToolCall, ToolDefinition
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_index import ToolIndex
from heald.tools.tool_output import ToolOutput

FIND_TOOLS, USE_TOOL = "find_tools", "use_tool"
_MOST, _MORE = 5, 10
"""Tools that one search describes, and further ones that it names."""
_NEAREST = 8
"""Tools that a small model is offered for a request."""
_LEAST_SHARE = 0.5
"""The least score of a tool that a small model is offered, as a share of the best score."""
_LONG_DESCRIPTION = 1500
"""Characters of a description that a search returns."""
_LINES = (90, 45)
"""Characters of the description of a tool in the list, from the roomiest list to the tightest."""
_FIND = (
    "Find tools by what they do. There are {count} tools that are not described here. The result describes the ones "
    "that fit, with their arguments; call them with use_tool. Search before you say that something cannot be done."
)
_FIND_DIRECT = "Find more tools by what they do, if none of the others fits. There are {count} more."
_USE = "Call a tool that find_tools has described."


class ToolFinder:
    """The tools that a model is not shown in full, and the two tools that lead to them."""

    def __init__(
        self,
        definitions: Sequence[ToolDefinition],
        room: int,
        *,
        direct: bool = False,
        offered: Sequence[ToolDefinition] = (),
    ) -> None:
        """`room` is the most bytes of their list. With `direct` a model calls by its name what it has found.

        `offered` are tools that it is shown in full anyway: where they fit a request better, others are not chosen.
        """
        self._definitions = definitions
        self._names = {definition.name for definition in definitions}
        self._all = [*definitions, *offered]
        self._index: ToolIndex | None = None
        self.search_results: dict[str, ToolDefinition] = {}
        """The tools that searches have returned."""
        text = (_FIND_DIRECT if direct else _FIND).format(count=len(definitions))
        finder = find_tools(self._find, f"{text}\n{_list(definitions, room)}", direct=direct)
        self.tools = (finder,) if direct else (finder, USE)

    def nearest(self, request: str) -> list[ToolDefinition]:
        """Return tools with distinct names, in their order, and those that the words of a request find, best first.

        The distinct ones of small groups come first while there is room: look-alikes can be found by a search.
        """
        best = self._rank(request, _MOST, _LEAST_SHARE)
        groups = Counter(_group(definition.name) for definition in self._definitions)
        candidates = [definition for definition in self._get_index().distinct() if definition.name in self._names]
        others = [definition for definition in candidates if definition not in best]
        others.sort(key=lambda definition: groups[_group(definition.name)])
        distinct = [tool for tool in candidates if tool in best or tool in others[: _NEAREST - len(best)]]
        return [*distinct, *(definition for definition in best if definition not in distinct)]

    def _find(self, query: str) -> list[ToolDefinition]:
        definitions = self._rank(query, _MOST + _MORE)
        self.search_results |= {definition.name: definition for definition in definitions[:_MOST]}
        return definitions

    def _rank(self, query: str, most: int, share: float = 0.0) -> list[ToolDefinition]:
        ranking = self._get_index().find(query, len(self._all), share)
        return [definition for definition in ranking if definition.name in self._names][:most]

    def _get_index(self) -> ToolIndex:
        if self._index is None:
            self._index = ToolIndex(self._all)
        return self._index


def find_tools(find: Callable[[str], Sequence[ToolDefinition]], description: str, *, direct: bool = False) -> Tool:
    """The tool that searches. With `direct` what it finds is offered by its own name in the next request."""
    usage = "Call one by its name." if direct else f'Call one with {USE_TOOL}: {{"name": …, "arguments": {{…}}}}.'

    async def run(arguments: JsonObject, _: ToolContext) -> ToolOutput:
        query = str(arguments["query"])
        definitions = find(query)
        if not definitions:
            raise ToolFault(f"No tool fits {query[:200]!r}; use other words, or the name of a tool.")
        names = [definition.name for definition in definitions]
        parts = [_describe(definition) for definition in definitions[:_MOST]]
        if len(names) > _MOST:
            parts.append(f"Further tools, found by their names: {', '.join(names[_MOST:])}.")
        text = "\n\n".join([*parts, usage])
        return ToolOutput(content=text, summary=", ".join(names[:_MOST]), data={"tools": names[:_MOST]})

    schema: JsonObject = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "what the tool should do, or names of tools"}},
        "required": ["query"],
    }
    definition = ToolDefinition(name=FIND_TOOLS, description=description, input_schema=schema)
    return Tool(definition=definition, run=run, effect="none", idempotent=True)


def read_use(arguments: JsonObject) -> ToolCall:
    """Return the call that a call of `use_tool` stands for; its id is that of the call. Raises ToolFault."""
    name = str(arguments["name"])
    values: object = arguments.get("arguments", {})
    if isinstance(values, str):  # some models write the object as text
        try:
            values = loads(values)
        except ValueError:
            values = None
    if not isinstance(values, dict):
        raise ToolFault(
            f"The arguments of {name[:100]!r} must be an object, so nothing was run.", status="invalid_input"
        )
    return ToolCall(id="", name=name, input=as_object(values))


async def _never_run(_: JsonObject, context: ToolContext) -> str:
    raise ToolFault(f"{context.call.name} stands for another tool and does not run itself.")


USE = Tool(
    definition=ToolDefinition(
        name=USE_TOOL,
        description=_USE,
        input_schema={
            "type": "object",
            "properties": {"name": {"type": "string"}, "arguments": {"type": ["object", "string"]}},
            "required": ["name"],
        },
    ),
    run=_never_run,
    stands_for=read_use,
)
"""The tool that calls one that was found."""


def _describe(definition: ToolDefinition) -> str:
    description = definition.description.strip()
    if len(description) > _LONG_DESCRIPTION:
        description = f"{description[:_LONG_DESCRIPTION]}…"
    return f"# {definition.name}\n{description}\narguments: {encode_text(definition.input_schema)}"


def _list(definitions: Sequence[ToolDefinition], room: int) -> str:
    """List the tools in the longest form that fits: with a line each, by name, or by the groups of their names."""
    for width in _LINES:
        lines = [f"- {definition.name}: {_first_line(definition.description, width)}" for definition in definitions]
        if sum(len(line.encode()) + 1 for line in lines) <= room:
            return "\n".join(lines)
    names = ", ".join(definition.name for definition in definitions)
    if len(names.encode()) <= room:
        return names
    groups = Counter(_group(definition.name) for definition in definitions)
    listed = ""
    for group, count in groups.most_common():
        entry = f"{group}… ({count})" if count > 1 else group
        if len(listed.encode()) + len(entry.encode()) > room:
            return f"{listed}, …"
        listed = f"{listed}, {entry}" if listed else entry
    return listed


def _group(name: str) -> str:
    """The part of a name that tools of one server share."""
    head, mark, _ = name.partition("__")
    if not mark:
        head, mark, _ = name.partition("_")
    return head + mark


def _first_line(description: str, width: int) -> str:
    line = " ".join(description.strip().partition("\n")[0].split())
    sentence, mark, _ = line.partition(". ")
    line = sentence + mark.strip()
    return line if len(line) <= width else f"{line[: width - 1].rsplit(' ', 1)[0]}…"
