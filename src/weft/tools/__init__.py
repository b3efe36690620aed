"""Tools: what an agent may do, and the runtime that lets it."""
