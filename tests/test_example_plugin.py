"""`examples/plugin` in an empty environment: each of its six parts is used there."""

import subprocess
from pathlib import Path

import pytest

from repository import ROOT
from wheelhouse import Wheelhouse, run_python

PLUGIN = ROOT / "examples" / "plugin"
MAX_LINES = 300

USE_WIRE_AND_TOOL = """
import asyncio, json
import heald
from heald.testing import Reply, ScriptedServer

def lines(*values):
    return "".join(json.dumps(value) + "\\n" for value in values).encode()

async def main():
    call = {"id": "1", "name": "convert_length", "arguments": {"value": 5, "source": "mile", "target": "km"}}
    replies = [Reply([lines({"text": "Let me see."}, {"call": call}, {"end": "stop"})]),
               Reply([lines({"text": "It is "}, {"text": "8.05 km."}, {"end": "stop"})])]
    async with ScriptedServer(replies) as server:
        agent = heald.Agent(heald.Model("m1", wire="lines", base_url=server.url), tools=["units"])
        result = await agent.run("How long are 5 miles?")
        second = server.requests[1]
        print(second.path, second.body["messages"][-1]["results"][0]["text"], result.text, sep="|")

asyncio.run(main())
"""

USE_STACK = """
import heald_studio
print(heald_studio.load_stacks()["plain"].label)
"""

USE_STORE = """
import asyncio, pathlib
import heald.testing
from heald.sessions import open_store

async def main():
    path = pathlib.Path("journal.jsonl").resolve()
    store = open_store(f"journal://{path}")
    agent = heald.Agent(heald.testing.ScriptedModel(["Hello."]))
    async with heald.open_session("greeting", agent, store=store) as session:
        await session.run("Hi.")
    print(type(store).__name__, "assistant_message" in path.read_text())

asyncio.run(main())
"""

USE_PROTOCOL = """
import asyncio, urllib.request
import heald.testing, heald_server

async def main():
    agent = heald.Agent(heald.testing.ScriptedModel(["Good morning."]))
    address = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(heald_server.serve_async(agent, port=0, token="s" * 32, ready=address.set_result))
    url = (await address).partition("/#")[0]
    async with heald_server.connect(url, token="s" * 32) as remote:
        await remote.run("Hello.")
        request = urllib.request.Request(f"{url}/transcript/{remote.session}")
        request.add_header("authorization", "Bearer " + "s" * 32)
        print((await asyncio.to_thread(urllib.request.urlopen, request)).read().decode())
    serving.cancel()
    await asyncio.wait([serving])

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def plugin_bin(wheelhouse: Wheelhouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    built = wheelhouse.build(PLUGIN, folder / "dist")
    return wheelhouse.create_environment(folder / "environment", str(built))


def _heald(programs: Path, folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(programs / "heald"), *arguments],
        cwd=folder,
        env={"PATH": str(programs), "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_is_short() -> None:
    files = [PLUGIN / "pyproject.toml", *sorted((PLUGIN / "src").rglob("*.py"))]
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= MAX_LINES


def test_wire_and_tools(plugin_bin: Path, tmp_path: Path) -> None:
    output = run_python(plugin_bin, ["-W", "error", "-c", USE_WIRE_AND_TOOL], cwd=tmp_path, home=tmp_path)
    assert output == "/answer/m1|8.04672 km|It is 8.05 km.\n"


def test_command(plugin_bin: Path, tmp_path: Path) -> None:
    assert _heald(plugin_bin, tmp_path, "convert", "5", "mile", "km") == "8.04672 km\n"
    assert "convert a length" in _heald(plugin_bin, tmp_path, "--help")


def test_protocol(plugin_bin: Path, tmp_path: Path) -> None:
    output = run_python(plugin_bin, ["-c", USE_PROTOCOL], cwd=tmp_path, home=tmp_path)
    assert output == "user: Hello.\nmodel: Good morning.\n"


def test_stack(plugin_bin: Path, tmp_path: Path) -> None:
    assert run_python(plugin_bin, ["-W", "error", "-c", USE_STACK], cwd=tmp_path, home=tmp_path) == "Plain HTML\n"


def test_store(plugin_bin: Path, tmp_path: Path) -> None:
    output = run_python(plugin_bin, ["-W", "error", "-c", USE_STORE], cwd=tmp_path, home=tmp_path)
    assert output == "JournalStore True\n"


def test_doctor_names_a_part_that_cannot_be_loaded(plugin_bin: Path, tmp_path: Path) -> None:
    package = next(plugin_bin.parent.glob("lib/python3*/site-packages/heald_plugin_example"))
    stack = package / "stack.py"
    source = stack.read_text("utf-8")
    stack.unlink()  # uv may have linked it from its cache
    stack.write_text("raise RuntimeError('broken on purpose')\n", "utf-8")
    try:
        done = subprocess.run(
            [str(plugin_bin / "heald"), "doctor"],
            cwd=tmp_path,
            env={"PATH": str(plugin_bin), "HOME": str(tmp_path), "COLUMNS": "1000"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "'plain' of heald-plugin-example" in done.stdout, done.stdout + done.stderr
        assert "broken on purpose" in done.stdout
        assert _heald(plugin_bin, tmp_path, "convert", "1", "km", "m") == "1000 m\n"
    finally:
        stack.write_text(source, "utf-8")
