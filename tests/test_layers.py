"""The rules of the source tree: who imports whom, import circles and names. Each failure lists all offenders."""

import ast
import re
import tomllib

from repository import ROOT
from source_tree import (
    all_imports,
    folder_of,
    import_circles,
    is_type_checking,
    load_imports,
    modules,
    root_package,
    statements,
    tree,
)

ALLOWED = {
    "heald": set[str](),
    "heald_acp": {"heald"},
    "heald_pictures": {"heald"},
    "heald_server": {"heald"},
    "heald_check": {"heald"},
    "heald_evals": {"heald"},
    "heald_forges": {"heald"},
    "heald_cli": {"heald", "heald_forges", "heald_server"},
    "heald_nodes": {"heald", "heald_server"},
    "heald_notify": {"heald", "heald_server"},
    "heald_local": {"heald", "heald_pictures"},
    "heald_studio": {"heald", "heald_forges", "heald_pictures", "heald_server"},
}
"""The packages that each package may import. Imports inside functions and under TYPE_CHECKING count."""
LAYERS = {
    "core": 0,
    "entry_points": 0,
    "plugin_loader": 0,
    "wires": 1,
    "http1": 1,
    "config": 1,
    "providers": 2,
    "tools": 2,
    "agent": 3,
    "sessions": 4,
    "testing": 5,
    "commands": 5,
}
"""The layers inside `heald`. A module imports from its own layer and from lower ones."""
APART = {("http1", "wires"), ("providers", "tools")}
"""Folders of one layer that do not import each other, in either direction."""
PUBLIC = {
    "heald",
    *(f"heald.{name}" for name in ("events", "plugins", "providers", "sessions", "testing", "types")),
    "heald_check",
    "heald_evals",
    "heald_forges",
    "heald_server",
    "heald_studio",
}
"""The modules that export public names."""
TOP = ("heald", "heald.events", "heald.plugins", "heald.types")
"""The public modules above all layers. Layers do not import them."""
NO_IO = ("heald.core", "heald.wires")
IO_MODULES = {"asyncio", "aiohttp", "socket", "subprocess", "threading", "pathlib", "urllib.request", "time"}
LOCKED = {("heald.core.typed_decoder", "threading")}
"""A lock that threads of others share is no input or output."""
STUDIO_WORDS = {"html", "page", "stack", "stacks", "variant", "variants", "design", "designs"}
"""Words that the loop (`heald.agent`) does not use, because they belong to the studio."""
OTHER_STACKS = ("AsyncExitStack", "ExitStack", "call stack")
AVOIDED_WORDS = frozenset(
    (
        *("tell", "tells", "teller", "telling", "told", "voice", "settle", "settles", "settled", "settling"),
        *("hear", "hears", "heard", "say", "says", "said", "saying", "take", "takes", "took", "taken", "taking"),
        *("leave", "leaves", "leaving", "past", "again", "gone", "way", "ways", "mend", "mends", "mending", "mended"),
        *("sight", "sights", "meaning", "wish", "wishes", "wished", "whoever", "knock", "shelf", "letters"),
    )
)
AVOIDED_PHRASES = ("give_up", "gave_up", "let_go", "made_of", "hand_out", "go_through", "look_up_to")
"""Words that CONTRIBUTING.md asks not to use in the name of a function, a class or a file."""


def _core_folder(module: str) -> str | None:
    """The layer's name of a module of `heald`; None for the public modules at the top and for other packages."""
    parts = module.split(".")
    return parts[1] if parts[0] == "heald" and len(parts) > 1 and module not in TOP else None


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()))


def _is_avoided(name: str) -> bool:
    return bool(_words(name) & AVOIDED_WORDS) or any(phrase in name.lower() for phrase in AVOIDED_PHRASES)


def _assert_none(offenders: list[str]) -> None:
    assert not offenders, "\n".join(["", *offenders])


def _graph(*, at_load: bool) -> dict[str, set[str]]:
    imports = load_imports if at_load else all_imports
    return {module: {name for name in imports(module) if name in modules()} - {module} for module in modules()}


def test_every_package_is_in_the_table() -> None:
    assert {root_package(module) for module in modules()} == set(ALLOWED)


def test_types_are_checked_in_every_package() -> None:
    """pyright does not expand patterns in the middle of a path, and checks nothing of what they stand for."""
    included = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pyright"]["include"]
    folders = [*ROOT.glob("packages/*/src"), *ROOT.glob("packages/*/tests")]
    assert {str(folder.relative_to(ROOT)) for folder in folders} <= set(included)


def test_packages_import_only_what_the_table_allows() -> None:
    wrong: list[str] = []
    for module in modules():
        package = root_package(module)
        for name in sorted(all_imports(module)):
            imported = root_package(name)
            if imported in ALLOWED and imported != package and imported not in ALLOWED[package]:
                wrong.append(f"{module} imports {name}")
    _assert_none(wrong)


def test_every_folder_of_core_has_its_layer() -> None:
    folders = {folder for module in modules() if (folder := _core_folder(module)) is not None}
    assert folders == set(LAYERS)


def test_imports_inside_core_point_down() -> None:
    wrong: list[str] = []
    for module in modules():
        folder = _core_folder(module)
        for name in sorted(all_imports(module)) if folder else ():
            imported = _core_folder(name)
            if imported not in LAYERS or folder is None:
                continue
            if LAYERS[imported] > LAYERS[folder] or tuple(sorted((folder, imported))) in APART:
                wrong.append(f"{module} imports {name}")
    _assert_none(wrong)


def test_the_base_of_core_imports_no_public_module() -> None:
    """They import all layers, so a layer that imported one of them would make a circle."""
    layered = [module for module in modules() if _core_folder(module) is not None]
    _assert_none([f"{module} imports {name}" for module in layered for name in all_imports(module) if name in TOP])


def test_no_circles_among_modules_that_load() -> None:
    _assert_none([", ".join(sorted(circle)) for circle in import_circles(_graph(at_load=True))])


def test_no_circles_between_folders_with_all_imports() -> None:
    """Also imports inside functions and under TYPE_CHECKING count."""
    circles = import_circles(_graph(at_load=False))
    wide = [circle for circle in circles if len({folder_of(module) for module in circle}) > 1]
    _assert_none([", ".join(sorted(circle)) for circle in wide])


def test_no_relative_imports() -> None:
    nodes = ((module, node) for module in modules() for node in statements(module))
    _assert_none([f"{m}:{n.lineno}" for m, n in nodes if isinstance(n, ast.ImportFrom) and n.level])


def test_core_wires_and_dialects_do_no_io() -> None:
    pure = [module for module in modules() if folder_of(module) in NO_IO or module.endswith(".dialect")]
    assert len(pure) > 20
    imports = [(module, name) for module in pure for name in all_imports(module) if (module, name) not in LOCKED]
    _assert_none([f"{module} imports {name}" for module, name in imports if name in IO_MODULES])


def test_the_loop_has_no_word_of_the_studio() -> None:
    offenders: list[str] = []
    for module, path in modules().items():
        if folder_of(module) != "heald.agent":
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for phrase in OTHER_STACKS:
                line = line.replace(phrase, "")
            if words := _words(line) & STUDIO_WORDS:
                offenders.append(f"{module}:{number} {', '.join(sorted(words))}: {line.strip()}")
    _assert_none(offenders)


def test_no_avoided_word_in_a_name() -> None:
    files = [f"file {path.name} of {module}" for module, path in modules().items() if _is_avoided(path.stem)]
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = ((module, node) for module in modules() for node in statements(module) if isinstance(node, named))
    _assert_none([*files, *(f"{module}:{node.lineno} {node.name}" for module, node in nodes if _is_avoided(node.name))])


def test_a_class_name_is_unique() -> None:
    """Of classes that other files may import. A private class belongs to its file."""
    homes: dict[str, list[str]] = {}
    for module in modules():
        for node in tree(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    _assert_none([f"{name} in {', '.join(places)}" for name, places in homes.items() if len(places) > 1])


def test_only_public_modules_re_export() -> None:
    _assert_none([module for module in modules() if module not in PUBLIC and _only_re_exports(tree(module))])


def _only_re_exports(module: ast.Module) -> bool:
    imports = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom) or is_type_checking(node)]
    rest = [node for node in module.body if node not in imports and not isinstance(node, ast.Expr)]
    return bool(imports) and all(isinstance(node, ast.Assign) and _assigns_exports(node) for node in rest)


def _assigns_exports(node: ast.Assign) -> bool:
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names <= {"__all__", "__getattr__", "_HOMES"}


def test_the_loop_is_at_most_900_lines() -> None:
    """What not every agent needs is a strategy, or middleware around tools."""
    folder = ROOT / "packages" / "core" / "src" / "heald" / "agent"
    files = ("engine.py", "exchange.py", "turns.py")
    assert sum(len((folder / name).read_text("utf-8").splitlines()) for name in files) <= 900
