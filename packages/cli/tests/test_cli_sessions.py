"""`heald sessions` and `heald replay`: what is kept is shown, carried, replayed and thrown away."""

import json
import sqlite3
from pathlib import Path
from time import monotonic, time

import pytest

import heald
from cli_bench import Ran, is_one_line_error, run, run_process
from heald.config.paths import data_folder
from heald.core.envelope import decode_event
from heald.core.messages import Message, Text
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald_check import check_log
from heald_server.dialects.registry import load_dialects

Capture = pytest.CaptureFixture[str]
S = heald.testing.ScriptedModel


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEALD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


async def make(data: Path, *asked: str) -> list[str]:
    """Sessions in which something was said and written."""
    store = SqliteStore(data_folder(str(data)) / "sessions.db")
    sessions = Sessions(store)
    made: list[str] = []
    for text in asked:
        info = await sessions.create(tools=["files"], model="scripted/none")
        model = S([[S.call("write_file", path="a.txt", content="hello\n")], f"Done: \x1b[2J{text}"])
        session = await sessions.open(info.id, model=model)
        await session.run(text)
        await session.close()
        made.append(info.id)
    await store.close()
    return made


def lines(ran: Ran) -> list[dict[str, object]]:
    return [json.loads(line) for line in ran.out.splitlines()]


async def test_nothing_is_kept_yet(capsys: Capture, data: Path) -> None:
    ran = await run(capsys, "sessions", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "heald chat" in ran.err
    assert (await run(capsys, "sessions", "list", "--json")).out == ""


async def test_list_and_search(capsys: Capture, data: Path) -> None:
    made = await make(data, "Bake bread", "Fix the roof")
    ran = await run(capsys, "sessions", "list")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["id", made[1], made[0]]
    assert "Bake bread" in ran.out
    sessions = lines(await run(capsys, "sessions", "list", "--search", "ROOF", "--json"))
    assert [(info["id"], info["title"], info["model"]) for info in sessions] == [
        (made[1], "Fix the roof", "scripted/none")
    ]
    assert len(lines(await run(capsys, "sessions", "list", "--limit", "1", "--json"))) == 1


async def test_show(capsys: Capture, data: Path) -> None:
    (session,) = await make(data, "Bake bread")
    ran = await run(capsys, "sessions", "show", session[:12])
    assert ran.code == 0
    assert "› Bake bread" in ran.out
    assert "✓ write_file" in ran.out
    assert "Done: Bake bread" in ran.out
    assert "\x1b" not in ran.out
    events = [
        decode_event(line) for line in (await run(capsys, "sessions", "show", session, "--json")).out.splitlines()
    ]
    assert check_log(events) == []
    assert events[-1].type == "exchange_response"


async def test_a_person_reads_their_own_words(capsys: Capture, data: Path) -> None:
    store = SqliteStore(data_folder(str(data)) / "sessions.db")
    sessions = Sessions(store)
    info = await sessions.create(model="scripted/none")
    session = await sessions.open(info.id, model=S(["As you like."]))
    prompt = Message(role="user", content=[Text("Rebuild the page below. <html>")], said="Make it blue")
    await session.run(prompt)
    await session.close()
    await store.close()
    for printed in (await run(capsys, "sessions", "show", info.id), await run(capsys, "replay", info.id)):
        assert "› Make it blue" in printed.out
        assert "Rebuild" not in printed.out


async def test_export_and_import(capsys: Capture, data: Path, tmp_path: Path) -> None:
    (session,) = await make(data, "Bake bread")
    file = tmp_path / "bread.heald"
    ran = await run(capsys, "sessions", "export", session, "-o", str(file))
    assert (ran.code, ran.out) == (0, "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert not file.with_name("bread.heald.part").exists()
    elsewhere = str(tmp_path / "elsewhere")
    (copy,) = lines(await run(capsys, "sessions", "import", str(file), "--data", elsewhere, "--json"))
    assert copy["id"] != session
    assert copy["title"] == "Bake bread"
    printed = await run(capsys, "sessions", "show", str(copy["id"]), "--data", elsewhere)
    assert "Done: Bake bread" in printed.out


async def test_through_pipes(data: Path, tmp_path: Path) -> None:
    (session,) = await make(data, "Grüße")
    exported = await run_process("sessions", "export", session)
    assert exported.code == 0
    imported = await run_process("sessions", "import", "-", said=exported.out.encode())
    assert imported.code == 0, imported.err
    assert imported.out.startswith("ses_")


async def test_rename_and_delete(capsys: Capture, data: Path) -> None:
    first, second = await make(data, "Bake bread", "Fix the roof")
    assert (await run(capsys, "sessions", "rename", first, "Bread")).code == 0
    assert [info["title"] for info in lines(await run(capsys, "sessions", "list", "--search", "bread", "--json"))] == [
        "Bread"
    ]
    refused = await run_process("sessions", "delete", first)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert (await run(capsys, "sessions", "delete", first, second, "--yes")).code == 0
    assert (await run(capsys, "sessions", "list", "--json")).out == ""


async def age(
    data: Path, session: str, days: float, owner: str = "", kind: str = "", parent: str | None = None
) -> None:
    """Let a session have been changed so many days ago."""
    with sqlite3.connect(data_folder(str(data)) / "sessions.db") as connection:
        connection.execute(
            "UPDATE sessions SET updated = ?, owner = ?, kind = ?, parent = ? WHERE id = ?",
            (time() - days * 86_400, owner, kind, parent, session),
        )
    connection.close()


async def listed(capsys: Capture) -> set[str]:
    return {str(info["id"]) for info in lines(await run(capsys, "sessions", "list", "--all", "--json"))}


async def test_old_sessions_are_pruned(capsys: Capture, data: Path) -> None:
    old, of_ann, recent = await make(data, "Bake bread", "Fix the roof", "Paint it")
    await age(data, old, 100)
    await age(data, of_ann, 50, "ann")
    dry = await run(capsys, "sessions", "prune", "--older-than", "30", "--dry-run")
    assert (dry.code, old in dry.out, of_ann in dry.out, recent in dry.out) == (0, True, True, False)
    assert await listed(capsys) == {old, of_ann, recent}
    refused = await run_process("sessions", "prune", "--older-than", "30")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert (await run(capsys, "sessions", "prune", "--older-than", "30", "--owner", "ann", "--yes")).code == 0
    assert await listed(capsys) == {old, recent}
    assert (await run(capsys, "sessions", "prune", "--older-than", "99.5", "--yes")).code == 0
    assert await listed(capsys) == {recent}
    with pytest.raises(SystemExit):
        await run(capsys, "sessions", "prune", "--older-than", "soon")


async def test_projects_are_pruned_whole(capsys: Capture, data: Path) -> None:
    old, its_variant, used, its_recent_variant, its_old_variant = await make(data, "a", "b", "c", "d", "e")
    await age(data, old, 100, kind="project")
    await age(data, its_variant, 100, kind="variant", parent=old)
    await age(data, used, 100, kind="project")
    await age(data, its_recent_variant, 1, kind="variant", parent=used)
    await age(data, its_old_variant, 100, kind="variant", parent=used)
    assert (await run(capsys, "sessions", "prune", "--older-than", "30", "--yes")).code == 0
    assert len(await listed(capsys)) == 5
    assert (await run(capsys, "sessions", "prune", "--older-than", "30", "--all", "--yes")).code == 0
    assert await listed(capsys) == {used, its_recent_variant, its_old_variant}


async def test_ids_that_mean_none_or_many(capsys: Capture, data: Path, tmp_path: Path) -> None:
    await make(data, "One", "Two")
    for words, said in (
        (("show", "ses_none"), "There is no session 'ses_none'"),
        (("show", "ses"), "2 sessions begin with 'ses'"),
        (("show", ""), "There is no session ''"),
        (("import", str(tmp_path / "missing")), "cannot be read"),
        (("export", "ses_none"), "There is no session"),
    ):
        ran = await run(capsys, "sessions", *words)
        assert ran.code == 2, words
        assert is_one_line_error(ran)
        assert said in ran.err
    (tmp_path / "bad").write_text("{}\n")
    ran = await run(capsys, "sessions", "import", str(tmp_path / "bad"))
    assert (ran.code, is_one_line_error(ran)) == (1, True)


# --- replay ---------------------------------------------------------------------------------------------------------


async def test_a_session_once_more(capsys: Capture, data: Path) -> None:
    (session,) = await make(data, "Bake bread")
    ran = await run(capsys, "replay", session, "--speed", "0")
    assert ran.code == 0
    assert ran.out.startswith("› Bake bread\n")
    assert "Bake bread" in ran.out
    assert "✓ write_file" in ran.err


@pytest.mark.parametrize("dialect", list(load_dialects()))
async def test_in_the_words_of_every_client(capsys: Capture, data: Path, dialect: str) -> None:
    (session,) = await make(data, "Bake bread")
    ran = await run(capsys, "replay", session, "--speed", "0", "--dialect", dialect)
    assert (ran.code, ran.err) == (0, "")
    assert "data: " in ran.out
    assert "Done:" in ran.out
    text = await run(capsys, "replay", session, "--speed", "0", "--dialect", dialect, "--lines")
    for line in text.out.splitlines():
        assert line == "[DONE]" or json.loads(line) is not None


async def test_files_of_events_and_archives(capsys: Capture, data: Path, tmp_path: Path) -> None:
    (session,) = await make(data, "Bake bread")
    log, archive = tmp_path / "log.jsonl", tmp_path / "bread.heald"
    log.write_text((await run(capsys, "sessions", "show", session, "--json")).out)
    await run(capsys, "sessions", "export", session, "-o", str(archive))
    expected = (await run(capsys, "replay", session, "--speed", "0", "--dialect", "native")).out
    for file in (log, archive):
        ran = await run(capsys, "replay", str(file), "--speed", "0", "--dialect", "native")
        assert ran.out == expected


async def test_what_cannot_be_replayed(capsys: Capture, data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("not a log\n")
    ran = await run(capsys, "replay", str(log))
    assert (ran.code, is_one_line_error(ran)) == (2, True)
    assert "line 1 is not an event" in ran.err
    ran = await run(capsys, "replay", "nowhere")
    assert (ran.code, is_one_line_error(ran)) == (2, True)
    assert (await run(capsys, "replay", str(log), "--lines")).code == 2


async def test_the_pace_is_that_of_the_log(capsys: Capture, data: Path, tmp_path: Path) -> None:
    (session,) = await make(data, "Bake bread")
    events = lines(await run(capsys, "sessions", "show", session, "--json"))
    log = tmp_path / "slow.jsonl"
    spread = [event | {"time": 1000.0 + 10 * number} for number, event in enumerate(events[:6])]
    log.write_text("".join(json.dumps(event) + "\n" for event in spread))
    begun = monotonic()
    await run(capsys, "replay", str(log), "--speed", "100", "--dialect", "native")
    assert monotonic() - begun >= 0.45
    begun = monotonic()
    await run(capsys, "replay", str(log), "--max-pause", "0.01", "--dialect", "native")
    assert monotonic() - begun < 40  # at the pace of the log it would be 50
