"""X01 to X07: whatever URL a model is talked into, nobody on this machine or in its network is reached."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from security_support import Sink, Stage, reply_with_calls, sink

import heald
from heald.core.events import ApprovalRequested
from heald.core.messages import ToolResult
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.web.fetch_tool import fetch_tool
from heald.tools.web.fetcher import WebFetcher
from log_support import call


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


LOCAL = [
    *("http://127.0.0.1:PORT/", "http://localhost:PORT/", "http://[::1]:PORT/", "http://0.0.0.0:PORT/"),
    *("http://[::ffff:127.0.0.1]:PORT/", "http://localhost.:PORT/", "https://127.0.0.1:PORT/", "http://[::]:PORT/"),
    *("http://127.1:PORT/", "http://2130706433:PORT/", "http://0x7f000001:PORT/", "http://017700000001:PORT/"),
    *("http://0:PORT/", "http://0177.0.0.1:PORT/", "http://127.0.0.1.:PORT/", "http://user@127.0.0.1:PORT/"),
    *("http://127。0。0。1:PORT/", "http://①②⑦.0.0.1:PORT/", "http://LOCALHOST%00.ok.test:PORT/"),
    *("http://127.0.0.1:PORT\\@example.com/", "http://example.com@127.0.0.1:PORT/", "HTTP://LOCALHOST:PORT/"),
    *("file:///etc/passwd", "gopher://127.0.0.1:PORT/", "ftp://127.0.0.1:PORT/", "//127.0.0.1:PORT/"),
]


async def test_x01_x02_x05_this_machine_in_every_spelling(stage: Stage) -> None:
    async with sink() as taken:
        urls = [url.replace("PORT", str(taken.port)) for url in LOCAL]
        results = await stage.calls(*(call("fetch_url", url=url) for url in urls), tools=["web"])
        assert taken.connections == 0
    for url, result in zip(urls, results, strict=True):
        assert result.text.startswith("url_not_allowed: "), (url, result.text)


async def test_x04_the_metadata_of_clouds(stage: Stage) -> None:
    hosts = ["169.254.169.254", "100.100.100.200", "192.0.0.192", "[fd00:ec2::254]", "168.63.129.16", "10.0.0.1"]
    urls = [f"http://{host}/latest/meta-data/" for host in hosts]
    for result in await stage.calls(*(call("fetch_url", url=url) for url in urls), tools=["web"]):
        assert result.text.startswith("url_not_allowed: "), result.text


async def test_x04_a_name_for_it(stage: Stage) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["169.254.169.254"] if host == "metadata.google.internal" else ["93.184.216.34", "127.0.0.1"]

    fetch = fetch_tool(WebFetcher(resolve=resolve))
    urls = ["http://metadata.google.internal/", "http://both.test/"]
    for result in await stage.calls(*(call("fetch_url", url=url) for url in urls), tools=[fetch]):
        assert result.text.startswith("url_not_allowed: "), result.text
        assert "169.254" not in result.text, "what a name stands for is not told"


async def redirected(stage: Stage, taken: Sink, *replies: Reply) -> list[ToolResult]:
    """The answers of a site that the operator allows, and that leads to the sink."""
    async with ScriptedServer(list(replies)) as server:
        port = int(server.url.rpartition(":")[2])

        async def resolve(host: str, _: int) -> Sequence[str]:
            return ["127.0.0.1"]

        fetch = fetch_tool(WebFetcher(allow=[f"ok.test:{port}"], resolve=resolve))
        calls = [call("fetch_url", url=f"http://ok.test:{port}/{n}") for n in range(len(replies))]
        results = [(await stage.calls(made, tools=[fetch]))[0] for made in calls]
        assert len(server.requests) == len(replies)
    assert taken.connections == 0
    return results


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_x07_redirects_are_rechecked(stage: Stage, status: int) -> None:
    async with sink() as taken:
        places = [taken.url, f"//localhost:{taken.port}/", f"http://evil.test:{taken.port}/", "file:///etc/passwd"]
        replies = [Reply([b"moved"], status=status, headers={"location": place}) for place in places]
        for result in await redirected(stage, taken, *replies):
            assert result.text.startswith("url_not_allowed: "), result.text


async def test_x07_pages_that_would_go_on_by_themselves_are_text(stage: Stage) -> None:
    async with sink() as taken:
        pages = [
            f'<meta http-equiv="refresh" content="0; url={taken.url}">moved',
            f"<script>location = '{taken.url}'</script>moved",
            f'<img src="{taken.url}"><link rel=stylesheet href="{taken.url}"><iframe src="{taken.url}"></iframe>moved',
        ]
        replies = [
            Reply([page.encode()], content_type="text/html", headers={"refresh": f"0; url={taken.url}"})
            for page in pages
        ]
        for result in await redirected(stage, taken, *replies):
            assert result.status == "ok"
            assert "moved" in result.text
        await asyncio.sleep(0.1)
        assert taken.connections == 0


async def test_the_network_is_asked_for(stage: Stage) -> None:
    """In mode ask a fetch waits for a person, who is shown the address; one that may only read is refused."""

    async def no(_: ApprovalRequested) -> bool:
        return False

    url = "http://example.com/?d=fine"
    asked = await stage.play([call("fetch_url", url=url)], "Done.", tools=["web"], permissions="ask", on_approval=no)
    assert [request.summary for request in asked.log.of(ApprovalRequested)] == [f"url: {url}"]
    reading = await stage.play([call("fetch_url", url=url)], "Done.", tools=["web"], permissions="read-only")
    assert [result.status for result in (*asked.results, *reading.results)] == ["denied", "denied"]


async def test_a_rule_for_a_host_holds_in_other_spellings(stage: Stage) -> None:
    permissions = heald.Permissions("auto", ["deny fetch_url(example.com)"])
    urls = ["http://EXAMPLE.com/", "https://example.com.:443/x", "http://ｅxample.com/", "http://example。com/"]
    played = await stage.play(
        [call("fetch_url", url=url) for url in urls], "Done.", tools=["web"], permissions=permissions
    )
    assert [result.status for result in played.results] == ["denied"] * len(urls)


async def test_the_same_in_the_command(stage: Stage) -> None:
    async with sink() as taken:
        made = [("fetch_url", {"url": url.replace("PORT", str(taken.port))}) for url in LOCAL]
        async with ScriptedServer([reply_with_calls(*made), wire_reply("chat", text="Done.")]) as server:
            words = ["--workspace", str(stage.inside), "--permissions", "auto", "--json"]
            ran = await stage.heald(server, *words)
        assert taken.connections == 0
    assert ran.code == 0, ran.err
    stage.prove(ran)
    results = [event.data for event in ran.events if isinstance(event.data, ToolResult)]
    assert len(results) == len(LOCAL)
    assert all(result.text.startswith("url_not_allowed: ") for result in results)
