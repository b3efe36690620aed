"""Stacks: the languages and libraries of a project. The Markdown files here are the built-in ones."""
