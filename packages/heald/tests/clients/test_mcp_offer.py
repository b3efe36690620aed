"""What the MCP server offers besides tools: completion, subscriptions, log messages, prompts, and the app of a page."""

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from test_mcp_server import MODES, connected, served, session_of, text_of

from heald.core.errors import ProviderError
from heald.sessions.sqlite import SqliteStore
from heald.tools.mcp.apps import page_address, read_page
from heald.tools.mcp.tasks import CreatedTask, GetTask, TaskExtension, TaskParams, TaskState
from scripted_agents import S
from serving_parts import OTHER, TOKEN, context_on, serving

PAGE = "<!DOCTYPE html><html><head><title>Bakery</title></head><body><h1>Bakery</h1></body></html>"


def writing(*contents: str) -> S:
    calls = [[S.call("write_file", path="notes.txt", content=content)] for content in contents]
    return S([turn for call in calls for turn in (call, "Written.")])


@MODES
async def test_sessions_and_paths_are_completed(tmp_path: Path, mode: str) -> None:
    script = writing("one")
    async with served(tmp_path, lambda: script, mode="auto") as server:
        async with connected(server, mode) as client:
            session = session_of(await client.call_tool("run_agent", {"prompt": "Write."}))
            (template,) = (await client.list_resource_templates()).resource_templates
            reference = types.ResourceTemplateReference(uri=template.uri_template)
            sessions = await client.complete(reference, {"name": "session", "value": session[:8]})
            assert sessions.completion.values == [session]
            paths = await client.complete(reference, {"name": "path", "value": "no"}, {"session": session})
            assert paths.completion.values == ["notes.txt"]
            with pytest.raises(MCPError):
                await client.complete(types.PromptReference(name="nothing"), {"name": "x", "value": ""})
        async with connected(server, mode, OTHER) as other:
            paths = await other.complete(reference, {"name": "path", "value": ""}, {"session": session})
            assert paths.completion.values == []


async def test_a_subscribed_file_is_reported_when_it_changes(tmp_path: Path) -> None:
    script = writing("one", "two")
    async with served(tmp_path, lambda: script, mode="auto") as server:
        async with connected(server) as client:
            session = session_of(await client.call_tool("run_agent", {"prompt": "Write."}))
            (resource,) = (await client.list_resources()).resources
            async with client.listen(resource_subscriptions=[resource.uri]) as changes, asyncio.timeout(60):
                assert changes.honored.resource_subscriptions == [resource.uri]
                await client.call_tool("run_agent", {"prompt": "Write again.", "session": session})
                assert getattr(await anext(aiter(changes)), "uri", "") == resource.uri
        async with (
            connected(server, token=OTHER) as other,
            other.listen(resource_subscriptions=[resource.uri], tools_list_changed=True) as changes,
        ):
            assert not changes.honored.resource_subscriptions


async def test_a_subscribed_file_is_reported_to_older_clients(tmp_path: Path) -> None:
    script = writing("one", "two")
    updated: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.put_nowait(str(message.params.uri))

    async with (
        served(tmp_path, lambda: script, mode="auto") as server,
        connected(server, "legacy", message_handler=on_message) as client,
    ):
        session = session_of(await client.call_tool("run_agent", {"prompt": "Write."}))
        (resource,) = (await client.list_resources()).resources
        await client.session.send_request(
            types.SubscribeRequest(params=types.SubscribeRequestParams(uri=resource.uri)), types.EmptyResult
        )
        await client.call_tool("run_agent", {"prompt": "Write again.", "session": session})
        async with asyncio.timeout(60):
            assert await updated.get() == resource.uri


@pytest.mark.parametrize(("level", "count"), [("warning", 1), ("critical", 0)])
@MODES
async def test_failures_are_logged_at_the_level_of_the_client(
    tmp_path: Path, mode: str, level: types.LoggingLevel, count: int
) -> None:
    lines: list[types.LoggingMessageNotificationParams] = []

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        lines.append(params)

    script = S([[S.fail(ProviderError("The model is out of order.", status=400))]])
    options: dict[str, Any] = {"logging_callback": on_log} | ({"log_level": level} if mode == "auto" else {})
    async with served(tmp_path, lambda: script) as server, connected(server, mode, **options) as client:
        if mode == "legacy":
            params = types.SetLevelRequestParams(level=level)
            await client.session.send_request(types.SetLevelRequest(params=params), types.EmptyResult)
        assert (await client.call_tool("run_agent", {"prompt": "Hello"})).is_error
    assert [line.level for line in lines] == ["error"] * count


async def test_a_built_page_is_an_app_and_a_task(tmp_path: Path) -> None:
    script = S([[S.call("create_file", path="index.html", content=PAGE)], "Built."])
    context = context_on(SqliteStore(tmp_path / "sessions.db", durable=False), {"scripted": lambda: script})
    context.protocol_options["studio"] = {"scores": False}
    async with serving(context, TOKEN) as server, connected(server, extensions=[TaskExtension()]) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        address = page_address(tools["build_page"])
        assert address is not None
        app = read_page(address, list((await client.read_resource(address)).contents))
        assert app is not None
        assert "ui/initialize" in app.html
        assert (app.connect, app.resources) == ((), ())
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert "build_page" in prompts
        stacks = await client.complete(types.PromptReference(name="build_page"), {"name": "stack", "value": "html"})
        assert "html_css" in stacks.completion.values
        asked = await client.get_prompt("build_page", {"about": "A bakery"})
        assert "A bakery" in str(asked.messages[0].content)
        arguments = {"prompt": "A bakery", "stack": "html_css", "model": "scripted"}
        task = await client.session.call_tool("build_page", arguments, allow_claimed=True)
        assert isinstance(task, CreatedTask)
        result = await _finished(client, task.task_id)
    assert not result.is_error, text_of(result)
    page = (result.meta or {})["heald/page"]
    assert "<h1>Bakery</h1>" in page


async def _finished(client: Any, task: str) -> types.CallToolResult:
    for _ in range(1200):
        state: TaskState = await client.session.send_request(GetTask(params=TaskParams(task_id=task)), TaskState)
        if state.status == "completed":
            return types.CallToolResult.model_validate(state.result)
        assert state.status == "working"
        await asyncio.sleep(0.05)
    raise AssertionError("the task did not end")
