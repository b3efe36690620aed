"""Commands of a console block: what a reader is told to type, taken apart and held against what there is."""

import argparse
import io
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr
from functools import cache
from importlib.util import find_spec

from doc_pages import ROOT, Block
from heald_cli.main import parser

_OTHER_WORDS = (
    "cat cd chmod cp createdb curl docker echo export git journalctl jq kubectl ls mkdir node npm npx pytest sqlite3 "
    "systemctl uvx"
)
OTHERS = frozenset(re.findall(r"\w+", _OTHER_WORDS))
"""Programs that are not ours: nothing is known of their options."""
_OPERATORS = frozenset({"|", "&&", "||", ";", "&", ">", "<", ">>", "2>", "(", ")"})
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=")


def lines(block: Block) -> list[str]:
    """What is typed, without the prompt; the rest of the block is what is seen."""
    joined = block.text.replace("\\\n", " ")
    return [line[2:].strip() for line in joined.splitlines() if line.startswith("$ ")]


def commands(line: str) -> Iterator[list[str]]:
    """The simple commands of a line, each as its words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    words = list[str]()
    to_file = False
    for word in lexer:
        if word in _OPERATORS or set(word) <= set("|&;<>()"):
            if words and not to_file:
                yield words
            to_file = word in (">", ">>", "<")
            words = []
        elif not words and _ASSIGNMENT.match(word):
            continue
        else:
            words.append(word)
    if words and not to_file:
        yield words


def wrong_with(words: list[str], files: set[str]) -> str | None:
    """Why a command would not do, as far as can be told without running it. `files` are those the page made."""
    program, *rest = words
    name = program.rpartition("/")[2]
    match name:
        case "heald":
            return _wrong_with_heald(rest)
        case "make":
            targets = _targets()
            wrong = [word for word in rest if "=" not in word and word not in targets]
            return f"make has no target {wrong[0]!r}" if wrong else None
        case "python" | "python3":
            return _wrong_with_python(rest, files)
        case "pip" | "uv":
            return _wrong_with_pip(rest)
        case "sh":
            return None if (ROOT / rest[0]).is_file() else f"there is no {rest[0]}"
        case "apt" | "sudo":
            return None
        case _:
            return None if name in OTHERS or name == "." else f"nothing is known of the program {program!r}"


def _wrong_with_heald(words: list[str]) -> str | None:
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            _parser().parse_args(words)
    except SystemExit as end:
        if end.code not in (0, None):
            return said.getvalue().strip().splitlines()[-1]
    except argparse.ArgumentError as error:
        return str(error)
    return None


@cache
def _parser() -> argparse.ArgumentParser:
    return parser(whole=True)


@cache
def _targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def _wrong_with_python(words: list[str], files: set[str]) -> str | None:
    if words[:1] == ["-m"]:
        module = words[1]
        if module.startswith("benchmarks."):
            return None if (ROOT / module.replace(".", "/")).with_suffix(".py").is_file() else f"there is no {module}"
        return None if find_spec(module.partition(".")[0]) else f"there is no module {module}"
    if not words or words[0].startswith("-"):
        return None
    return None if words[0] in files or (ROOT / words[0]).is_file() else f"there is no {words[0]}"


def _wrong_with_pip(words: list[str]) -> str | None:
    project = tomllib.loads((ROOT / "packages" / "heald" / "pyproject.toml").read_text("utf-8"))["project"]
    for word in words:
        for extra in re.findall(r"^(?:heald|\.)\[([\w,-]+)\]$", word):
            unknown = set(extra.split(",")) - set(project["optional-dependencies"])
            if unknown:
                return f"heald has no extra {', '.join(unknown)}"
    return None
