"""Invariants of secrets (I70) and of error texts (I71)."""

import json
from collections.abc import Iterator, Sequence

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.json import encode, encode_text
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class SecretCheck(InvariantCheck):
    """I70. Finds a secret as it is, escaped in JSON or in JSON inside JSON, and split over deltas."""

    def __init__(self, report: ReportViolation, secrets: Sequence[str]) -> None:
        super().__init__(report)
        spellings = {form for secret in secrets if secret for form in _encoded_forms(secret)}
        self._spellings = sorted(spellings)
        self._bytes = [form.encode("utf-8", "replace") for form in self._spellings]
        self._tail_size = max((len(form) for form in spellings), default=1) - 1
        self._tails: dict[str, str] = {}  # the last characters of each stream of deltas

    def on_event(self, event: Event) -> None:
        if not self._spellings:
            return
        raw = encode(event)
        here = any(form in raw for form in self._bytes)
        if here:
            self.report("I70", event, f"{event.type} holds a secret")
        match event.data:
            case ev.TextDelta(block=stream, text=text) | ev.ThinkingDelta(block=stream, text=text):
                self._i70_cut(event, stream, text, here)
            case ev.InputJsonDelta(block=stream, partial_json=text):
                self._i70_cut(event, stream, text, here)
            case ev.ToolOutputDelta(id=stream, text=text, channel=channel):
                self._i70_cut(event, f"{stream} {channel}", text, here)
            case ev.FilePreview(id=stream, path=path, text=text):
                self._i70_cut(event, f"{stream} {path}", text, here)
            case ev.ExchangeResponse():
                self._tails.clear()
            case _:
                pass

    def _i70_cut(self, event: Event, stream: str, text: str, is_reported: bool) -> None:
        seen = self._tails.get(stream, "") + text
        if not is_reported and any(form in seen for form in self._spellings):
            self.report("I70", event, f"{event.type} ends a secret that the deltas before it began")
        self._tails[stream] = seen[-self._tail_size :] if self._tail_size else ""


def _encoded_forms(secret: str) -> Iterator[str]:
    yield secret
    escaped = encode_text(secret)
    yield escaped[1:-1]
    yield encode_text(escaped[1:-1])[1:-1]
    yield json.dumps(secret)[1:-1]
