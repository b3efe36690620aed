"""Commands of other distributions: listed, configured and run like Heald's own; a broken one stops nothing else."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from cli_bench import Ran, finish, is_one_line_error, started

PLUGIN = """
from heald.config.command import Command

COUNT = Command(
    "count", "count the words of a text", "counting.command", table="counting.settings:CountTable", shared=("web",)
)
LATE = Command("late", "fails when it is used", "counting.missing_module")
NO_TABLE = Command("tableless", "has a table that does not exist", "counting.command", table="counting.settings:Gone")
"""
SETTINGS = '''
from heald.config.table import Count, Table, option


class CountTable(Table):
    """`heald count`."""

    least: Count = option("least length of a word", default=1, metavar="N")
'''
COMMAND = """
from heald.commands.options import add_options

EXAMPLES = "examples:\\n  heald count 'one two'"


def add_arguments(parser):
    parser.add_argument("text")
    add_options(parser, "count")


def run(options):
    print(sum(len(word) >= options.least for word in options.text.split()))
    return 0
"""
ENTRIES = """[heald.commands]
count = counting.declared:COUNT
late = counting.declared:LATE
tableless = counting.declared:NO_TABLE
broken = counting.does_not_exist:COMMAND

[heald.checks]
counting = counting.command:check_words

[heald.forges]
anvil = counting.does_not_exist:ANVIL
bellows = counting.declared:COUNT
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder on the path with a distribution that offers commands."""
    package = tmp_path / "site" / "counting"
    package.mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "declared": PLUGIN,
        "settings": SETTINGS,
        "command": COMMAND,
    }.items():
        (package / f"{name}.py").write_text(text)
    metadata = package.parent / "counting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRIES)
    return package.parent


async def heald(plugin: Path, *words: str, **env: str) -> Ran:
    path = os.pathsep.join([str(plugin), *filter(None, [os.environ.get("PYTHONPATH")])])
    async with started(*words, env={"PYTHONPATH": path, **env}) as process:
        return await finish(process)


async def test_it_is_listed_after_the_commands_of_heald(plugin: Path) -> None:
    ran = await heald(plugin, "--help")
    assert ran.code == 0, ran.err
    listed = ran.out[ran.out.index("COMMAND\n") :]
    assert listed.index("completion") < listed.index("count     count the words of a text")
    assert "    broken" not in listed


async def test_its_settings_come_from_flags_variables_and_the_file(plugin: Path, tmp_path: Path) -> None:
    assert (await heald(plugin, "count", "a bb ccc")).out == "3\n"
    assert (await heald(plugin, "count", "a bb ccc", "--least", "3")).out == "1\n"
    assert (await heald(plugin, "count", "a bb ccc", HEALD_COUNT_LEAST="2")).out == "2\n"
    (tmp_path / "config" / "heald").mkdir(parents=True)
    file = tmp_path / "config" / "heald" / "heald.toml"
    file.write_text("[count]\nleast = 2\n")
    assert (await heald(plugin, "count", "a bb ccc")).out == "2\n"
    config = json.loads((await heald(plugin, "config", "count", "--json")).out)
    assert config["settings"]["count"]["least"] == {"value": 2, "from": f"{file}:2"}
    file.write_text("[count]\nlest = 2\n")
    ran = await heald(plugin, "sessions", "list")
    assert "[count] has an unknown key 'lest'; did you mean 'least'?" in ran.err


@pytest.mark.parametrize("name", ["broken", "late"])
async def test_one_that_cannot_be_loaded_is_one_sentence(plugin: Path, name: str) -> None:
    ran = await heald(plugin, name)
    assert ran.code == 2
    assert is_one_line_error(ran), ran.err
    assert f"The command {name!r} of counting cannot be loaded" in ran.err
    assert (await heald(plugin, "count", "a bb")).out == "2\n"


async def test_the_doctor_names_what_cannot_be_loaded(plugin: Path) -> None:
    ran = await heald(plugin, "doctor", "--json", OLLAMA_HOST="127.0.0.1:1")
    assert ran.code == 1
    rows = [row["text"] for row in json.loads(ran.out)["findings"] if row["name"] == "plugin"]
    for name, reason in {
        "broken": "No module named 'counting.does_not_exist'",
        "late": "No module named 'counting.missing_module'",
        "tableless": "has no attribute 'Gone'",
        "counting": "has no attribute 'check_words'",
        "anvil": "The kind of forge 'anvil' of counting cannot be loaded",
        "bellows": "Command is not a ForgeKind",
    }.items():
        assert any(repr(name) in row and reason in row for row in rows), (name, rows)


async def test_a_table_whose_distribution_is_not_installed_is_named(tmp_path: Path) -> None:
    """The metadata of heald-studio is hidden: `[build]` belongs to a distribution that is not there."""
    (tmp_path / "config" / "heald").mkdir(parents=True)
    (tmp_path / "config" / "heald" / "heald.toml").write_text('[build]\nstack = "html_css"\n')
    code = (
        "import heald.entry_points as e\nentries = e.all_entries()\n"
        "e.all_entries = lambda: tuple(x for x in entries if x.distribution != 'heald-studio')\n"
        "e.entry_points.cache_clear()\n"
        "from heald_cli.main import main\nimport sys\nsys.exit(main(sys.argv[1:]))\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, "sessions", "list"), stdout=-1, stderr=-1
    )
    ran = await finish(process)
    assert ran.code == 0, ran.err
    assert "heald.toml:1: [build] has no effect, because heald-studio is not installed; pip install heald\n" in ran.err
