"""Overview: describes the workspace in the instructions, as far as the model's context has room for it."""

import asyncio
from collections.abc import Callable

from heald.agent.conversation import SMALL_CONTEXT
from heald.agent.strategy import NextRequest, Strategy

OVERVIEW_TOKENS = 1_000
"""The size of an overview, if that of the context is not known."""


class Overview(Strategy):
    """Adds a description of the workspace to the instructions. A model that is shown the files gets none."""

    def __init__(self, describe: Callable[[int], str]) -> None:
        """`describe` describes the workspace within a number of tokens. It is called once, in a thread."""
        self._describe = describe
        self._text: str | None = None

    async def before_turn(self, request: NextRequest) -> None:
        if request.shows_files:
            return
        if self._text is None:
            self._text = self.conversation.runtime.hide_secrets(await self._read())
        if self._text:
            request.system = f"{request.system}\n\n{self._text}".strip()

    async def _read(self) -> str:
        if not await asyncio.to_thread(self._describe, OVERVIEW_TOKENS):
            return ""  # there is nothing to show, so the size of the context does not matter
        tokens = overview_tokens(await self.conversation.window.size())
        return await asyncio.to_thread(self._describe, tokens) if tokens else ""


def overview_tokens(context_size: int | None) -> int:
    """Return the tokens that an overview may have in a context of this size; 0 for a small one."""
    if context_size is None:
        return OVERVIEW_TOKENS
    return 0 if context_size <= SMALL_CONTEXT else min(context_size // 32, 2 * OVERVIEW_TOKENS)
