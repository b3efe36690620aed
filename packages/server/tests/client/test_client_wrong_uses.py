"""Wrong uses of `connect` and `App`, and the forms of prompts that are sent to a server."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from client_bench import serving

import heald
from heald.core.errors import ConfigurationError
from heald.core.messages import Message, assistant, user_message
from heald.testing import ScriptedModel
from heald_server import App, connect

URL = "http://localhost:1"


def app(**options: Any) -> App:
    return App(heald.Agent(ScriptedModel(["Fine."])), **options)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: connect(None), "connect: url must be a str, not None."),  # pyright: ignore[reportArgumentType]
    (lambda: connect(URL, "t", sesion="s"), "did you mean 'session'?"),  # pyright: ignore
    (lambda: connect(URL, "t", session=""), "leave it out for a new one."),
    (lambda: connect(URL, "t", tools="files"), "put it in a list: ['files']."),
    (lambda: connect(URL, "t", permissions="aks"), "did you mean 'ask'?"),  # pyright: ignore[reportArgumentType]
    (lambda: connect(URL, "t", patience="long"), "must be a number, not 'long'."),  # pyright: ignore[reportArgumentType]
    (lambda: App("gpt-5"), "App: agent must be an Agent or a function, not 'gpt-5'."),  # pyright: ignore
    (lambda: app(store=None), "store must be a Store or a str, not None."),
    (lambda: app(origins="https://example.org"), "put it in a list: ['https://example.org']."),
    (lambda: app(auth="nobody"), "App: auth must be"),
    (lambda: app(limit=5), "did you mean 'limits'?"),
    (lambda: app(protocols="native"), "put it in a list: ['native']."),
]


@pytest.mark.parametrize(("use", "sentence"), WRONG)
def test_a_wrong_use_gets_a_sentence(use: Callable[[], object], sentence: str) -> None:
    with pytest.raises((ConfigurationError, TypeError), match=re.escape(sentence)):
        use()


async def test_a_remote_agent_reads_messages_and_refuses_what_it_cannot_send() -> None:
    async with serving("Fine.") as server, server.client() as agent:
        assert (await agent.run([{"role": "user", "content": "Hello"}])).text == "Fine."
        for prompt in (None, b"hi", [1], Message(role="user", content=[5])):  # pyright: ignore[reportArgumentType]
            with pytest.raises(ConfigurationError):
                await agent.run(prompt)  # pyright: ignore[reportArgumentType]
        with pytest.raises(ConfigurationError, match="as history= and instructions=, and send the last message"):
            await agent.run([user_message("a"), assistant("b"), user_message("c")])
