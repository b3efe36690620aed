"""Anthropic Messages.

Request: https://docs.anthropic.com/en/api/messages
Stream:  https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""
