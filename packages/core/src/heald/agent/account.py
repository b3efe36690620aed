"""The account of an exchange: what it and the agents that work for it may use, have used and have reserved.

The exchange of a sub-agent has an account of its own under that of its caller. A request is reserved in all accounts up
to the first before it is sent, and what it used counts in all of them. So agents that run in parallel share one budget:
together they exceed it by one request at most.
"""

import asyncio
from collections.abc import Callable, Iterator
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from heald.agent.budget import Budget
from heald.agent.result import AgentResult
from heald.agent.tracker import ExchangeTracker
from heald.core.context_events import ConversationCompacted
from heald.core.events import ExchangeResponse, ToolCompleted, ToolFailed
from heald.core.turn import Usage
from heald.providers.tool_host import LimitReached

if TYPE_CHECKING:
    from heald.agent.budget_parts import BudgetParts

MARGIN = 1.1
"""How far a running answer may exceed a budget, by estimate, before it is cut."""


class Reservation(msgspec.Struct, eq=False):
    """What one request may use. It counts as used until it is released."""

    account: "Account"
    turns: float
    tokens: float
    usd: float
    is_held: bool = False

    def release(self) -> None:
        """End the reservation. What was used is counted by now, or will be in this step of the event loop."""
        if self.is_held:
            self.is_held = False
            self.account.on_released(self)

    def fits(self) -> bool:
        """Return whether the request may be repeated, although a failed attempt has used something."""
        return not self.is_held or all(level.has_room(self) for level in self.account.levels())


class _Waiter(msgspec.Struct, eq=False):
    """A reservation that does not fit yet."""

    reservation: Reservation
    woken: "asyncio.Future[None]"


class Account:
    """The limits of one exchange, and what was used of them by it and by the agents that work for it."""

    def __init__(
        self,
        budget: Budget,
        tracker: ExchangeTracker,
        *,
        exchange: str = "",
        caller: "Account | None" = None,
        requested: Budget | None = None,
    ) -> None:
        """`caller` is the account of the exchange that this one works for. `requested` are limits that came with the
        request."""
        self.budget = budget if requested is None else budget.within(requested)
        self.tracker = tracker
        self.deadline = inf
        """When the time of the exchange is used up, by the monotonic clock."""
        self._exchange_budget = self.budget
        self._parts: BudgetParts | None = None  # of an exchange that was handed over
        self._started = monotonic()
        self._timer: asyncio.TimerHandle | None = None
        self._on_timeout: Callable[[], object] = _do_nothing
        self._exchange = exchange
        self._caller = caller
        self._requested = requested
        self._agent_turns = budget.max_turns
        self._root: Account = caller._root if caller is not None else self
        self._delegates: dict[str, Account] = {}  # of agents that work for it now, by exchange
        self._call_costs: dict[str, float | None] = {}  # of calls that have not ended, by call
        self._aside_tokens = 0  # of requests beside the conversation that no event has counted yet
        self._aside_cost: float | None = 0.0
        self._reservations: list[Reservation] = []
        self._waiting: list[_Waiter] = []  # of the first account only
        self._set_limits()
        if caller is not None:
            caller._delegates[exchange] = self

    def _set_limits(self) -> None:
        """Note what the budget limits."""
        caller = self._caller
        self._tree_turns: float = inf if self.budget.turns is msgspec.UNSET else self.budget.turns
        self.has_usd = self.budget.usd is not None or (caller is not None and caller.has_usd)
        """Whether dollars are limited, here or by a caller."""
        self.has_tokens = self.budget.tokens is not None or (caller is not None and caller.has_tokens)
        """Whether tokens are limited, here or by a caller."""
        self._is_limited: bool = (
            self.has_usd or self.has_tokens or self._tree_turns < inf or (caller is not None and caller._is_limited)
        )
        self._counts_turns_only = not (self.has_usd or self.has_tokens or (caller is not None and caller._is_limited))

    def begin_part(self, agent: str, budget: Budget | None) -> None:
        """Restrict the exchange to the budget of the agent that it was handed over to, while that agent works. None
        restricts it no further. What all agents use counts in the budget of the exchange."""
        if self._parts is None and budget is None:
            return
        from heald.agent.budget_parts import BudgetParts, PartSpending  # most exchanges have one agent

        self._parts = self._parts or BudgetParts()
        total = PartSpending(self.turns, self.tokens, self.cost or 0.0, monotonic() - self._started)
        self.budget = self._exchange_budget.within(self._parts.begin(agent, budget, total))
        self._set_limits()
        if self._timer is not None or self.budget.seconds is not None:
            self.start_timer(self._started, self._on_timeout)

    # --- time ---------------------------------------------------------------------------------------------------------

    def start_timer(self, started: float, on_timeout: Callable[[], object]) -> None:
        """Call back when the seconds of the exchange, which has started at this time, are used up."""
        self.stop_timer()
        self._started, self._on_timeout = started, on_timeout
        seconds = self.budget.seconds
        self.deadline = inf if seconds is None else started + seconds
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(self.deadline - monotonic(), on_timeout)

    def stop_timer(self) -> None:
        """Call back no more. What would have been called is freed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._on_timeout = _do_nothing

    def levels(self) -> "Iterator[Account]":
        """Yield this account and those of its callers."""
        level: Account | None = self
        while level is not None:
            yield level
            level = level._caller

    # --- what was used -----------------------------------------------------------------------------------------------

    @property
    def turns(self) -> int:
        """Finished turns, with those of the agents that work or worked for the exchange."""
        turns = self.tracker.turns + self.tracker.delegated_turns
        if self._delegates:
            turns += sum(account.turns for account in self._delegates.values())
        return turns

    @property
    def tokens(self) -> int:
        """Used tokens, with those of the agents that work or worked for the exchange."""
        tokens = self.tracker.tokens + self._aside_tokens
        if self._delegates:
            tokens += sum(account.tokens for account in self._delegates.values())
        return tokens

    @property
    def cost(self) -> float | None:
        """Used dollars, with those of running calls and agents; None once a price is not known."""
        cost = self.tracker.cost
        for part in (
            self._aside_cost,
            *self._call_costs.values(),
            *(account.cost for account in self._delegates.values()),
        ):
            cost = None if part is None or cost is None else cost + part
        return cost

    def spend(self, call: str, usd: float | None) -> None:
        """Count the dollars that a running call has used so far."""
        self._call_costs[call] = usd

    def close_call(self, outcome: ToolCompleted | ToolFailed) -> None:
        """Count the dollars of a call that has ended."""
        if self._call_costs:
            self._call_costs.pop(outcome.id, None)
        self.tracker.spend(outcome.cost_usd)

    def count_aside(self, usage: Usage, usd: float | None) -> None:
        """Count a request beside the conversation, such as one for a summary, until an event counts it."""
        self._aside_tokens += usage.total or 0
        self._aside_cost = None if usd is None or self._aside_cost is None else self._aside_cost + usd

    def add_compaction(self, compaction: ConversationCompacted) -> None:
        """Count the event of a summary, instead of its requests."""
        self.tracker.feed(compaction)
        self._aside_tokens -= compaction.usage.total or 0
        if self._aside_cost is not None:
            self._aside_cost -= compaction.cost_usd or 0.0

    def close_delegate(self, exchange: str | None, response: ExchangeResponse) -> None:
        """Count an agent that has ended its work for this exchange."""
        account = self._delegates.pop(exchange or "", None)
        self.tracker.delegate(response, account.turns if account is not None else response.turns)

    def add_remote(self, result: AgentResult) -> None:
        """Count what an agent on a server used for this exchange. Its dollars are those of its call."""
        self.tracker.add_delegated(result.usage + (result.delegated or Usage()), result.turns)

    # --- limits ------------------------------------------------------------------------------------------------------

    def reached(self, *, turns: bool = True) -> LimitReached | None:
        """Return the limit that is used up, here or in the account of a caller, if there is one. Without `turns`, those
        may be used up: the calls of the last turn are run."""
        if self._counts_turns_only:
            if not turns:
                return None
            used = self.tracker.turns
            total = self.turns if self._delegates else used + self.tracker.delegated_turns
            is_used_up = used >= self._agent_turns or total >= self._tree_turns
            return self._limit_reached("turns", self) if is_used_up else None
        level: Account | None = self
        while level is not None:
            limit = level._used_up(is_spender=level is self, turns=turns)
            if limit is not None:
                return self._limit_reached(limit, level)
            level = level._caller
        return None

    def reached_by_delegates(self) -> LimitReached | None:
        """Return the limit that agents on a server must respect and that is used up, if there is one."""
        for level in self.levels() if self._is_limited else ():
            limit = level._used_up(is_spender=False, turns=True)
            if limit is not None:
                return self._limit_reached(limit, level)
        return None

    @property
    def is_out_of_turns(self) -> bool:
        """Whether no further turn may follow, here or for a caller."""
        reached = self.reached()
        return reached is not None and reached.limit == "turns"

    def _used_up(self, *, is_spender: bool, turns: bool) -> str | None:
        budget = self.budget
        if turns and ((is_spender and self.tracker.turns >= self._agent_turns) or self.turns >= self._tree_turns):
            return "turns"
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return "tokens"
        if budget.usd is not None and ((cost := self.cost) is None or cost >= budget.usd):
            return "usd"
        return None

    def _limit_reached(self, limit: str, level: "Account") -> LimitReached:
        return LimitReached(self.explain(limit, level), limit)

    def explain(self, limit: str, level: "Account | None" = None) -> str:
        """Describe a limit that was reached: whose it is, and how much it allows."""
        level = level or self._tightest(limit)
        if limit in ("message_tokens", "max_output_tokens"):
            return f"The answer exceeded {limit}, so it was cut and the exchange ended."
        is_own_guard = limit == "turns" and level is self and self.tracker.turns >= self._agent_turns
        amount = f"{self._agent_turns:,} turns" if is_own_guard else level.budget.describe(limit)
        if limit == "usd" and level.cost is None:
            return f"Something was used whose price is not known, so the budget of {amount} cannot be enforced."
        part = self._parts if level is self and not is_own_guard and self._is_of_part(limit) else None
        if part is not None and part.budget is not None:
            return f"The agent {part.agent} reached its budget of {part.budget.describe(limit)}."
        if level is not self:
            return f"The exchange reached the budget of {amount} of its caller, the exchange {level._exchange}."
        if (
            not is_own_guard
            and level._requested is not None
            and getattr(level._requested, limit) == getattr(level.budget, limit)
        ):
            return f"The exchange reached the budget of {amount} that its request set."
        return f"The exchange reached its budget of {amount}."

    def _is_of_part(self, limit: str) -> bool:
        """Return whether a limit is that of the agent that the exchange was handed over to."""
        return getattr(self.budget, limit) != getattr(self._exchange_budget, limit)

    def _tightest(self, limit: str) -> "Account":
        """Return the account in the chain of callers that has the least left."""
        if limit == "tokens":
            limited = [level for level in self.levels() if level.budget.tokens is not None]
            return min(limited, key=lambda level: (level.budget.tokens or 0) - level.tokens, default=self)
        if limit == "usd":
            limited = [level for level in self.levels() if level.budget.usd is not None]
            return min(limited, key=lambda level: (level.budget.usd or 0.0) - (level.cost or 0.0), default=self)
        return self

    def remaining(self) -> Budget | None:
        """Return what is left of all limits, for an agent that counts by itself. It is never zero, so that the agent
        reaches the limit by itself. Returns None if nothing is limited."""
        left = Budget(message_tokens=None)
        now = monotonic()
        for level in self.levels():
            budget = level.budget
            left = left.within(
                Budget(
                    turns=msgspec.UNSET if budget.turns is msgspec.UNSET else max(budget.turns - level.turns, 1),
                    tokens=None if budget.tokens is None else max(budget.tokens - level.tokens, 1),
                    usd=None if budget.usd is None else max(budget.usd - (level.cost or 0.0), 1e-9),
                    seconds=None if level.deadline == inf else max(level.deadline - now, 0.001),
                    message_tokens=None,
                )
            )
        return left if left != Budget(message_tokens=None) else None

    # --- reservations ------------------------------------------------------------------------------------------------

    @property
    def is_limited(self) -> bool:
        """Whether a request has to be reserved."""
        return self._is_limited

    async def reserve(self, *, tokens: float, usd: float, turns: float = 1) -> Reservation:
        """Reserve what a request may use.

        A request that does not fit waits until others have ended, and is sent if no other one runs. A limit may be
        used up by then: check `reached` afterwards.
        """
        reservation = Reservation(self, turns, tokens, usd)
        if self.reserve_now(reservation) or self._is_pointless(reservation):
            return reservation
        waiter = _Waiter(reservation, asyncio.get_running_loop().create_future())
        self._root._waiting.append(waiter)
        try:
            await waiter.woken
        except asyncio.CancelledError:
            if waiter in self._root._waiting:
                self._root._waiting.remove(waiter)
            reservation.release()
            raise
        return reservation

    def reserve_now(self, reservation: Reservation) -> bool:
        """Reserve what a request may use, if it fits. Returns False if it does not."""
        if not self._is_limited:
            return True
        if not self._fits(reservation):
            return False
        self._hold(reservation)
        return True

    async def reserve_rest(self) -> Reservation:
        """Reserve all that is left, for an agent on a server that counts by itself."""
        return await self.reserve(tokens=inf, usd=inf, turns=inf)

    def _is_pointless(self, reservation: Reservation) -> bool:
        """Return whether a limit is used up, so that the request will not be sent."""
        if reservation.turns == inf:
            return self.reached_by_delegates() is not None
        return self.reached(turns=reservation.turns > 0) is not None

    def _fits(self, reservation: Reservation) -> bool:
        level: Account | None = self
        while level is not None:
            if level._reservations and not level.has_room(reservation):
                return False
            level = level._caller
        return True

    def has_room(self, reservation: Reservation) -> bool:
        """Return whether a reservation fits beside the others of this account, or is the only one."""
        budget = self.budget
        others = [other for other in self._reservations if other is not reservation]
        if not others:
            return True
        if self._tree_turns < inf:
            turns = self.turns + sum(other.turns for other in others) + reservation.turns
            if turns > self._tree_turns:
                return False
        if budget.tokens is not None:
            tokens = self.tokens + sum(other.tokens for other in others) + reservation.tokens
            if tokens > budget.tokens:
                return False
        if budget.usd is not None:
            usd = (self.cost or 0.0) + sum(other.usd for other in others) + reservation.usd
            if usd > budget.usd:
                return False
        return True

    def room(self, reservation: Reservation) -> tuple[float, float]:
        """Return the tokens and the dollars that a running request may use at most, with the margin."""
        tokens = usd = inf
        for level in self.levels():
            budget = level.budget
            others = [other for other in level._reservations if other is not reservation]
            if budget.tokens is not None:
                reserved = sum(other.tokens for other in others)
                tokens = min(tokens, budget.tokens * MARGIN - level.tokens - reserved)
            if budget.usd is not None:
                reserved = sum(other.usd for other in others)
                usd = min(usd, budget.usd * MARGIN - (level.cost or 0.0) - reserved)
        return tokens, usd

    def _hold(self, reservation: Reservation) -> None:
        reservation.is_held = True
        level: Account | None = self
        while level is not None:
            level._reservations.append(reservation)
            level = level._caller

    def on_released(self, reservation: Reservation) -> None:
        """Let others use what was reserved, after this step of the event loop: it counts what was used."""
        level: Account | None = self
        while level is not None:
            level._reservations.remove(reservation)
            level = level._caller
        if self._root._waiting:
            asyncio.get_running_loop().call_soon(self._root._wake)

    def _wake(self) -> None:
        """Reserve what fits by now, in order, and wake those whose limit is used up."""
        for waiter in list(self._waiting):
            reservation, account = waiter.reservation, waiter.reservation.account
            if waiter.woken.done():
                continue  # cancelled
            if not account._is_pointless(reservation):
                if not account._fits(reservation):
                    continue
                account._hold(reservation)
            self._waiting.remove(waiter)
            waiter.woken.set_result(None)


def _do_nothing() -> None:
    """Stands for a callback of an exchange that does not run."""
