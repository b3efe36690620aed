"""Lazy exports: a package's `__init__` names its public objects and imports each one at its first use.

`import weft` loads this module, so it imports nothing itself; `typing` alone takes longer than all of it.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_exports(package: str, homes: "Mapping[str, str]", modules: tuple[str, ...] = ()) -> "Callable[[str], Any]":
    """Return a module `__getattr__` for `package`.

    `homes` maps each public name to the module that defines it; `modules` are submodules that are public themselves.
    """

    def resolve_export(name: str) -> "Any":
        if name in modules:
            return import_module(f"{package}.{name}")
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        vars(import_module(package))[name] = value
        return value

    return resolve_export
