"""The tools `remember` and `forget`, by which a model changes the memory."""

from collections.abc import Sequence
from typing import Annotated, Protocol

import msgspec

from heald.core.errors import ConfigurationError
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.memory.fact import Evidence, Fact, FactScope, FactSubject
from heald.tools.memory.session_evidence import SessionEvidence
from heald.tools.memory.statements import is_stated, names_secret
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput

REMEMBER, FORGET = "remember", "forget"


class FactStore(Protocol):
    """What the tools need of a memory."""

    def add(self, text: str, about: FactSubject, evidence: Sequence[Evidence], *, scope: FactScope) -> Fact: ...
    def find(self, words: str, session: str) -> Fact: ...
    def remove(self, fact_id: str) -> Fact: ...


def memory_tools(store: FactStore) -> tuple[Tool, ...]:
    """Return the tools of a memory."""

    @tool(
        name=REMEMBER,
        effect="none",
        summary=lambda arguments: f"Remember: {arguments.get('fact', '')}",
        sequential=True,
    )
    async def remember(
        fact: Annotated[str, msgspec.Meta(description="One sentence that is clear without this conversation.")],
        about: FactSubject,
        ctx: ToolContext,
    ) -> ToolOutput:
        """Remember a lasting fact for later conversations: a preference of the user, a rule of the project, a decision.

        Do not use it for the current task, for what files say, or for secrets.
        """
        evidence = ctx.keep(SessionEvidence)
        if not evidence.session:
            raise ToolFault("This conversation has no memory.")
        if names_secret(fact) or _hide(ctx, fact) != fact:
            raise ToolFault("The fact speaks of a secret; nothing was remembered.")
        is_known = is_stated(fact, (text for _, text in evidence.requests))
        try:
            noted = store.add(fact, about, evidence.of_call(ctx.call.id), scope="lasting" if is_known else "session")
        except ConfigurationError as error:
            raise ToolFault(str(error)) from None
        if is_known:
            return ToolOutput(content=f"Remembered as {noted.id}.", summary=f"remembered as {noted.id}")
        return ToolOutput(
            content=f"Noted as {noted.id} for this conversation. The user did not say it; they can keep it for others.",
            summary=f"{noted.id}, for this conversation: /memory keep {noted.id}",
        )

    @tool(name=FORGET, effect="none", summary=lambda arguments: f"Forget {arguments.get('fact', '')}", sequential=True)
    async def forget(fact: str, ctx: ToolContext) -> ToolOutput:
        """Forget a fact from memory that is wrong or that the user takes back.

        Args:
            fact: The id in brackets after the fact, such as f3, or its words.
        """
        session = ctx.keep(SessionEvidence).session
        if not session:
            raise ToolFault("This conversation has no memory.")
        try:
            removed = store.remove(store.find(fact.strip("[] "), session).id)
        except ConfigurationError as error:
            raise ToolFault(str(error)) from None
        return ToolOutput(content=f"Forgotten: {removed.text}", summary="forgotten")

    return remember, forget


def _hide(ctx: ToolContext, text: str) -> str:
    return ctx.host.hide_secrets(text) if ctx.host is not None else text
