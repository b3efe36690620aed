"""What a signed log proves: the exchanges of a session, their models and costs, and who approved which calls."""

import msgspec

from heald.core.envelope import Event, decode_event
from heald.core.events import ApprovalRequested, ApprovalResolved, ExchangeRequest, ExchangeResponse, MessageStart
from heald.core.turn import Usage


class ProvenDecision(msgspec.Struct, kw_only=True):
    """An approval that was requested, and its outcome."""

    seq: int
    time: float
    tool: str = ""
    """Empty if it is redacted."""
    summary: str = ""
    model: str = ""
    """The model that made the call."""
    decision: str = "open"
    """`allowed`, `denied`, `open` or `redacted`."""
    reason: str = ""
    by: str = ""
    """Who decided; empty if it is not known."""
    always: bool = False
    changed: bool = False
    """The approver gave the call other arguments."""


class ProvenExchange(msgspec.Struct, kw_only=True):
    """An exchange of a log."""

    id: str
    time: float
    models: list[str] = []
    status: str = "open"
    """Of its response; `redacted` without one that can be read."""
    turns: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    """None if it is unknown."""
    decisions: list[ProvenDecision] = []


class _Envelope(msgspec.Struct, frozen=True):
    """The part of an event that stays when its data is redacted."""

    seq: int
    exchange: str | None
    type: str
    time: float


_envelopes = msgspec.json.Decoder(_Envelope)
_KEY = b'"type":"'
_TYPES = frozenset(
    kind.type.encode()
    for kind in (ExchangeRequest, ExchangeResponse, MessageStart, ApprovalRequested, ApprovalResolved)
)


class ProvenLog:
    """Collects the lines of a signed archive that tell of exchanges and approvals, and reads them when it is proven."""

    def __init__(self) -> None:
        self._lines: list[tuple[bytes, bool]] = []

    def add(self, line: bytes, public: bytes, is_redacted: bool) -> None:
        """Keep a line. This is the `on_event` of `verify_archive`: nothing is decoded before the end."""
        at = public.find(_KEY) + len(_KEY)
        if public[at : public.find(b'"', at)] in _TYPES:
            self._lines.append((line, is_redacted))

    def exchanges(self) -> list[ProvenExchange]:
        """Return the exchanges of the log, in order."""
        reader = _Reader()
        for line, is_redacted in self._lines:
            envelope = _envelopes.decode(line)
            exchange = reader.exchange(envelope)
            if is_redacted:
                reader.read_redacted(envelope, exchange)
            else:
                reader.read(decode_event(line), exchange)
        return list(reader.exchanges.values())


class _Reader:
    def __init__(self) -> None:
        self.exchanges: dict[str, ProvenExchange] = {}
        self._decisions: dict[str, ProvenDecision] = {}

    def exchange(self, envelope: _Envelope) -> ProvenExchange:
        name = envelope.exchange or ""
        return self.exchanges.setdefault(name, ProvenExchange(id=name, time=envelope.time))

    def read(self, event: Event, exchange: ProvenExchange) -> None:
        match event.data:
            case MessageStart(model=model):
                if model not in exchange.models:
                    exchange.models.append(model)
            case ApprovalRequested(approval=approval, name=tool, summary=summary):
                model = exchange.models[-1] if exchange.models else ""
                decision = ProvenDecision(seq=event.seq, time=event.time, tool=tool, summary=summary, model=model)
                self._decisions[approval] = decision
                exchange.decisions.append(decision)
            case ApprovalResolved() as resolved:
                decision = self._decisions.pop(resolved.approval, None)
                if decision is None:  # its request is redacted
                    decision = ProvenDecision(seq=event.seq, time=event.time)
                    exchange.decisions.append(decision)
                decision.time = event.time
                decision.decision = resolved.decision
                decision.reason = resolved.reason
                decision.by = resolved.by
                decision.always = resolved.always
                decision.changed = resolved.input is not None
            case ExchangeResponse() as response:
                exchange.status = response.status
                exchange.turns = response.turns
                exchange.usage = response.usage
                exchange.cost_usd = response.cost_usd
            case _:
                pass

    def read_redacted(self, envelope: _Envelope, exchange: ProvenExchange) -> None:
        if envelope.type == ExchangeResponse.type:
            exchange.status = "redacted"
        elif envelope.type == ApprovalResolved.type:
            exchange.decisions.append(ProvenDecision(seq=envelope.seq, time=envelope.time, decision="redacted"))
