"""OpenAI Chat Completions, as OpenAI and dozens of others speak it.

Request: https://platform.openai.com/docs/api-reference/chat/create
Stream:  https://platform.openai.com/docs/api-reference/chat-streaming
"""
