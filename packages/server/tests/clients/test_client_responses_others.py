"""Clients of /v1/responses beside the `openai` package for Python: openai-node, the AI SDK, the OpenAI Agents SDK."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

import heald
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.settings import SessionSettings
from registry_clients import python_folder, run_node, run_process
from scripted_agents import LOCATE, PIXEL, S, answers, launch
from serving_parts import TOKEN, served

pytestmark = pytest.mark.clients

_AGENTS = dedent(
    """
    import asyncio
    import json
    import sys

    from agents import (
        Agent,
        HostedMCPTool,
        ModelSettings,
        OpenAIResponsesModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI
    from pydantic import BaseModel

    url, token = sys.argv[1:]
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=url + "/v1", api_key=token, max_retries=0)
    model = OpenAIResponsesModel("heald", client)


    @function_tool
    def locate(of: str) -> str:
        '''Where the user is.'''
        return "Bergen"


    class Place(BaseModel):
        city: str


    async def main() -> None:
        got = {}
        agent = Agent(name="Guide", instructions="Be brief.", model=model, tools=[locate])
        first = await Runner.run(agent, "Hello")
        second = await Runner.run(agent, [*first.to_input_list(), {"role": "user", "content": "Please locate"}])
        got["resent"] = second.final_output
        third = await Runner.run(agent, "Please locate", previous_response_id=first.last_response_id)
        got["previous"] = third.final_output
        streamed = Runner.run_streamed(agent, "Please locate", auto_previous_response_id=True)
        kinds = [event.type async for event in streamed.stream_events()]
        got["streamed"] = streamed.final_output
        got["kinds"] = sorted(set(kinds))
        unstored = Agent(
            name="Guide", model=model, tools=[locate], model_settings=ModelSettings(store=False, temperature=0.5)
        )
        got["unstored"] = (await Runner.run(unstored, "Please locate")).final_output
        typed = Agent(name="Guide", model=model, output_type=Place)
        got["typed"] = (await Runner.run(typed, "A city in JSON")).final_output.city
        for approve in (True, False):
            asked = HostedMCPTool(
                tool_config={"type": "mcp", "server_label": "heald", "server_url": url, "require_approval": "always"},
                on_approval_request=lambda request: {"approve": approve, "reason": "" if approve else "Not today."},
            )
            pilot = Agent(name="Pilot", model=model, tools=[asked])
            got[str(approve)] = (await Runner.run(pilot, "Please launch")).final_output
        try:
            await Runner.run(agent, "Please fail")
        except Exception as error:
            got["error"] = str(error)
        print(json.dumps(got))


    asyncio.run(main())
    """
)
_ASKS = SessionSettings(permissions="ask", tools=["launch"])


def _model() -> heald.testing.ScriptedModel:
    def script(request: ScriptedRequest) -> Script:
        return '{"city": "Oslo"}' if request.settings.output_schema else answers(request)

    return S([script] * 60, piece=6, pause=0.002)


@pytest.mark.client(
    *("`openai` for node, `@ai-sdk/openai`", "6.49.0, 4.0.114", "`/v1/responses`"),
    "streamed answer, second turn, tool of the client, structured output, picture, approval, error, stop, resuming",
)
async def test_openai_node_and_the_openai_provider_of_the_ai_sdk(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    options = {"token": TOKEN, "tool": LOCATE, "pixel": PIXEL, "schema": schema}
    async with served(tmp_path, _model, tools={"launch": launch}, defaults=_ASKS) as server:
        (got,) = await run_node("responses.mjs", {"url": server.url, **options})
        sessions = (await server.context.sessions.list(limit=100)).sessions
        longs = [info for info in sessions if info.title == "A long one"]
        ends = [
            event.data for info in longs for event in await server.log(info.id) if event.type == "exchange_response"
        ]
    assert got["turns"] == ["Answer 1 to “Hello”.", "Done: ok Bergen"]
    assert got["resumed"] == "Word after word. " * 200
    assert got["cancelled"] == "cancelled"
    assert got["picture"] == "I see text and image/png: What is seen?"
    assert "out of order" in got["error"]
    assert got["streamed"] == "Answer 1 to “Hello”."
    sdk = got["sdk"]
    assert sdk["Hello"] == "Answer 1 to “Hello”."
    assert sdk["Please locate"] == "I ask you.Done: ok Bergen"
    assert sdk["Thanks"] == "Answer 3 to “Thanks”."
    assert sum(info.title == "Thanks" for info in sessions) == 0  # it went on in the session of the conversation
    assert sdk["unstored"] == "Done: ok Bergen"
    assert sdk["picture"] == "I see text and image/png: What is seen?"
    assert "out of order" in sdk["error"]
    assert sdk["object"] == {"city": "Oslo"}
    assert sdk["approved"] == "Done: ok rocket launched"
    assert sdk["denied"].startswith("Done: denied")
    assert "Word after word." in sdk["aborted"]
    statuses = sorted(end.status for end in ends)
    assert statuses == ["cancelled", "cancelled", "completed"]  # by the call, by the closed connection, resumed


@pytest.mark.client(
    *("OpenAI Agents SDK", "pip:openai-agents==0.*", "`/v1/responses`"),
    "streamed answer, second turn, tool of the client, structured output, approval, error",
)
async def test_the_openai_agents_sdk(tmp_path: Path) -> None:
    python = python_folder("openai-agents==0.*") / "python"
    async with served(tmp_path, _model, tools={"launch": launch}, defaults=_ASKS) as server:
        (line,) = await run_process(str(python), "-c", _AGENTS, server.url, TOKEN)
    got = json.loads(line)
    assert got["resent"] == got["previous"] == got["streamed"] == got["unstored"] == "Done: ok Bergen"
    assert got["kinds"] == ["agent_updated_stream_event", "raw_response_event", "run_item_stream_event"]
    assert got["typed"] == "Oslo"
    assert got["True"] == "Done: ok rocket launched"
    assert got["False"] == "Done: denied The user did not allow this call. Not today."
    assert "out of order" in got["error"]
