"""Calls that a model only shows or quotes are text, on every endpoint that may need text calls; calls that it writes
to be run still run, after an approval where they do more than read."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, ApprovalResolved, AssistantMessage, SessionForked
from heald.core.messages import ToolCall, ToolResult
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.text_call_trust import TEXT_CALL, TextCallTrust
from heald_check import check_log

QUOTING: list[dict[str, str]] = json.loads((Path(__file__).parent / "quoting_texts.json").read_text("utf-8"))
PAY = '{"name": "pay", "arguments": {"amount": 5}}'
HERMES = f"<tool_call>\n{PAY}\n</tool_call>"
FORMS = {
    "hermes": f"Let me see. {HERMES}",
    "hermes with a token behind it": f"{HERMES}<|im_end|>\n",
    "hermes not ended": f"<tool_call>\n{PAY}",
    "hermes without its begin": f"{PAY}\n</tool_call>",
    "qwen coder": "<tool_call>\n<function=pay>\n<parameter=amount>\n5\n</parameter>\n</function>\n</tool_call>",
    "qwen agent": '✿FUNCTION✿: pay\n✿ARGS✿: {"amount": 5}\n✿RESULT✿',
    "fence": f"I pay now.\n\n```json\n{PAY}\n```",
    "json": f"{PAY}\n",
    "json behind a list": f"1. Read the bill\n2. Pay\n\n{PAY}",
    "llama": '<|python_tag|>{"name": "pay", "parameters": {"amount": 5}}',
    "llama function": '<function=pay>{"amount": 5}</function>',
    "mistral": f"[TOOL_CALLS][{PAY}]",
    "deepseek": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>pay<｜tool▁sep｜>{"amount": 5}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "python": "pay(amount=5)",
    "gemma": "```tool_code\nprint(default_api.pay(amount=5))\n```",
    "behind thinking": f"<think>\nThe bill is 5.\n</think>\n\n{HERMES}",
    "behind a quotation": f"The bill says:\n\n> <tool_call>{PAY}</tool_call>\n\nI pay it.\n\n{HERMES}",
}
ENDPOINTS = ("own", "vllm", "llamacpp", "lmstudio", "ollama")
_VARIABLES = {
    "vllm": "VLLM_BASE_URL",
    "llamacpp": "LLAMACPP_BASE_URL",
    "lmstudio": "LMSTUDIO_BASE_URL",
    "ollama": "OLLAMA_HOST",
}


class Till:
    """Counts payments."""

    def __init__(self, effect: Literal["any", "read"] = "any") -> None:
        self.paid: list[int] = []

        @heald.tool(effect=effect)
        async def pay(amount: int) -> str:
            """Pay an amount."""
            self.paid.append(amount)
            return "paid"

        self.tool = pay


class Asked:
    """Decides on approvals, and counts them."""

    def __init__(self, *, allows: bool = True) -> None:
        self.requests: list[ApprovalRequested] = []
        self._allows = allows

    def __call__(self, request: ApprovalRequested) -> bool:
        self.requests.append(request)
        return self._allows


def model_of(endpoint: str, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> heald.Model | str:
    if endpoint == "own":
        return heald.Model("m", wire="chat", base_url=f"{server.url}/v1", api_key="no-key")
    monkeypatch.setenv(_VARIABLES[endpoint], server.url if endpoint == "ollama" else f"{server.url}/v1")
    return f"{endpoint}/m"


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def answer_by_prompt(wire: str, texts: Sequence[str]) -> Callable[[ReceivedRequest], Reply]:
    """Answer the prompt `n` with the text of that number, in pieces, and everything else with a word."""

    def answer(request: ReceivedRequest) -> Reply:
        messages: list[dict[str, Any]] = request.body["messages"]
        last = messages[-1]["content"]
        if not last.isdigit():
            return wire_reply(wire, text="Fine.")
        return wire_reply(wire, text=pieces(texts[int(last)], (1, 5, 10_000)[int(last) % 3]))

    return answer


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_no_call_that_is_quoted_runs(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(QUOTING) >= 100
    texts = [row["text"] for row in QUOTING]
    wire = "ollama" if endpoint == "ollama" else "chat"
    till, ran = Till("read"), list[str]()
    async with ScriptedServer(answer_by_prompt(wire, texts)) as server:
        model = model_of(endpoint, server, monkeypatch)
        for number, text in enumerate(texts):
            async with heald.Agent(model, tools=[till.tool]) as agent:
                result = await agent.run(str(number))
            answers = [message for message in result.messages if message.role == "assistant"]
            assert answers[0].text == text
            if till.paid:
                ran.append(text)
                till.paid.clear()
    assert ran == []


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_the_forms_that_models_really_write_run(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = list(FORMS.values())
    wire = "ollama" if endpoint == "ollama" else "chat"
    till, asked, ran = Till(), Asked(), list[str]()
    async with ScriptedServer(answer_by_prompt(wire, texts)) as server:
        model = model_of(endpoint, server, monkeypatch)
        for number, form in enumerate(FORMS):
            async with heald.Agent(
                model, tools=[till.tool], permissions="auto", on_approval=asked, session=f"s{number}"
            ) as agent:
                await agent.run(str(number))
            if till.paid == [5]:
                ran.append(form)
            till.paid.clear()
    assert ran == list(FORMS)
    assert len(asked.requests) == len(FORMS)


# --- the approval ----------------------------------------------------------------------------------------------------


async def run(
    replies: Sequence[Reply], till: Till, *, name: str = "m", prompts: int = 1, **options: Any
) -> tuple[heald.AgentResult, list[Event], ScriptedServer]:
    events: list[Event] = []
    async with ScriptedServer(list(replies)) as server:
        model = heald.Model(name, wire="chat", base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model, tools=[till.tool], **options) as agent:
            agent.subscribe(events.append)
            result = await agent.run("Pay.")
            for _ in range(prompts - 1):
                result = await agent.run("Pay.")
    assert check_log(events) == []
    return result, events, server


def text(*texts: str) -> list[Reply]:
    return [wire_reply("chat", text=answer) for answer in texts]


def results(events: list[Event]) -> list[ToolResult]:
    return [event.data for event in events if isinstance(event.data, ToolResult)]


async def test_a_session_asks_once() -> None:
    till, asked = Till(), Asked()
    await run(text(HERMES, "Done.", HERMES, "Done."), till, permissions="auto", on_approval=asked, prompts=2)
    assert till.paid == [5, 5]
    [request] = asked.requests
    assert "wrote this call as text" in request.reason


async def test_the_calls_of_one_message_ask_once() -> None:
    till, asked = Till(), Asked()
    await run(text(f"{HERMES}\n{HERMES.replace('5', '6')}", "Done."), till, permissions="auto", on_approval=asked)
    assert (till.paid, len(asked.requests)) == ([5, 6], 1)


async def test_a_call_that_is_not_allowed_does_not_run_and_the_next_one_asks() -> None:
    till, asked = Till(), Asked(allows=False)
    _, events, _ = await run(text(HERMES, "No.", HERMES, "No."), till, permissions="auto", on_approval=asked, prompts=2)
    assert (till.paid, len(asked.requests)) == ([], 2)
    assert [result.status for result in results(events)] == ["denied", "denied"]


async def test_where_nobody_can_be_asked_it_does_not_run() -> None:
    till = Till()
    result, events, _ = await run(text(HERMES, "I could not."), till)
    assert (till.paid, result.status) == ([], "completed")
    assert [(result.status, "nobody can be asked" in result.text) for result in results(events)] == [("denied", True)]


async def test_a_rule_that_allows_the_tool_does_not_allow_a_quotation() -> None:
    till, asked = Till(), Asked()
    permissions = heald.Permissions("ask", ["allow pay"])
    await run(text(HERMES, "Done."), till, permissions=permissions, on_approval=asked)
    assert (till.paid, len(asked.requests)) == ([5], 1)


async def test_a_call_that_only_reads_does_not_ask() -> None:
    till, asked = Till("read"), Asked()
    await run(text(HERMES, "Done."), till, permissions="auto", on_approval=asked)
    assert (till.paid, asked.requests) == ([5], [])


@pytest.mark.parametrize(("name", "edit_format"), [("qwen2.5-1.5b", "auto"), ("qwen2.5-1.5b", "tools"), ("m", "text")])
async def test_a_model_that_is_known_to_need_text_calls_does_not_ask(name: str, edit_format: str) -> None:
    till = Till()
    await run(text(HERMES, "Done."), till, name=name, edit_format=edit_format)
    assert till.paid == [5]


@pytest.mark.parametrize(("size", "paid"), [(1_543_714_304, [5]), (32_763_876_352, [])])
async def test_a_server_that_states_the_size_of_its_model_is_asked_for_it(size: int, paid: list[int]) -> None:
    till = Till()
    facts: dict[str, object] = {"/v1/models": {"data": [{"id": "/m.gguf", "meta": {"n_params": size}}]}}
    async with ScriptedServer(text(HERMES, "Done."), facts=facts) as server:
        model = heald.Model("m", wire="chat", base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model, tools=[till.tool]) as agent:
            await agent.run("Pay.")
    assert till.paid == paid


# --- an endpoint that parses calls -----------------------------------------------------------------------------------

NATIVE = ToolCall(id="c1", name="pay", input={"amount": 1})


async def test_no_text_is_a_call_once_the_endpoint_has_reported_one() -> None:
    till = Till("read")
    replies = [wire_reply("chat", calls=[NATIVE]), *text("Paid.", HERMES)]
    result, _, _ = await run(replies, till, prompts=2)
    assert (till.paid, result.text) == ([1], HERMES)


@pytest.mark.parametrize("wire", ["chat", "ollama"])
async def test_no_text_is_a_call_beside_a_call_that_the_endpoint_reports(wire: str) -> None:
    till = Till("read")
    replies = [wire_reply(wire, text=pieces(HERMES, 9), calls=[NATIVE]), wire_reply(wire, text="Paid.")]
    async with ScriptedServer(replies) as server:
        base_url = server.url if wire == "ollama" else f"{server.url}/v1"
        model = heald.Model("m", wire=wire, base_url=base_url, api_key="no-key")
        async with heald.Agent(model, tools=[till.tool]) as agent:
            result = await agent.run("Pay.")
    assert till.paid == [1]
    assert result.messages[1].text == HERMES


async def test_another_endpoint_may_still_need_text_calls() -> None:
    """The fallback has reported no call, whatever the first model has done."""
    till = Till("read")
    async with (
        ScriptedServer([wire_reply("chat", calls=[NATIVE]), Reply(status=400)]) as first,
        ScriptedServer(text(HERMES, "Done.")) as second,
    ):
        models = [
            heald.Model("m", wire="chat", base_url=server.url, api_key="no-key", provider=provider)
            for server, provider in ((first, "first"), (second, "second"))
        ]
        async with heald.Agent(models[0], fallbacks=models[1:], tools=[till.tool]) as agent:
            await agent.run("Pay.")
    assert till.paid == [1, 5]


async def test_messages_of_an_earlier_conversation_count() -> None:
    till = Till("read")
    async with ScriptedServer([wire_reply("chat", calls=[NATIVE]), *text("Paid.", HERMES)]) as server:
        model = heald.Model("m", wire="chat", base_url=server.url, api_key="no-key")
        async with heald.Agent(model, tools=[till.tool]) as agent:
            await agent.run("Pay.")
            history = agent.messages
        async with heald.Agent(model, tools=[till.tool], history=history) as agent:
            await agent.run("Pay.")
    assert till.paid == [1]


@pytest.mark.parametrize(
    ("first", "paid", "approvals"), [(wire_reply("chat", calls=[NATIVE]), [1], 0), (text(HERMES)[0], [5, 5], 1)]
)
async def test_a_continued_session_knows_both_from_its_log(
    tmp_path: Path, first: Reply, paid: list[int], approvals: int
) -> None:
    """Also when the messages that show it were compacted."""
    till, asked = Till(), Asked()

    def answer(request: ReceivedRequest) -> Reply:
        replies = {"Pay.": first, "Pay once more.": text(HERMES)[0]}
        return replies.get(request.body["messages"][-1]["content"], text("Fine.")[0])

    async with ScriptedServer(answer) as server:
        model = heald.Model("m", wire="chat", base_url=server.url, api_key="no-key")
        options: dict[str, Any] = {"tools": [till.tool], "permissions": "auto", "on_approval": asked}
        store = f"sqlite:///{tmp_path / 'log.db'}"
        async with heald.open_session("s", heald.Agent(model, **options), store=store) as session:
            for prompt in ("Pay.", *("A long text. " * 4000 for _ in range(3))):
                await session.run(prompt)
            await session.compact()
            assert not any(message.tool_calls for message in session.messages)
        async with heald.open_session("s", heald.Agent(model, **options), store=store) as session:
            await session.run("Pay once more.")
    assert (till.paid, len(asked.requests)) == (paid, approvals)


def test_an_approval_does_not_count_in_a_fork() -> None:
    trust = TextCallTrust()
    trust.feed(ApprovalRequested("appr_1", "c1", "pay", "digest", "", "", {}, TEXT_CALL))
    trust.feed(ApprovalResolved("appr_1", "c1", "allowed"))
    assert trust.approved
    trust.feed(SessionForked("s", 7))
    assert not trust.approved


async def test_a_subagent_asks_as_its_caller_does() -> None:
    till, asked = Till(), Asked()
    call = HERMES.replace('"pay"', '"helper"').replace('{"amount": 5}', '{"prompt": "Pay."}')
    async with ScriptedServer(text(call, HERMES, "Paid.", "Done.")) as server:
        model = heald.Model("m", wire="chat", base_url=server.url, api_key="no-key")
        helper = heald.Agent(model, tools=[till.tool], permissions="auto").as_tool("helper", "Pays.")
        async with heald.Agent(model, tools=[helper], permissions="auto", on_approval=asked) as agent:
            await agent.run("Pay.")
    assert (till.paid, [request.name for request in asked.requests]) == ([5], ["helper"])


async def test_an_approval_that_waits_ends_with_its_exchange() -> None:
    till, waiting = Till(), asyncio.Event()

    async def wait(request: ApprovalRequested) -> bool:
        waiting.set()
        await asyncio.Event().wait()
        return True

    async with ScriptedServer(text(f"{HERMES}{HERMES}")) as server:
        model = heald.Model("m", wire="chat", base_url=server.url, api_key="no-key")
        async with heald.Agent(model, tools=[till.tool], permissions="auto", on_approval=wait) as agent:
            exchange = agent.send("Pay.")
            first = asyncio.ensure_future(waiting.wait())
            ended = asyncio.ensure_future(exchange.result())
            await asyncio.wait([first, ended], return_when=asyncio.FIRST_COMPLETED)
            assert first.done()
            exchange.cancel()
            result = await ended
    assert (till.paid, result.status) == ([], "cancelled")


async def test_arguments_that_do_not_fit_are_reported_once() -> None:
    till, wrong = Till("read"), HERMES.replace("5", '"a lot"')
    _, events, server = await run(text(wrong, HERMES, "Done."), till)
    assert till.paid == [5]
    assert "could not be parsed" in server.requests[1].body["messages"][-1]["content"]
    messages = [event.data.message for event in events if isinstance(event.data, AssistantMessage)]
    assert (messages[0].text, messages[0].tool_calls) == (wrong, [])
