"""`open_session` and `open_store`: conversations that outlive the process, in one call."""

import asyncio
from pathlib import Path

import pytest

import heald
from heald.core.errors import ConfigurationError
from heald.core.messages import user_message
from heald.sessions import stores
from heald.sessions.memory import MemoryStore
from heald.sessions.opening_session import OpeningSession, open_session
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import SessionBusy, StoreError
from heald.sessions.stores import open_store
from heald.tools.approvals import Approval

S = heald.testing.ScriptedModel


@heald.tool(effect="write")
async def change(what: str) -> str:
    """Change something."""
    return f"changed {what}"


async def test_a_conversation_continues_in_the_next_process(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/app.db"
    session = await heald.open_session("support-42", heald.Agent(S(["One."])), store=url)
    assert (await session.run("Hi.")).text == "One."
    await session.close()
    async with heald.open_session("support-42", heald.Agent(S(["Two."])), store=url) as session:
        assert [message.text for message in session.messages] == ["Hi.", "One."]
        assert (await session.run("And?")).text == "Two."
    store = open_store(url)
    info = await store.info("support-42")
    assert info.title == "Hi."
    await store.close()


async def test_the_agent_brings_its_tools_permissions_budget_and_history(tmp_path: Path) -> None:
    async def allow(_: object) -> Approval:
        return Approval(True)

    script = S([[S.call("change", what="it")], "Done.", "Never."])
    agent = heald.Agent(
        script,
        tools=[change],
        instructions="Be brief.",
        permissions="ask",
        budget=heald.Budget(turns=1),
        history=[user_message("Before.")],
        on_approval=allow,
    )
    async with open_session("one", agent, store=MemoryStore()) as session:
        assert session.settings.system.endswith("Be brief.")
        result = await session.run("Go.")
        assert (result.status, result.limit) == ("limit", "turns")
        assert "changed it" in str(result.messages)
        assert session.messages[0].text == "Before."
        assert session.stored_settings.instructions == "Be brief."
        assert session.stored_settings.permissions == "ask"
    assert agent.messages == [user_message("Before.")]


async def test_a_given_store_stays_open() -> None:
    store = MemoryStore()
    async with open_session("one", heald.Agent(S(["One."])), store=store) as session:
        await session.run("Hi.")
    assert (await store.info("one")).last_seq > 0


async def test_a_store_that_was_opened_by_url_is_closed_with_its_session(tmp_path: Path) -> None:
    session = await open_session("one", heald.Agent(S(["One."])), store=f"sqlite:///{tmp_path}/app.db")
    await session.close()
    with pytest.raises(StoreError, match="closed"):
        await session.changes._store.info("one")  # pyright: ignore[reportPrivateUsage]


async def test_one_writer_at_a_time(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/app.db"
    async with open_session("one", heald.Agent(S(["One."])), store=url):
        with pytest.raises(SessionBusy, match="open elsewhere"):
            await open_session("one", heald.Agent(S(["Two."])), store=url)


async def test_two_that_create_it_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/app.db"
    opening = [open_session("one", heald.Agent(S(["One."])), store=url) for _ in range(2)]
    opened = await asyncio.gather(*(_opened(outcome) for outcome in opening), return_exceptions=True)
    sessions = [outcome for outcome in opened if not isinstance(outcome, BaseException)]
    assert len(sessions) == 1
    assert sum(isinstance(outcome, SessionBusy) for outcome in opened) == 1
    await sessions[0].close()


async def _opened(opening: OpeningSession[None]) -> heald.sessions.Session:
    return await opening


def test_stores_by_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(open_store("memory:"), MemoryStore)
    assert isinstance(open_store("memory://"), MemoryStore)
    for url, path in (("sqlite:///app.db", tmp_path / "app.db"), (f"sqlite:///{tmp_path}/b.db", tmp_path / "b.db")):
        store = open_store(url)
        assert isinstance(store, SqliteStore)
        assert path.exists()
        asyncio.run(store.close())


@pytest.mark.parametrize(
    "url", ["", "app.db", "sqlite:app.db", "sqlite://app.db", "sqlite:///", "mysql:///x", "memory"]
)
def test_urls_that_name_no_store(url: str) -> None:
    with pytest.raises(ConfigurationError, match="There is no store"):
        open_store(url)


def test_a_store_of_a_plugin_is_opened_by_its_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    made, calls = MemoryStore(), list[tuple[str, str, str]]()

    def open_other(url: str, *, node: str = "", news: str = "") -> MemoryStore:
        calls.append((url, node, news))
        return made

    def has(group: str, name: str) -> bool:
        return (group, name) == ("stores", "other")

    def load(*_: str) -> object:
        return open_other

    monkeypatch.setattr(stores, "has_plugin", has)
    monkeypatch.setattr(stores, "load_plugin", load)
    assert open_store("OTHER://host/x", node="one", news="nats://n") is made
    assert calls == [("OTHER://host/x", "one", "nats://n")]


def test_without_heald_nodes_it_states_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def has(*_: str) -> bool:
        return False

    monkeypatch.setattr(stores, "has_plugin", has)
    with pytest.raises(ConfigurationError, match=r"pip install 'heald\[postgres\]'"):
        open_store("postgresql://heald@db/heald")


def test_an_unknown_scheme_lists_the_installed_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"begins with one of memory:.* sqlite:") as refused:
        open_store("mysql://user:s3cret@host/x")
    assert "s3cret" not in str(refused.value)


async def test_two_requests_at_once_are_answered_one_after_the_other() -> None:
    started: list[str] = []

    @heald.tool
    async def note(word: str) -> str:
        """Note a word."""
        started.append(word)
        await asyncio.sleep(0.05)
        started.append(f"{word} done")
        return word

    steps = [[S.call("note", word="one")], "One.", [S.call("note", word="two")], "Two."]
    async with open_session("one", heald.Agent(S(steps), tools=[note]), store=MemoryStore()) as session:
        first, second = await asyncio.gather(session.run("First."), session.run("Second."))
        assert (first.text, second.text) == ("One.", "Two.")
        assert started == ["one", "one done", "two", "two done"]
        requests = [message.text for message in session.messages if message.role == "user" and message.text]
        assert requests == ["First.", "Second."]
