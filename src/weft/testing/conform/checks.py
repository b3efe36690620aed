"""The list of checks, in the order in which they run: the probes' own first, then the rules of all streams."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass

from weft.testing.conform import expect
from weft.testing.conform.answer import Answer
from weft.testing.conform.bench import Bench
from weft.testing.conform.probes import PROBES
from weft.testing.conform.refusals import judge_refusal
from weft.testing.conform.rules import RULES, Rule, judge_rule
from weft.testing.conform.verdict import Finding, Verdict, ok, printable, skipped, wrong

_MAX_SEEN = 600
_TOOL_CHOICE = ("chat", "responses", "messages", "gemini")


@dataclass(frozen=True)
class Check:
    name: str
    right: str
    judge: Callable[[Bench], Awaitable[Finding]]
    case: str = ""
    wires: tuple[str, ...] = ()
    """The wires it is for; none means all."""


def checks_of(wire: str) -> list[Check]:
    return [check for check in CHECKS if not check.wires or wire in check.wires]


async def run_checks(bench: Bench, only: Collection[str] = ()) -> AsyncIterator[Verdict]:
    """The verdicts, each as soon as it is known."""
    for check in checks_of(bench.api.wire):
        if only and check.name not in only:
            continue
        found = await check.judge(bench)
        seen = printable(found.seen)[:_MAX_SEEN]
        yield Verdict(found.outcome, check.name, seen, check.right, found.case or check.case)


def _answered(
    name: str,
    right: str,
    judge: Callable[[Answer], Finding],
    case: str = "",
    *,
    optional: bool = False,
    wires: tuple[str, ...] = (),
) -> Check:
    """A probe that should be answered. An optional one may be refused: not every model can do everything."""

    async def run(bench: Bench) -> Finding:
        answer = await bench.answer(name)
        return _no_stream(answer, optional) or judge(answer)

    return Check(name, right, run, case, wires)


def _no_stream(answer: Answer, optional: bool) -> Finding | None:
    if answer.trouble is None:
        return None
    if answer.busy:
        return skipped(f"the server is busy: {answer.trouble}")
    if optional and answer.refused:
        return skipped(f"the server refuses: {answer.trouble}")
    return wrong(answer.trouble, "F08" if answer.reading.error is not None and answer.status == 200 else "")


def _refused(name: str, right: str, statuses: tuple[int, ...]) -> Check:
    async def run(bench: Bench) -> Finding:
        answer = await bench.answer(name)
        return skipped(f"the server is busy: HTTP {answer.status}") if answer.busy else judge_refusal(answer, statuses)

    return Check(name, right, run, "L03")


async def _continuation(bench: Bench) -> Finding:
    """A server that takes no tools at all has already said so."""
    tools = await bench.answer("tool-call")
    answer = await bench.answer("continuation")
    return _no_stream(answer, optional=tools.refused) or expect.continuation(answer)


async def _invalid_key(bench: Bench) -> Finding:
    if bench.model.api_key is None:
        return skipped("no key is configured; name one with --api-key-env")
    return judge_refusal(await bench.answer("invalid-key"), bench.api.key_statuses)


async def _cancel(bench: Bench) -> Finding:
    cancelled = await bench.answer("cancel")
    if not cancelled.left_early:
        return _no_stream(cancelled, optional=False) or skipped("the answer was over before it could be cancelled")
    after = await bench.answer("after-cancel")
    if after.busy:
        return wrong(f"the server is busy afterwards: {after.trouble}")
    return wrong(f"the next request fails: {after.trouble}") if after.trouble else ok("the next request was answered")


def _rule(rule: Rule) -> Check:
    async def run(bench: Bench) -> Finding:
        names = [name for name in _streams() if any(check.name == name for check in checks_of(bench.api.wire))]
        answers = [await bench.answer(name) for name in names]
        return judge_rule(rule, [answer for answer in answers if answer.trouble is None])

    return Check(rule.name, rule.right, run, rule.case, rule.wires)


def _streams() -> list[str]:
    return [probe.name for probe in PROBES.values() if not probe.wants_error and not probe.leave]


CHECKS: tuple[Check, ...] = (
    _answered("text", "A plain request is answered with text.", expect.text),
    _answered("turns", "Earlier turns and a system prompt are taken.", expect.turns, "G08"),
    _answered("unicode", "Text comes back undamaged.", expect.unicode, "F01"),
    _answered(
        "tool-call",
        "A tool that tool_choice names is called.",
        expect.tool_call,
        optional=True,
        wires=_TOOL_CHOICE,
    ),
    _answered("tool-call", "A tool can be called.", expect.tool_call, optional=True, wires=("ollama",)),
    _answered(
        "no-arguments",
        "A call of a tool without parameters has the arguments {}.",
        expect.no_arguments,
        "V01",
        optional=True,
    ),
    _answered(
        "tool-choice-none",
        "With tool_choice none no tool is called.",
        expect.tool_choice_none,
        optional=True,
        wires=_TOOL_CHOICE,
    ),
    _answered("parallel", "Several calls in one answer are told apart.", expect.parallel, "T01", optional=True),
    Check("continuation", "A call and its result are taken back.", _continuation),
    _answered(
        "truncation",
        "An answer cut at the output limit says so in its finish reason.",
        expect.truncation,
        "V06",
        optional=True,
    ),
    _answered(
        "stop-sequence",
        "The answer ends before a stop sequence.",
        expect.stop_sequence,
        optional=True,
        wires=("chat", "messages", "gemini", "ollama"),
    ),
    _answered("image", "A picture is taken, or refused in the API's way.", expect.image, optional=True),
    Check("cancel", "A client may leave in the middle; the server goes on serving.", _cancel, "C02"),
    _refused("unknown-model", "An unknown model is HTTP 404 with an error in the API's shape.", (404,)),
    _refused("malformed-request", "A request of the wrong shape is HTTP 400, in the API's shape.", (400,)),
    _refused("malformed-json", "A request that is no JSON is HTTP 400, in the API's shape.", (400,)),
    Check("invalid-key", "A wrong key is refused as such, in the API's shape.", _invalid_key, "L03"),
    *(_rule(rule) for rule in RULES),
)
