"""docs/errors.md names every public error, with the code and the retries that the class has."""

import importlib
import re

from heald.core.errors import HealdError, ProviderError
from repository import ROOT
from test_public_modules import MODULES

PAGE = ROOT / "docs" / "errors.md"
_ROW = re.compile(r"^\| `([\w.]+)` \| `(\w+)` \|(?: (yes|no) \|)? (.+)$", re.M)


def _public_errors() -> dict[str, type[HealdError]]:
    errors: dict[str, type[HealdError]] = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            kind = getattr(module, name)
            if isinstance(kind, type) and issubclass(kind, HealdError):
                errors[f"{module_name}.{name}"] = kind
    return errors


def test_the_page_has_every_public_error_with_its_code() -> None:
    rows = {name: (code, retried) for name, code, retried, _ in _ROW.findall(PAGE.read_text("utf-8"))}
    errors = _public_errors()
    assert sorted(rows) == sorted(errors)
    for name, kind in errors.items():
        code, retried = rows[name]
        assert (name, code) == (name, kind.code)
        if issubclass(kind, ProviderError):
            assert (name, retried) == (name, "yes" if kind.retryable else "no")


def test_every_error_says_when_it_comes() -> None:
    undocumented = [name for name, kind in _public_errors().items() if not vars(kind).get("__doc__")]
    assert undocumented == []


def test_the_errors_of_the_core_are_public() -> None:
    public = set(_public_errors().values())

    def below(kind: type[HealdError]) -> set[type[HealdError]]:
        return {kind}.union(*(below(child) for child in kind.__subclasses__()))

    errors = {
        kind for kind in below(HealdError) if kind.__module__ in ("heald.core.errors", "heald.sessions.store_errors")
    }
    assert {kind.__name__ for kind in errors - public} == set()
