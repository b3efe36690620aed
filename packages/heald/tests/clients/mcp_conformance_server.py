"""The tools, prompts and resources that the MCP conformance suite expects of a server, added to one of ours.

They use what any protocol of a server may use: `ServerContext.mcp_tools`, `mcp_prompts` and `mcp_resources`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import PromptsListChanged, ToolsListChanged

from heald.core.errors import HealdError
from heald.core.json import JsonObject, encode_text
from heald_server.context import ServerContext
from heald_server.protocols.mcp.prompt import ArgumentStart, AskedPrompt, OfferedPrompt, PromptAnswer
from heald_server.protocols.mcp.tool import McpTool, OfferedCall, ToolAnswer
from scripted_agents import PIXEL

SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
RunCall = Callable[[OfferedCall], Awaitable[ToolAnswer]]
ANY: JsonObject = {"type": "object", "properties": {}}
ADDRESS_SCHEMA: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def text(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=words)])


def form(message: str, **fields: JsonObject) -> types.ElicitRequest:
    schema: JsonObject = {"type": "object", "properties": fields, "required": list(fields)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(words: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=words))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


def content_of(answer: object) -> dict[str, Any]:
    """The values of a filled form. A form that was not accepted is asked for again."""
    return dict(answer.content or {}) if isinstance(answer, types.ElicitResult) and answer.action == "accept" else {}


async def simple_text(call: OfferedCall) -> ToolAnswer:
    return text("This is a simple text response for testing.")


async def picture(call: OfferedCall) -> ToolAnswer:
    return types.CallToolResult(content=[types.ImageContent(data=PIXEL, mime_type="image/png")])


async def sound(call: OfferedCall) -> ToolAnswer:
    return types.CallToolResult(content=[types.AudioContent(data=SOUND, mime_type="audio/wav")])


async def embedded(call: OfferedCall) -> ToolAnswer:
    words = "This is an embedded resource content."
    resource = types.TextResourceContents(uri="test://embedded-resource", mime_type="text/plain", text=words)
    return types.CallToolResult(content=[types.EmbeddedResource(resource=resource)])


async def mixed(call: OfferedCall) -> ToolAnswer:
    resource = types.TextResourceContents(
        uri="test://mixed-content-resource", mime_type="application/json", text='{"test":"data","value":123}'
    )
    return types.CallToolResult(
        content=[
            types.TextContent(text="Multiple content types test:"),
            types.ImageContent(data=PIXEL, mime_type="image/png"),
            types.EmbeddedResource(resource=resource),
        ]
    )


async def logging(call: OfferedCall) -> ToolAnswer:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await call.log.send("info", line)
        await asyncio.sleep(0.05)
    return text("Tool with logging executed successfully")


async def progress(call: OfferedCall) -> ToolAnswer:
    for done in (0, 50, 100):
        await call.request.session.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return text("Done")


async def error(call: OfferedCall) -> ToolAnswer:
    raise HealdError("This tool intentionally returns an error for testing")


async def reconnection(call: OfferedCall) -> ToolAnswer:
    if call.request.close_sse_stream is not None:
        await call.request.close_sse_stream()
    await asyncio.sleep(0.1)
    return text("Reconnection test completed successfully.")


async def sample(call: OfferedCall) -> ToolAnswer:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=str(call.arguments["prompt"])))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    request = types.CreateMessageRequest(params=params)
    from mcp.shared.message import ServerMessageMetadata

    related = ServerMessageMetadata(related_request_id=call.request.request_id)
    result = await call.request.session.send_request(request, types.CreateMessageResult, metadata=related)
    return text(f"LLM response: {result.content.text if isinstance(result.content, types.TextContent) else ''}")


def elicits(message: str, fields: dict[str, JsonObject] | None = None, required: Sequence[str] = ()) -> RunCall:
    async def run(call: OfferedCall) -> ToolAnswer:
        question = message or str(call.arguments["message"])
        properties = fields or {"username": {"type": "string"}, "email": {"type": "string"}}
        schema: JsonObject = {"type": "object", "properties": properties, "required": list(required)}
        answer = await call.request.session.elicit_form(question, schema, call.request.request_id)
        filled = encode_text(answer.content or {})
        return text(f"Elicitation completed: action={answer.action}, content={filled}")

    return run


DEFAULTS: dict[str, JsonObject] = {
    "name": {"type": "string", "description": "User name", "default": "John Doe"},
    "age": {"type": "integer", "description": "User age", "default": 30},
    "score": {"type": "number", "description": "User score", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "description": "Verification status", "default": True},
}
TITLED = [{"const": f"value{number}", "title": title} for number, title in enumerate(("First", "Second", "Third"), 1)]
NAMES = ["option1", "option2", "option3"]
CHOICES: dict[str, JsonObject] = {
    "untitledSingle": {"type": "string", "enum": NAMES},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": NAMES}},
    "titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": TITLED}},
}


async def schema_tool(call: OfferedCall) -> ToolAnswer:
    return text(f"Called with {encode_text(call.arguments)}")


async def missing_capability(call: OfferedCall) -> ToolAnswer:
    capabilities = call.request.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        data: JsonObject = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "The client must support sampling.", data)
    return text("Success")


def asks(
    requests: dict[str, types.InputRequest], finish: Callable[[types.InputResponses], str], state: str = ""
) -> RunCall:
    """A tool that needs input, and answers with it."""

    async def run(call: OfferedCall) -> ToolAnswer:
        answers = call.params.input_responses or {}
        has_state = not state or call.params.request_state == state
        declined = any(isinstance(answer, types.ElicitResult) and not content_of(answer) for answer in answers.values())
        if has_state and requests.keys() <= answers.keys() and not declined:
            return text(finish(answers))
        return types.InputRequiredResult(input_requests=requests, request_state=state or None)

    return run


async def multi_round(call: OfferedCall) -> ToolAnswer:
    answers = call.params.input_responses or {}
    state = call.params.request_state or ""
    if state.startswith("2:") and "step2" in answers:
        color = content_of(answers["step2"]).get("color")
        return text(f"Multi-round complete for {state[2:]} who likes {color}")
    if state == "1" and "step1" in answers:
        step = form("Step 2: What is your favorite color?", color={"type": "string"})
        name = content_of(answers["step1"]).get("name")
        return types.InputRequiredResult(input_requests={"step2": step}, request_state=f"2:{name}")
    step = form("Step 1: What is your name?", name={"type": "string"})
    return types.InputRequiredResult(input_requests={"step1": step}, request_state="1")


async def by_capabilities(call: OfferedCall) -> ToolAnswer:
    if call.params.input_responses:
        return text(f"capabilities-ok: received {','.join(call.params.input_responses)}")
    capabilities = call.request.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, types.InputRequest] = {}
    if capabilities.elicitation is not None:
        requests["elicit_input"] = form("Elicitation input", value={"type": "string"})
    if capabilities.sampling is not None:
        requests["sample_input"] = sampling("Sample request")
    if not requests:
        return text("No supported capabilities declared")
    return types.InputRequiredResult(input_requests=requests, request_state="capabilities")


async def logging_tool(call: OfferedCall) -> ToolAnswer:
    await call.log.send("info", "Diagnostic trace logging activated")
    return text("Logging evaluated")


async def streaming(call: OfferedCall) -> ToolAnswer:
    await call.report_progress(50, "Half")
    return text("Streaming complete")


async def change_tools(call: OfferedCall) -> ToolAnswer:
    call.publish(ToolsListChanged())
    return text("Mutation triggered")


async def change_prompts(call: OfferedCall) -> ToolAnswer:
    call.publish(PromptsListChanged())
    return text("Mutation triggered")


async def greet(call: OfferedCall) -> ToolAnswer:
    return text(f"Hello, {call.arguments.get('name')}!")


async def slow_compute(call: OfferedCall) -> ToolAnswer:
    await asyncio.sleep(float(call.arguments.get("seconds") or 0))
    return text("Computed")


async def failing_job(call: OfferedCall) -> ToolAnswer:
    await asyncio.sleep(1)
    raise HealdError("The job failed.")


async def protocol_error_job(call: OfferedCall) -> ToolAnswer:
    raise MCPError(types.INTERNAL_ERROR, "The job crashed.")


async def ask_user_name(call: OfferedCall) -> types.InputRequiredResult | None:
    if "user_name" in (call.params.input_responses or {}):
        return None
    return types.InputRequiredResult(input_requests={"user_name": form("What is your name?", name={"type": "string"})})


async def greet_later(call: OfferedCall) -> ToolAnswer:
    return text(f"Hello, {content_of((call.params.input_responses or {})['user_name']).get('name')}!")


STRING: JsonObject = {"type": "string"}
BOOLEAN: JsonObject = {"type": "boolean"}
CONFIRM: dict[str, types.InputRequest] = {"confirm": form("Please confirm", ok=BOOLEAN)}
NAME: dict[str, types.InputRequest] = {"user_name": form("What is your name?", name=STRING)}
SEVERAL: dict[str, types.InputRequest] = {
    **NAME,
    "greeting": sampling("Generate a greeting"),
    "client_roots": types.ListRootsRequest(),
}


def sampled(answer: types.InputResponse) -> str:
    block = answer.content if isinstance(answer, types.CreateMessageResult) else None
    return block.text if isinstance(block, types.TextContent) else "no response"


def count_roots(answer: types.InputResponse) -> int:
    return len(answer.roots) if isinstance(answer, types.ListRootsResult) else 0


def describe_several(answers: types.InputResponses) -> str:
    name = content_of(answers["user_name"]).get("name")
    return f"Name: {name}; Greeting: {sampled(answers['greeting'])}; Roots: {count_roots(answers['client_roots'])}"


def fixture_tools() -> list[McpTool]:
    plain: dict[str, RunCall] = {
        "test_simple_text": simple_text,
        "test_image_content": picture,
        "test_audio_content": sound,
        "test_embedded_resource": embedded,
        "test_multiple_content_types": mixed,
        "test_tool_with_logging": logging,
        "test_tool_with_progress": progress,
        "test_error_handling": error,
        "test_reconnection": reconnection,
        "test_sampling": sample,
        "test_elicitation": elicits(""),
        "test_elicitation_sep1034_defaults": elicits("Please review the fields", DEFAULTS),
        "test_elicitation_sep1330_enums": elicits("Please select options", CHOICES),
        "test_missing_capability": missing_capability,
        "test_input_required_result_elicitation": asks(
            NAME, lambda answers: f"Hello, {content_of(answers['user_name']).get('name')}!"
        ),
        "test_input_required_result_sampling": asks(
            {"sample_request": sampling("What is the capital of France?")},
            lambda answers: f"Sampling result: {sampled(answers['sample_request'])}",
        ),
        "test_input_required_result_list_roots": asks(
            {"roots_request": types.ListRootsRequest()},
            lambda answers: f"Found {count_roots(answers['roots_request'])} root(s)",
        ),
        "test_input_required_result_request_state": asks(CONFIRM, lambda _: "state-ok: validated", "request-state"),
        "test_input_required_result_multiple_inputs": asks(SEVERAL, describe_several, "multiple-inputs"),
        "test_input_required_result_multi_round": multi_round,
        "test_input_required_result_tampered_state": asks(CONFIRM, lambda _: "integrity-ok: verified", "tamper-test"),
        "test_input_required_result_capabilities": by_capabilities,
        "test_streaming_elicitation": streaming,
        "test_logging_tool": logging_tool,
        "test_trigger_tool_change": change_tools,
        "test_trigger_prompt_change": change_prompts,
        "greet": greet,
    }
    tools = [McpTool(types.Tool(name=name, description=name, input_schema=ANY), run) for name, run in plain.items()]
    address = types.Tool(name="json_schema_2020_12_tool", description="An address", input_schema=ADDRESS_SCHEMA)
    header: JsonObject = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    with_header = types.Tool(name="test_x_mcp_header", description="A header", input_schema=header)
    tools += [McpTool(address, schema_tool), McpTool(with_header, schema_tool)]

    def task(name: str, run: RunCall) -> McpTool:
        return McpTool(types.Tool(name=name, description=name, input_schema=ANY), run, tasks="may")

    confirm = asks({"confirm": form("Delete the file?", confirm=BOOLEAN)}, lambda _: "Deleted")
    several = asks({"first": form("One", name=STRING), "second": form("Two", name=STRING)}, lambda _: "Thanks")
    tools += [task("slow_compute", slow_compute), task("protocol_error_job", protocol_error_job)]
    tools += [task("confirm_delete", confirm), task("multi_input", several)]
    failing = types.Tool(name="failing_job", description="Fails", input_schema=ANY)
    later = types.Tool(name="test_tool_with_task", description="Greets later", input_schema=ANY)
    return [
        *tools,
        McpTool(failing, failing_job, tasks="must"),
        McpTool(later, greet_later, tasks="must", prepare=ask_user_name),
    ]


class FixtureResources:
    """Resources below `test://`."""

    prefix = "test://"
    templates = (types.ResourceTemplate(name="template", uri_template="test://template/{id}/data"),)

    async def list(self, owner: str) -> Sequence[types.Resource]:
        names = ("static-text", "static-binary", "watched-resource")
        return [types.Resource(name=name, uri=f"test://{name}", description=name) for name in names]

    async def read(self, owner: str, uri: str) -> types.TextResourceContents | types.BlobResourceContents:
        match uri.removeprefix("test://").split("/"):
            case ["static-binary"]:
                return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
            case ["static-text" | "watched-resource"]:
                words = "This is the content of the static text resource."
                return types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
            case ["template", name, "data"]:
                words = encode_text({"id": name, "templateTest": True, "data": f"Data for ID: {name}"})
                return types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
            case _:
                raise HealdError(f"There is no resource {uri!r}.")

    async def complete(self, start: ArgumentStart) -> Sequence[str]:
        return ["1", "2"]


def says(*contents: types.ContentBlock) -> PromptAnswer:
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content) for content in contents])


async def simple_prompt(request: AskedPrompt) -> PromptAnswer:
    return says(types.TextContent(text="This is a simple prompt for testing."))


async def prompt_with_arguments(request: AskedPrompt) -> PromptAnswer:
    first, second = request.arguments["arg1"], request.arguments["arg2"]
    return says(types.TextContent(text=f"Prompt with arguments: arg1='{first}', arg2='{second}'"))


async def prompt_with_resource(request: AskedPrompt) -> PromptAnswer:
    resource = types.TextResourceContents(
        uri=request.arguments["resourceUri"], mime_type="text/plain", text="Embedded resource content for testing."
    )
    return says(types.EmbeddedResource(resource=resource), types.TextContent(text="Please process it."))


async def prompt_with_image(request: AskedPrompt) -> PromptAnswer:
    return says(types.ImageContent(data=PIXEL, mime_type="image/png"), types.TextContent(text="Please analyze it."))


async def prompt_with_input(request: AskedPrompt) -> PromptAnswer:
    answers = request.params.input_responses or {}
    if "user_context" in answers:
        return says(
            types.TextContent(text=f"Prompt with context: {content_of(answers['user_context']).get('context')}")
        )
    asked = form("What context should the prompt use?", context={"type": "string"})
    return types.InputRequiredResult(input_requests={"user_context": asked})


async def complete_argument(start: ArgumentStart) -> Sequence[str]:
    return ["test", "testing", "other"]


def fixture_prompts() -> list[OfferedPrompt]:
    def arguments(*names: str) -> list[types.PromptArgument]:
        return [types.PromptArgument(name=name, description=name, required=True) for name in names]

    def named(name: str, *names: str) -> types.Prompt:
        return types.Prompt(name=name, description=name, arguments=arguments(*names))

    return [
        OfferedPrompt(named("test_simple_prompt"), simple_prompt),
        OfferedPrompt(named("test_prompt_with_arguments", "arg1", "arg2"), prompt_with_arguments, complete_argument),
        OfferedPrompt(named("test_prompt_with_embedded_resource", "resourceUri"), prompt_with_resource),
        OfferedPrompt(named("test_prompt_with_image"), prompt_with_image),
        OfferedPrompt(named("test_input_required_result_prompt"), prompt_with_input),
    ]


def add_fixtures(context: ServerContext) -> None:
    """Add what the suite expects to a server."""
    context.mcp_tools.extend(lambda tool=tool: tool for tool in fixture_tools())
    context.mcp_prompts.extend(lambda prompt=prompt: prompt for prompt in fixture_prompts())
    context.mcp_resources.append(FixtureResources)
