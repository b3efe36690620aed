"""Shell tools: commands run in a sandbox with bounded time and output."""
