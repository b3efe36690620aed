"""The checks of a model server: what is asked, what is right, and how the answer is judged."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection

import msgspec

from heald_check.conform.answer import ProbeAnswer
from heald_check.conform.check_finding import CheckFinding, Outcome, ok, skipped, wrong
from heald_check.conform.excerpt import printable
from heald_check.conform.judge import PROBE_JUDGES, judge_refusal
from heald_check.conform.probe_client import ProbeClient
from heald_check.conform.probes import PROBES
from heald_check.conform.stream_rules import RULES, StreamRule, judge_rule

_MAX_SEEN = 600
_STOP_SEQUENCES = ("chat", "messages", "gemini", "ollama")
PROBED_WIRES = ("chat", "responses", "messages", "gemini", "ollama")
"""The wires whose servers can be probed."""
_TEXT_EDITS = ("chat", "ollama")
_TOOL_CHOICE = ("chat", "responses", "messages", "gemini")


class ConformanceCheck(msgspec.Struct, frozen=True):
    name: str
    right: str
    judge: Callable[[ProbeClient], Awaitable[CheckFinding]]
    case: str = ""
    wires: tuple[str, ...] = ()
    """The wires that it applies to; empty means all."""


class ConformanceResult(msgspec.Struct, frozen=True):
    """The finding of one check, with the name of the check and what would be right."""

    outcome: Outcome
    check: str
    seen: str
    right: str
    case: str = ""


def checks_of(wire: str) -> list[ConformanceCheck]:
    return [check for check in CHECKS if not check.wires or wire in check.wires]


async def run_checks(client: ProbeClient, only: Collection[str] = ()) -> AsyncIterator[ConformanceResult]:
    """Run the checks and yield each result as soon as it is known."""
    for check in checks_of(client.api.wire):
        if only and check.name not in only:
            continue
        finding = await check.judge(client)
        seen = printable(finding.seen)[:_MAX_SEEN]
        yield ConformanceResult(finding.outcome, check.name, seen, check.right, finding.case or check.case)


def _expect_answer(
    name: str, right: str, case: str = "", *, optional: bool = False, wires: tuple[str, ...] = ()
) -> ConformanceCheck:
    """Make the check that a probe is answered. An optional one may be refused."""

    async def run(client: ProbeClient) -> CheckFinding:
        answer = await client.answer(name)
        return _judge_missing_stream(answer, optional) or PROBE_JUDGES[name](answer)

    return ConformanceCheck(name, right, run, case, wires)


def _judge_missing_stream(answer: ProbeAnswer, optional: bool) -> CheckFinding | None:
    if answer.trouble is None:
        return None
    if answer.busy:
        return skipped(f"the server is busy: {answer.trouble}")
    if optional and answer.refused:
        return skipped(f"the server refuses: {answer.trouble}")
    return wrong(answer.trouble, "F08" if answer.reading.error is not None and answer.status == 200 else "")


def _expect_refusal(name: str, right: str, statuses: tuple[int, ...]) -> ConformanceCheck:
    async def run(client: ProbeClient) -> CheckFinding:
        answer = await client.answer(name)
        return skipped(f"the server is busy: HTTP {answer.status}") if answer.busy else judge_refusal(answer, statuses)

    return ConformanceCheck(name, right, run, "L03")


async def _judge_continuation(client: ProbeClient) -> CheckFinding:
    """Judge the answer to a tool result. A server that refuses tools altogether is not judged."""
    tools = await client.answer("tool-call")
    answer = await client.answer("continuation")
    return _judge_missing_stream(answer, optional=tools.refused) or PROBE_JUDGES["continuation"](answer)


async def _judge_invalid_key(client: ProbeClient) -> CheckFinding:
    if client.model.api_key is None:
        return skipped("no key is configured; name one with --api-key-env")
    return judge_refusal(await client.answer("invalid-key"), client.api.key_statuses)


async def _judge_cancel(client: ProbeClient) -> CheckFinding:
    cancelled = await client.answer("cancel")
    if not cancelled.disconnected:
        return _judge_missing_stream(cancelled, optional=False) or skipped(
            "the answer was over before it could be cancelled"
        )
    after = await client.answer("after-cancel")
    if after.busy:
        return wrong(f"the server is busy afterwards: {after.trouble}")
    return wrong(f"the next request fails: {after.trouble}") if after.trouble else ok("the next request was answered")


def _check_rule(rule: StreamRule) -> ConformanceCheck:
    async def run(client: ProbeClient) -> CheckFinding:
        names = [name for name in _stream_probes() if any(check.name == name for check in checks_of(client.api.wire))]
        answers = [await client.answer(name) for name in names]
        return judge_rule(rule, [answer for answer in answers if answer.trouble is None])

    return ConformanceCheck(rule.name, rule.right, run, rule.case, rule.wires)


def _stream_probes() -> list[str]:
    return [probe.name for probe in PROBES.values() if not probe.wants_error and not probe.disconnect]


CHECKS: tuple[ConformanceCheck, ...] = (
    _expect_answer("text", "A plain request is answered with text."),
    _expect_answer("turns", "Earlier turns and a system prompt are accepted.", "G08"),
    _expect_answer("unicode", "Text comes back undamaged.", "F01"),
    _expect_answer("tool-call", "A tool that tool_choice names is called.", optional=True, wires=_TOOL_CHOICE),
    _expect_answer("tool-call", "A tool can be called.", optional=True, wires=("ollama",)),
    _expect_answer("no-arguments", "A call of a tool without parameters has the arguments {}.", "V01", optional=True),
    _expect_answer("tool-choice-none", "With tool_choice none no tool is called.", optional=True, wires=_TOOL_CHOICE),
    _expect_answer("parallel", "Several calls in one answer are separate.", "T01", optional=True),
    ConformanceCheck("continuation", "A call and its result are accepted in a history.", _judge_continuation),
    _expect_answer(
        "truncation", "An answer that was cut at the output limit has the finish reason for it.", "V06", optional=True
    ),
    _expect_answer("stop-sequence", "The answer ends before a stop sequence.", optional=True, wires=_STOP_SEQUENCES),
    _expect_answer(
        "text-edit", "A file is changed by text, without a call (--edit-format text).", optional=True, wires=_TEXT_EDITS
    ),
    _expect_answer("image", "A picture is accepted, or refused in the form of the API.", optional=True),
    ConformanceCheck("cancel", "The server keeps serving after a client disconnects.", _judge_cancel, "C02"),
    _expect_refusal("unknown-model", "An unknown model is HTTP 404 with an error in the API's shape.", (404,)),
    _expect_refusal("malformed-request", "A request of the wrong shape is HTTP 400, in the API's shape.", (400,)),
    _expect_refusal("malformed-json", "A request that is not JSON is HTTP 400, in the API's shape.", (400,)),
    ConformanceCheck("invalid-key", "A wrong key is refused as such, in the API's shape.", _judge_invalid_key, "L03"),
    *(_check_rule(rule) for rule in RULES),
)
