"""The install commands that docs, `heald doctor` and errors print name our own distributions, and resolve."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from install_lines import (
    InstallLine,
    advised_lines,
    find_requirements,
    is_path,
    page_lines,
    path_exists,
    written_out,
)
from repository import ROOT
from wheelhouse import Wheelhouse

PYTHON = "3.12"
OTHERS = frozenset({"aiohttp", "claude-agent-sdk", "openapi-python-client"})
"""Distributions of others that a page or a message names as such: clients of examples, and what an extra installs."""


def _name(requirement: str) -> str:
    return requirement.partition("[")[0].lower()


def _extras(requirement: str) -> set[str]:
    return set(filter(None, requirement.partition("[")[2].rstrip("]").split(",")))


def _declared() -> dict[str, set[str]]:
    """The extras of our distributions."""
    projects = [tomllib.loads(path.read_text("utf-8"))["project"] for path in ROOT.glob("packages/*/pyproject.toml")]
    return {project["name"]: set(project.get("optional-dependencies", ())) for project in projects}


def _wrong_requirements(lines: list[InstallLine]) -> Iterator[str]:
    declared = _declared()
    for place, requirements in lines:
        for requirement in requirements:
            name = _name(requirement)
            if is_path(requirement):
                if not path_exists(requirement):
                    yield f"{place}: there is no {requirement}"
            elif name not in declared and name not in OTHERS:
                yield f"{place}: {name} is not a distribution of ours"
            elif name in declared and (unknown := _extras(requirement) - declared[name]):
                yield f"{place}: {name} has no extra {', '.join(sorted(unknown))}"


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("run: pip install 'heald[otel]'.", ("heald[otel]",)),
        ('Claude Code was not found; pip install "heald[claude]" brings it, or give', ("heald[claude]",)),
        ('pip install -U "heald[claude]" claude-agent-sdk.', ("heald[claude]", "claude-agent-sdk")),
        ("$ make dist && pip install dist/*.whl   # all", ("dist/*.whl",)),
        ("Both need `pip install heald`. It isn't", ("heald",)),
        ("$ uvx heald run", ("heald",)),
    ],
)
def test_an_install_command_is_read(text: str, requirements: tuple[str, ...]) -> None:
    assert list(find_requirements(text)) == [requirements]


def test_pages_name_our_distributions_and_their_extras() -> None:
    lines = page_lines()
    assert len(lines) > 10
    assert list(_wrong_requirements(lines)) == []


def test_messages_name_our_distributions_and_their_extras() -> None:
    lines = advised_lines()
    assert lines
    assert list(_wrong_requirements(lines)) == []


def test_no_source_writes_an_install_command_out() -> None:
    assert written_out() == []


def test_doctor_names_our_distributions_and_their_extras(wheelhouse: Wheelhouse, tmp_path: Path) -> None:
    """Run where no extra is installed, so that it advises all of them."""
    programs = wheelhouse.create_environment(tmp_path / "environment", "heald")
    done = subprocess.run(
        [str(programs / "heald"), "doctor"],
        cwd=tmp_path,
        env={"PATH": str(programs), "HOME": str(tmp_path), "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [InstallLine("heald doctor", names) for names in find_requirements(done.stdout)]
    assert lines, done.stdout + done.stderr
    assert list(_wrong_requirements(lines)) == []


def test_every_install_command_resolves_to_our_wheels(wheelhouse: Wheelhouse, tmp_path: Path) -> None:
    declared = _declared()
    advised = {requirement for line in (*page_lines(), *advised_lines()) for requirement in line.requirements}
    ours = {requirement for requirement in advised if not is_path(requirement) and _name(requirement) in declared}
    everything = {f"{name}[{','.join(sorted(extras))}]" if extras else name for name, extras in declared.items()}
    try:
        names = _resolve(wheelhouse, tmp_path, everything | ours, "--python-version", PYTHON)
        options = ("--python-version", PYTHON, "--offline")
    except subprocess.CalledProcessError:  # without a network, for the Python and the packages that are here
        options = ("--offline", "--constraint", str(ROOT / "requirements-dev.txt"))
        names = _resolve(wheelhouse, tmp_path, everything | ours, *options)
    assert {_name(requirement) for requirement in everything | ours} == names
    for requirement in ("heald", "heald-core"):
        assert requirement in _resolve(wheelhouse, tmp_path, {requirement}, *options)


def _resolve(wheelhouse: Wheelhouse, folder: Path, requirements: set[str], *options: str) -> set[str]:
    """Resolve requirements for an empty environment. Returns the names of ours, all of which are our wheels."""
    lock = wheelhouse.resolve(folder, requirements, *options)
    packages = {package["name"]: package for package in lock["packages"] if package["name"].startswith("heald")}
    for name, package in packages.items():
        (wheel,) = package["wheels"]
        assert wheel["url"].startswith("file:"), f"{name} is not ours: {wheel['url']}"
        assert wheelhouse.wheels[name].name == wheel["url"].rpartition("/")[2]
    return set(packages)


def test_a_line_that_names_folders_names_all_that_they_need() -> None:
    """Else the registry would be asked for what lies in the checkout."""
    projects = {
        path.parent.name: tomllib.loads(path.read_text("utf-8"))["project"]
        for path in ROOT.glob("packages/*/pyproject.toml")
    }
    line = re.search(r"pip install \./packages/\{([\w,]+)\}", (ROOT / "README.md").read_text("utf-8"))
    assert line is not None
    folders = line[1].split(",")
    names = {projects[folder]["name"] for folder in folders}
    needed = {
        text for folder in folders for text in projects[folder].get("dependencies", ()) if text.startswith("heald")
    }
    assert {re.split(r"[^\w-]", text)[0] for text in needed} <= names
