"""Sub-agents: agents that are written as files and started by the model, in the conversation or in the background."""
