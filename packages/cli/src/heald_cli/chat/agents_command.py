"""`/agents` of `heald chat`: the sub-agents of a conversation with their state, cost and changes."""

import asyncio
from typing import TYPE_CHECKING

from heald.core.errors import ConfigurationError
from heald.core.messages import Message, Text
from heald.tools.sanitize import sanitize_text
from heald_cli.approval_view import diff_lines

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

_NONE = "There are no agents here; .heald/agents/NAME.md is one: `description` in its front matter, instructions below."
_USAGE = "/agents N shows the answer and the diff of one; /agents apply N applies its changes, /agents stop N ends it."
_MAX_LINES = 400


async def run_agents_command(console: "ChatConsole", text: str) -> None:
    """List the sub-agents, show one, apply its changes, or end it."""
    sub_agents = console.chat.sub_agents
    if sub_agents is None:
        console.note(_NONE)
        return
    action, _, word = text.rpartition(" ")
    if not word:
        console.note(f"Agents: {', '.join(sub_agents.names)}.")
        console.note(*(f"  {sub_agent.describe()}" for sub_agent in sub_agents.started))
        console.note(_USAGE if sub_agents.started else "The model has started none yet.")
        return
    sub_agent = sub_agents.find(word)
    match action.strip():
        case "":
            console.note(sub_agent.describe())
            console.screen.print(*(f"  {line}" for line in sanitize_text(sub_agent.answer).splitlines()))
            if diff := await asyncio.to_thread(sub_agent.diff):
                console.screen.print(*diff_lines(diff, console.paint, most=_MAX_LINES, heads=True))
        case "stop":
            await sub_agents.stop(sub_agent)
            console.note(sub_agent.describe())
        case "apply":
            paths = await sub_agents.apply(sub_agent)
            session = console.chat.session
            line = f"The changes of {sub_agent.name} are applied: {', '.join(paths)}."
            console.note(f"{line} /undo undoes them.")
            session.notify_model(Message(role="user", content=[Text(line)], said=f"!{sub_agent.name} applied"))
            console.applied_seq = session.last_seq
        case other:
            raise ConfigurationError(f"There is no /agents {other[:40]}. {_USAGE}")
