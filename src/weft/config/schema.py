"""The one schema of `weft.toml`. Every key is a flag's name with underscores; `docs/configuration.md` is made from it.

A key at the top counts for every command that has it as a flag, one in a command's own table for that command alone.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from weft.wires.quirks import Quirks

WireName = Literal["chat", "responses", "messages", "gemini", "ollama"]
AuthName = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "none"]
ModeName = Literal["read-only", "ask", "auto"]
EffortName = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
LevelName = Literal["debug", "info", "warning", "error"]
Names = str | list[str]
_Port = Annotated[int, Meta(ge=0, le=65535)]
_Count = Annotated[int, Meta(ge=1)]
_Amount = Annotated[float, Meta(gt=0)]

_OWN = {"user_only": True}
"""What no folder may say, not even one that is trusted."""
_PATH = {"path": True}


def _says(text: str, **extra: Any) -> Meta:
    return Meta(description=text, extra=extra)


_Model = Annotated[str | UnsetType, _says("provider/model, or with `base_url` the name that the endpoint knows")]
_Models = Annotated[Names | UnsetType, _says("one or several, as provider/model")]
_BaseUrl = Annotated[str | UnsetType, _says("an endpoint of your own for `model`, which stands beside it")]
_Wire = Annotated[WireName | UnsetType, _says("what that endpoint speaks")]
_KeyEnv = Annotated[str | UnsetType, _says("the variable, or the name in the keyring, that holds that endpoint's key")]
_Effort = Annotated[EffortName | UnsetType, _says("how much a model may think")]
_System = Annotated[str | UnsetType, _says("instructions that stand above the conversation")]
_Tools = Annotated[Names | UnsetType, _says("tools or families: files, read, shell, web, todo, ask, all, none")]
_Permissions = Annotated[ModeName | UnsetType, _says("what needs no question")]
_Rule = Annotated[
    list[str] | UnsetType, _says("such as `deny run_command(rm *)`; the rules of all places count together")
]
_Unsandboxed = Annotated[bool | UnsetType, _says("run commands without a sandbox", **_OWN)]
_Data = Annotated[str | UnsetType, _says("the folder that sessions are kept in", **_PATH)]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Keys that belong together. What is not set is UNSET."""


class Endpoint(Table, frozen=True, kw_only=True):
    """Where a model is asked."""

    base_url: _BaseUrl = UNSET
    wire: _Wire = UNSET
    api_key_env: _KeyEnv = UNSET


class Work(Endpoint, frozen=True, kw_only=True):
    """Who works, and what it may do."""

    model: _Model = UNSET
    effort: _Effort = UNSET
    system: _System = UNSET
    tools: _Tools = UNSET
    permissions: _Permissions = UNSET
    rule: _Rule = UNSET
    unsandboxed: _Unsandboxed = UNSET


class Everywhere(Work, frozen=True, kw_only=True):
    """At the top: for every command that has such a flag."""

    data: _Data = UNSET


class AgentTable(Table, frozen=True, kw_only=True):
    """What every agent is told, those of your own programs included."""

    instructions: Annotated[str | UnsetType, _says("a text")] = UNSET
    instructions_file: Annotated[str | UnsetType, _says("a text file beside this one", **_PATH)] = UNSET


class ProviderTable(Table, frozen=True, kw_only=True):
    """An endpoint of your own, named as NAME/model."""

    wire: Annotated[WireName, _says("what it speaks")]
    base_url: Annotated[str, _says("where it is")]
    api_key_env: _KeyEnv = UNSET
    auth: Annotated[AuthName | UnsetType, _says("how the key is sent, if not as the wire usually does")] = UNSET
    headers: Annotated[dict[str, str] | UnsetType, _says("sent with every request; none that holds a key")] = UNSET
    quirks: Annotated[Quirks | UnsetType, _says("habits of the server")] = UNSET


class ServeTable(Endpoint, frozen=True, kw_only=True):
    """`weft serve`."""

    host: Annotated[str | UnsetType, _says("where it listens", **_OWN)] = UNSET
    port: Annotated[_Port | UnsetType, _says("0 takes any that is free")] = UNSET
    no_token: Annotated[bool | UnsetType, _says("let in all of this machine", **_OWN)] = UNSET
    allow_origin: Annotated[list[str] | UnsetType, _says("pages elsewhere that may ask", **_OWN)] = UNSET
    data: _Data = UNSET
    workspace: Annotated[list[str] | UnsetType, _says("folders to offer", **_PATH)] = UNSET
    model: _Model = UNSET
    tools: _Tools = UNSET
    permissions: _Permissions = UNSET
    unsandboxed: _Unsandboxed = UNSET
    max_exchanges: Annotated[_Count | UnsetType, _says("at once, for each client")] = UNSET
    max_tokens_per_day: Annotated[_Count | UnsetType, _says("for each client")] = UNSET
    max_usd_per_day: Annotated[_Amount | UnsetType, _says("for each client")] = UNSET
    open: Annotated[bool | UnsetType, _says("whether a browser is opened")] = UNSET
    log: Annotated[LevelName | UnsetType, _says("what is worth a line")] = UNSET


class BuildTable(Endpoint, frozen=True, kw_only=True):
    """`weft build`."""

    stack: Annotated[str | UnsetType, _says("what pages are written in")] = UNSET
    variants: Annotated[_Count | UnsetType, _says("agents at work side by side")] = UNSET
    score: Annotated[bool | UnsetType, _says("whether pages are rendered and compared")] = UNSET
    design_system: Annotated[str | UnsetType, _says("a text about colours, fonts and components", **_PATH)] = UNSET
    model: _Models = UNSET
    output: Annotated[str | UnsetType, _says("the folder that pages are written to", **_PATH)] = UNSET
    data: Annotated[str | UnsetType, _says("keep projects there; the `data` at the top does not count", **_PATH)] = (
        UNSET
    )


class ChatTable(Work, frozen=True, kw_only=True):
    """`weft chat`."""

    data: _Data = UNSET


class RunTable(Work, frozen=True, kw_only=True):
    """`weft run`."""

    max_output: Annotated[_Count | UnsetType, _says("tokens that a model may write in one turn")] = UNSET
    workspace: Annotated[str | UnsetType, _says("the folder that tools work in", **_PATH)] = UNSET
    max_turns: Annotated[_Count | UnsetType, _says("turns of an exchange")] = UNSET
    max_tokens: Annotated[_Count | UnsetType, _says("tokens of all turns together")] = UNSET
    max_usd: Annotated[_Amount | UnsetType, _says("what an exchange may cost")] = UNSET
    max_seconds: Annotated[_Amount | UnsetType, _says("how long an exchange may take")] = UNSET


class EvalTable(Endpoint, frozen=True, kw_only=True):
    """`weft eval`."""

    stacks: Annotated[Names | UnsetType, _says("what pages are written in")] = UNSET
    seconds: Annotated[_Amount | UnsetType, _says("for one conversion")] = UNSET
    model: _Models = UNSET
    output: Annotated[str | UnsetType, _says("the folder that the report is written to", **_PATH)] = UNSET


COMMANDS: dict[str, type[Table]] = {
    "serve": ServeTable,
    "build": BuildTable,
    "chat": ChatTable,
    "run": RunTable,
    "eval": EvalTable,
}
"""Commands with a table of their own."""
TABLES: dict[str, type[Table]] = {"agent": AgentTable, **COMMANDS}
PROVIDERS = "providers"


def counts_everywhere(command: str, key: str) -> bool:
    """Whether a key at the top of a file counts for a command."""
    return key in Everywhere.__struct_fields__ and (command, key) != ("build", "data")
