"""OpenTelemetry: the real SDK and its OTLP exporter, into a receiver that parses the protocol."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import heald
from heald.core.errors import ProviderError
from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.inner_calls import InnerCalls
from otlp_receiver import OtlpReceiver, ReceivedSpan

S = heald.testing.ScriptedModel
SECRET = "the-words-of-the-user"


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: snow and {SECRET}"


@heald.tool
async def broken() -> str:
    """Fails."""
    raise ValueError("No battery.")


class Collected:
    """Spans and metrics of a program, kept in memory."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.traces = TracerProvider()
        self.traces.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader])
        self.reactor = heald.TelemetryReactor(tracer_provider=self.traces, meter_provider=self.meters, **options)

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        assert data is not None
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def close(self) -> None:
        self.reactor.close()
        self.traces.shutdown()
        self.meters.shutdown()


def _attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def _run(collected: Collected, script: list[Any], prompt: str = "Go.", **options: Any) -> heald.AgentResult:
    async with heald.Agent(S(script, **options), tools=[weather, broken]) as agent:
        agent.subscribe(collected.reactor)
        return await agent.run(prompt)


async def test_an_exchange_is_a_trace_of_turns_and_tools() -> None:
    collected = Collected()
    await _run(collected, [S.call("weather", city="Oslo"), "A coat."], SECRET)
    collected.close()
    assert [span.name for span in collected.spans] == [
        "invoke_agent heald",
        "chat model",
        "execute_tool weather",
        "chat model",
    ]
    agent, first, tool, last = collected.spans
    for span in (first, tool, last):
        assert span.parent is not None
        assert agent.context is not None
        assert span.parent.span_id == agent.context.span_id
    assert agent.parent is None
    assert (agent.kind, first.kind, tool.kind) == (
        trace.SpanKind.INTERNAL,
        trace.SpanKind.CLIENT,
        trace.SpanKind.INTERNAL,
    )
    attributes = _attributes(agent)
    assert attributes["gen_ai.operation.name"] == "invoke_agent"
    assert attributes["gen_ai.agent.name"] == "heald"
    assert attributes["gen_ai.conversation.id"].startswith("ses_")
    assert attributes["gen_ai.provider.name"] == "scripted"
    assert attributes["gen_ai.request.model"] == "model"
    assert attributes["gen_ai.usage.output_tokens"] == sum(
        _attributes(turn)["gen_ai.usage.output_tokens"] for turn in (first, last)
    )
    assert _attributes(first)["gen_ai.operation.name"] == "chat"
    assert _attributes(first)["gen_ai.response.finish_reasons"] == ("tool_use",)
    assert _attributes(last)["gen_ai.response.finish_reasons"] == ("end_turn",)
    assert _attributes(first)["gen_ai.response.time_to_first_chunk"] >= 0
    assert _attributes(tool) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.id": _attributes(tool)["gen_ai.tool.call.id"],
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": attributes["gen_ai.conversation.id"],
    }
    assert all((span.end_time or 0) >= (span.start_time or 0) > 0 for span in collected.spans)
    assert (agent.end_time or 0) >= (last.end_time or 0)


async def test_content_is_there_only_when_it_is_asked_for() -> None:
    for content in (False, True):
        collected = Collected(content=content)
        await _run(collected, [S.call("weather", city=SECRET), "A coat."], SECRET)
        collected.close()
        written = "".join(span.to_json() for span in collected.spans)
        assert (SECRET in written) is content
        if content:
            agent, first, tool, last = collected.spans
            asked = json.loads(_attributes(first)["gen_ai.input.messages"])
            assert asked == [{"role": "user", "parts": [{"type": "text", "content": SECRET}]}]
            assert json.loads(_attributes(tool)["gen_ai.tool.call.arguments"]) == {"city": SECRET}
            assert SECRET in _attributes(tool)["gen_ai.tool.call.result"]
            seen = json.loads(_attributes(last)["gen_ai.input.messages"])
            assert [message["role"] for message in seen] == ["user", "assistant", "tool"]
            assert [part["type"] for message in seen for part in message["parts"]] == [
                "text",
                "tool_call",
                "tool_call_response",
            ]
            answer = json.loads(_attributes(agent)["gen_ai.output.messages"])
            assert answer == [
                {"role": "assistant", "parts": [{"type": "text", "content": "A coat."}], "finish_reason": "end_turn"}
            ]


@pytest.mark.parametrize("content", [False, True])
async def test_the_calls_of_a_program_are_spans_of_the_program(content: bool) -> None:
    collected = Collected(content=content)

    @heald.tool
    async def relay(ctx: heald.ToolContext) -> str:
        """Call another tool."""
        assert ctx.host is not None
        result = await InnerCalls(ctx, ctx.host).run("weather", {"city": "Oslo"})
        return str(len(result.text))

    async with heald.Agent(S([[S.call("relay")], "A coat."]), tools=[weather, relay]) as agent:
        agent.subscribe(collected.reactor)
        await agent.run("Go.")
    collected.close()
    (program,), (inner,) = collected.named("execute_tool relay"), collected.named("execute_tool weather")
    assert inner.parent is not None
    assert program.context is not None
    assert inner.parent.span_id == program.context.span_id
    last = collected.named("chat model")[-1]
    if content:
        assert json.loads(_attributes(inner)["gen_ai.tool.call.arguments"]) == {"city": "Oslo"}
        seen = json.loads(_attributes(last)["gen_ai.input.messages"])
        assert [message["role"] for message in seen] == ["user", "assistant", "tool"]


async def test_failures_are_marked() -> None:
    collected = Collected()
    with pytest.raises(heald.HealdError, match="Out of order"):
        await _run(collected, [S.call("broken"), [S.fail(ProviderError("Out of order.", status=400))]])
    collected.close()
    (tool,) = collected.named("execute_tool broken")
    assert _attributes(tool)["error.type"] == "error"
    assert not tool.status.is_ok
    turn = collected.named("chat model")[-1]
    (agent,) = collected.named("invoke_agent heald")
    assert _attributes(turn)["error.type"] == _attributes(agent)["error.type"]
    assert not agent.status.is_ok
    assert agent.status.description is None  # a message may hold content


async def test_a_cancelled_exchange_leaves_no_span_open() -> None:
    collected = Collected()
    async with heald.Agent(S(["word " * 500], piece=5, pause=0.01)) as agent:
        agent.subscribe(collected.reactor)
        async for event in agent.stream("Go."):
            if event.type == "text_delta":
                agent.cancel("enough")
    collected.close()
    assert [span.name for span in collected.spans] == ["invoke_agent heald", "chat model"]
    assert _attributes(collected.spans[0])["heald.status"] == "cancelled"
    assert collected.spans[0].status.is_ok or collected.spans[0].status.is_unset


async def test_tokens_and_durations_are_histograms() -> None:
    collected = Collected()
    await _run(collected, [S.call("weather", city="Oslo"), "A coat."])
    points = collected.points("gen_ai.client.token.usage")
    assert {(point.attributes["gen_ai.token.type"], point.count) for point in points} == {("input", 2), ("output", 2)}
    durations = collected.points("gen_ai.client.operation.duration")
    assert {(point.attributes["gen_ai.operation.name"], point.count) for point in durations} == {
        ("chat", 2),
        ("execute_tool", 1),
        ("invoke_agent", 1),
    }
    assert collected.points("gen_ai.client.operation.time_to_first_chunk")
    collected.close()


async def test_the_span_of_the_program_is_the_parent() -> None:
    collected = Collected()
    tracer = collected.traces.get_tracer("program")
    async with heald.Agent(S(["One.", "Two."])) as agent:
        agent.subscribe(collected.reactor)
        with tracer.start_as_current_span("first") as first:
            await agent.run("Go.")
        with tracer.start_as_current_span("second") as second:
            await agent.run("Go.")
    collected.close()
    parents = [span.parent.span_id if span.parent else 0 for span in collected.named("invoke_agent heald")]
    assert parents == [first.get_span_context().span_id, second.get_span_context().span_id]


async def test_a_subagent_is_part_of_the_call_that_started_it() -> None:
    collected = Collected()
    helper = heald.Agent(S(["From below."] * 2))
    async with heald.Agent(
        S([S.call("ask_helper", prompt="Hello"), "Done."]), tools=[helper.as_tool("ask_helper", "Asks.")]
    ) as agent:
        agent.subscribe(collected.reactor)
        await agent.run("Go.")
    collected.close()
    (call,) = collected.named("execute_tool ask_helper")
    inner = [span for span in collected.named("invoke_agent heald") if span.parent is not None]
    assert call.context is not None
    assert [span.parent.span_id for span in inner if span.parent] == [call.context.span_id]


# --- commands --------------------------------------------------------------------------------------------------------


def _answer(request: ReceivedRequest) -> Reply:
    if request.body["messages"][-1]["role"] == "tool":
        return wire_reply("chat", text="Done.")
    return wire_reply("chat", calls=[ToolCall(id="c1", name="list_files", input={})])


def _environment(receiver: OtlpReceiver) -> dict[str, str]:
    return os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "HEALD_TOKEN": "t" * 32, "PYTHONWARNINGS": ""}


def _by_name(spans: list[ReceivedSpan], name: str) -> ReceivedSpan:
    return next(span for span in spans if span.name == name)


async def test_heald_run_sends_its_trace(tmp_path: Path) -> None:
    with OtlpReceiver() as receiver:
        async with ScriptedServer(_answer) as model:
            command = [
                *(
                    sys.executable,
                    "-m",
                    "heald_cli.main",
                    "run",
                    "--otel",
                    "--model",
                    "m",
                    "--base-url",
                    f"{model.url}/v1",
                ),
                *("--tools", "read", "--permissions", "auto", SECRET),
            ]
            process = await asyncio.create_subprocess_exec(
                *command, env=_environment(receiver), cwd=tmp_path, stdout=asyncio.subprocess.PIPE
            )
            async with asyncio.timeout(60):
                out, _ = await process.communicate()
        assert process.returncode == 0
        assert b"Done." in out
    agent = _by_name(receiver.spans, "invoke_agent heald")
    assert [span.parent for span in receiver.spans if span is not agent] == [agent.id] * (len(receiver.spans) - 1)
    assert {span.name for span in receiver.spans} == {"invoke_agent heald", "chat m", "execute_tool list_files"}
    assert receiver.services == {"heald"}
    assert "gen_ai.client.token.usage" in receiver.metrics
    assert SECRET not in str([span.attributes for span in receiver.spans])


@asynccontextmanager
async def _serving(folder: Path, receiver: OtlpReceiver, *words: str) -> AsyncGenerator[str]:
    async with ScriptedServer(_answer) as model:
        command = [
            *(sys.executable, "-m", "heald_cli.main", "serve", "--port", "0", "--no-open", "--json", "--otel", *words),
            *("--data", str(folder / "data"), "--model", "m", "--base-url", f"{model.url}/v1", "--tools", "read"),
            *("--permissions", "auto"),
        ]
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, env=_environment(receiver)
        )
        try:
            assert process.stdout is not None
            async with asyncio.timeout(60):
                yield json.loads(await process.stdout.readline())["url"]
        finally:
            process.terminate()
            async with asyncio.timeout(120):
                await process.wait()


@pytest.mark.parametrize("path", ["/sessions/{session}/messages", "/v1/chat/completions", "socket"])
async def test_heald_serve_continues_the_trace_of_a_request(tmp_path: Path, path: str) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    headers = {"Authorization": f"Bearer {'t' * 32}", "traceparent": f"00-{trace}-{parent}-01"}
    with OtlpReceiver() as receiver:
        async with _serving(tmp_path, receiver) as url, aiohttp.ClientSession(url, headers=headers) as client:
            async with client.post("/sessions", json={}) as answer:
                session = (await answer.json())["id"]
            if path == "socket":
                async with client.ws_connect(f"/sessions/{session}/ws") as socket:
                    await socket.send_json({"type": "send", "text": "Go."})
                    async for message in socket:
                        if message.json().get("type") == "exchange_response":
                            break
            elif path.startswith("/v1"):
                asked = {"model": "heald", "messages": [{"role": "user", "content": "Go."}]}
                async with client.post(path, json=asked) as answer:
                    assert answer.status == 200, await answer.text()
            else:
                async with client.post(path.format(session=session), json={"text": "Go."}) as answer:
                    assert answer.status == 202
                async with client.get(f"/sessions/{session}/events") as stream:
                    async for line in stream.content:
                        if line.startswith(b"event: exchange_response"):
                            break
    agent = _by_name(receiver.spans, "invoke_agent heald")
    assert (agent.trace, agent.parent) == (trace, parent)
    assert {span.trace for span in receiver.spans} == {trace}
    tool = _by_name(receiver.spans, "execute_tool list_files")
    assert tool.parent == agent.id


def test_without_the_extra_the_reactor_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(heald.HealdError, match=r"heald\[otel\]"):
        heald.TelemetryReactor()
