"""Agents for A2A (Agent2Agent) clients."""
