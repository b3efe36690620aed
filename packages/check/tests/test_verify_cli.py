"""`heald sessions export --sign`, `heald sessions redact` and `heald verify`: what a stranger can be sure of."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

import heald
from clean_machine import clean_machine
from cli_bench import Ran, is_one_line_error, run
from heald.sessions.sessions import Sessions
from heald.sessions.signing_key import read_key, read_or_create_key
from heald.sessions.sqlite import SqliteStore

__all__ = ["clean_machine"]
Capture = pytest.CaptureFixture[str]
S = heald.testing.ScriptedModel


def fails_with(ran: Ran, why: str) -> bool:
    return is_one_line_error(ran) and why in ran.err


async def decide(data: Path, name: str = "") -> str:
    """Store an exchange in which one call is allowed and another denied, in a new session or in an existing one."""
    os.makedirs(data, exist_ok=True)
    store = SqliteStore(data / "sessions.db")
    sessions = Sessions(store)
    name = name or (await sessions.create(tools=["files"], model="scripted/model", permissions="ask", owner="anna")).id
    writes = [[S.call("write_file", path=f"{file}.txt", content="secret plan")] for file in ("one", "two")]
    session = await sessions.open(name, model=S([*writes, "Done."]))
    answers = iter([heald.Approval(True, by="terminal"), heald.Approval(False, "too much")])
    session.answer_with(on_approval=lambda _: next(answers))
    await session.run("Write two files.")
    await session.close()
    await store.close()
    return name


async def export(capsys: Capture, data: Path, name: str, file: Path) -> None:
    ran = await run(capsys, "sessions", "export", name, "-o", str(file), "--sign", "--data", str(data))
    assert ran.code == 0
    assert read_key(data / "signing.key").public in ran.err


async def test_who_approved_what_on_which_model(tmp_path: Path, capsys: Capture) -> None:
    data, file = tmp_path / "data", tmp_path / "s.heald"
    name = await decide(data)
    await export(capsys, data, name, file)
    ran = await run(capsys, "verify", str(file), "--data", str(data))
    assert (ran.code, ran.err) == (0, "")
    assert f"{file}: proven." in ran.out
    assert f"{name} of anna" in ran.out
    assert "scripted/model  completed, 3 turns" in ran.out
    assert "allowed by terminal: write_file path: one.txt" in ran.out
    assert "denied: write_file path: two.txt content: secret plan (too much)" in ran.out
    report = json.loads((await run(capsys, "verify", str(file), "--data", str(data), "--json")).out)
    assert report["proven"] is True
    assert report["signed"]["owner"] == "anna"
    (exchange,) = report["exchanges"]
    assert exchange["cost_usd"] == 0.0
    assert [(d["tool"], d["decision"], d["by"], d["model"]) for d in exchange["decisions"]] == [
        ("write_file", "allowed", "terminal", "scripted/model"),
        ("write_file", "denied", "", "scripted/model"),
    ]


async def test_a_key_that_nobody_vouches_for_proves_nothing(tmp_path: Path, capsys: Capture) -> None:
    data, file = tmp_path / "data", tmp_path / "s.heald"
    await export(capsys, data, await decide(data), file)
    public = read_key(data / "signing.key").public
    elsewhere = ("--data", str(tmp_path / "elsewhere"))
    ran = await run(capsys, "verify", str(file), *elsewhere)
    assert ran.code == 1
    assert "not proven" in ran.out
    assert f"--key {public}" in ran.out
    assert (await run(capsys, "verify", str(file), *elsewhere, "--key", public)).code == 0
    other = read_or_create_key(tmp_path / "other.key").public
    assert (await run(capsys, "verify", str(file), "--data", str(data), "--key", other)).code == 1
    assert (await run(capsys, "verify", str(file), *elsewhere, "--key", other, "--key", public)).code == 0
    assert not (tmp_path / "elsewhere").exists()
    ran = await run(capsys, "verify", str(file), "--key", "abc")
    assert fails_with(ran, "abc cannot be read")


async def test_changes_and_redactions(tmp_path: Path, capsys: Capture) -> None:
    data, file, public = tmp_path / "data", tmp_path / "s.heald", tmp_path / "public.heald"
    await export(capsys, data, await decide(data), file)
    forged = tmp_path / "forged.heald"
    forged.write_bytes(file.read_bytes().replace(b'"decision":"denied"', b'"decision":"allowed"'))
    ran = await run(capsys, "verify", str(forged), "--data", str(data))
    assert (ran.code, "its events are not those that were signed" in ran.out) == (1, True)
    assert json.loads((await run(capsys, "verify", str(forged), "--json")).out)["proven"] is False
    ran = await run(capsys, "sessions", "redact", str(forged), "-o", str(public), "--text", "secret")
    assert fails_with(ran, "changed after it was signed")
    assert not public.exists()
    ran = await run(
        capsys, "sessions", "redact", str(file), "-o", str(public), "--text", "secret", "--events", "1", "2-3"
    )
    assert ran.code == 0
    assert b"secret" not in public.read_bytes()
    ran = await run(capsys, "verify", str(public), "--data", str(data))
    assert ran.code == 0
    assert "are redacted" in ran.out
    assert "denied: a redacted call (too much)" in ran.out
    for wrong, why in (([], "Nothing is named"), (["--text", "nowhere"], "nothing was written")):
        ran = await run(capsys, "sessions", "redact", str(file), "-o", str(tmp_path / "none"), *wrong)
        assert fails_with(ran, why)
    assert not [name for name in os.listdir(tmp_path) if name.startswith("none") or name.endswith(".part")]


async def test_a_later_export_extends_an_earlier_one(tmp_path: Path, capsys: Capture) -> None:
    data, early, late, head = (tmp_path / name for name in ("data", "early.heald", "late.heald", "head.json"))
    name = await decide(data)
    await export(capsys, data, name, early)
    head.write_bytes(early.read_bytes().splitlines(keepends=True)[-1])
    await decide(data, name)
    await export(capsys, data, name, late)
    options = ("--data", str(data), "--extends")
    for earlier in (early, head):
        assert (await run(capsys, "verify", str(late), *options, str(earlier))).code == 0
    ran = await run(capsys, "verify", str(early), *options, str(late))
    assert (ran.code, "the earlier export had" in ran.out) == (1, True)
    await export(capsys, data, await decide(data), late)
    ran = await run(capsys, "verify", str(late), *options, str(early))
    assert (ran.code, "is of another session" in ran.out) == (1, True)


async def test_history_that_was_rewritten_between_two_exports(tmp_path: Path, capsys: Capture) -> None:
    """The signer's machine still signs; only the earlier export shows that its log is another one."""
    data, early, late = tmp_path / "data", tmp_path / "early.heald", tmp_path / "late.heald"
    name = await decide(data)
    await export(capsys, data, name, early)
    with sqlite3.connect(data / "sessions.db") as connection:
        connection.execute(
            "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'too much', 'thank you') AS BLOB)"
            " WHERE CAST(body AS TEXT) LIKE '%approval_resolved%'"
        )
    connection.close()
    await export(capsys, data, name, late)
    assert (await run(capsys, "verify", str(late), "--data", str(data))).code == 0
    ran = await run(capsys, "verify", str(late), "--data", str(data), "--extends", str(early))
    assert (ran.code, "are not those of the earlier export" in ran.out) == (1, True)


async def test_what_cannot_be_verified(tmp_path: Path, capsys: Capture) -> None:
    data, file = tmp_path / "data", tmp_path / "s.heald"
    name = await decide(data)
    assert (await run(capsys, "sessions", "export", name, "-o", str(file), "--data", str(data))).code == 0
    ran = await run(capsys, "verify", str(file), "--data", str(data))
    assert (ran.code, "is not signed" in ran.out) == (1, True)
    assert fails_with(await run(capsys, "verify", str(tmp_path / "none")), "cannot be read")
    ran = await run(capsys, "sessions", "export", name, "-o", str(file), "--key", "k.pem", "--data", str(data))
    assert fails_with(ran, "add --sign")
