"""Facts that outlive a conversation: what was said about the person and the project, and what was decided.

Each fact names the events that it came from, and has no effect while all of them are undone.
"""
