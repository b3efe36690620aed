"""A chat endpoint that answers as real ones do on bad days: slowly, cut off, with errors, garbage or no end."""

import random

from heald.core.messages import ToolCall
from heald.testing.server import Cut, Pause, ReceivedRequest, Reply, Reset, Step
from heald.testing.streams import wire_reply, wire_stream

WORDS = ["word ", "longer word ", "語 ", "a\nline ", "é "]


class HostileProvider:
    """The reply function of a `ScriptedServer`. Half of the answers are good."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.counts: dict[str, int] = {}

    def __call__(self, request: ReceivedRequest) -> Reply:
        messages = request.body.get("messages") or [{}]
        has_result = messages[-1].get("role") == "tool"
        kind = self._random.choices(
            ["text", "call", "cut", "reset", "error", "limit", "garbage", "endless", "html"],
            [50, 0 if has_result else 20, 5, 4, 5, 4, 4, 2, 2],
        )[0]
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return getattr(self, f"_{kind}")()

    def _pieces(self, count: int) -> list[str]:
        return self._random.choices(WORDS, k=count)

    def _paced(self, steps: list[bytes], seconds: float = 0.01) -> Reply:
        paced: list[Step] = []
        for step in steps:
            paced += [step, Pause(seconds)]
        return Reply(paced)

    def _text(self) -> Reply:
        return self._paced(wire_stream("chat", text=self._pieces(self._random.randint(5, 150))))

    def _call(self) -> Reply:
        name, arguments = self._random.choice(
            [
                ("list_files", {}),
                ("write_file", {"path": f"f{self._random.randint(0, 9)}.txt", "content": "x" * 500}),
                ("read_file", {"path": "f1.txt"}),
                ("no_such_tool", {}),
                ("hostile__flood", {}),
            ]
        )
        call = ToolCall(id=f"call_{self._random.randint(0, 10**9)}", name=name, input=arguments)
        return self._paced(wire_stream("chat", text=["Let me see. "], calls=[call]))

    def _cut(self) -> Reply:
        steps = wire_stream("chat", text=self._pieces(30))
        return Reply([*steps[: self._random.randint(1, len(steps) - 2)], Cut()])

    def _reset(self) -> Reply:
        return Reply([*wire_stream("chat", text=self._pieces(5))[:3], Reset()])

    def _error(self) -> Reply:
        return Reply.json({"error": {"message": "overloaded", "type": "server_error"}}, 503)

    def _limit(self) -> Reply:
        return Reply.json({"error": {"message": "slow down", "type": "rate_limit"}}, 429, {"Retry-After": "1"})

    def _garbage(self) -> Reply:
        return Reply([b'data: {"choices": [{"delta": {"content": 5}}]}\n\n', b"data: \xff\xfe\n\n", Cut()])

    def _endless(self) -> Reply:
        return self._paced(wire_stream("chat", text=["word "] * 20_000), 0.0)

    def _html(self) -> Reply:
        return Reply([b"<html><h1>502 Bad Gateway</h1></html>"], status=502, content_type="text/html")


GOOD = wire_reply("chat", text="All is well.")
