"""Defers work until its first use: imports of a package's public objects, of other modules, and regular expressions.

`import heald` loads this module, so it imports nothing itself; `typing` alone takes longer than all of it.
"""

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping
    from functools import cached_property as lazy_property
    from typing import Any, AnyStr
else:

    class lazy_property:  # noqa: N801
        """An attribute that is made when it is first used, unless it was set before.

        What `functools.cached_property` does from Python 3.12 on: before, it holds a lock of all instances while it
        makes the attribute of one.
        """

        def __init__(self, make):
            self._make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = self._make(instance)
            setattr(instance, self._name, value)  # `vars` would make every attribute of the instance slower to read
            return value


def lazy_exports(
    package: str,
    homes: "Mapping[str, str]",
    modules: tuple[str, ...] = (),
    elsewhere: "Mapping[str, str] | None" = None,
) -> "Callable[[str], Any]":
    """Return a module `__getattr__` for `package`, and let `dir` list its public names.

    `homes` maps modules to the public names that they define; `modules` are submodules that are public themselves.
    `elsewhere` maps names that a reader may look for here to their place.
    """

    def resolve_export(name: str) -> "Any":
        if name in modules:
            return import_module(f"{package}.{name}")
        home = next((home for home, names in homes.items() if name in names.split()), None)
        if home is None:
            hint = f"; use {elsewhere[name]}" if elsewhere is not None and name in elsewhere else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        try:
            value = getattr(import_module(home), name)
        except Exception as error:  # ImportError, or a sentence on the extra that is missing
            return _stand_in(name, error)
        vars(import_module(package))[name] = value
        return value

    module = sys.modules[package]
    vars(module)["__dir__"] = lambda: sorted({*vars(module), *module.__all__})
    return resolve_export


def _stand_in(name: str, missing: Exception) -> "Any":
    """Return a class for a name whose package is not installed. Using it raises the error; looking at it, such as by
    `hasattr`, `help` and `from heald import *`, does not."""

    class Missing(type):
        def __call__(cls, *_: "Any", **__: "Any") -> "Any":
            raise missing

        def __getattr__(cls, attribute: str) -> "Any":
            raise AttributeError(str(missing))

    return Missing(name, (Exception,), {"__doc__": str(missing)})


class LazyObject:
    """Stands for an object that is made when it is first used. Each attribute is looked up once and kept."""

    def __init__(self, make: "Callable[[], Any]") -> None:
        self._make = make

    def __getattr__(self, name: str) -> "Any":
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._make(), name)
        setattr(self, name, value)
        return value


class LazyModule(LazyObject):
    """Stands for a module that is imported when it is first used.

    For large packages that only some requests need. A type checker sees the import itself:

        if TYPE_CHECKING:
            from PIL import Image
        else:
            Image = LazyModule("PIL.Image")
    """

    def __init__(self, name: str) -> None:
        super().__init__(lambda: import_module(name))


def lazy_pattern(source: "AnyStr", flags: "int" = 0) -> "re.Pattern[AnyStr]":
    """Return a regular expression that is compiled when it is first used. Only its methods can be used.

    For constants of modules that every command loads: a start of `heald run` would compile a hundred patterns, which
    takes as long as reading the modules, and use five.
    """

    def compile_pattern() -> "re.Pattern[AnyStr]":
        import re

        return re.compile(source, flags)

    return LazyObject(compile_pattern)  # pyright: ignore[reportReturnType]
