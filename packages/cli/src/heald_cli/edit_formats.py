"""Applies how `heald conform` found that a model changes files, and describes why it writes them as text."""

from heald.agent.agent import Agent
from heald.commands.edit_formats import writes_text
from heald.providers.factory import find
from heald.providers.model import Model


def use_stored_format(agent: Agent, model: object) -> None:
    """Let an agent with the edit format `auto` write files as it was found to work with this model."""
    model = find(model) if isinstance(model, str) else model
    if not isinstance(model, Model) or not writes_text(model):
        return
    agent.writes_calls = True
    if agent.edit_format == "auto":
        agent.edit_format = "text"


def describe_format(agent: Agent, setting: str) -> str:
    """Describe in one line why a model writes files as text; nothing if it calls tools."""
    if not agent.edits_as_text:
        return ""
    name = agent.model_name
    if setting == "text":
        return f"{name} writes files as text, as --edit-format text asks."
    if agent.edit_format == "text":
        reason = "because `heald conform` found that its calls of tools do not work"
    else:
        reason = "because small models call tools badly"
    return f"{name} writes files as text, {reason}; --edit-format tools changes that."
