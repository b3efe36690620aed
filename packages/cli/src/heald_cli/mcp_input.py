"""Prompts and resources of MCP servers in what a user types: `/server:prompt words` and `@server:address`."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald.core.errors import HealdError
from heald.core.lazy import lazy_pattern
from heald.core.messages import ResultPart

if TYPE_CHECKING:
    from heald.tools.mcp import McpServers
    from heald.tools.mcp.prompts import McpPrompt

_MENTION = lazy_pattern(r"(?<!\S)@([A-Za-z0-9_-]{1,32}):([^\s:][^\s]*)")
_PARTIAL = lazy_pattern(r"(?<!\S)@([^\s\"]*)\Z")
_MAX_MENTIONS = 20


def prompt_commands(servers: "McpServers | None") -> "list[McpPrompt]":
    """The prompts that can be typed as commands."""
    return servers.prompts if servers is not None else []


async def expand_prompt(servers: "McpServers | None", text: str) -> list[ResultPart] | None:
    """Return the content of the prompt that a line names, or None if it names none."""
    if servers is None or not text.startswith("/"):
        return None
    from heald.tools.mcp.prompts import find_prompt

    name, _, rest = text[1:].strip().partition(" ")
    prompt = find_prompt(servers.prompts, name)
    return await servers.get_prompt(prompt, prompt.parse_arguments(rest)) if prompt is not None else None


async def attach_resources(servers: "McpServers | None", text: str) -> tuple[list[ResultPart], list[str]]:
    """Return the content of the resources that a text mentions, and sentences about those that cannot be read."""
    parts: list[ResultPart] = []
    faults: list[str] = []
    if servers is None:
        return parts, faults
    names = servers.names
    mentions = dict.fromkeys((server, uri.rstrip(",;!?")) for server, uri in _MENTION.findall(text) if server in names)
    for server, uri in list(mentions)[:_MAX_MENTIONS]:
        try:
            parts += await servers.read_resource(server, uri)
        except HealdError as error:
            faults.append(f"@{server}:{uri} was not attached: {error}")
    return parts, faults


def complete_resource(servers: "McpServers | None", text: str) -> tuple[str, Sequence[str]]:
    """Complete a text that ends in `@server:add`: the text with the common part of all matches, and the matches."""
    mention = _PARTIAL.search(text)
    if mention is None or servers is None:
        return text, ()
    names = [name for server, uri, _ in servers.resources if (name := f"{server}:{uri}").startswith(mention[1])]
    if not names:
        return text, ()
    common = os.path.commonprefix(names)  # noqa: RUF071 - a name is completed by characters
    return f"{text[: mention.start(1)]}{common}", names
