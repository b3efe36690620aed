"""Prompts: what a model is told, from text files that people can read and replace."""
