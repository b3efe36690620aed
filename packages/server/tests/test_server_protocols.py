"""Protocols of other distributions: served like the server's own; a broken one is named and stops nothing else."""

import logging
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from heald import entry_points as entry_point_files
from heald import plugin_loader
from heald.core.errors import ConfigurationError
from heald.plugins import plugin_problems
from heald.sessions.memory import MemoryStore
from heald_server.app import list_routes
from heald_server.context import ServerContext
from heald_server.dialects.registry import load_dialects, open_dialect
from heald_server.protocols.installed import find_protocols, require_protocol
from serving_parts import S, context_on, serving

PROTOCOL = '''
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from heald_server import ClientProtocol, LoopDialect


def routes(context, greeting="Hello"):
    async def greet(request):
        """Greets."""
        return PlainTextResponse(greeting)

    async def door(request):
        return PlainTextResponse("open")

    return [Route("/greet", greet), Route("/door/{name}", door), Route("/secret/{name}", door)]


def fail(context):
    raise RuntimeError("no such thing")


SHOUT = ClientProtocol(
    name="shout", dialect=LoopDialect, routes=routes, public_paths=("/door/",), secret_paths=("/secret/",)
)
FAILING = ClientProtocol(name="failing", routes=fail)
NEEDY = ClientProtocol(name="needy", routes=fail, packages=("a_package_that_is_missing",), extra="needy")
OTHER = "no protocol"
'''
ENTRIES = """[heald.protocols]
shout = shouting:SHOUT
failing = shouting:FAILING
needy = shouting:NEEDY
other = shouting:OTHER
broken = shouting.missing:PROTOCOL
"""


def _forget_plugins() -> None:
    entry_point_files.all_entries.cache_clear()
    entry_point_files.entry_points.cache_clear()
    entry_point_files.import_entry.cache_clear()
    plugin_loader.load_plugin.cache_clear()
    entry_point_files.failures.clear()
    sys.modules.pop("shouting", None)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A distribution on the path that offers protocols, some of which do not work."""
    (tmp_path / "shouting.py").write_text(PROTOCOL)
    metadata = tmp_path / "shouting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    _forget_plugins()
    yield
    monkeypatch.undo()
    _forget_plugins()


def _context() -> ServerContext:
    return context_on(MemoryStore(), {"scripted": lambda: S(["Hi."])})


@pytest.mark.usefixtures("plugin")
async def test_a_protocol_of_another_distribution_is_served(caplog: pytest.LogCaptureFixture) -> None:
    context = _context()
    context.protocol_options["shout"] = {"greeting": "HELLO"}
    with caplog.at_level(logging.ERROR, "heald_server.protocols"):
        async with serving(context) as server:
            async with server.client.get("/greet") as greeted:
                assert await greeted.text() == "HELLO"
            async with server.stranger.get("/greet") as refused:
                assert refused.status == 401
            async with server.stranger.get("/door/front") as public:
                assert await public.text() == "open"
            async with server.stranger.get("/secret/address", headers={"Origin": "null"}) as secret:
                assert await secret.text() == "open"
            async with server.client.get("/openapi.json") as document:
                assert (await document.json())["paths"]["/greet"]["get"]["summary"] == "Greets."
            assert await server.session()
    assert open_dialect("shout").name == "loop"
    assert "shout" in load_dialects()
    broken = ("failing", "other", "broken")
    problems = {name: line for line in plugin_problems() for name in broken if f"'{name}' of" in line}
    assert problems["failing"].endswith("RuntimeError: no such thing")
    assert problems["other"].endswith("TypeError: str is not a ClientProtocol")
    assert "No module named 'shouting.missing'" in problems["broken"]
    for line in problems.values():
        assert "of shouting cannot be loaded" in line
        assert line in caplog.messages
    assert not any("needy" in line for line in plugin_problems())  # its package is optional


@pytest.mark.usefixtures("plugin")
def test_protocols_are_chosen_by_name() -> None:
    listed = list_routes(_context(), protocols=["shout"])
    assert [protocol.name for protocol in listed.protocols] == ["shout"]
    paths = [getattr(route, "path", "") for route in listed.routes]
    assert "/greet" in paths
    assert "/login" in paths
    assert "/ws" not in paths
    with pytest.raises(ConfigurationError, match=r"no protocol named 'morse'; installed: .*native"):
        find_protocols(["morse"])
    with pytest.raises(ConfigurationError, match="needy needs a_package_that_is_missing, which is missing: pip"):
        find_protocols(["needy"])
    with pytest.raises(ConfigurationError, match="'other' of shouting cannot be loaded"):
        require_protocol("other")


def test_options_for_a_protocol_that_is_not_spoken_are_refused() -> None:
    context = _context()
    context.protocol_options["openai"] = {"shows": True}
    with pytest.raises(ConfigurationError, match="options for the protocol 'openai', which this server does not speak"):
        list_routes(context, protocols=["native"])
