"""OpenAI Responses.

Request: https://platform.openai.com/docs/api-reference/responses/create
Stream:  https://platform.openai.com/docs/api-reference/responses-streaming
"""
