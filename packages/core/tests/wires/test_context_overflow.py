"""L04: too long a conversation is told in many words, and none of them may be retried."""

import pytest

from heald.wires.errors import error_from_object, error_from_response

PHRASES = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Please reduce the length of the messages or completion.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Unable to submit request because the input token count is 40000 but the model only supports up to 32768.",
    "Input is too long for requested model.",
    "Too many input tokens",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.",
    "the request exceeds the available context size, try increasing it",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "Too many tokens overall, split into more requests.",
    "prompt token count of 70000 exceeds the limit of 64000",
    "Your request exceeded model token limit: 8192",
    "invalid params, context window exceeds limit",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "prompt too long; exceeded max context length by 100 tokens",
    "The estimated number of input and maximum output tokens exceeded this model context window limit.",
    "Prompt exceeds max length",
    "Request too large for the model: the total length of all messages is too long",
    "input (9000 tokens) is larger than the context size (8192 tokens). skipping",
]

OTHERS = [
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model",
    "temperature must be at most 2",
    "messages: at least one message is required",
    "tools.0.name: String should match pattern",
    "image exceeds 5 MB maximum",
    "stop: too many stop sequences, the maximum is 4",
]


@pytest.mark.parametrize("message", PHRASES)
def test_a_conversation_that_is_too_long_is_known_by_its_words(message: str) -> None:
    body = b'{"error": {"type": "invalid_request_error", "message": "%s"}}' % message.encode()
    error = error_from_response(400, {}, body)
    assert (error.code, error.retryable) == ("context_overflow", False)
    assert error_from_object({"error": {"message": message}}).code == "context_overflow"


@pytest.mark.parametrize("message", OTHERS)
def test_other_bad_requests_are_not_treated_as_it(message: str) -> None:
    assert error_from_response(400, {}, b'{"error": {"message": "%s"}}' % message.encode()).code == "invalid_request"


def test_a_rate_limit_in_tokens_is_a_rate_limit() -> None:
    body = b'{"error": {"message": "Rate limit reached: too many tokens per minute, limit 10000"}}'
    assert error_from_response(429, {}, body).code == "rate_limited"
