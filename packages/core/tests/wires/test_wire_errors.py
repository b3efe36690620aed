"""What went wrong: one table for statuses, codes and words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.core.errors import GarbledStream, ProviderError
from heald.wires.errors import (
    error_from_body,
    error_from_object,
    error_from_response,
    error_from_unexpected_body,
    mask_keys,
)


def of(status: int, body: Any = None, headers: dict[str, str] | None = None) -> ProviderError:
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return error_from_response(status, headers or {}, raw)


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "invalid_request", False),
        (401, "authentication", False),
        (402, "quota_exhausted", False),
        (403, "permission", False),
        (404, "model_not_found", False),
        (405, "invalid_request", False),
        (408, "timeout", True),
        (409, "server_error", True),
        (413, "context_overflow", False),
        (422, "invalid_request", False),
        (425, "server_error", True),
        (429, "rate_limited", True),
        (499, "server_error", True),
        (500, "server_error", True),
        (502, "server_error", True),
        (503, "overloaded", True),
        (504, "timeout", True),
        (520, "server_error", True),
        (529, "overloaded", True),
    ],
)
@pytest.mark.parametrize("body", [b"", b"<html><body>nope</body></html>", b'{"error": {"message": "no"}}'])
def test_the_status_alone_reports(status: int, code: str, retryable: bool, body: bytes) -> None:
    error = of(status, body)
    assert (error.code, error.retryable, error.status) == (code, retryable, status)


@pytest.mark.parametrize(
    ("status", "provider_code", "code"),
    [
        (429, "insufficient_quota", "quota_exhausted"),
        (429, "RESOURCE_EXHAUSTED", "rate_limited"),
        (400, "context_length_exceeded", "context_overflow"),
        (500, "context_length_exceeded", "context_overflow"),
        (400, "API_KEY_INVALID", "authentication"),
        (400, "content_filter", "content_blocked"),
        (400, "billing_error", "quota_exhausted"),
        (404, "DeploymentNotFound", "model_not_found"),
        (400, "model_not_found", "model_not_found"),
        (400, "a_code_nobody_knows", "invalid_request"),
    ],
)
def test_a_precise_code_knows_better_than_the_status(status: int, provider_code: str, code: str) -> None:
    error = of(status, {"error": {"code": provider_code, "message": "said so"}})
    assert (error.code, error.provider_code) == (code, provider_code)


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
        ({"error": {"code": 502, "message": "Upstream failed"}}, "server_error"),
        ({"error": {"code": 429, "message": "slow"}}, "rate_limited"),
        ({"error": {"code": "429", "type": "rate_limit_error", "message": "slow"}}, "rate_limited"),
        ({"error": {"type": "api_error", "message": "Internal"}}, "server_error"),
        ({"error": {"type": "invalid_request_error", "message": "bad field"}}, "invalid_request"),
        ({"error": {"type": "insufficient_quota", "message": "pay"}}, "quota_exhausted"),
        ({"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}, "overloaded"),
        ({"error": {"code": 499, "status": "CANCELLED", "message": "gone"}}, "server_error"),
        ({"error": "the model is overloaded, try again later"}, "overloaded"),
        ({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}, "context_overflow"),
    ],
)
def test_an_error_inside_a_stream_is_of_the_class_of_its_status(event: Any, code: str) -> None:
    assert error_from_object(event).code == code


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "Your credit balance is too low to access the API.", "quota_exhausted"),
        (403, "Insufficient balance", "quota_exhausted"),
        (429, "You exceeded your current quota, please check your plan and billing details.", "quota_exhausted"),
        (429, "Rate limit reached on tokens per min (TPM): Limit 10000, Used 9000.", "rate_limited"),
        (429, "You exceeded your current quota. Please retry in 20s. Limit: 5 per minute", "rate_limited"),
        (400, "The model `nope` does not exist", "model_not_found"),
        (404, "no such model: nope", "model_not_found"),
        (400, "gpt-x is not a valid model ID", "model_not_found"),
        (400, "API key not valid. Please pass a valid API key.", "authentication"),
        (400, "The response was filtered due to content management policy", "content_blocked"),
        (
            400,
            "max_tokens is too large: 100000. At most 16384 completion tokens are supported",
            "invalid_request",
        ),
        (400, "Unknown parameter: 'foo'", "invalid_request"),
    ],
)
def test_words_report_where_status_and_code_keep_it_open(status: int, message: str, code: str) -> None:
    assert of(status, {"error": {"message": message}}).code == code


def test_a_gateway_passes_on_what_the_provider_behind_it_sent() -> None:
    raw = json.dumps({"error": {"type": "invalid_request_error", "message": "prompt is too long: 5 > 4"}})
    error = of(400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": raw}}})
    assert error.code == "context_overflow"
    assert str(error) == "Provider returned error: prompt is too long: 5 > 4"


def test_errors_come_wrapped_in_arrays_strings_and_details() -> None:
    assert str(of(400, [{"error": {"message": "in an array"}}])) == "in an array"
    assert str(of(400, {"error": "a string"})) == "a string"
    assert str(of(422, {"detail": "from a framework"})) == "from a framework"
    assert str(of(400, {"message": "flat"})) == "flat"
    assert str(of(500, b"plain text")) == "plain text"
    assert str(of(502, b"<html>page</html>")) == "HTTP 502"


def test_the_request_id_comes_from_headers_or_body() -> None:
    assert of(500, {}, {"X-Request-Id": "r1"}).request_id == "r1"
    assert of(500, {}, {"request-id": "r2"}).request_id == "r2"
    assert of(500, {"request_id": "r3", "error": {}}).request_id == "r3"


def test_the_server_may_state_itself_whether_to_retry() -> None:
    assert not of(500, {}, {"x-should-retry": "false"}).retryable
    assert of(400, {}, {"x-should-retry": "true"}).retryable
    assert of(429, {}, {"x-should-retry": "false"}).retryable


def test_a_long_message_is_cut() -> None:
    assert len(str(of(400, {"error": {"message": "x" * 5000}}))) <= 600


@pytest.mark.parametrize(
    "key",
    ["sk-proj-abcdefghijklmnop", "sk-ant-api03-abcdefghijkl", "gsk_abcdefghijklmnop", "AIzaSyA1234567890abcdef",
     "xai-abcdefghijklmnop", "sk-or-v1-0123456789abcdef", "csk-abcdefghijklmnopqrst", "hf_abcdefghijklmnopqrst"],
)  # fmt: skip
def test_what_looks_like_a_key_is_never_repeated(key: str) -> None:
    error = of(401, {"error": {"message": f"Incorrect API key provided: {key}. Find yours at the site."}})
    assert key not in str(error)
    assert key[8:] not in str(error)
    assert str(error).endswith("Find yours at the site.")
    assert key not in mask_keys(f"({key})")


def test_ordinary_words_are_not_masked() -> None:
    text = "The key is missing; see sk-1 and https://example.org/keys for the task-runner."
    assert mask_keys(text) == text


def test_a_body_that_holds_no_error_is_none() -> None:
    for body in (b"", b"<html>", b"[]", b"1", b'{"choices": []}', b'{"error": null}', b"[[[["):
        assert error_from_body(body) is None


def test_200_with_something_else_is_reported_as_such() -> None:
    page = error_from_unexpected_body("text/html", b"<html>login</html>")
    assert (page.code, page.status) == ("malformed_response", 200)
    assert "text/html" in str(page)
    assert (
        error_from_unexpected_body("application/json", b'{"error": {"code": 429, "message": "slow"}}').code
        == "rate_limited"
    )


def test_half_a_surrogate_pair_in_an_error_is_still_an_error() -> None:
    assert error_from_object({"error": {"message": "\ud83d"}}).code == "server_error"
    assert of(400, b'{"error": {"message": "bad \\ud83d", "code": "context_length_exceeded"}}').retryable is False


FIELDS = ["error", "message", "code", "type", "details", "metadata", "raw"]
bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner),
    max_leaves=8,
)


@given(bodies)
def test_no_body_raises(value: Any) -> None:
    assert isinstance(error_from_object(value), ProviderError)
    assert isinstance(error_from_response(400, {}, json.dumps(value).encode()), ProviderError)


# --- final errors ---------------------------------------------------------------------------------------------------

TPM = (
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000. "
    "The input or output tokens must be reduced in order to run successfully."
)


def google_quota(quota: str) -> dict[str, Any]:
    failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]}
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    message = "You exceeded your current quota, please check your plan. Please retry in 34s."
    return {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": [failure, retry]}}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "Buy more.",
                    "details": {"error_visibility": "user_facing", "error_code": "credits_required"},
                },
            },
            "quota_exhausted",
        ),
        (429, google_quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), "quota_exhausted"),
        (429, google_quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), "rate_limited"),
        (
            429,
            {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": None}},
            "quota_exhausted",
        ),
        (402, {"error": {"code": 402, "message": "This request requires more credits."}}, "quota_exhausted"),
        (
            400,
            {
                "error": {
                    "type": "invalid_request_error",
                    "message": "You have reached your specified API usage limits.",
                }
            },
            "quota_exhausted",
        ),
        (429, {"error": {"message": TPM, "type": "tokens", "code": "rate_limit_exceeded"}}, "context_overflow"),
        (413, {"error": {"message": TPM, "type": "tokens", "code": "rate_limit_exceeded"}}, "context_overflow"),
        (
            500,
            {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}},
            "invalid_request",
        ),
        (
            400,
            {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xa***. See x.ai."},
            "authentication",
        ),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"x-should-retry": "true"}], ids=["plain", "told to retry"])
def test_errors_that_waiting_does_not_cure(status: int, body: Any, code: str, headers: dict[str, str]) -> None:
    error = of(status, body, headers)
    assert (error.code, error.retryable) == (code, code == "rate_limited")


REFUSED = {"type": "extra_forbidden", "loc": ["body", "parallel_tool_calls"], "msg": "Extra inputs are not OK"}
AZURE = {"code": "Invalid input", "status": 422, "message": "invalid input error", "details": [REFUSED]}


@pytest.mark.parametrize(
    "body",
    [{"error": AZURE}, {"detail": [REFUSED]}, {"object": "error", "message": {"detail": [REFUSED]}}],
    ids=["azure", "fastapi", "mistral"],
)
def test_a_refused_field_is_named_with_its_reason(body: Any) -> None:
    error = of(422, body)
    assert error.code == "invalid_request"
    assert "body.parallel_tool_calls: Extra inputs are not OK" in str(error)


@pytest.mark.parametrize("in_stream", [False, True])
def test_a_call_that_groq_could_not_read(in_stream: bool) -> None:
    report = {
        "message": "Failed to call a function. Please adjust your prompt.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": "<function=save>{oops",
    }
    error = error_from_object({"error": report}) if in_stream else of(400, {"error": report})
    assert isinstance(error, GarbledStream)
    assert (error.generation, error.retryable) == ("<function=save>{oops", True)
