"""The kind of the sessions of `heald chat` and `heald run`."""

KIND = "chat"
"""The kind of these sessions: a server does not list them, since their workspace is a path."""
