"""The prompts of MCP servers, which a user chooses by name and fills in."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import mcp_types as types
import msgspec
from mcp import Client

from heald.core.errors import ConfigurationError
from heald.core.messages import ResultPart, Text
from heald.tools.mcp.config import shorten
from heald.tools.mcp.content import MAX_PARTS, convert_block
from heald.tools.mcp.pages import read_pages

if TYPE_CHECKING:
    from heald.tools.mcp.connection import McpConnection


async def list_prompts(client: Client) -> list[types.Prompt]:
    return await read_pages(lambda cursor: client.list_prompts(cursor=cursor), lambda page: page.prompts)


class McpPrompt(msgspec.Struct, frozen=True):
    """A prompt: its server, its name there, and its arguments in order."""

    server: str
    name: str
    description: str
    arguments: tuple[str, ...]
    required: tuple[str, ...]

    @classmethod
    def of(cls, server: str, prompt: types.Prompt) -> "McpPrompt":
        arguments = prompt.arguments or []
        return cls(
            server,
            prompt.name,
            shorten(prompt.description or prompt.title or "", 200),
            tuple(argument.name for argument in arguments),
            tuple(argument.name for argument in arguments if argument.required),
        )

    @property
    def command(self) -> str:
        """Its name as a command, without the slash."""
        return f"{self.server}:{self.name}"

    @property
    def usage(self) -> str:
        words = [name if name in self.required else f"[{name}]" for name in self.arguments]
        return " ".join([f"/{self.command}", *words])

    def parse_arguments(self, text: str) -> dict[str, str]:
        """Read words in the order of the arguments, or `name=value`. The last argument gets all remaining words."""
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
        values: dict[str, str] = {}
        free: list[str] = []
        for word in words:
            name, sign, value = word.partition("=")
            if sign and name in self.arguments and name not in values:
                values[name] = value
            else:
                free.append(word)
        open_names = [name for name in self.arguments if name not in values]
        if free and not open_names:
            raise ConfigurationError(f"{free[0][:40]!r} is too much; write {self.usage}.")
        for at, name in enumerate(open_names[: len(free)]):
            values[name] = " ".join(free[at:]) if name == open_names[-1] else free[at]
        missing = [name for name in self.required if name not in values]
        if missing:
            raise ConfigurationError(f"The prompt needs {missing[0]!r}; write {self.usage}.")
        return values


def find_prompt(prompts: Sequence[McpPrompt], command: str) -> McpPrompt | None:
    """Find a prompt by `server:name` or `mcp__server__name`."""
    return next(
        (prompt for prompt in prompts if command in (prompt.command, f"mcp__{prompt.server}__{prompt.name}")), None
    )


async def get_prompt(server: "McpConnection", name: str, arguments: dict[str, str]) -> list[ResultPart]:
    """Return the content of a prompt. Messages of the assistant's role are quoted as such."""
    result = await server.request(name, lambda client: client.get_prompt(name, arguments))
    parts: list[ResultPart] = []
    for message in result.messages[:MAX_PARTS]:
        part = convert_block(message.content)
        if message.role == "assistant" and isinstance(part, Text):
            part = Text(f"[You answered: {part.text}]")
        parts.append(part)
    return parts
