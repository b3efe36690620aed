"""Programs of others that judge a page's code: axe-core for accessibility, html-validate for HTML.

Neither is part of Weft. They are npm packages, found in the `node_modules` of a folder (`WEFT_EVAL_TOOLS`, or the one
that is named); without them their columns say that they were not measured.
"""

import asyncio
import os
import shutil
from pathlib import Path

import msgspec

from weft.core.errors import ConfigurationError

VARIABLE = "WEFT_EVAL_TOOLS"
_AXE = "node_modules/axe-core/axe.min.js"
_VALIDATOR = "node_modules/html-validate/bin/html-validate.mjs"
_SECONDS = 60.0
_MAX_FAULTS = 200


class _Message(msgspec.Struct):
    rule: str = msgspec.field(name="ruleId")
    message: str
    severity: int
    line: int = 0


class _File(msgspec.Struct):
    messages: list[_Message]


class Checkers(msgspec.Struct, frozen=True):
    """What is there to check with."""

    axe: str = ""
    """The script itself."""
    node: str = ""
    validator: Path | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """A sentence for each that is not there."""
        hint = f"install it with npm and name the folder in {VARIABLE}"
        lacking: list[str] = []
        if not self.axe:
            lacking.append(f"Accessibility was not measured: axe-core was not found; {hint}.")
        if not self.can_validate:
            lacking.append(f"Validity was not measured: node or html-validate was not found; {hint}.")
        return tuple(lacking)

    @property
    def can_validate(self) -> bool:
        return bool(self.node and self.validator)

    async def faults(self, html: str) -> tuple[str, ...] | None:
        """What is wrong with a page by the HTML standard; None if that could not be found out."""
        if self.validator is None or not self.node:
            return None
        command = (self.node, str(self.validator), "--stdin", "--preset=standard", "--formatter=json")
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self.validator.parent,
            env={"PATH": os.environ.get("PATH", "")},
        )
        try:
            async with asyncio.timeout(_SECONDS):
                output, _ = await process.communicate(_without_directives(html).encode("utf-8", "replace"))
            files = msgspec.json.decode(output, type=list[_File])
        except (TimeoutError, msgspec.DecodeError, OSError):
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        found = [each for file in files for each in file.messages if each.severity == 2]
        return tuple(f"{each.rule} in line {each.line}: {each.message}" for each in found[:_MAX_FAULTS])


def find_checkers(folder: Path | None = None) -> Checkers:
    """Those in the folder, else in the one that WEFT_EVAL_TOOLS names. A named folder must be one."""
    named = os.environ.get(VARIABLE)
    folder = folder or (Path(named) if named else None)
    if folder is None:
        return Checkers()
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {folder.name!r} with the checkers; check {VARIABLE}.")
    axe, validator = folder / _AXE, folder / _VALIDATOR
    return Checkers(
        axe=axe.read_text("utf-8") if axe.is_file() else "",
        node=shutil.which("node") or "",
        validator=validator.resolve() if validator.is_file() else None,
    )


def _without_directives(html: str) -> str:
    """A page must not switch off the rules that it is measured by."""
    return html.replace("[html-validate-", "[html-validate ")
