"""Each call of a tool has a copied context: what it sets in a context variable is not seen by later calls."""

from contextvars import ContextVar

import heald

_VARIABLE: ContextVar[str] = ContextVar("_VARIABLE", default="unset")


@heald.tool
async def set_variable() -> str:
    """Sets the variable."""
    _VARIABLE.set("set by a tool")
    return "done"


@heald.tool
async def read_variable() -> str:
    """Reads the variable."""
    return _VARIABLE.get()


async def test_a_call_leaves_no_context_variable_behind() -> None:
    script = heald.testing.ScriptedModel
    turns = [[script.call("set_variable")], [script.call("read_variable")], "Done."]
    values: list[str] = []
    async with heald.Agent(script(turns), tools=[set_variable, read_variable]) as agent:
        agent.subscribe(
            lambda event: (
                values.append(str(event.data.content))
                if isinstance(event.data, heald.events.ToolResult) and event.data.name == "read_variable"
                else None
            )
        )
        await agent.run("Set it, then read it.")
    assert values == ["unset"]
    assert _VARIABLE.get() == "unset"
