"""Middleware that checks the calls of tools and their results."""

import asyncio
from collections.abc import Sequence
from typing import Any

from heald.agent.guardrail import Guardrail, GuardrailTripped
from heald.tools.context import ToolContext
from heald.tools.runtime import Invocation, Next
from heald.tools.tool_fault import ToolFault, describe_exception
from heald.tools.tool_output import ToolOutput, join_output, to_output


class GuardedCalls:
    """Runs the checks of calls and results around every call. A refusal is the result that the model gets."""

    _calls: Sequence[Guardrail] = ()
    _results: Sequence[Guardrail] = ()

    def __init__(self, guardrails: Sequence[Guardrail]) -> None:
        self.guardrails = guardrails
        """All guardrails of the agent: those of other points hold for its subagents too."""
        if not guardrails:
            return
        self._calls = [guardrail for guardrail in guardrails if guardrail.point == "call"]
        self._results = [guardrail for guardrail in guardrails if guardrail.point == "result"]

    @property
    def has_checks(self) -> bool:
        return bool(self._calls or self._results)

    async def __call__(self, invocation: Invocation, run: Next) -> Any:
        for guardrail in self._calls:
            await _check(guardrail, invocation)
        if not self._results:
            return await run(invocation)
        context = invocation.context
        try:
            output = to_output(context.join(await run(invocation)))
        except asyncio.CancelledError:
            _forget_pieces(context)  # they are not checked
            raise
        except Exception as error:
            text = describe_exception(error, context.workspace.root)
            await self._check_output(invocation, join_output(context.pieces, ToolOutput(content=text, is_error=True)))
            raise
        await self._check_output(invocation, output)
        return output

    async def _check_output(self, invocation: Invocation, output: ToolOutput) -> None:
        for guardrail in self._results:
            try:
                await _check(guardrail, invocation, output)
            except BaseException:
                _forget_pieces(invocation.context)
                raise


def _forget_pieces(context: ToolContext) -> None:
    """Keep the pieces of a result from the model."""
    context.join("")


async def _check(guardrail: Guardrail, *subjects: Any) -> None:
    """Run a check of a call. Raises ToolFault with the reason."""
    try:
        await guardrail.run(*subjects)
    except GuardrailTripped as tripped:
        raise ToolFault(str(tripped)) from None
