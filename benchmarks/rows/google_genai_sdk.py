"""The official `google-genai` client, streaming Gemini."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# The library is only partly typed.

from collections.abc import Sequence
from functools import cache
from typing import Any

from google import genai
from google.genai import types

from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.native import native
from benchmarks.row import API_KEY, Ask, Row, Seen
from benchmarks.scenarios import PROMPT, Wire
from benchmarks.tools import FUNCTIONS, TOOLS

_CONFIG = types.GenerateContentConfig(
    tools=[
        types.Tool(
            function_declarations=[
                types.FunctionDeclaration(
                    name=tool.name, description=tool.description, parameters_json_schema=tool.schema
                )
                for tool in TOOLS
            ]
        )
    ],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


@cache
def _client(base_url: str) -> genai.Client:
    return genai.Client(api_key=API_KEY, http_options=types.HttpOptions(base_url=base_url))


def remember(wire: Wire, past: Sequence[EarlierExchange]) -> list[types.Content]:
    return [types.Content.model_validate(content) for content in native(wire, past)]


async def converse(ask: Ask) -> Seen:
    models = _client(ask.base_url).aio.models
    contents: list[Any] = [*ask.past, types.Content(role="user", parts=[types.Part(text=PROMPT)])]
    deltas = 0
    while True:
        text = ask.pieces()
        calls: list[types.Part] = []
        arguments: dict[str, list[str]] = {}
        stream = await models.generate_content_stream(model=ask.model, contents=contents, config=_CONFIG)
        async for chunk in stream:
            for part in _parts(chunk):
                if part.text is not None:
                    deltas += 1
                    text.append(part.text)
                elif part.function_call is not None:
                    deltas += _collect(part, part.function_call, calls, arguments)
        if not calls:
            return Seen("".join(text), deltas)
        results = [await _execute(part, arguments) for part in calls]
        contents += [types.Content(role="model", parts=calls), types.Content(role="user", parts=results)]


def _parts(chunk: types.GenerateContentResponse) -> list[types.Part]:
    if not chunk.candidates or chunk.candidates[0].content is None:
        return []
    return chunk.candidates[0].content.parts or []


def _collect(
    part: types.Part, call: types.FunctionCall, calls: list[types.Part], arguments: dict[str, list[str]]
) -> int:
    """Keeps the start of a call, or its next fragments; gives the number of fragments."""
    if call.name:
        calls.append(part)
        return 0
    partials = call.partial_args or []
    for partial in partials:
        key = (partial.json_path or "").removeprefix("$.")
        arguments.setdefault(key, []).append(partial.string_value or "")
    return len(partials)


async def _execute(part: types.Part, arguments: dict[str, list[str]]) -> types.Part:
    call = part.function_call
    assert call is not None
    assert call.name is not None
    if call.will_continue:
        call.will_continue = None
        call.args = {key: "".join(pieces) for key, pieces in arguments.items()}
    output = await FUNCTIONS[call.name](**(call.args or {}))
    return types.Part.from_function_response(name=call.name, response={"output": output})


ROW = Row("google-genai", "from google import genai", ("gemini",), converse, remember)
