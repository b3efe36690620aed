"""OpenAI's Chat Completions at `/v1`."""
