"""Gemini generateContent, streamed as server-sent events or as one JSON array.

Request: https://ai.google.dev/api/generate-content
Thought signatures: https://ai.google.dev/gemini-api/docs/thought-signatures
"""
