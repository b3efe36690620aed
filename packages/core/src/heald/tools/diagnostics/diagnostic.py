"""A diagnostic of a language server, and those that are new since an edit."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from heald.core.json import JsonObject, as_object, as_objects

_ERROR = 1
_MAX_MESSAGE = 300


class Diagnostic(msgspec.Struct, frozen=True):
    """An error in a file. Lines and columns count from 1."""

    path: str
    line: int
    column: int
    message: str
    code: str = ""

    def describe(self) -> str:
        """Describe it in one line."""
        code = f" ({self.code})" if self.code else ""
        return f"{self.path}:{self.line}:{self.column} {self.message}{code}"


def read_diagnostics(path: str, parameters: JsonObject) -> list[Diagnostic]:
    """Return the errors in a `publishDiagnostics` message; warnings and hints are left out."""
    errors: list[Diagnostic] = []
    for entry in as_objects(parameters.get("diagnostics")):
        if entry.get("severity", _ERROR) != _ERROR:
            continue
        start = as_object(as_object(entry.get("range")).get("start"))
        code = entry.get("code")
        errors.append(
            Diagnostic(
                path,
                _number(start.get("line")) + 1,
                _number(start.get("character")) + 1,
                " ".join(str(entry.get("message", "")).split())[:_MAX_MESSAGE],
                str(code) if isinstance(code, str | int) else "",
            )
        )
    return errors


def new_errors(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the errors that were not there before. One that only moved to another line is not new."""
    earlier = Counter((error.path, error.message, error.code) for error in before)
    added: list[Diagnostic] = []
    for error in after:
        key = (error.path, error.message, error.code)
        if earlier[key] > 0:
            earlier[key] -= 1
        else:
            added.append(error)
    return added


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
