"""The strategy that checks requests before they are sent and answers while they stream."""

from collections.abc import Iterable

from heald.agent.guarded_calls import GuardedCalls
from heald.agent.guarded_stream import GuardedStream, TextPayload
from heald.agent.guardrail import Guardrail, GuardrailPoint
from heald.agent.strategy import NextRequest, Strategy, StreamTurn
from heald.core.events import TextDelta, ThinkingDelta
from heald.providers.base import OnEvent, ProviderTurn

_PAYLOADS: dict[GuardrailPoint, TextPayload] = {"output": TextDelta, "thinking": ThinkingDelta}


class GuardrailStrategy(Strategy):
    """Ends an exchange whose request or answer a guardrail refuses."""

    def __init__(self, guardrails: Iterable[Guardrail]) -> None:
        self._requests: list[Guardrail] = []
        self._texts: dict[TextPayload, list[Guardrail]] = {}
        for guardrail in guardrails:
            if guardrail.point == "request":
                self._requests.append(guardrail)
            elif guardrail.point in _PAYLOADS:
                self._texts.setdefault(_PAYLOADS[guardrail.point], []).append(guardrail)

    async def before_turn(self, request: NextRequest) -> None:
        for guardrail in self._requests:
            await guardrail.run(list(self.conversation.messages))

    async def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> ProviderTurn:
        if not self._texts:
            return await stream(on_event)
        return await GuardedStream(self._texts, on_event).run(stream)


def guardrail_strategies(guarded: Iterable[GuardedCalls]) -> list[GuardrailStrategy]:
    """Return the strategy of the guardrails of several agents, each guardrail once; none if there are no guardrails."""
    guardrails = dict.fromkeys(guardrail for calls in guarded for guardrail in calls.guardrails)
    return [GuardrailStrategy(guardrails)] if guardrails else []
