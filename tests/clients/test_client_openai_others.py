"""Clients of /v1 beside the `openai` package for Python: openai-node, the AI SDK, langchain, the `llm` command."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from registry_clients import python_folder, run_node, run_process
from scripted_agents import LOCATE, PIXEL, model, weather
from serving_parts import TOKEN, served

pytestmark = pytest.mark.clients

_LANGCHAIN = dedent(
    """
    import json, sys
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    url, token, tool, pixel = sys.argv[1:]
    model = ChatOpenAI(base_url=url + "/v1", api_key=token, model="weft", max_retries=0, temperature=0.5)
    messages = [HumanMessage("Please locate")]
    bound = model.bind_tools([json.loads(tool)])
    asked = bound.invoke(messages)
    calls = [ToolMessage("Bergen", tool_call_id=call["id"]) for call in asked.tool_calls]
    located = bound.invoke([*messages, asked, *calls]).content
    streamed = "".join(chunk.content for chunk in model.stream([HumanMessage("The weather?")]))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + pixel}}
    seen = model.invoke([HumanMessage([{"type": "text", "text": "What is seen?"}, picture])]).content
    try:
        model.invoke([HumanMessage("Please fail")])
        error = ""
    except Exception as failed:
        error = str(failed)
    print(json.dumps({"located": located, "streamed": streamed, "seen": seen, "error": error}))
    """
)


async def test_openai_node_and_the_openai_compatible_provider_of_the_ai_sdk(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        (got,) = await run_node("openai_tools.mjs", {"url": server.url, "token": TOKEN, "tool": LOCATE})
    assert got["openai"] == "Done: ok Bergen"
    assert got["compatible"] == "Done: ok Bergen"
    assert got["models"] == ["weft", "scripted"]
    assert "out of order" in got["error"]


async def test_langchain_binds_its_tools(tmp_path: Path) -> None:
    python = python_folder("langchain-openai==1.*") / "python"
    async with served(tmp_path, model, tools={"weather": weather}) as server:
        (line,) = await run_process(str(python), "-c", _LANGCHAIN, server.url, TOKEN, json.dumps(LOCATE), PIXEL)
    got = json.loads(line)
    assert got["located"] == "Done: ok Bergen"
    assert got["streamed"] == "Let me see.\n\nDone: ok Oslo: 3 °C, snow"
    assert got["seen"] == "I see text and image/png: What is seen?"
    assert "out of order" in got["error"]


async def test_the_llm_command_chats_and_continues(tmp_path: Path) -> None:
    llm = str(python_folder("llm==0.*") / "llm")
    home = tmp_path / "llm"
    home.mkdir()
    async with served(tmp_path, model, tools={"weather": weather}) as server:
        (home / "extra-openai-models.yaml").write_text(
            f"- model_id: weft\n  model_name: weft\n  api_base: {server.url}/v1\n  api_key_name: weft\n"
        )
        (home / "keys.json").write_text(json.dumps({"weft": TOKEN}))
        env = {"LLM_USER_PATH": str(home)}
        first = await run_process(llm, "-m", "weft", "The weather?", env=env)
        second = await run_process(llm, "-c", "-m", "weft", "Thanks", env=env)
    assert "".join(first).endswith("Done: ok Oslo: 3 °C, snow")
    assert second == ["Answer 2 to “Thanks”."]
