"""The part of an agent that speaks in a conversation: all of it but the conversation."""

from collections.abc import Sequence

import msgspec

from heald.agent.budget import Budget
from heald.agent.guarded_calls import GuardedCalls
from heald.agent.model_chain import ModelChain
from heald.agent.request_callbacks import OnApproval, OnQuestion
from heald.agent.strategy import StrategyFactory
from heald.agent.text_editing import EditFormat
from heald.core.turn import Settings
from heald.tools.permissions import Permissions
from heald.tools.registry import ToolLike
from heald.tools.runtime import Middleware


class AgentProfile(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A name, instructions, tools, a model and limits. A conversation continues with those of another agent once it is
    handed over."""

    name: str
    description: str
    """For the models that decide whom to hand over to."""
    models: ModelChain
    """Its model and fallbacks. Each conversation opens its own."""
    settings: Settings
    tools: Sequence[ToolLike]
    permissions: Permissions
    budget: Budget | None
    guarded_calls: GuardedCalls
    middleware: Sequence[Middleware]
    strategies: Sequence[StrategyFactory]
    caches: bool
    """Whether the results of pure tools are cached."""
    edit_format: EditFormat
    on_approval: OnApproval | None
    on_question: OnQuestion | None
    handoffs: Sequence["AgentProfile | str"]
    """The agents that it may hand a conversation over to. A name is one of an agent in the same group."""

    @property
    def handoff_names(self) -> list[str]:
        return [agent if isinstance(agent, str) else agent.name for agent in self.handoffs]
