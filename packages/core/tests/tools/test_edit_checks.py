"""New errors after an edit, found by language servers in the sandbox, and the formatter that a folder configures."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import heald
from heald.core.envelope import Event
from heald.core.messages import ToolResult
from heald.testing import ScriptedModel
from heald.tools.diagnostics.diagnostic import Diagnostic, new_errors
from heald.tools.diagnostics.edit_checks import EditChecks
from heald.tools.diagnostics.formatter import find_formatter
from heald.tools.diagnostics.installed_programs import find_program, program_folders
from heald.tools.diagnostics.language_server import find_server_kind
from heald.tools.shell.sandbox import Sandbox
from heald_check import check_log

PROGRAMS = Path(sys.executable).parent
NEEDS_SANDBOX = pytest.mark.skipif(Sandbox().available() is not None, reason="there is no sandbox here")
SERVER = """#!{python}
import json, os, sys

def read():
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        if line.lower().startswith(b"content-length"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None

def send(message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()

def publish(uri, version, text):
    lines = [(at, line) for at, line in enumerate(text.split("\\n")) if "wrong" in line]
    try:
        open("escaped", "w")
        note = "writable"
    except OSError:
        note = "read-only"
    errors = [
        {{"severity": 1, "code": note, "message": line, "range": {{"start": {{"line": at, "character": 0}}}}}}
        for at, line in lines
    ]
    warning = {{"severity": 2, "message": "a warning", "range": {{"start": {{"line": 0, "character": 0}}}}}}
    send({{"method": "textDocument/publishDiagnostics",
          "params": {{"uri": uri, "version": version, "diagnostics": [*errors, warning]}}}})

starts = 0
while (message := read()) is not None:
    document = message.get("params", {{}}).get("textDocument", {{}})
    match message.get("method"):
        case "initialize":
            send({{"id": message["id"], "result": {{}}}})
            send({{"id": 900, "method": "workspace/configuration", "params": {{"items": [{{"section": "x"}}]}}}})
        case "textDocument/didOpen":
            publish(document["uri"], document["version"], document["text"])
        case "textDocument/didChange":
            publish(document["uri"], document["version"], message["params"]["contentChanges"][0]["text"])
"""


@pytest.fixture(autouse=True)
def fresh_lookup() -> Iterator[None]:
    find_program.cache_clear()
    program_folders.cache_clear()
    yield
    find_program.cache_clear()
    program_folders.cache_clear()


def install(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


async def edit(root: Path, path: str, *contents: str) -> tuple[list[ToolResult], list[Event]]:
    """Write contents to a file, one after the other. Returns the results and the events."""
    model = ScriptedModel(
        [*(ScriptedModel.call("write_file", path=path, content=content) for content in contents), "Done."]
    )
    checks = EditChecks(Sandbox())
    events: list[Event] = []
    agent = heald.Agent(
        model, tools=["files"], workspace=root, permissions="auto", middleware=[checks.run_around], edit_format="tools"
    )
    agent.subscribe(events.append)
    await agent.run("Write it.")
    await agent.close()
    assert check_log(events) == []
    return [event.data for event in events if isinstance(event.data, ToolResult)], events


@NEEDS_SANDBOX
async def test_only_errors_that_the_edit_made_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "work"
    root.mkdir()
    install(tmp_path / "bin", "gopls", SERVER.format(python=sys.executable), monkeypatch)
    first, moved, second = (
        await edit(root, "a.go", "wrong here\n", "\n\nwrong here\n", "\n\nwrong here\nfine\nwrong there\n")
    )[0]
    assert "Errors that are new since this edit (gopls):\n- a.go:1:1 wrong here (read-only)" in first.text
    assert first.summary.endswith("1 new error: a.go:1:1 wrong here (read-only)")
    assert "new since" not in moved.text
    assert "- a.go:5:1 wrong there (read-only)" in second.text
    assert "wrong here" not in second.text.split("new since")[1]
    assert second.data is not None
    assert second.data["diagnostics"][0]["line"] == 5
    assert sorted(path.name for path in root.iterdir()) == ["a.go"]


@NEEDS_SANDBOX
async def test_a_server_that_dies_or_is_not_there_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    install(tmp_path / "bin", "gopls", "#!/bin/sh\nexit 3\n", monkeypatch)
    results, _ = await edit(root, "a.go", "package a\n", "package b\n")
    assert [result.status for result in results] == ["ok", "ok"]
    assert all("new since" not in result.text for result in results)
    assert find_server_kind("a.rs") is None
    assert find_server_kind("a.txt") is None
    results, _ = await edit(root, "a.rs", "fn main() {}\n")
    assert results[0].text == "Created a.rs (1 line)."


@NEEDS_SANDBOX
async def test_pyright_reports_the_new_error_and_no_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (PROGRAMS / "pyright-langserver").exists():
        pytest.skip("pyright is not installed")
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("heald.tools.diagnostics.edit_checks._FIRST_SECONDS", 120.0)
    monkeypatch.setattr("heald.tools.diagnostics.edit_checks._SECONDS", 60.0)
    monkeypatch.setattr("heald.tools.diagnostics.language_server._START_SECONDS", 120.0)
    root = tmp_path / "work"
    root.mkdir()
    first, second, third = (
        await edit(
            root,
            "shop.py",
            "import unknown_package\n\nprice: int = 'free'\n",
            "import unknown_package\n\nprice: int = 'free'\n\n\ndef total() -> int:\n    return pricee\n",
            "price: int = 3\n",
        )
    )[0]
    assert "(pyright):\n- shop.py:3:14 " in first.text
    assert "unknown_package" not in first.text
    assert '- shop.py:7:12 "pricee" is not defined (reportUndefinedVariable)' in second.text
    assert "shop.py:3:14" not in second.text
    assert "new since" not in third.text


@NEEDS_SANDBOX
async def test_typescript_reports_the_new_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_program("typescript-language-server") is None:
        pytest.skip("typescript-language-server is not installed")
    monkeypatch.setattr("heald.tools.diagnostics.edit_checks._FIRST_SECONDS", 120.0)
    monkeypatch.setattr("heald.tools.diagnostics.edit_checks._SECONDS", 60.0)
    monkeypatch.setattr("heald.tools.diagnostics.language_server._START_SECONDS", 120.0)
    root = tmp_path / "work"
    root.mkdir()
    first, second = (
        await edit(
            root,
            "shop.ts",
            'const price: number = "free";\nexport { price };\n',
            'const price: number = "free";\nexport const total: number = pricee;\nexport { price };\n',
        )
    )[0]
    assert "(typescript):\n- shop.ts:1:7 Type 'string' is not assignable to type 'number'. (2322)" in first.text
    assert "- shop.ts:2:30 Cannot find name 'pricee'" in second.text
    assert "shop.ts:1:7" not in second.text


@NEEDS_SANDBOX
async def test_a_file_is_formatted_as_its_folder_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (PROGRAMS / "ruff").exists():
        pytest.skip("ruff is not installed")
    install(tmp_path / "bin", "ruff", f'#!/bin/sh\nexec {PROGRAMS / "ruff"} "$@"\n', monkeypatch)
    (tmp_path / "bin" / "ruff").unlink()
    (tmp_path / "bin" / "ruff").symlink_to(PROGRAMS / "ruff")
    root = tmp_path / "work"
    (root / "old").mkdir(parents=True)
    (root / "pyproject.toml").write_text("[tool.ruff]\nline-length = 40\n")
    (result,), events = await edit(root, "a.py", "x = [1,2,\n3]\n")
    assert (root / "a.py").read_text() == "x = [1, 2, 3]\n"
    assert "a.py was formatted by ruff" in result.text
    assert result.summary.endswith("formatted")
    assert [event.type for event in events].count("file_changed") == 2
    (root / "old" / "b.py").write_text("y = [1,2]\n")
    agent_root = root / "old"
    assert find_formatter(str(agent_root), "b.py") is None
    model = ScriptedModel(
        [
            ScriptedModel.call("read_file", path="old/b.py"),
            ScriptedModel.call("edit_file", path="old/b.py", old_text="2", new_text="3"),
            "Done.",
        ]
    )
    checks = EditChecks(Sandbox())
    agent = heald.Agent(model, tools=["files"], workspace=root, permissions="auto", middleware=[checks.run_around])
    await agent.run("Edit it.")
    await agent.close()
    assert (root / "old" / "b.py").read_text() == "y = [1,3]\n"


def test_a_program_brings_its_environment_and_never_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    packages = tmp_path / ".local" / "lib" / "node_modules"
    install(packages / "pyright", "langserver.index.js", "#!/usr/bin/env node\n", monkeypatch)
    link = tmp_path / ".local" / "bin" / "pyright-langserver"
    link.parent.mkdir()
    link.symlink_to(packages / "pyright" / "langserver.index.js")
    folders = program_folders(str(link))
    assert {str(link.parent), str(packages)} <= set(folders)
    assert not {str(tmp_path), str(tmp_path / ".local")} & set(folders)


def test_an_error_that_moved_is_not_new() -> None:
    before = [Diagnostic("a.py", 3, 1, "no"), Diagnostic("a.py", 9, 1, "no")]
    after = [Diagnostic("a.py", 4, 1, "no"), Diagnostic("a.py", 10, 1, "no"), Diagnostic("a.py", 11, 1, "no")]
    assert new_errors(before, after) == [after[2]]
    assert json.dumps([error.describe() for error in new_errors([], before)]) == '["a.py:3:1 no", "a.py:9:1 no"]'
