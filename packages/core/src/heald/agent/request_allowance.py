"""What the next request of an exchange may use: its reservation in the account, and the length of its answer."""

from heald.agent.account import MARGIN, Account, Reservation
from heald.agent.budget import Budget
from heald.agent.conversation import Conversation
from heald.core.turn import Settings, Usage
from heald.providers.tool_host import LimitReached
from heald.wires.service_tier import read_tier

_USUAL_ANSWER = 16_000
"""Tokens that are reserved for an answer without `max_output_tokens`."""
_MIN_ANSWER = 64
"""Tokens that every answer may have: a budget that is used up by then ends the exchange after it."""


class RequestAllowance:
    """Reserves each request of one exchange, and limits its answer. An answer that outgrows its reservation gets a
    larger one as long as there is room."""

    def __init__(self, conversation: Conversation, account: Account) -> None:
        self.limit: int | None = None
        """The tokens after which the next answer is cut, or needs more."""
        self._conversation = conversation
        self._account = account
        self._reservation = Reservation(account, 0, 0, 0)
        self._fixed_limit: tuple[Settings, Budget, int | None] | None = None  # for these settings and this budget

    @property
    def _is_fixed(self) -> bool:
        """Whether the limit of all answers is the same."""
        return not self._account.has_tokens and not self._account.has_usd

    def _find_fixed_limit(self) -> int | None:
        """Return the limit of all answers. It changes if the conversation is handed over to another agent."""
        settings, budget = self._conversation.settings, self._account.budget
        fixed = self._fixed_limit
        if fixed is None or fixed[0] is not settings or fixed[1] is not budget:
            fixed = self._fixed_limit = settings, budget, self._find_limit()[0]
        return fixed[2]

    def reserve_now(self) -> bool:
        """Reserve the next request, if it needs no room for tokens or dollars and waits for no other. Returns False if
        `reserve` must do it."""
        account = self._account
        if account.has_tokens or account.has_usd:
            return False
        reservation = Reservation(account, 1, 0, 0.0)
        if not account.reserve_now(reservation):
            return False
        self._reservation = reservation
        self.limit = self._find_fixed_limit()
        return True

    async def reserve(self) -> None:
        """Reserve the next request, and find its limit. A limit of the account may be used up by then."""
        conversation, account = self._conversation, self._account
        if self._is_fixed:
            self._reservation = await account.reserve(tokens=0, usd=0.0)
            self.limit = self._find_fixed_limit()
            return
        tokens, output = conversation.window.tokens(), self._reserved_answer
        usd = self._price(input_tokens=tokens, output_tokens=output) if account.has_usd else None
        self._reservation = await account.reserve(tokens=tokens + output, usd=usd or 0.0)
        most, _ = self._find_limit()
        reserved = round(output * MARGIN)
        self.limit = reserved if most is None else min(most, reserved)

    def release(self) -> None:
        """End the reservation of the request."""
        self._reservation.release()

    def fits(self) -> bool:
        """Return whether a failed request may be repeated at once."""
        return self._reservation.fits()

    def extend(self, tokens: int) -> int | None:
        """Reserve more for an answer that has these tokens by now. Returns its new limit, None if it is to be cut."""
        most, _ = self._find_limit()
        if self._is_fixed or (most is not None and tokens >= most):
            return None
        extended = 2 * tokens if most is None else min(2 * tokens, most)
        self._reservation.tokens += extended - tokens
        self._reservation.usd += self._price(output_tokens=extended - tokens) or 0.0
        return extended

    def explain_cut(self) -> LimitReached:
        """Return the limit by which an answer was cut."""
        _, limit = self._find_limit()
        return LimitReached(self._account.explain(limit), limit)

    def _price(self, *, output_tokens: int, input_tokens: int | None = None) -> float | None:
        """Return the price of tokens in the service tier that is requested."""
        tier = read_tier(self._conversation.settings.service_tier)
        return self._conversation.session.cost(Usage(input=input_tokens, output=output_tokens, tier=tier)).usd

    @property
    def _reserved_answer(self) -> int:
        return self._conversation.settings.max_output_tokens or _USUAL_ANSWER

    def _find_limit(self) -> tuple[int | None, str]:
        """Return the estimated tokens after which the next answer is cut, and the name of the limit.

        Estimates are coarse: the margin for `max_output_tokens`, which most servers enforce themselves, is wide.
        """
        conversation, account = self._conversation, self._account
        limits: list[tuple[int, str]] = []
        if account.budget.message_tokens is not None:
            limits.append((account.budget.message_tokens, "message_tokens"))
        if conversation.settings.max_output_tokens is not None:
            limits.append((2 * conversation.settings.max_output_tokens + 256, "max_output_tokens"))
        if self._is_fixed:
            return min(limits, default=(None, ""))
        tokens, usd = account.room(self._reservation)
        if account.has_tokens:
            limits.append((max(round(tokens - conversation.window.tokens()), _MIN_ANSWER), "tokens"))
        price = self._price(output_tokens=1000) if account.has_usd else None
        if price:
            limits.append((max(round(usd / price * 1000), _MIN_ANSWER), "usd"))
        return min(limits, default=(None, ""))
