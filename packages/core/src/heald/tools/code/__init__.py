"""Code mode: a program that calls the tools of the agent."""
