"""The part below the conversation: what is drawn beside other output counts as shown."""

import asyncio
import sys
from io import StringIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from heald_cli.chat.screen import ChatScreen


async def until_drawn(stream: StringIO, words: str) -> None:
    async with asyncio.timeout(60):
        while words not in stream.getvalue():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    stream.truncate(0)


async def test_a_row_that_output_was_drawn_without_is_drawn_after_it() -> None:
    """The end of an answer is printed without the rows of background commands, which come with the next refresh."""
    stream = StringIO()
    with create_pipe_input() as pipe:
        output = Vt100_Output(stream, lambda: Size(rows=24, columns=80), enable_cpr=False)
        screen = ChatScreen(sys.stdout, source=pipe, output=output)
        running = asyncio.create_task(screen.run())
        await until_drawn(stream, "›")
        screen.tail = ["command-1"]
        screen.refresh()
        await until_drawn(stream, "command-1")
        screen.tail = []
        screen.print("The end of the answer.")
        await until_drawn(stream, "›")
        screen.tail = ["command-1"]
        screen.refresh()
        await until_drawn(stream, "command-1")
        screen.close()
        await running
