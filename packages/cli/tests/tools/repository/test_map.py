"""The map of a repository: what it shows first, that it stays within its tokens, and who is given it."""

import tracemalloc
from pathlib import Path

import pytest

import heald
from heald.agent.overview import Overview
from heald.core.messages import user_message
from heald.providers.token_count import estimate_tokens
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.workspace.memory import MemoryWorkspace
from heald_cli.repository.map import RepositoryMap
from heald_cli.repository.symbol_ranks import rank_definitions
from heald_cli.repository.symbols import find_symbols, is_source

CORE = '''
class OrderBook:
    """Keeps orders."""

    def __init__(self, owner: str, *, limit: int = 10) -> None:
        self.owner = owner

    def add_order(self, order: dict[str, int], price: float = 1.0, *rest: int, **more: object) -> None:
        pass


async def load_orders(path: str) -> "OrderBook":
    return OrderBook(path)


def _hidden() -> None:
    pass
'''
FILES = {
    "core.py": CORE,
    "unused.py": "def lonely_function():\n    pass\n",
    **{f"use{n}.py": "from core import OrderBook, load_orders\nOrderBook('a').add_order({})\n" for n in range(4)},
}


def symbols_of(path: str, text: str) -> list[tuple[str, int, str]]:
    return [(definition.name, definition.line, definition.text) for definition in find_symbols(path, text).definitions]


def test_definitions_of_python() -> None:
    assert symbols_of("core.py", CORE) == [
        ("OrderBook", 2, "class OrderBook"),
        ("__init__", 5, "  def __init__(self, owner, *, limit)"),
        ("add_order", 8, "  def add_order(self, order, price, *rest, **more)"),
        ("load_orders", 12, "def load_orders(path)"),
        ("_hidden", 16, "def _hidden()"),
    ]
    assert symbols_of("broken.py", "def half(a,\nclass Whole(Base, frozen=True):\n") == [
        ("half", 1, "def half()"),
        ("Whole", 2, "class Whole(Base)"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.js", "class Cart { total() {} }\nfunction pay(x) {}\nconst go = y => y;\n", {"Cart", "total", "pay", "go"}),
        ("a.ts", "export interface Cart { a: string }\nclass Shop { open(): void {} }\n", {"Cart", "Shop", "open"}),
        ("a.tsx", "export function Page(): JSX.Element { return <p/>; }\n", {"Page"}),
        ("a.go", "package a\nfunc Pay(x int) {}\ntype Cart struct {}\n", {"Pay", "Cart"}),
        ("a.rs", "pub struct Cart {}\nimpl Cart { fn total(&self) {} }\n", {"Cart", "total"}),
        ("A.java", "class Cart { void total() {} }\n", {"Cart", "total"}),
        ("a.c", "int pay(int x) { return x; }\n", {"pay"}),
        ("a.cpp", "class Cart { public: int total(); };\n", {"Cart"}),
        ("a.rb", "class Cart\n  def total\n  end\nend\n", {"Cart", "total"}),
        ("a.php", "<?php class Cart { function total() {} }\n", {"Cart", "total"}),
    ],
)  # fmt: skip
def test_definitions_by_tree_sitter(path: str, text: str, names: set[str]) -> None:
    pytest.importorskip("tree_sitter", reason="the extra heald[map] is not installed")
    assert is_source(path)
    assert names <= {symbol[0] for symbol in symbols_of(path, text)}


def test_the_most_used_definitions_come_first() -> None:
    files = {path: find_symbols(path, text) for path, text in FILES.items()}
    ranked = rank_definitions(files)
    assert ranked[0] == ("core.py", "OrderBook")
    assert ranked.index(("core.py", "add_order")) < ranked.index(("core.py", "_hidden"))
    assert ranked.index(("core.py", "load_orders")) < ranked.index(("unused.py", "lonely_function"))
    drawn = RepositoryMap(MemoryWorkspace(FILES)).render(1_000)
    assert drawn.index("core.py:") < drawn.index("unused.py:")
    assert "    class OrderBook" not in drawn
    assert "  class OrderBook\n" in drawn


@pytest.mark.parametrize("tokens", [60, 200, 1_000])
def test_a_map_stays_within_its_tokens(tokens: int, capsys: pytest.CaptureFixture[str]) -> None:
    files = {f"pkg/module_{n}.py": f"class Service{n}:\n    def handle_{n}(self, request): ...\n" for n in range(300)}
    files["app.py"] = "\n".join(f"Service{n}().handle_{n}(1)" for n in range(300))
    drawn = RepositoryMap(MemoryWorkspace(files)).render(tokens)
    measured = estimate_tokens([user_message(drawn)])
    with capsys.disabled():
        print(f"\na map of {len(files)} files in {tokens} tokens: {measured} estimated")
    assert tokens * 0.5 < measured <= tokens


def test_ignored_secret_and_forbidden_files_are_not_in_it() -> None:
    files = {
        ".gitignore": "made/\n",
        "made/gen.py": "class Generated: ...\n",
        "kept.py": "class KeptClass: ...\n",
        "private.py": "class PrivateClass: ...\n",
        "node_modules/a.py": "class Installed: ...\n",
    }
    drawn = RepositoryMap(MemoryWorkspace(files), lambda path: path != "private.py").render(500)
    assert "KeptClass" in drawn
    assert not any(name in drawn for name in ("Generated", "PrivateClass", "Installed"))
    assert RepositoryMap(MemoryWorkspace({"a.txt": "text"})).render(500) == ""


@pytest.mark.parametrize(("size", "has_map"), [(4_096, False), (16_384, False), (131_072, True)])
async def test_a_model_is_given_the_map_if_its_context_has_room(size: int, has_map: bool) -> None:
    facts = {"/v1/models": {"data": [{"id": "m", "max_model_len": size}]}}
    async with ScriptedServer([wire_reply("chat", text="Hello.")] * 2, facts=facts) as server:
        model = heald.Model("m", base_url=server.url + "/v1", api_key="no-key")
        agent = heald.Agent(model, tools=["files"], workspace=MemoryWorkspace(FILES), edit_format="tools")
        agent.add_strategy(Overview(RepositoryMap(agent.workspace).render))
        await agent.run("Hello.")
        await agent.run("And now?")
        systems = [request.body["messages"][0]["content"] for request in server.requests]
        assert [("class OrderBook" in system) for system in systems] == [has_map, has_map]
        assert systems[0] == systems[1], "what a provider caches stays the same"
        await agent.close()


async def test_a_folder_without_code_costs_no_question_about_the_context() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello.")]) as server:
        model = heald.Model("m", base_url=server.url + "/v1", api_key="no-key")
        agent = heald.Agent(model, workspace=MemoryWorkspace({"a.txt": "text"}))
        agent.add_strategy(Overview(RepositoryMap(agent.workspace).render))
        await agent.run("Hello.")
        assert agent.context_size is None
        await agent.close()


async def test_a_model_that_writes_text_is_given_files_instead() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello.")]) as server:
        model = heald.Model("m", base_url=server.url + "/v1", api_key="no-key")
        agent = heald.Agent(model, tools=["files"], workspace=MemoryWorkspace(FILES), edit_format="text")
        agent.add_strategy(Overview(RepositoryMap(agent.workspace).render))
        await agent.run("Hello.")
        assert "A map of the project" not in str(server.requests[0].body)
        await agent.close()


def test_the_map_of_a_real_folder(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    agent = heald.Agent(heald.testing.ScriptedModel(["Yes."]), workspace=tmp_path)
    assert "class OrderBook" in RepositoryMap(agent.workspace).render(200)


def test_paths_are_not_kept() -> None:
    """A server sees the files of many repositories. What is kept of them grows with their languages alone."""
    is_source("a.go")
    tracemalloc.start()
    assert not any(is_source(f"{'folder/' * 20}{number}.none") for number in range(2_000))
    assert all(is_source(f"{'folder/' * 20}{number}.go") == is_source("a.go") for number in range(2_000))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 50_000
