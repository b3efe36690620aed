"""agentx: typed events in four layers."""
