"""The parts of one exchange that different agents work on, each within the budget of its agent."""

import msgspec

from heald.agent.budget import Budget


class PartSpending(msgspec.Struct, frozen=True):
    """What was used: of an exchange so far, or of it by one agent."""

    turns: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def minus(self, other: "PartSpending") -> "PartSpending":
        return PartSpending(
            self.turns - other.turns, self.tokens - other.tokens, self.usd - other.usd, self.seconds - other.seconds
        )

    def plus(self, other: "PartSpending") -> "PartSpending":
        return PartSpending(
            self.turns + other.turns, self.tokens + other.tokens, self.usd + other.usd, self.seconds + other.seconds
        )


class BudgetParts:
    """Counts what each agent has used of an exchange that was handed over. An agent that gets the conversation back
    continues with what is left of its budget."""

    def __init__(self) -> None:
        self.agent = ""
        """The agent that works now."""
        self.budget: Budget | None = None
        """Its budget; None if only that of the exchange counts."""
        self._since = PartSpending()
        self._spent: dict[str, PartSpending] = {}

    def begin(self, agent: str, budget: Budget | None, total: PartSpending) -> Budget:
        """Begin the part of an agent when the exchange has used `total`. Returns the limits of the exchange by which it
        stays within its budget."""
        before = self._spent.get(self.agent, PartSpending())
        self._spent[self.agent] = before.plus(total.minus(self._since))
        self.agent, self.budget, self._since = agent, budget, total
        if budget is None:
            return Budget(message_tokens=None)
        offset = total.minus(self._spent.get(agent, PartSpending()))
        return Budget(
            turns=msgspec.UNSET if budget.turns is msgspec.UNSET else max(budget.turns + offset.turns, 1),
            tokens=None if budget.tokens is None else max(budget.tokens + offset.tokens, 1),
            usd=None if budget.usd is None else max(budget.usd + offset.usd, 1e-9),
            seconds=None if budget.seconds is None else max(budget.seconds + offset.seconds, 1e-3),
            message_tokens=budget.message_tokens,
        )
