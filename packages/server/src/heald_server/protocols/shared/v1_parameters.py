"""Reads parameters of requests to /v1 into the settings of a request to the model."""

from collections.abc import Sequence

from heald.agent.typed_output import SchemaShape
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald_server.http.errors import ApiError

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


def compile_output(schema: JsonObject | None, param: str) -> SchemaShape | None:
    """Compile the schema of an answer, which the client gave as the parameter `param`."""
    if schema is None:
        return None
    try:
        return SchemaShape(schema)
    except ConfigurationError as error:
        raise refusal(param, str(error)) from None


def read_numbers(body: JsonObject, settings: JsonObject, limits: Sequence[str]) -> None:
    """Read the sampling parameters into settings. `limits` are the names of the maximum of output tokens."""
    for name, low, high in (("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0)):
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise refusal(name, f"{name} is a number from {low:g} to {high:g}.")
        settings[name] = float(value)
    for name in limits:
        value = body.get(name)
        if value is None:
            continue
        if type(value) is not int or value < 1:
            raise refusal(name, f"{name} is a number of at least 1.")
        settings["max_output_tokens"] = value
    parallel = read_flag(body, "parallel_tool_calls")
    if parallel is not None:
        settings["parallel_tool_calls"] = parallel


def read_flag(body: JsonObject, name: str) -> bool | None:
    """Read a parameter that is true, false or not given."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise refusal(name, f"{name} is true or false.")


def refusal(param: str, message: str) -> ApiError:
    """The error for a parameter that is wrong."""
    return ApiError("invalid", message, param=param)
