"""Wrong uses of the library and what each of them says, as one table; and the forms of prompts that are read."""

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import heald
from heald import Agent, Approval, Budget, Message, Model, Permissions, Reason, Retry, ServerTool, Settings, Timeouts
from heald.agent.request_callbacks import OnApproval
from heald.core.errors import ConfigurationError
from heald.core.events import UserMessage
from heald.core.messages import File, Image, Text, ToolCall, ToolResult, assistant, user_message
from heald.sessions.store_errors import UnreadableEvent
from heald.testing import ScriptedModel


def scripted(*turns: Any) -> ScriptedModel:
    return ScriptedModel([*turns] or ["Fine."])


def agent(**options: Any) -> Agent:
    return Agent(scripted(), **options)


def run(prompt: Any) -> Any:
    made = agent()
    try:
        return made.run_sync(prompt)
    finally:
        if made._background is not None:  # pyright: ignore[reportPrivateUsage]
            made._background.close()  # pyright: ignore[reportPrivateUsage]


@heald.tool(effect="write")
def change(text: str) -> str:
    """Change a text."""
    return text.upper()


def with_rules(*rules: str) -> Agent:
    return agent(tools=["shell", change], permissions=Permissions("auto", rules))


WRONG: list[tuple[str, Callable[[], object], str]] = [
    # the model
    ("model None", lambda: Agent(None), "model must be a str, a Model or a CustomModel, not None."),  # pyright: ignore
    ("model a number", lambda: Agent(5), "model must be a str, a Model or a CustomModel, not 5."),  # pyright: ignore
    ("model empty", lambda: Agent(""), "The model '' names no provider"),
    ("provider misspelt", lambda: Agent("opnai/gpt-5"), "did you mean 'openai'?"),
    ("no provider", lambda: Agent("nonsense"), "write it as 'openai/nonsense'"),
    ("fallbacks a text", lambda: agent(fallbacks="x"), "fallbacks must be a list, not 'x'; put it in a list: ['x']."),
    ("fallback None", lambda: agent(fallbacks=[None]), "item 0 of fallbacks must be a str"),
    ("base_url None", lambda: Model("x", base_url=None), "Model: base_url must be a str, not None."),  # pyright: ignore
    ("wire misspelt", lambda: Model("x", base_url="http://localhost", wire="caht"), "There is no wire 'caht'"),
    # limits and settings
    ("budget a dict", lambda: agent(budget={"turns": 3}), "not a dict; write Budget(turns=3)."),
    ("budget a dict, misspelt", lambda: agent(budget={"turn": 3}), "has no field 'turn', did you mean 'turns'?"),
    ("budget a number", lambda: agent(budget=5), "budget must be a Budget or None, not 5; write Budget("),
    ("turns None", lambda: Budget(turns=None), "Budget: turns must be an int, not None."),  # pyright: ignore
    ("turns a text", lambda: Budget(turns="3"), "Budget: turns must be an int, not '3'."),  # pyright: ignore
    ("turns 0", lambda: Budget(turns=0), "must be greater than 0"),
    ("usd a text", lambda: Budget(usd="1"), "Budget: usd must be a number or None, not '1'."),  # pyright: ignore
    ("budget misspelt", lambda: Budget(turn=3), "Budget has no argument 'turn'; did you mean 'turns'?"),  # pyright: ignore
    ("retry misspelt", lambda: Retry(attempt=3), "Retry has no argument 'attempt'; did you mean"),  # pyright: ignore
    ("settings misspelt", lambda: Settings(temprature=1), "did you mean 'temperature'?"),  # pyright: ignore
    ("retry a number", lambda: agent(retry=3), "retry must be a Retry or None, not 3; write Retry("),
    ("attempts a text", lambda: Retry(attempts="3"), "attempts must be an int or None, not '3'."),  # pyright: ignore
    ("attempts 0", lambda: Retry(attempts=0), "Retry: attempts is 0; it must be greater than 0."),
    ("timeouts a number", lambda: agent(timeouts=30), "must be a Timeouts or None, not 30; write Timeouts(…=30) with"),
    ("socket None", lambda: Timeouts(socket=None), "Timeouts: socket must be a number, not None."),  # pyright: ignore
    ("total negative", lambda: Timeouts(total=-1), "Timeouts: total is -1; it must be greater than 0."),
    ("temperature a text", lambda: agent(temperature="hot"), "temperature must be a number or None, not 'hot'."),
    ("tokens a fraction", lambda: agent(max_output_tokens=1.5), "max_output_tokens must be an int or None, not 1.5."),
    ("reasoning a text", lambda: agent(reasoning="high"), "write Reason(effort='high')."),
    ("effort misspelt", lambda: Reason(effort="hgh"), "did you mean 'high'?"),  # pyright: ignore
    ("settings a dict", lambda: agent(settings={"temperature": 1}), "write Settings(temperature=1)."),
    ("stop sequence", lambda: Settings(stop_sequences="x"), "put it in a list: ['x']."),  # pyright: ignore
    ("server tool", lambda: ServerTool("web_serch"), "did you mean 'web_search'?"),  # pyright: ignore
    # tools
    ("tools a text", lambda: agent(tools="files"), "tools must be a list, not 'files'; put it in a list: ['files']."),
    ("tools a tool", lambda: agent(tools=change), "not a FunctionTool; put it in a list."),
    ("tool misspelt", lambda: agent(tools=["fles"]), "There is no tool 'fles'; did you mean 'files'?"),
    ("tool a number", lambda: agent(tools=[5]), "item 0 of tools must be a Tool, a function"),
    ("tool without schema", lambda: agent(tools=[{"name": "x"}]), "has no jsonSchema"),
    ("effect misspelt", lambda: heald.tool(effect="raed")(lambda: 1), "did you mean 'read'?"),  # pyright: ignore
    ("option misspelt", lambda: heald.tool(efect="read")(lambda: 1), "'efect'; did you mean 'effect'?"),  # pyright: ignore
    ("tool of a number", lambda: heald.tool(5), "tool: 5 is not a function"),  # pyright: ignore
    ("timeout a text", lambda: heald.tool(timeout="1")(lambda: 1), "timeout must be a number or None"),  # pyright: ignore
    ("middleware", lambda: agent(middleware=[1]), "item 0 of middleware must be a function, not 1."),
    ("strategies", lambda: agent(strategies=["x"]), "item 0 of strategies must be a function, not 'x'."),
    ("client tools", lambda: agent(client_tools="x"), "client_tools must be a list, not 'x'."),
    # permissions
    ("mode misspelt", lambda: agent(permissions="aks"), "not 'aks'; did you mean 'ask'?"),
    ("mode True", lambda: agent(permissions=True), "not True."),
    ("rules a text", lambda: Permissions("ask", "deny change"), "put it in a list: ['deny change']."),
    ("rule a number", lambda: Permissions("ask", [5]), "item 0 of rules must be a PermissionRule or a str"),  # pyright: ignore
    ("verdict misspelt", lambda: Permissions("ask", ["dny change"]), "'dny change' is not a rule"),
    ("rule misspelt", lambda: with_rules("deny run_comand(*)"), "matches no tool; did you mean 'run_command'?"),
    ("rule for own tool", lambda: with_rules("ask chnge"), "matches no tool; did you mean 'change'?"),
    ("rule for a family", lambda: with_rules("deny shell(*)"), "'shell' is a family; write a rule for each"),
    ("rule for nothing", lambda: with_rules("deny xyz"), "The rule 'deny xyz' matches no tool"),
    ("on_approval True", lambda: agent(on_approval=True), "on_approval must be a function or None, not True."),
    ("on_question a text", lambda: agent(on_question="x"), "on_question must be a function or None, not 'x'."),
    # the rest of the agent
    ("workspace a file", lambda: agent(workspace=__file__), "Not a directory"),
    ("workspace a number", lambda: agent(workspace=5), "workspace must be a Workspace, a str, a PathLike or None"),
    ("output a number", lambda: agent(output=5), "a type that JSON cannot carry"),
    ("instructions", lambda: agent(instructions=5), "instructions must be a str, a Path, a list or None, not 5."),
    ("history a text", lambda: agent(history="x"), "history must be a list, not 'x'."),
    ("history of texts", lambda: agent(history=["x"]), "item 0 of history must be a Message or a dict, not 'x'."),
    ("history content", lambda: agent(history=[{"role": "user", "content": 5}]), "neither text nor a list of blocks"),
    ("cache a text", lambda: agent(cache="yes"), "cache must be True or False, not 'yes'."),
    ("profile misspelt", lambda: agent(tool_profile="ful"), "did you mean 'full'?"),
    ("session empty", lambda: agent(session=""), "leave it out for a new one."),
    ("keyword misspelt", lambda: agent(tool=[change]), "Agent has no argument 'tool'; did you mean 'tools'?"),
    # requests
    ("prompt None", lambda: run(None), "The prompt is None; give a text"),
    ("prompt bytes", lambda: run(b"hi"), "The prompt is of the type bytes; give a text"),
    ("prompt empty", lambda: run(""), "The prompt is empty"),
    ("prompt an empty list", lambda: run([]), "The prompt is empty"),
    ("prompt of numbers", lambda: run([1, 2]), "The prompt is a list of int; give a text"),
    ("prompt an object", lambda: run({"foo": 1}), "an object without a role or a type"),
    ("prompt mixed", lambda: run([{"role": "user", "content": "a"}, "b"]), "a list of dict and str"),
    ("role misspelt", lambda: run({"role": "usr", "content": "a"}), "Message 0 has the role 'usr'"),
    ("no content", lambda: run({"role": "user"}), "The prompt is empty"),
    ("part without text", lambda: run([{"type": "text", "text": 5}]), "has no text; give an object such as"),
    ("unknown part", lambda: run([{"type": "video"}]), "a part of the type 'video' that cannot be read"),
    ("last is the model's", lambda: run([{"role": "assistant", "content": "a"}]), "put the request at the end."),
    ("message of a number", lambda: run(Message(role="user", content=5)), "not a valid heald.Message"),  # pyright: ignore
    ("text of a number", lambda: run(user_message(Text(5))), "Expected `str`, got `int`"),  # pyright: ignore
    ("when_busy", lambda: agent().send("x", when_busy="ste"), "did you mean 'steer'?"),  # pyright: ignore
    ("run misspelt", lambda: agent().run_sync("x", outptu=int), "run_sync has no argument 'outptu'"),  # pyright: ignore
    ("stream misspelt", lambda: agent().stream("x", outptu=int), "'outptu'; did you mean 'output'?"),  # pyright: ignore
    ("send misspelt", lambda: agent().send("x", bugdet=1), "send has no argument 'bugdet'; did you mean"),  # pyright: ignore
    ("event type", lambda: agent().subscribe(print, types=["tool_reslt"]), "did you mean 'tool_result'?"),
    ("event types a text", lambda: agent().subscribe(print, types="error"), "put it in a list: ['error']."),
    ("layer", lambda: agent().subscribe(print, layers=["sream"]), "did you mean 'stream'?"),  # pyright: ignore
    ("reactor", lambda: agent().subscribe(5), "An object of type int has no handler"),
    # sessions
    ("no session name", lambda: heald.open_session("", agent(), store="memory:"), "not ''."),
    ("no agent", lambda: heald.open_session("s", scripted(), store="memory:"), "agent must be an Agent"),  # pyright: ignore
    ("no store", lambda: heald.open_session("s", agent(), store=None), "store must be a str or a Store, not None."),  # pyright: ignore
    ("after_crash", lambda: heald.open_session("s", agent(), store="memory:", after_crash="clos"), "'close'?"),  # pyright: ignore
]


async def test_an_unknown_keyword_of_run_gets_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"run has no argument 'outptu'; did you mean 'output'\?"):
        await agent().run("x", outptu=int)  # pyright: ignore


@pytest.mark.parametrize(("use", "sentence"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_use_gets_a_sentence(use: Callable[[], object], sentence: str) -> None:
    with pytest.raises((ConfigurationError, TypeError), match=re.escape(sentence)) as raised:
        use()
    assert "please report" not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert str(raised.value)[-1] in ".?"


def test_the_table_has_at_least_60_wrong_uses() -> None:
    assert len(WRONG) >= 60


# --- prompts ---------------------------------------------------------------------------------------------------------

PICTURE = Image(media_type="image/png", data="aGk=")


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ([{"role": "user", "content": "Hello"}], [Text("Hello")]),
        ([user_message("Hello")], [Text("Hello")]),
        ([{"type": "text", "text": "Hello"}], [Text("Hello")]),
        (Message(role="user", content="Hello"), [Text("Hello")]),  # pyright: ignore[reportArgumentType]
        (PICTURE, [PICTURE]),
        (["Look:", PICTURE], [Text("Look:"), PICTURE]),
        ([Image(data=b"hi")], [PICTURE]),  # pyright: ignore[reportArgumentType]
        ({"role": "user", "content": ["Hello", PICTURE]}, [Text("Hello"), PICTURE]),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
            [PICTURE],
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                    {"type": "document", "title": "a", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
                ],
            },
            [PICTURE, File(media_type="application/pdf", url="https://example.org/a.pdf", name="a")],
        ),
        (
            {
                "id": "1",
                "role": "user",
                "parts": [
                    {"type": "text", "text": "Hello"},
                    {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,aGk="},
                ],
            },
            [Text("Hello"), PICTURE],
        ),
    ],
)
async def test_messages_of_other_programs_are_read(prompt: Any, content: list[Any]) -> None:
    made = agent()
    await made.run(prompt)
    assert made.messages[0].content == content


async def test_a_list_of_messages_is_the_history_and_the_request() -> None:
    model = scripted("Bob.")
    made = Agent(model, instructions="Be kind.")
    await made.run(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "I am Bob."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "Who am I?"},
        ]
    )
    assert [message.text for message in made.messages] == ["I am Bob.", "Hello.", "Who am I?", "Bob."]
    assert made.settings.system == "Be kind.\n\nBe brief."
    with pytest.raises(ConfigurationError, match="has 4 messages already; send the new message alone"):
        await made.run([user_message("Again."), assistant("Yes?"), user_message("Who?")])


async def test_ui_messages_with_calls_are_a_history() -> None:
    part = {
        "type": "tool-change",
        "toolCallId": "c1",
        "state": "output-available",
        "input": {"text": "a"},
        "output": "A",
    }
    made = agent(
        history=[
            {"id": "1", "role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
            {"id": "2", "role": "user", "parts": [{"type": "text", "text": "Change a."}]},
            {"id": "3", "role": "assistant", "parts": [{"type": "step-start"}, part]},
        ]
    )
    assert made.settings.system == "Be brief."
    _, call, result = (message.content[0] for message in made.messages)
    assert call == ToolCall(id="c1", name="change", input={"text": "a"})
    assert result == ToolResult(id="c1", name="change", status="ok", content="A")


async def test_a_system_message_of_the_history_is_stored_with_a_session(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.db"
    history = [{"role": "system", "content": "Be brief."}, user_message("Hello"), assistant("Yes?")]
    async with heald.open_session("s", agent(history=history), store=store) as session:
        assert session.settings.system == "Be brief."
        assert [message.text for message in session.messages] == ["Hello", "Yes?"]
        assert session.stored_settings.instructions == "Be brief."


async def test_a_stored_session_is_opened_again_after_any_prompt(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.db"
    async with heald.open_session("s", agent(), store=store) as session:
        await session.run([{"role": "user", "content": "Hello"}])
        for prompt in ([1], [{"role": "user", "content": [5]}], Message(role="user", content=[5])):  # pyright: ignore
            with pytest.raises(ConfigurationError):
                await session.run(prompt)  # pyright: ignore[reportArgumentType]
        with pytest.raises(ConfigurationError, match="give the earlier ones to"):
            await session.run([user_message("a"), assistant("b"), user_message("c")])
    async with heald.open_session("s", agent(), store=store) as session:
        assert [message.text for message in session.messages] == ["Hello", "Fine."]


async def test_an_event_that_cannot_be_read_again_is_not_stored(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.db"
    async with heald.open_session("s", agent(), store=store) as session:
        await session.run("Hello")
        session.publish(UserMessage(Message(role="user", content=[5])))  # pyright: ignore[reportArgumentType]
        with pytest.raises(UnreadableEvent, match="could not be read again, so it was not stored"):
            await session.flush()
    async with heald.open_session("s", agent(), store=store) as session:
        assert [message.text for message in session.messages] == ["Hello", "Fine."]


# --- approvals -------------------------------------------------------------------------------------------------------

CALL = ScriptedModel.call("change", text="a")


def asking(**options: Any) -> Agent:
    return Agent(scripted(CALL, "Done."), tools=[change], permissions="ask", **options)


def outcome(made: Agent) -> str:
    (result,) = [block for message in made.messages for block in message.content if isinstance(block, ToolResult)]
    return f"{result.status}: {result.text}"


async def test_an_approval_that_nobody_can_give_ends_the_exchange() -> None:
    with pytest.raises(ConfigurationError, match=r"'change' needs an approval and nobody can be asked; give on_app"):
        await asking().run("Change it.")


async def test_a_delegate_that_nobody_can_approve_ends_the_exchange_of_its_caller() -> None:
    call = ScriptedModel.call("changer", prompt="Change it.")
    caller = Agent(scripted(call, "Done."), tools=[asking().as_tool("changer", "Changes texts.")])
    with pytest.raises(ConfigurationError, match="needs an approval and nobody can be asked"):
        await caller.run("Change it.")


async def test_who_reads_the_stream_is_asked() -> None:
    made = asking()
    async for event in made.stream("Change it."):
        if event.type == "approval_requested":
            made.approve(event.data.approval)  # pyright: ignore
    assert outcome(made) == "ok: A"


async def _approve(_: object) -> bool:
    return True


DECISIONS: list[tuple[OnApproval, str]] = [
    (lambda _: True, "ok: A"),
    (lambda _: False, "denied"),
    (lambda _: Approval(True, arguments={"text": "b"}), "ok: (The user changed"),
    (_approve, "ok: A"),
]


@pytest.mark.parametrize(("decide", "expected"), DECISIONS)
async def test_on_approval_may_be_a_plain_function(decide: OnApproval, expected: str) -> None:
    made = asking(on_approval=decide)
    await made.run("Change it.")
    assert outcome(made).startswith(expected)


async def test_another_result_of_on_approval_denies_and_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    made = asking(on_approval=lambda _: "yes")  # pyright: ignore[reportUnknownLambdaType]
    with caplog.at_level(logging.ERROR, "heald"):
        await made.run("Change it.")
    assert outcome(made).startswith("denied")
    assert "on_approval returned 'yes'; return True, False or a heald.Approval." in str(caplog.records[0].exc_info)


# --- rules for tools that come later ---------------------------------------------------------------------------------


class LateTools:
    """A source of tools that connects during the first exchange."""

    def __init__(self) -> None:
        self.version = 0
        self.tools: list[heald.Tool] = []

    def connect(self, *names: str) -> None:
        self.tools = [heald.tool(name=name)(lambda: "x") for name in names]  # pyright: ignore
        self.version += 1


async def test_a_rule_for_a_tool_of_a_server_is_checked_when_the_server_connects() -> None:
    late = LateTools()
    made = Agent(
        scripted("One.", "Two."), tools=[late], permissions=Permissions("auto", ["deny github__delet_repo(*)"])
    )
    await made.run("Hello")
    late.connect("github__delete_repo")
    with pytest.raises(ConfigurationError, match="did you mean 'github__delete_repo'"):
        await made.run("Hello")


async def test_rules_for_tools_that_may_come_are_no_mistake() -> None:
    late = LateTools()
    rules = ["deny github__*", "deny other", "ask read(secrets)", "deny run_command(rm *)", "ask *"]
    made = Agent(scripted("One.", "Two."), tools=[late], permissions=Permissions("auto", rules))
    await made.run("Hello")
    late.connect("github__delete_repo")
    await made.run("Hello")


async def test_a_rule_for_a_tool_of_a_client_is_checked_when_the_tool_comes(caplog: pytest.LogCaptureFixture) -> None:
    permissions = Permissions("auto", ["deny confirm_paymnt"])
    async with heald.open_session("s", agent(permissions=Permissions()), store="memory:") as session:
        session.permissions.rules += permissions.rules
        session._runtime.check_rules(may_grow=True)  # pyright: ignore[reportPrivateUsage]
        with caplog.at_level(logging.WARNING, "heald"):
            await session.set_client_tools([{"name": "confirm_payment", "input_schema": {"type": "object"}}])
    assert "The rule 'deny confirm_paymnt' matches no tool; did you mean 'confirm_payment'?" in caplog.text
