"""External agents as models: programs that speak the Agent Client Protocol (ACP) on their standard streams.

`acp/opencode` is the name of such a model. The program runs its own loop with its own tools; each of its calls is a
call of the log, which Heald permits and records (see `ToolHost` in `heald.providers.tool_host`).
"""
