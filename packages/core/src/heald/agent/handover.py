"""Hands a conversation over from one agent to another: one log, one account, one workspace.

A call of `hand_over` publishes `agent_changed`. The agent changes before the next turn, so that all calls of a message
run with the tools and permissions of the agent that made them. After a crash the log names the agent that speaks.
"""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from heald.agent.agent_group import AgentGroup
from heald.agent.agent_profile import AgentProfile
from heald.agent.conversation import Conversation
from heald.agent.guarded_calls import GuardedCalls
from heald.agent.guardrail_strategy import guardrail_strategies
from heald.agent.handover_tool import handover_tool
from heald.agent.model_chain import ModelChain
from heald.agent.reactors import Subscription
from heald.agent.request_callbacks import ApprovalReactor, QuestionReactor
from heald.agent.speaker_strategies import SpeakerStrategies
from heald.agent.strategy import NextRequest, Strategy, StrategyList
from heald.agent.text_editing import TextEditing
from heald.core.events import AgentChanged
from heald.core.turn import Settings, Usage
from heald.tools.context import ToolContext
from heald.tools.narrowed_permissions import NarrowedPermissions
from heald.tools.registry import Registry
from heald.tools.result_cache import ResultCache
from heald.tools.tool_fault import ToolFault
from heald.wires.service_tier import read_tier

if TYPE_CHECKING:
    from heald.agent.account import Account
    from heald.tools.permissions import Permissions
    from heald.tools.runtime import Middleware, ToolRuntime


class _Speaker(msgspec.Struct, frozen=True, eq=False):
    """An agent in one conversation: what it keeps while others speak."""

    profile: AgentProfile
    models: ModelChain
    registry: Registry
    permissions: "Permissions"
    middleware: "Sequence[Middleware]"
    strategies: StrategyList
    cache: ResultCache | None


class Handover(Strategy):
    """The agents of one conversation, and which of them speaks. It is the first of all strategies; `strategies` are
    those of the agent that speaks, and the last ones."""

    def __init__(self, group: AgentGroup, text_editing: TextEditing, callers: Sequence[GuardedCalls] = ()) -> None:
        """`callers` hold the guardrails of agents that this conversation works for: they hold for every speaker."""
        self._group = group
        self._text_editing = text_editing
        self._callers = callers
        self._next: AgentProfile | None = None
        self._lost: str | None = None  # the agent that spoke last according to the log, if it does not exist
        self._account: Account | None = None  # in which the budget of the speaker counts
        self._speakers: dict[str, _Speaker] = {}
        self._subscriptions: list[Subscription] = []
        self.settings = group.first.settings
        """The settings of the agent that speaks, without those of a request."""
        self.speaker = group.first
        """The agent that speaks."""
        self.strategies = SpeakerStrategies()

    def offer(self, runtime: "ToolRuntime") -> None:
        """Add the tool that hands over to the tools of the first agent. Rules may name the tools of all agents."""
        if targets := self._group.targets(self._group.first):
            runtime.registry.add(handover_tool(targets))
        if runtime.permissions.rules:
            runtime.further_names = [tool.name for agent in self._group.others for tool in Registry(agent.tools)]

    def attach(self, conversation: Conversation) -> None:
        super().attach(conversation)
        runtime, first = conversation.runtime, self._group.first
        runtime.hand_over = self._hand_over
        self._speakers[first.name] = _Speaker(
            first,
            conversation.models,
            runtime.registry,
            runtime.permissions,
            runtime.middleware,
            self._make_strategies(first),
            ResultCache() if first.caches else None,
        )
        self.strategies.current = self._speakers[first.name].strategies

    @property
    def first(self) -> _Speaker:
        """The agent that begins the conversation."""
        return self._speakers[self._group.first.name]

    @property
    def name(self) -> str:
        """The name of the agent that answers the next request."""
        return (self._next or self.speaker).name

    def check(self) -> None:
        """Raise ConfigurationError if an agent hands over to one that does not exist."""
        self._group.check()

    # --- changing the agent -------------------------------------------------------------------------------------------

    async def _hand_over(self, name: str, reason: str, context: ToolContext[Any]) -> str:
        """Let another agent speak from the next turn on. Returns what that agent reads."""
        target = next((agent for agent in self._group.targets(self.speaker) if agent.name == name), None)
        if target is None:
            raise ToolFault(f"There is no agent {name[:60]!r} to hand over to.", "not_found")
        if self._next is not None and self._next is not target:
            raise ToolFault(f"The conversation is handed over to {self._next.name} already.")
        if self._next is None:  # else the call is repeated after a crash
            await self._check_price(target)
            changed = self._describe_change(target, call_id=context.call.id, reason=reason)
            self._next = target
            context.emit(changed)
        previous = f"The agent {self.speaker.name}" if self.speaker.name else "Another agent"
        return (
            f"{previous} has handed this conversation over to the agent {target.name}. You are {target.name}: continue "
            "with the request of the user."
        )

    def switch_to(self, name: str) -> AgentChanged | None:
        """Let another agent of the group answer the next request. Returns the event of it, None if it speaks already.
        Raises KeyError if there is none of this name."""
        target = self._group.find(name)
        if target is None:
            raise KeyError(name)
        if (self._next or self.speaker) is target:
            return None
        changed = self._describe_change(target)
        self._next = target
        return changed

    @property
    def names(self) -> Sequence[str]:
        """The names of all agents of the group."""
        return self._group.names

    def restore(self, name: str | None, next_name: str | None) -> None:
        """Continue as the log says: with the agent that spoke last, or None for the first one, and the one that it has
        handed over to. No session with a model is open."""
        self._next, self._lost = None, None
        self._become(self._find_restored(name))
        if next_name is not None and (target := self._group.find(next_name)) is not None:
            self._next = target

    def _find_restored(self, name: str | None) -> AgentProfile:
        if name is None:
            return self._group.first
        agent = self._group.find(name)
        if agent is None:
            self._lost = name
            logging.getLogger("heald").warning(
                "The conversation was handed over to the agent %r, which does not exist any more; %r continues it.",
                name,
                self._group.first.name,
            )
        return agent or self._group.first

    def _describe_change(self, target: AgentProfile, *, call_id: str = "", reason: str = "") -> AgentChanged:
        previous = (self._next or self.speaker).name
        return AgentChanged(target.name, previous, target.models.name, call_id, reason)

    async def before_turn(self, request: NextRequest) -> None:
        conversation = self.conversation
        if self._lost is not None:
            name, self._lost = self._lost, None
            conversation.bus.publish(AgentChanged(self.speaker.name, name, conversation.models.name))
        if self._next is not None:
            target, self._next = self._next, None
            await self.close_model()
            self._become(target)
            request.tools, request.system = conversation.definitions, conversation.settings.system
        account = conversation.account
        if account is None or account is self._account:
            return
        self._account = account
        account.begin_part(self.speaker.name, self.speaker.budget if self.speaker is not self._group.first else None)
        if account.has_usd:
            await conversation.session.load_prices()

    async def close_model(self) -> None:
        """Close the session with the model of the agent that speaks."""
        session = self.conversation.models.session
        end_exchange = getattr(session, "end_exchange", None)
        if end_exchange is not None:  # the model has a loop of its own, which would go on
            await end_exchange(cut=True)
        await self.conversation.models.close()

    def _become(self, target: AgentProfile) -> None:
        """Replace everything that belongs to an agent in the conversation."""
        if target is self.speaker:
            return
        conversation, runtime = self.conversation, self.conversation.runtime
        speaker = self._speakers.get(target.name) or self._make_speaker(target)
        changes = _find_changes(self.settings, conversation.settings)
        runtime.shared_middleware = [
            *([target.guarded_calls] if target.guarded_calls.guardrails else []),
            *(layer for layer in runtime.shared_middleware if layer is not self.speaker.guarded_calls),
        ]
        runtime.change_agent(speaker.registry, speaker.permissions, speaker.middleware, speaker.cache)
        conversation.models = speaker.models
        self.settings = target.settings
        conversation.settings = msgspec.structs.replace(target.settings, **changes)
        self._text_editing.edit_format = target.edit_format
        self.strategies.current = speaker.strategies
        self.speaker = target
        self._account = None
        self._answer_with(target)

    def _make_speaker(self, target: AgentProfile) -> _Speaker:
        first = self.first
        targets = self._group.targets(target)
        own_checks = [target.guarded_calls] if target.guarded_calls.has_checks else []
        shared = [layer for layer in first.middleware if layer is not first.profile.guarded_calls]
        speaker = _Speaker(
            target,
            target.models.fresh(),
            Registry([*target.tools, *([handover_tool(targets)] if targets else [])]),
            NarrowedPermissions(first.permissions, target.permissions),
            [*own_checks, *shared, *(layer for layer in target.middleware if layer not in shared)],
            self._make_strategies(target),
            ResultCache() if target.caches else None,
        )
        self._speakers[target.name] = speaker
        return speaker

    def _make_strategies(self, profile: AgentProfile) -> StrategyList:
        strategies = [make() for make in profile.strategies]
        guardrails = guardrail_strategies([*self._callers, profile.guarded_calls])
        return StrategyList(self.conversation, [*strategies, *guardrails])

    def _answer_with(self, target: AgentProfile) -> None:
        """Let the callbacks of an agent answer while it speaks, unless the session has its own."""
        approvals, bus = self.conversation.runtime.approvals, self.conversation.bus
        for subscription in self._subscriptions:
            subscription.close()
            approvals.attended = False
        self._subscriptions = []
        if target is self._group.first:
            return
        if target.on_approval is not None and not approvals.attended:
            approvals.attended = True
            self._subscriptions.append(bus.subscribe(ApprovalReactor(target.on_approval, approvals.resolve)))
        if target.on_question is not None and self._group.first.on_question is None:
            self._subscriptions.append(bus.subscribe(QuestionReactor(target.on_question, approvals.answer)))

    async def _check_price(self, target: AgentProfile) -> None:
        """Raise ToolFault if a budget in dollars could not be enforced with the model of an agent."""
        account = self.conversation.account
        if account is None or not (account.has_usd or (target.budget is not None and target.budget.usd is not None)):
            return
        models = target.models.fresh()
        session = models.open_aside([], target.settings)
        try:
            await session.load_prices()
            tier = read_tier(target.settings.service_tier)
            is_priced = session.cost(Usage(input=1000, output=1000, tier=tier)).usd is not None
        finally:
            await session.close()
        if not is_priced and not getattr(session, "reports_cost", False):
            raise ToolFault(
                f"The price of {models.name}, the model of {target.name}, is not known, so the budget in dollars could "
                "not be enforced."
            )


def _find_changes(base: Settings, settings: Settings) -> dict[str, object]:
    """Return the settings that the request of a client has changed."""
    if settings == base:
        return {}
    return {
        name: getattr(settings, name)
        for name in Settings.__struct_fields__
        if getattr(settings, name) != getattr(base, name)
    }
