"""Commands name what is left of the former name, once, on standard error."""

import json
from pathlib import Path

import pytest

from cli_bench import run
from cli_pages import here


async def test_every_command_with_settings_names_it_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here("weft.toml").write_text('model = "openai/gpt-5"\n')
    monkeypatch.setenv("WEFT_DATA", str(tmp_path))
    file = "heald: weft.toml is not read any more; rename it to heald.toml.\n"
    variable = "heald: The environment variable WEFT_DATA is not read any more; rename it to HEALD_DATA.\n"
    for words in (["sessions", "list"], ["config"], ["run", "--base-url", "http://127.0.0.1:1", "Hi"]):
        ran = await run(capsys, *words)
        assert ran.err.count(file) == 1, words
        assert ran.err.count(variable) == 1, words
        assert "weft" not in ran.out.lower()


async def test_the_doctor_names_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    here("weft.toml").write_text("")
    ran = await run(capsys, "doctor", "--json")
    rows = [row for row in json.loads(ran.out)["findings"] if row["name"] == "former name"]
    assert rows == [
        {
            "name": "former name",
            "state": "missing",
            "text": "weft.toml is not read any more",
            "fix": "Rename it to heald.toml.",
        }
    ]
    assert ran.err == ""
