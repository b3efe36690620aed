"""Clients of /v1 beside the `openai` package for Python: openai-node, the AI SDK, langchain, the `llm` command."""

import base64
import json
from pathlib import Path
from textwrap import dedent

import pytest

from heald.core.events import ExchangeResponse
from heald.providers.scripted import Script, ScriptedRequest
from registry_clients import python_folder, run_node, run_process
from scripted_agents import LOCATE, PIXEL, S, answers, model, slow, weather
from serving_parts import TOKEN, Served, served

pytestmark = pytest.mark.clients

_LANGCHAIN = dedent(
    """
    import json, sys
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI
    from pydantic import BaseModel

    url, token, tool, pixel = sys.argv[1:]
    model = ChatOpenAI(base_url=url + "/v1", api_key=token, model="heald", max_retries=0, temperature=0.5)
    messages = [HumanMessage("Please locate")]
    bound = model.bind_tools([json.loads(tool)])
    asked = bound.invoke(messages)
    calls = [ToolMessage("Bergen", tool_call_id=call["id"]) for call in asked.tool_calls]
    located = bound.invoke([*messages, asked, *calls]).content
    streamed = "".join(chunk.content for chunk in model.stream([HumanMessage("The weather?")]))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + pixel}}
    seen = model.invoke([HumanMessage([{"type": "text", "text": "What is seen?"}, picture])]).content
    class Place(BaseModel):
        city: str

    typed = model.with_structured_output(Place).invoke("A city in JSON").city
    responses = ChatOpenAI(base_url=url + "/v1", api_key=token, model="heald", use_responses_api=True, max_retries=0)
    told = responses.bind_tools([json.loads(tool)])
    asked = told.invoke(messages)
    answered = [ToolMessage("Bergen", tool_call_id=call["id"]) for call in asked.tool_calls]
    over = told.invoke([*messages, asked, *answered]).text
    for chunk in model.stream([HumanMessage("A long one")]):
        if chunk.content:
            break
    try:
        model.invoke([HumanMessage("Please fail")])
        error = ""
    except Exception as failed:
        error = str(failed)
    got = {"located": located, "streamed": streamed, "seen": seen, "error": error, "typed": typed, "responses": over}
    print(json.dumps(got))
    """
)


@pytest.mark.client(
    *("`openai` for node, `@ai-sdk/openai-compatible`", "6.49.0, 2.0.87", "`/v1/chat/completions`"),
    "streamed answer, second turn, tool of the client, picture, error, stop",
)
async def test_openai_node_and_the_openai_compatible_provider_of_the_ai_sdk(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        options = {"url": server.url, "token": TOKEN, "tool": LOCATE, "pixel": PIXEL}
        (got,) = await run_node("openai_tools.mjs", options)
        await server.wait_idle()
        ends = await _ends(server, "A long one") + await _ends(server, "Another long one")
    assert got["openai"] == got["compatible"] == "Done: ok Bergen"
    assert got["turns"] == "Answer 2 to “Thanks”."
    assert got["picture"] == got["compatiblePicture"] == "I see text and image/png: What is seen?"
    assert got["models"] == ["heald", "scripted"]
    assert "out of order" in got["error"]
    assert "out of order" in got["compatibleError"]
    assert ends == ["cancelled", "cancelled"]  # both closed their connections


async def _ends(server: Served, title: str) -> list[str]:
    sessions = [info for info in (await server.context.sessions.list(limit=100)).sessions if info.title == title]
    return [
        event.data.status
        for info in sessions
        for event in await server.log(info.id)
        if isinstance(event.data, ExchangeResponse)
    ]


@pytest.mark.client(
    *("`langchain-openai`", "pip:langchain-openai==1.*", "`/v1/chat/completions`, `/v1/responses`"),
    "streamed answer, tool of the client, structured output, picture, error, stop",
)
async def test_langchain_binds_its_tools_and_reads_structured_output(tmp_path: Path) -> None:
    def script(request: ScriptedRequest) -> Script:
        return '{"city": "Oslo"}' if request.settings.output_schema else answers(request)

    python = python_folder("langchain-openai==1.*") / "python"
    async with served(tmp_path, lambda: S([script] * 60, piece=6), tools={"weather": weather}) as server:
        (line,) = await run_process(str(python), "-c", _LANGCHAIN, server.url, TOKEN, json.dumps(LOCATE), PIXEL)
    got = json.loads(line)
    assert got["located"] == got["responses"].removeprefix("I ask you.") == "Done: ok Bergen"
    assert got["streamed"] == "Let me see.\n\nDone: ok Oslo: 3 °C, snow"
    assert got["seen"] == "I see text and image/png: What is seen?"
    assert got["typed"] == "Oslo"
    assert "out of order" in got["error"]


@pytest.mark.client(
    *("`llm`", "pip:llm==0.*", "`/v1/chat/completions`"),
    "streamed answer, second turn, tool of the client, picture, error",
)
async def test_the_llm_command_chats_runs_tools_and_sends_pictures(tmp_path: Path) -> None:
    llm = str(python_folder("llm==0.*") / "llm")
    home = tmp_path / "llm"
    home.mkdir()
    picture = home / "a.png"
    picture.write_bytes(base64.b64decode(PIXEL))
    tool = "def locate(of: str) -> str:\n    return 'Bergen'"
    async with served(tmp_path, model, tools={"weather": weather}) as server:
        (home / "extra-openai-models.yaml").write_text(
            f"- model_id: heald\n  model_name: heald\n  api_base: {server.url}/v1\n  api_key_name: heald\n"
            "  vision: true\n  supports_tools: true\n"
        )
        (home / "keys.json").write_text(json.dumps({"heald": TOKEN}))
        env = {"LLM_USER_PATH": str(home)}
        first = await run_process(llm, "-m", "heald", "The weather?", env=env)
        second = await run_process(llm, "-c", "-m", "heald", "Thanks", env=env)
        seen = await run_process(llm, "-m", "heald", "What is seen?", "-a", str(picture), env=env)
        located = await run_process(llm, "-m", "heald", "Please locate", "--functions", tool, env=env)
        with pytest.raises(AssertionError, match="out of order"):
            await run_process(llm, "-m", "heald", "Please fail", env=env)
    assert "".join(first).endswith("Done: ok Oslo: 3 °C, snow")
    assert second == ["Answer 2 to “Thanks”."]
    assert seen == ["I see text and image/png: What is seen?"]
    assert "".join(located).endswith("Done: ok Bergen")
