"""Imports the modules and files that a setting names."""

import importlib
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from heald.core.digest import sha256
from heald.core.errors import ConfigurationError


def import_named(name: str, folder: Path) -> ModuleType:
    with _importable(folder):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
                raise ConfigurationError(
                    f"There is no module {name!r} in {folder} or among the installed packages; check the name."
                ) from None
            raise _import_failed(f"The module {name!r}", error) from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _import_failed(f"The module {name!r}", error) from None


def import_file(file: Path) -> ModuleType:
    file = file.resolve()
    name = file.stem
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file):
        return loaded
    if loaded is not None or name in sys.stdlib_module_names or not name.isidentifier():
        name = f"heald_tools_{sha256(str(file).encode()).hexdigest()[:12]}"
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    with _importable(file.parent):
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            if isinstance(error, KeyboardInterrupt):
                raise
            raise _import_failed(f"The file {file}", error) from None
    return module


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    """Find modules in the folder first during an import, and last afterwards, so that it hides no installed package."""
    place = str(folder)
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(place)
        if place not in sys.path:
            sys.path.append(place)


def _import_failed(what: str, error: BaseException) -> ConfigurationError:
    if isinstance(error, ConfigurationError):
        return ConfigurationError(f"{what}: {error}")
    if isinstance(error, SyntaxError):
        place, text = f", line {error.lineno}" if error.lineno else "", error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        last = next((frame for frame in reversed(frames) if "importlib" not in frame.filename), None)
        is_elsewhere = last is not None and last.filename != __file__
        place = f", line {last.lineno} of {Path(last.filename).name}" if last is not None and is_elsewhere else ""
        text = " ".join(str(error).split())[:300]
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return ConfigurationError(f"{what} cannot be imported ({reason}{place}); correct it.")
