"""Serves an editor on standard input and output until it closes the connection."""

import asyncio
import signal
from contextlib import suppress

from acp import Agent, AgentSideConnection

from heald_cli.editors.agent import EditorAgent
from heald_cli.editors.server_agent import ServerEditorAgent
from heald_cli.editors.stdio_transport import StdioTransport

_LAST_SECONDS = 5.0
"""Time limit for the answers to the last requests once the input has ended."""


async def serve_editor(agent: EditorAgent | ServerEditorAgent) -> None:
    """Serve one editor. At the end of the input, or when the process is terminated, all sessions are closed or left."""
    transport = await StdioTransport.open()
    connection = AgentSideConnection(_as_agent(agent), transport, listening=False, use_unstable_protocol=True)
    listening = asyncio.ensure_future(connection.listen())
    for name in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError, RuntimeError):  # signals work in the main thread of POSIX systems only
            asyncio.get_running_loop().add_signal_handler(name, listening.cancel)
    try:
        await listening
    except asyncio.CancelledError:
        pass
    finally:
        agent.cancel_all()
        await transport.wait_answered(_LAST_SECONDS)
        await agent.close()
        await connection.close()


def _as_agent(agent: EditorAgent | ServerEditorAgent) -> Agent:
    return agent
