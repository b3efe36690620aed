"""Sub-agents: agents that are defined in files and started by the model, in the conversation or in the background."""
