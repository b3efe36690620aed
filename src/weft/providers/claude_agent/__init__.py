"""Claude through the Claude Agent SDK, which runs its own loop: its messages become the same events.

The SDK's loop and Weft's go hand in hand (see `weft.providers.hosting`). One exchange is one query: each message of the
model is a turn, the calls in it are run or permitted by Weft, and the SDK goes on once it has their results.

- `model`: the name a user writes, `ClaudeAgent`.
- `session`: turn by turn, as every provider.
- `query`: one run of the SDK's client and its process, and how that ends.
- `turn`: the SDK's messages as a stream of one message.
- `ledger`: each call as both sides know it.
- `gate`, `server`, `options`, `prompt`, `faults`: what goes over, and what comes back as an error.
"""

from weft.providers.claude_agent.model import ClaudeAgent

__all__ = ["ClaudeAgent"]
