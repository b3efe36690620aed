"""docs/protocols.md: every name of the four documents is in the map, and every place that the map names is there."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from heald.core.envelope import PAYLOADS
from heald.sessions.memory import MemoryStore
from heald.sessions.sessions import Sessions
from heald.tools.families import families
from heald_server.access.tokens import AccessTokens
from heald_server.app import list_routes
from heald_server.context import ServerContext
from heald_server.dialects.registry import open_dialect
from heald_server.http.openapi import list_paths
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings
from heald_studio.tools.family import studio_tools
from repository import ROOT

PAGE = (ROOT / "docs" / "protocols.md").read_text("utf-8")
SEEDS = ROOT.parent / "shared" / "seeds"
DOCUMENTS = ("000", "002", "003", "004")
PLACE = re.compile(r"(?:(event|tool|route) )?(?:`([^`]+)` (frame|field|export) )?`([^`]+)`(?:\]\(\.\./([^)]+)\))?")
"""The kind of a place, its owner and the part of it, its name, and the file of a link."""
IDENTIFIER = re.compile(
    r"\b(?:[A-Z][a-z]+[A-Z]\w+|[a-z]+[A-Z]\w+|[a-z]+_[a-z_]*[a-z]|[A-Z]+_[A-Z_]+)\b",
)
"""Words of a document that are names: in camelCase, PascalCase, snake_case or capitals."""

OTHERS = {
    "000": "OpenAI",
    "002": "AsyncGenerator OpenAI call_abc tc_delta",
    "003": """AsyncIterable ExtensionContext JavaScript OpenAI OpenRouter TypeScript assistantContent configSection
        internalHistory internalMessages providerConfig providerName providerRequest requestPayload resultContent
        sessionHistory startTime toolCall toolCalls toolResult updatedInternalHistory updatedSessionHistory
        userContent""",
    "004": """DevTools ToolResultMessage TypeScript WebSocket agent_xxx cachedResult completedAt evt_xxx evt_yyy
        exchange_xxx generateId isArray msg_xxx msg_yyy responseEvent sdkMessages sdkMsg setIsLoading setMessages
        setStreaming toolCallEvent toolInput toolInputJson toolName toolUseMessage
        toolu_xxx""",
}
"""Names that are nobody's interface: products, languages, variables inside a function, ids in examples, React state,
and the message that document 004 decides against."""


def _map(document: str) -> list[tuple[list[str], str]]:
    """The rows of a document's names: the names, and the text that says where they are."""
    after = PAGE.split(f"### Names of document {document}\n", 1)[1].split("\n### ", 1)[0]
    rows = [line.strip("| \n").split(" | ") for line in after.splitlines() if line.startswith("| `")]
    return [(re.findall(r"`([^`]+)`", names), where) for names, where in rows]


def _document(number: str) -> str:
    files = sorted(SEEDS.glob(f"{number}*.txt"))
    if not files:
        pytest.skip(f"document {number} is not here")
    return files[0].read_text("utf-8")


PLACES = sorted(
    {place for document in DOCUMENTS for _, where in _map(document) for place in PLACE.findall(where)},
)


def _place_id(place: Any) -> str:
    return " ".join(part for part in place if part)


@pytest.mark.parametrize("place", PLACES, ids=_place_id)
def test_a_place_of_the_map_is_there(place: tuple[str, str, str, str, str]) -> None:
    kind, owner, part, name, file = place
    match kind or part or Path(file).suffix:
        case "event":
            assert name in PAYLOADS
        case "tool":
            assert name in _tools()
        case "route":
            assert name in _routes()
        case "frame" | "field":
            assert name in _words_of_dialect(owner)
        case "export":
            _check_export(owner, name)
        case ".ts" | ".tsx":
            _check_export(file, name)
        case ".py":
            module = file.partition("/src/")[2].removesuffix(".py").removesuffix("/__init__")
            _check_python(f"{module.replace('/', '.')}.{name}")
        case _:
            assert name.partition(".")[0] in ("heald", "heald_server", "heald_studio"), name
            _check_python(name)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_row_names_a_place(document: str) -> None:
    rows = _map(document)
    assert len(rows) > 10
    assert [names for names, where in rows if not PLACE.search(where)] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_name_of_a_document_is_in_the_map(document: str) -> None:
    names = {name for names, _ in _map(document) for name in names}
    in_document = set(IDENTIFIER.findall(_document(document)))
    others = set(OTHERS[document].split())
    assert sorted(in_document - names - others) == []
    assert sorted(others - in_document) == []
    assert sorted(others & names) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_name_of_the_map_is_in_its_document(document: str) -> None:
    text = _document(document)
    assert [
        name for names, _ in _map(document) for name in names if not re.search(rf"\b{re.escape(name)}\b", text)
    ] == []


def test_the_documents_are_in_their_order_by_their_titles() -> None:
    headings = re.findall(r"^## (.+)$", PAGE, re.M)[: len(DOCUMENTS)]
    for number, heading in zip(DOCUMENTS, headings, strict=True):
        assert heading in _document(number).partition("\n")[0]
    assert "(docs/protocols.md)" in (ROOT / "README.md").read_text("utf-8")


def test_every_test_of_the_promises_is_there() -> None:
    for document in DOCUMENTS:
        promises = PAGE.split(f"### Promises of document {document}\n", 1)[1].split("\n## ", 1)[0]
        files = [*Path(__file__).parent.glob(f"test_seed_{document}*.py")]
        tests = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))}
        named = set(re.findall(r"`(test_\w+)`", promises))
        assert sorted(named - tests) == []


# --- places -----------------------------------------------------------------------------------------------------------


@cache
def _tools() -> set[str]:
    groups = families(None)
    names = {tool.name for group in groups.values() for tool in group}
    source = inspect.getsource(importlib.import_module(studio_tools.__module__))
    return names | set(_strings(source))


@cache
def _routes() -> set[str]:
    context = ServerContext(
        Sessions(MemoryStore()), KnownModels(""), settings=ServerSettings(port=0), tokens=AccessTokens({"t" * 32: ""})
    )
    listed = list_routes(context)
    described = [*listed.operations, *listed.descriptions]
    return {f"{route.method} {route.path}" for route in described} | {
        f"{method} {path}" for method, path, _ in list_paths(listed.routes)
    }


@cache
def _words_of_dialect(name: str) -> set[str]:
    """The texts that the module of a dialect writes into its frames."""
    return set(_strings(inspect.getsource(inspect.getmodule(type(open_dialect(name))) or importlib)))


def _strings(source: str) -> list[str]:
    nodes = ast.walk(ast.parse(source))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _check_export(owner: str, name: str) -> None:
    export, _, member = name.partition(".")
    folder = ROOT / "clients" / "agentx" / "src"
    files = sorted(folder.glob("*.ts")) if owner == "@heald/agentx" else [ROOT / owner]
    source = "\n".join(file.read_text("utf-8") for file in files)
    declared = re.search(rf"^export (?:abstract )?(?:class|function|const|interface|type) {export}\b", source, re.M)
    assert declared is not None, f"{owner} does not export {export}"
    if owner == "@heald/agentx":
        index = (folder / "index.ts").read_text("utf-8")
        of_file = next(
            file.stem for file in files if re.search(rf"^export .*\b{export}\b", file.read_text("utf-8"), re.M)
        )
        assert re.search(rf"\b{export}\b", index) or f'export * from "./{of_file}.js"' in index
    if member:
        assert re.search(rf"^  (?:async )?{member}\(", source, re.M), f"{export} has no {member}"


def _check_python(path: str) -> None:
    parts = path.split(".")
    place: Any = None
    for count in range(len(parts), 0, -1):
        try:
            place = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            place = _member(place, name)
        return
    raise AssertionError(f"{path} cannot be imported")


def _member(owner: Any, name: str) -> Any:
    if name in getattr(owner, "__annotations__", {}):
        return owner.__annotations__[name]
    return getattr(owner, name)
