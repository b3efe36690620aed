"""Tool definitions, permissions and the runtime that executes tool calls."""
