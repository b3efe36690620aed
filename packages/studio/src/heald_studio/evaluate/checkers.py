"""Runs the checkers of accessibility and of HTML, if they are installed."""

import asyncio
import os
import shutil
from pathlib import Path

import msgspec

from heald.core.errors import ConfigurationError

VARIABLE = "HEALD_EVAL_TOOLS"
_AXE_FILE = "node_modules/axe-core/axe.min.js"
_VALIDATOR_FILE = "node_modules/html-validate/bin/html-validate.mjs"
_VALIDATOR_SECONDS = 60.0
_MAX_MESSAGES = 200


class _Message(msgspec.Struct):
    rule: str = msgspec.field(name="ruleId")
    message: str
    severity: int
    line: int = 0


class _File(msgspec.Struct):
    messages: list[_Message]


class Checkers(msgspec.Struct, frozen=True):
    """Optional programs that judge the code of a page: axe-core for accessibility, html-validate for HTML.

    Both are npm packages in the `node_modules` of a folder, which HEALD_EVAL_TOOLS or a parameter names. Without them
    their columns are not measured.
    """

    axe: str = ""
    """The source of the script."""
    node: str = ""
    validator: Path | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """One sentence for each missing program."""
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

    async def validate_html(self, html: str) -> tuple[str, ...] | None:
        """Return the faults of a page by the HTML standard; None if they could not be measured."""
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
            async with asyncio.timeout(_VALIDATOR_SECONDS):
                output, _ = await process.communicate(_without_directives(html).encode("utf-8", "replace"))
            files = msgspec.json.decode(output, type=list[_File])
        except (TimeoutError, msgspec.DecodeError, OSError):
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        errors = [message for file in files for message in file.messages if message.severity == 2]
        return tuple(f"{message.rule} in line {message.line}: {message.message}" for message in errors[:_MAX_MESSAGES])


def find_checkers(folder: Path | None = None) -> Checkers:
    """Find the checkers in the folder, else in the one that HEALD_EVAL_TOOLS names. The folder must exist."""
    named = os.environ.get(VARIABLE)
    folder = folder or (Path(named) if named else None)
    if folder is None:
        return Checkers()
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {folder.name!r} with the checkers; check {VARIABLE}.")
    axe, validator = folder / _AXE_FILE, folder / _VALIDATOR_FILE
    return Checkers(
        axe=axe.read_text("utf-8") if axe.is_file() else "",
        node=shutil.which("node") or "",
        validator=validator.resolve() if validator.is_file() else None,
    )


def _without_directives(html: str) -> str:
    """Disable comments with which a page would switch off rules."""
    return html.replace("[html-validate-", "[html-validate ")
