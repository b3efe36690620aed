"""The compliance tests of Open Responses, unchanged, against the server.

They come from a checkout of `openresponses/openresponses`, whose folder the variable OPEN_RESPONSES_CHECKOUT names: the
project is in no registry. bun, in which they run, and zod come from theirs.
"""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from heald.core.messages import Image
from heald.providers.scripted import Script, ScriptedRequest
from registry_clients import npm_folder
from serving_parts import TOKEN, S, served

pytestmark = pytest.mark.clients

_BUN, _ZOD = "bun@1.4.4", "zod@3.25.76"
_RUNNER = Path("bin") / "compliance-test.ts"
_SUITE = (_RUNNER.parent, Path("src") / "lib", Path("src") / "generated", Path("package.json"))
_TESTS = 17


def _script(request: ScriptedRequest) -> Script:
    """Calls the client's tool if there is one; looks at pictures; thinks before it counts."""
    message = request.messages[-1]
    if any(tool.name == "get_weather" for tool in request.tools):
        return ["I ask. ", S.call("get_weather", location="San Francisco, CA")]
    if any(isinstance(block, Image) for block in message.content):
        return "A red heart."
    if "Count" in message.text:
        return [S.think("One by one."), "1, 2, 3, 4, 5"]
    return f"Answer to “{message.text[:60]}”."


def _suite(folder: Path) -> Path:
    """Copy the tests beside the packages that they import, and return the program that runs them. Skips where they
    cannot be had."""
    checkout = Path(os.environ.get("OPEN_RESPONSES_CHECKOUT", ""))
    if not (checkout / _RUNNER).exists():
        pytest.skip(
            "set OPEN_RESPONSES_CHECKOUT to a checkout of openresponses/openresponses to run its compliance tests"
        )
    for part in _SUITE:
        if (checkout / part).is_dir():
            shutil.copytree(checkout / part, folder / part)
        else:
            shutil.copy(checkout / part, folder / part)
    (folder / "node_modules").symlink_to(npm_folder(_BUN, _ZOD) / "node_modules")
    program = next(folder.glob("node_modules/@oven/*/bin/bun"), None)
    if program is None:
        pytest.skip(f"{_BUN} has no program for this machine")
    return program


async def _run(program: Path, suite: Path, url: str) -> dict[str, Any]:
    """Run the tests, and return their report."""
    process = await asyncio.create_subprocess_exec(
        *(str(program), "run", str(_RUNNER), "--base-url", f"{url}/v1", "--api-key", TOKEN),
        *("--model", "scripted", "--json"),
        cwd=suite,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(240):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert output, errors.decode()[-3000:]
    return json.loads(output)


async def test_every_compliance_test_passes(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "src").mkdir(parents=True)
    program = await asyncio.to_thread(_suite, suite)
    async with served(tmp_path, lambda: S([_script] * 60, piece=6)) as server:
        report = await _run(program, suite, server.url)
    failures = {result["id"]: result["errors"] for result in report["results"] if result["status"] != "passed"}
    assert failures == {}
    assert report["summary"]["passed"] >= _TESTS
