"""Ollama's own chat API: lines of JSON.

Request and stream: https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""
