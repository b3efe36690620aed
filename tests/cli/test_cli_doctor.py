"""`weft doctor` on machines that lack something: it says what, and how to get it."""

import asyncio
import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest
from cli_bench import KEY, Ran, finish, run, run_process
from cli_pages import here

from weft.testing.server import Reply, ScriptedServer

HIDING = """
import sys
from importlib.machinery import PathFinder
HIDDEN = NAMES
class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition('.')[0] in HIDDEN else PathFinder.find_spec(name, path, target)
sys.meta_path[:] = [Hiding if each is PathFinder else each for each in sys.meta_path]
"""
"""A `sitecustomize.py` for a machine on which some packages are not installed."""

Capture = pytest.CaptureFixture[str]


def found(ran: Ran) -> dict[str, dict[str, str]]:
    return {each["name"]: each for each in json.loads(ran.out)["findings"]}


async def bare(tmp_path: Path, *words: str, programs: dict[str, str] | None = None, **env: str) -> Ran:
    """The doctor on a machine whose PATH has only these programs."""
    folder = tmp_path / "programs"
    folder.mkdir(exist_ok=True)
    for name, script in (programs or {}).items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    variables = {"PATH": str(folder), "XDG_DATA_HOME": str(tmp_path / "share"), **env}
    return await run_process("doctor", *words, env=variables)


async def test_a_machine_with_nothing(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", OLLAMA_HOST="127.0.0.1:1")
    said = found(ran)
    assert ran.code == 0, ran.out
    assert json.loads(ran.out)["healthy"] is True
    for name, word in (
        ("sandbox", "bubblewrap"),
        ("ripgrep", "ripgrep"),
        ("chromium", "chromium"),
        ("keys", "API_KEY"),
    ):
        assert said[name]["state"] == "missing", name
        assert word in said[name]["fix"].lower() + said[name]["fix"], name
    assert said["ffmpeg"]["state"] == "ok", "the program of weft[video] is found without a PATH"
    assert "OpenCV" not in ran.out
    assert said["python"]["state"] == "ok"
    assert said["network"]["state"] == "skipped"
    assert "ANTHROPIC_API_KEY" in said["keys"]["said"]
    assert not (tmp_path / "share").exists()


async def test_the_same_for_people(tmp_path: Path) -> None:
    ran = await bare(tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "– sandbox" in ran.out
    assert "apt install bubblewrap" in ran.out
    assert "\x1b" not in ran.out


async def test_a_bubblewrap_that_makes_no_sandbox(tmp_path: Path) -> None:
    refuses = "#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n"
    ran = await bare(tmp_path, "--json", programs={"bwrap": refuses, "rg": "#!/bin/sh\necho ripgrep 14\n"})
    said = found(ran)
    assert said["sandbox"]["state"] == "missing"
    assert "user namespaces" in said["sandbox"]["said"]
    assert "namespaces" in said["sandbox"]["fix"]
    assert said["ripgrep"]["state"] == "missing"  # it is there, and not used
    assert "in the sandbox only" in said["ripgrep"]["said"]
    assert ran.err == ""


async def test_a_browser_that_does_not_start(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", programs={"chromium": "#!/bin/sh\nexit 1\n"})
    said = found(ran)["chromium"]
    assert (ran.code, said["state"]) == (1, "wrong")
    assert "does not render" in said["said"]


async def test_keys_are_named_and_never_shown(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY="broken\nkey")
    said = found(ran)
    assert KEY not in ran.out + ran.err
    assert said["key anthropic"] == {
        "name": "key anthropic",
        "state": "ok",
        "said": "ANTHROPIC_API_KEY is set",
        "fix": "",
    }
    assert said["key openai"]["state"] == "wrong"
    assert "broken" not in ran.out
    assert ran.code == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
async def test_a_data_folder_that_cannot_be_written(capsys: Capture, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o500)
    ran = await run_process("doctor", "--json", "--data", str(data))
    assert (ran.code, found(ran)["data folder"]["state"]) == (1, "wrong")


async def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    ran = await bare(tmp_path, "--json", "--data", str(tmp_path / "file" / "data"))
    said = found(ran)["data folder"]
    assert (ran.code, said["state"]) == (1, "wrong")
    assert "--data" in said["fix"]


async def test_a_weft_toml_that_cannot_be_read(tmp_path: Path) -> None:
    config = tmp_path / "config" / "weft"
    config.mkdir(parents=True)
    (config / "weft.toml").write_text("[providers.mine]\nwires = 3\n")
    ran = await bare(tmp_path, "--json")
    said = found(ran)["settings"]
    assert (ran.code, said["state"]) == (1, "wrong")
    assert "weft.toml:2: [providers.mine] has an unknown key 'wires'; did you mean 'wire'?" in said["said"]


async def test_a_variable_that_is_nearly_ours(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", WEFT_MODLE="x")
    assert (ran.code, found(ran)["settings"]["state"]) == (1, "wrong")
    assert "did you mean WEFT_MODEL?" in found(ran)["settings"]["said"]


async def test_the_file_of_a_project_that_nobody_trusts(tmp_path: Path) -> None:
    here("weft.toml").write_text("this is no TOML")
    ran = await bare(tmp_path, "--json")
    assert (ran.code, found(ran)["settings"]["state"]) == (0, "missing")
    assert "weft trust" in found(ran)["settings"]["fix"]


async def test_a_local_server_is_found(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: Reply.json({"models": [{"name": "qwen3:latest"}]})) as server:
        ran = await bare(tmp_path, "--json", OLLAMA_HOST=server.url)
    said = found(ran).get("local ollama")
    if said is None:
        pytest.skip("the machine was too busy to answer within a third of a second")
    assert "ollama/qwen3" in said["said"]


async def test_the_network_is_tried_when_asked_and_no_key_is_sent(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: Reply.json({"error": "who are you"}, 401)) as proxy:
        ran = await bare(tmp_path, "--json", "--network", ANTHROPIC_API_KEY=KEY, HTTPS_PROXY=proxy.url)
        assert all(KEY not in str(request.headers) for request in proxy.requests)
    said = found(ran)["network anthropic"]
    assert said["state"] == "missing"
    assert "cannot be reached" in said["said"]


async def test_a_machine_without_a_network(tmp_path: Path) -> None:
    """Really without: in a network namespace of its own, with nothing in it."""
    alone = ["unshare", "--user", "--map-root-user", "--net"]
    try:
        tried = await asyncio.create_subprocess_exec(*alone, "true", stderr=asyncio.subprocess.DEVNULL)
        allowed = await tried.wait() == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("unshare cannot make a network namespace here")
    words = [*alone, sys.executable, "-m", "weft.cli.main", "doctor", "--network", "--json"]
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"WEFT_DATA": str(tmp_path / "data")},
    )
    said = found(await finish(process, seconds=120))
    for provider in ("anthropic", "openai", "gemini"):
        assert said[f"network {provider}"]["state"] == "missing"
        assert "cannot be reached" in said[f"network {provider}"]["said"]
    assert said["local servers"]["state"] == "missing"
    assert said["python"]["state"] == "ok"


async def test_a_machine_without_the_models_that_read(tmp_path: Path) -> None:
    """Their runtime is installed, their files are not: the advice is the same."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(HIDING.replace("NAMES", "('rapidocr', 'weft_local')"))
    ran = await bare(tmp_path, "--json", PYTHONPATH=os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", "")]))
    said = found(ran)["weft[local]"]
    if importlib.util.find_spec("onnxruntime") is None:
        assert "without onnxruntime" in said["said"]
    elif said["state"] == "ok":
        pytest.skip("the models lie beside the code that uses them")
    assert (said["state"], said["fix"]) == ("missing", "pip install 'weft[local]'")


async def test_without_the_parts_of_the_studio(tmp_path: Path) -> None:
    """As after a plain `pip install weft`: what is missing is named, and nothing breaks."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    names = "('PIL', 'numpy', 'pillow_heif', 'cv2', 'onnxruntime', 'rapidocr', 'weft_local', 'mcp')"
    (hidden / "sitecustomize.py").write_text(HIDING.replace("NAMES", names))
    path = os.pathsep.join([str(hidden), *([os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else [])])
    ran = await bare(tmp_path, "--json", PYTHONPATH=path)
    said = found(ran)
    assert said["weft[studio]"]["state"] == "missing", ran.err
    assert said["weft[studio]"]["fix"] == "pip install 'weft[studio]'"
    built = await run_process("build", "--text", "x", "--model", "ollama/x", PYTHONPATH=path)
    assert built.code == 2
    assert "pip install 'weft[studio]'" in built.err
    assert "Traceback" not in built.err


async def test_here(capsys: Capture) -> None:
    """On the machine that runs the tests: what is installed is found to work."""
    ran = await run(capsys, "doctor", "--json")
    said = found(ran)
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in said["python"]["said"]
    assert said["ffmpeg"]["state"] == "ok"
