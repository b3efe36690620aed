"""OpenTelemetry: a reactor that turns events into spans and metrics, by the semantic conventions for generative AI.

An exchange is `invoke_agent`, a turn `chat`, a call of a tool `execute_tool`. Times are those of the events, so spans
are right also where events are delivered late. Messages, arguments and results are omitted unless `content` is set.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from heald.agent.trace_context import incoming_trace, on_requested
from heald.agent.trace_messages import trace_arguments, trace_message, trace_result
from heald.core.distribution import install_advice
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, ErrorInfo
from heald.core.events import (
    AssistantMessage,
    ExchangeRequest,
    ExchangeResponse,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
)
from heald.core.json import encode_text
from heald.core.messages import Message, ToolCall, ToolResult
from heald.core.turn import Usage

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

_PARENTS = 10_000
"""Requested exchanges whose first event is awaited."""
_FIRST = frozenset({"text_content_block_start", "thinking_content_block_start", "tool_use_content_block_start"})
_TYPES = (
    *_FIRST,
    *("exchange_request", "exchange_response", "message_start", "message_delta", "message_stop", "message_discarded"),
    *("assistant_message", "tool_call", "tool_executing", "tool_completed", "tool_failed", "tool_result"),
)
"""The events that are handled; increments are not, because there are many."""
_PROVIDERS = {
    "gemini": "gcp.gemini",
    "vertex": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Names of providers in the conventions, where they differ from ours."""
_TOKEN_BUCKETS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
_SECOND_BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]


@dataclass
class _Turn:
    span: "Span"
    model: str
    began: float
    first: float | None = None
    message: str = ""


@dataclass
class _Trace:
    """The open spans of one exchange."""

    span: "Span"
    context: "Context"
    model: str
    began: float
    input: list[Message] = field(default_factory=list[Message])
    turn: _Turn | None = None
    tools: dict[str, tuple["Span", str, float]] = field(default_factory=dict[str, Any])
    inner: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """The calls that programs of other calls made."""
    answer: Message | None = None


class TelemetryReactor:
    """Sends the spans and metrics of agents to OpenTelemetry: `agent.subscribe(heald.TelemetryReactor())`.

    The providers are the global ones of the program unless given. `content` adds messages, arguments and results.
    Needs the extra `heald[otel]`.
    """

    def __init__(
        self,
        *,
        agent_name: str = "heald",
        content: bool = False,
        tracer_provider: "TracerProvider | None" = None,
        meter_provider: "MeterProvider | None" = None,
    ) -> None:
        try:
            from opentelemetry import context, metrics, propagate, trace
        except ImportError:
            raise ConfigurationError(f"OpenTelemetry is not installed; run: {install_advice('otel')}.") from None
        self._trace_api, self._context_api, self._propagate = trace, context, propagate
        self._agent_name = agent_name
        self._content = content
        self._tracer = trace.get_tracer("heald", _version(), tracer_provider)
        meter = metrics.get_meter("heald", _version(), meter_provider)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )
        self._durations = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECOND_BUCKETS,
        )
        self._first_chunks = meter.create_histogram(
            "gen_ai.client.operation.time_to_first_chunk",
            unit="s",
            description="Time to receive the first chunk of a response.",
            explicit_bucket_boundaries_advisory=_SECOND_BUCKETS,
        )
        self._cost = meter.create_counter("heald.cost", unit="{USD}", description="Cost of exchanges in dollars.")
        self._parents: OrderedDict[str, Context] = OrderedDict()
        self._traces: dict[tuple[str, str], _Trace] = {}
        self._calls: dict[str, Context] = {}  # contexts of running calls, for the subagents that they start
        self._stop = on_requested(self._on_requested)
        for kind in _TYPES:
            setattr(self, f"on_{kind}", self._on_event)

    def close(self) -> None:
        """Forget exchanges that are requested from now on. Those that run are still traced."""
        self._stop()

    def _on_requested(self, exchange: str) -> None:
        carrier = incoming_trace.get()
        self._parents[exchange] = self._propagate.extract(carrier) if carrier else self._context_api.get_current()
        while len(self._parents) > _PARENTS:
            self._parents.popitem(last=False)

    # --- events ------------------------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        if event.exchange is None:
            return
        if event.type in _FIRST:
            self._on_chunk(event)
            return
        match event.data:
            case ExchangeRequest(message=message, model=model, cause=cause):
                self._begin(event, model, cause, [message])
            case ExchangeResponse():
                self._end(event, event.data)
            case MessageStart():
                self._begin_turn(self._trace_of(event), event, event.data)
            case MessageDelta():
                self._on_usage(event, event.data)
            case MessageStop():
                self._end_turn(event)
            case MessageDiscarded(error=error, usage=usage):
                self._discard_turn(event, error, usage)
            case AssistantMessage(message=message):
                self._on_answer(event, message)
            case ToolExecuting(id=call, name=name):
                self._begin_tool(self._trace_of(event), event, call, name)
            case ToolCompleted(id=call):
                self._end_tool(event, call, None)
            case ToolFailed(id=call, status=status):
                self._end_tool(event, call, status)
            case ToolCall() as call:
                self._on_call(event, call)
            case ToolResult() as result:
                self._on_result(event, result)
            case _:
                pass

    def _known(self, event: Event) -> _Trace | None:
        return self._traces.get((event.session, event.exchange or ""))

    def _trace_of(self, event: Event) -> _Trace:
        """The trace of an event's exchange. An exchange that an earlier process began is traced from here on."""
        return self._known(event) or self._begin(event, "", None, [])

    # --- exchanges ---------------------------------------------------------------------------------------------------

    def _begin(self, event: Event, model: str, cause: str | None, messages: list[Message]) -> _Trace:
        parent = self._parents.pop(event.exchange or "", None)
        if cause is not None:
            parent = self._calls.get(cause, parent)
        span = self._tracer.start_span(
            f"invoke_agent {self._agent_name}",
            parent if parent is not None else self._context_api.Context(),
            kind=self._trace_api.SpanKind.INTERNAL,
            attributes=_attributes("invoke_agent", model)
            | {
                "gen_ai.agent.name": self._agent_name,
                "gen_ai.conversation.id": event.session,
                "heald.exchange": event.exchange or "",
            },
            start_time=_nanoseconds(event.time),
        )
        trace = _Trace(span, self._trace_api.set_span_in_context(span), model, event.time, messages)
        if self._content and messages:
            span.set_attribute("gen_ai.input.messages", encode_text([trace_message(message) for message in messages]))
        self._traces[event.session, event.exchange or ""] = trace
        return trace

    def _end(self, event: Event, response: ExchangeResponse) -> None:
        trace = self._traces.pop((event.session, event.exchange or ""), None)
        if trace is None:
            return
        for call in list(trace.tools):
            self._finish_tool(trace, event, call, "cancelled")
        if trace.turn is not None:
            self._finish_turn(trace, event, "cancelled")
        span = trace.span
        _set_usage(span, response.usage)
        span.set_attribute("gen_ai.response.finish_reasons", [response.stop_reason])
        span.set_attribute("heald.status", response.status)
        span.set_attribute("heald.turns", response.turns)
        attributes = _attributes("invoke_agent", trace.model)
        if response.cost_usd is not None:
            span.set_attribute("heald.cost_usd", response.cost_usd)
            self._cost.add(response.cost_usd, attributes)
        if self._content and trace.answer is not None:
            span.set_attribute(
                "gen_ai.output.messages", encode_text([trace_message(trace.answer, response.stop_reason)])
            )
        error = response.error.code if response.error is not None else None
        if error is None and response.status not in ("completed", "cancelled"):
            error = response.limit or response.status
        if error is not None:
            self._mark_error(span, error, response.error)
            attributes["error.type"] = error
        span.end(_nanoseconds(event.time))
        self._durations.record(max(0.0, event.time - trace.began), attributes)

    # --- turns -------------------------------------------------------------------------------------------------------

    def _begin_turn(self, trace: _Trace, event: Event, start: MessageStart) -> None:
        if trace.turn is not None:
            self._finish_turn(trace, event, "_OTHER")
        trace.model = trace.model or start.model
        span = self._tracer.start_span(
            f"chat {_model(start.model)}",
            trace.context,
            kind=self._trace_api.SpanKind.CLIENT,
            attributes=_attributes("chat", start.model)
            | {"gen_ai.conversation.id": event.session, "gen_ai.request.stream": True, "heald.attempt": start.attempt},
            start_time=_nanoseconds(event.time),
        )
        if self._content and trace.input:
            span.set_attribute(
                "gen_ai.input.messages", encode_text([trace_message(message) for message in trace.input])
            )
        trace.turn = _Turn(span, start.model, event.time, message=start.message_id)

    def _on_chunk(self, event: Event) -> None:
        trace = self._known(event)
        if trace is None or trace.turn is None or trace.turn.first is not None:
            return
        turn = trace.turn
        turn.first = event.time
        seconds = max(0.0, event.time - turn.began)
        turn.span.set_attribute("gen_ai.response.time_to_first_chunk", seconds)
        self._first_chunks.record(seconds, _attributes("chat", turn.model))

    def _on_usage(self, event: Event, delta: MessageDelta) -> None:
        trace = self._known(event)
        if trace is None or trace.turn is None:
            return
        trace.turn.span.set_attribute("gen_ai.response.finish_reasons", [delta.stop_reason])
        self._record_usage(trace.turn, delta.usage)

    def _record_usage(self, turn: _Turn, usage: Usage) -> None:
        _set_usage(turn.span, usage)
        for kind, tokens in (("input", usage.total_input), ("output", usage.total_output)):
            if tokens is not None:
                self._tokens.record(tokens, _attributes("chat", turn.model) | {"gen_ai.token.type": kind})

    def _end_turn(self, event: Event) -> None:
        trace = self._known(event)
        if trace is not None and trace.turn is not None and not self._content:
            self._finish_turn(trace, event, None)  # with content it ends with its message, which follows at once

    def _discard_turn(self, event: Event, error: ErrorInfo, usage: Usage) -> None:
        trace = self._known(event)
        if trace is None or trace.turn is None:
            return
        self._record_usage(trace.turn, usage)
        self._finish_turn(trace, event, error.code, error)

    def _on_answer(self, event: Event, message: Message) -> None:
        trace = self._known(event)
        if trace is None:
            return
        trace.answer = message
        if not self._content:
            return
        if trace.turn is not None:
            trace.turn.span.set_attribute("gen_ai.output.messages", encode_text([trace_message(message)]))
            self._finish_turn(trace, event, None)
        trace.input.append(message)

    def _finish_turn(self, trace: _Trace, event: Event, error: str | None, detail: ErrorInfo | None = None) -> None:
        turn, trace.turn = trace.turn, None
        assert turn is not None
        attributes = _attributes("chat", turn.model)
        if error is not None:
            self._mark_error(turn.span, error, detail)
            attributes["error.type"] = error
        turn.span.end(_nanoseconds(event.time))
        self._durations.record(max(0.0, event.time - turn.began), attributes)

    # --- tools -------------------------------------------------------------------------------------------------------

    def _begin_tool(self, trace: _Trace, event: Event, call: str, name: str) -> None:
        if call in trace.tools:
            self._finish_tool(trace, event, call, "_OTHER")
        inner = trace.inner.get(call)
        span = self._tracer.start_span(
            f"execute_tool {name}",
            self._calls.get(inner.parent or "", trace.context) if inner is not None else trace.context,
            kind=self._trace_api.SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.call.id": call,
                "gen_ai.tool.type": "function",
                "gen_ai.conversation.id": event.session,
            },
            start_time=_nanoseconds(event.time),
        )
        trace.tools[call] = span, name, event.time
        self._calls[call] = self._trace_api.set_span_in_context(span)
        if self._content:
            calls = [*_calls_of(trace.answer), *([inner] if inner is not None else [])]
            request = next((request for request in calls if request.id == call), None)
            if request is not None:
                span.set_attribute("gen_ai.tool.call.arguments", trace_arguments(request))

    def _on_call(self, event: Event, call: ToolCall) -> None:
        trace = self._known(event)
        if trace is not None and call.parent is not None:
            trace.inner[call.id] = call
        if self._content and trace is not None and call.id in trace.tools:
            trace.tools[call.id][0].set_attribute("gen_ai.tool.call.arguments", trace_arguments(call))

    def _on_result(self, event: Event, result: ToolResult) -> None:
        trace = self._known(event)
        if not self._content or trace is None:
            return
        if trace.inner.pop(result.id, None) is None:  # the model is not sent what its program is
            trace.input.append(Message(role="tool", content=[result]))
        if result.id in trace.tools:
            trace.tools[result.id][0].set_attribute("gen_ai.tool.call.result", trace_result(result))
            self._finish_tool(trace, event, result.id, None if result.status == "ok" else result.status)

    def _end_tool(self, event: Event, call: str, error: str | None) -> None:
        trace = self._known(event)
        if trace is not None and call in trace.tools and not self._content:
            self._finish_tool(trace, event, call, error)  # with content it ends with its result, which follows at once

    def _finish_tool(self, trace: _Trace, event: Event, call: str, error: str | None) -> None:
        span, name, began = trace.tools.pop(call)
        self._calls.pop(call, None)
        attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
        if error is not None:
            self._mark_error(span, error, None)
            attributes["error.type"] = error
        span.end(_nanoseconds(event.time))
        self._durations.record(max(0.0, event.time - began), attributes)

    def _mark_error(self, span: "Span", error: str, detail: ErrorInfo | None) -> None:
        span.set_attribute("error.type", error)
        message = detail.message if detail is not None and self._content else None
        span.set_status(self._trace_api.Status(self._trace_api.StatusCode.ERROR, message))


def _attributes(operation: str, model: str) -> dict[str, Any]:
    provider, _, _ = model.rpartition("/")
    attributes: dict[str, Any] = {"gen_ai.operation.name": operation}
    if model:
        attributes["gen_ai.request.model"] = _model(model)
        attributes["gen_ai.provider.name"] = _PROVIDERS.get(provider, provider) or "_OTHER"
    return attributes


def _model(model: str) -> str:
    return model.partition("/")[2] or model


def _set_usage(span: "Span", usage: Usage) -> None:
    counts: Mapping[str, int | None] = {
        "gen_ai.usage.input_tokens": usage.total_input,
        "gen_ai.usage.output_tokens": usage.total_output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }
    for name, count in counts.items():
        if count is not None:
            span.set_attribute(name, count)


def _calls_of(message: Message | None) -> list[ToolCall]:
    return message.tool_calls if message is not None else []


def _nanoseconds(time: float) -> int:
    return int(time * 1_000_000_000)


def _version() -> str:
    try:
        return version("heald")
    except PackageNotFoundError:
        return ""
