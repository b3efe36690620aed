"""Forges of other distributions: found by their host or by what a server answers; a broken one stops nothing else."""

import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import heald.entry_points as entry_point_files
from heald import plugin_loader
from heald.plugins import plugin_problems
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald_forges import installed, remote_forge
from heald_forges.doctor_checks import check
from heald_forges.forge import ForgeFailed
from heald_forges.installed import usual_token_variables
from heald_forges.remote import parse_remote
from heald_forges.remote_forge import open_forge

TOKEN = "secret-token-5527"
PLUGIN = """
import os

from heald_forges import ForgeApi, ForgeHost, ForgeKind


class AnvilForge:
    kind = "Anvil"

    def __init__(self, api: ForgeApi, path: str) -> None:
        self.api, self.path = api, path

    async def default_branch(self) -> str:
        return (await self.api.get(f"/{self.path}/head"))["name"]


ANVIL = ForgeKind(
    title="Anvil",
    api_path="/rest",
    probe="/info",
    auth_headers=lambda token: {"x-anvil": token},
    make_forge=AnvilForge,
    hosts=(ForgeHost(host="anvil.test", api_url=os.environ["ANVIL_URL"], token_variables=("ANVIL_TOKEN",)),),
)
NO_KIND = "a string"
"""
ENTRIES = """[heald.forges]
anvil = anvil_plugin:ANVIL
other = anvil_plugin:NO_KIND
broken = anvil_plugin.missing:KIND
"""


def forget_plugins() -> None:
    entry_point_files.all_entries.cache_clear()
    entry_point_files.entry_points.cache_clear()
    entry_point_files.import_entry.cache_clear()
    plugin_loader.load_plugin.cache_clear()
    entry_point_files.failures.clear()
    sys.modules.pop("anvil_plugin", None)


def answer(request: ReceivedRequest) -> Reply:
    if request.path == "/rest/info":
        return Reply.json({"name": "Anvil"})
    is_allowed = request.headers.get("x-anvil") == TOKEN
    if request.path.endswith("/me/site/head") and is_allowed:
        return Reply.json({"name": "trunk"})
    return Reply.json({}, 404)


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[ScriptedServer]:
    """A server of a forge, and a distribution that offers its kind and two that cannot be used."""
    (tmp_path / "anvil_plugin.py").write_text(PLUGIN)
    metadata = tmp_path / "anvil_plugin-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text(ENTRIES)
    async with ScriptedServer(answer) as server:
        monkeypatch.setenv("ANVIL_URL", f"{server.url}/public")
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        forget_plugins()
        yield server
    monkeypatch.undo()
    forget_plugins()


async def test_a_forge_is_found_by_its_host_with_its_usual_token(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANVIL_TOKEN", TOKEN)
    forge = await open_forge("git@anvil.test:me/site.git")
    assert (forge.kind, await forge.default_branch()) == ("Anvil", "trunk")
    assert [request.path for request in server.requests] == ["/public/me/site/head"]
    assert "ANVIL_TOKEN" in usual_token_variables()
    assert "tokens for anvil.test" in next(iter(check())).text


async def test_a_forge_is_found_by_what_its_server_answers(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{server.url}/me/site"
    monkeypatch.setenv(parse_remote(address).token_variable, TOKEN)
    assert await (await open_forge(address)).default_branch() == "trunk"
    probes = [request for request in server.requests if request.path != "/rest/me/site/head"]
    assert [request.path for request in probes][-1] == "/rest/info"
    assert not any(TOKEN in str(request.headers) for request in probes)


@pytest.mark.usefixtures("server")
async def test_a_forge_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer(lambda _: Reply.json({}, 404)) as elsewhere:
        address = f"{elsewhere.url}/me/site"
        monkeypatch.setenv(parse_remote(address).token_variable, TOKEN)
        with pytest.raises(
            ForgeFailed, match=r"GitLab, Anvil\).*`heald doctor` says why other, broken cannot be loaded"
        ):
            await open_forge(address)
    problems = plugin_problems()
    assert any("The kind of forge 'other' of anvil-plugin" in line and "not a ForgeKind" in line for line in problems)
    assert any("'broken' of anvil-plugin" in line and "anvil_plugin.missing" in line for line in problems)


def load_nothing(group: str) -> dict[str, object]:
    return {}


def name_nothing(group: str) -> list[str]:
    return []


async def test_without_any_forge_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    monkeypatch.setattr(installed, "load_plugins", load_nothing)
    with pytest.raises(ForgeFailed, match=r"`heald doctor` says why gitea, github, gitlab failed\.$"):
        await open_forge("git@github.com:me/site.git")
    monkeypatch.setattr(remote_forge, "plugin_names", name_nothing)
    with pytest.raises(ForgeFailed, match=r"^No forge is installed; run `pip install heald`\.$"):
        await open_forge("git@github.com:me/site.git")
