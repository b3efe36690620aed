"""A language server: it is given the text of files and publishes their errors."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from heald.core.json import JsonObject, as_object, as_objects, encode
from heald.tools.diagnostics.confined_program import ConfinedProgram
from heald.tools.diagnostics.diagnostic import Diagnostic, read_diagnostics
from heald.tools.diagnostics.installed_programs import find_program, program_folders
from heald.tools.shell.sandbox import INSIDE, Sandbox
from heald.tools.tool_fault import ToolFault

_START_SECONDS = 20.0
_QUIET_SECONDS = 0.4
_MAX_HEADER = 4096
_MAX_MESSAGE = 16 * 1024 * 1024
_TOO_LONG = 1_000_000


class ServerKind(msgspec.Struct, frozen=True):
    """A language server by its usual command, with the languages of the files that it checks."""

    command: tuple[str, ...]
    languages: Mapping[str, str]
    """The names of languages by the suffixes of files."""
    packages: tuple[str, ...] = ()
    """Folders of a project that its packages are installed in."""
    unresolved: frozenset[str] = frozenset()
    """The codes of errors about packages, which say nothing where none of these folders is there."""
    readable: tuple[str, ...] = ()
    """Folders of the user that it may read, such as the cache of packages."""
    environment: Mapping[str, str] = {}


SERVERS = (
    ServerKind(
        ("pyright-langserver", "--stdio"),
        {"py": "python", "pyi": "python"},
        packages=(".venv", "venv"),
        unresolved=frozenset({"reportMissingImports", "reportMissingModuleSource"}),
    ),
    ServerKind(
        ("typescript-language-server", "--stdio"),
        {
            "ts": "typescript",
            "tsx": "typescriptreact",
            "mts": "typescript",
            "js": "javascript",
            "jsx": "javascriptreact",
            "mjs": "javascript",
            "cjs": "javascript",
        },
        packages=("node_modules",),
        unresolved=frozenset({"2307", "7016", "2875", "7026"}),
    ),
    ServerKind(
        ("gopls",),
        {"go": "go"},
        readable=("~/go/pkg/mod",),
        environment={"GOMODCACHE": "~/go/pkg/mod", "GOCACHE": "/tmp/go", "GOFLAGS": "-mod=readonly", "GOPROXY": "off"},
    ),
    ServerKind(
        ("rust-analyzer",),
        {"rs": "rust"},
        readable=("~/.rustup", "~/.cargo/bin", "~/.cargo/registry"),
        environment={
            "RUSTUP_HOME": "~/.rustup",
            "CARGO_HOME": "~/.cargo",
            "CARGO_TARGET_DIR": "/tmp/target",
            "CARGO_NET_OFFLINE": "true",
        },
    ),
    ServerKind(
        ("clangd", "--background-index=false"),
        {"c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp"},
    ),
)


def find_server_kind(path: str) -> tuple[ServerKind, str] | None:
    """Return the language server of a file with its program, if one is installed."""
    suffix = path.rpartition(".")[2].lower()
    for kind in SERVERS:
        if suffix in kind.languages:
            program = find_program(kind.command[0])
            return (kind, program) if program is not None else None
    return None


class LanguageServer:
    """One language server in one folder. It starts with the first request, and is not started again after a failure."""

    def __init__(self, sandbox: Sandbox, root: str, kind: ServerKind, program: str) -> None:
        self.name = kind.command[0].removesuffix("-langserver").removesuffix("-language-server")
        self._sandbox = sandbox
        self._root = root
        self._kind = kind
        self._words = [program, *kind.command[1:]]
        self._has_packages = any(os.path.isdir(os.path.join(root, name)) for name in kind.packages)
        self._python = next(
            (path for name in kind.packages if os.path.exists(path := os.path.join(root, name, "bin", "python"))), None
        )
        self._running: ConfinedProgram | None = None
        self._reading: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_dead = False
        self._versions: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        self._errors: dict[str, list[Diagnostic]] = {}
        self._checked: dict[str, int] = {}  # the version of a file that its errors are of
        self._published = asyncio.Event()
        self._last_id = 0
        self._answers: dict[int, asyncio.Future[object]] = {}

    async def check(self, path: str, text: str, seconds: float) -> list[Diagnostic] | None:
        """Return the errors of a file with this text; None if the server does not answer within so many seconds."""
        if self._is_dead or len(text) > _TOO_LONG:
            return None
        try:
            await self._start()
            async with asyncio.timeout(seconds):
                return await self._check(path, text)
        except TimeoutError:
            return None
        except (ToolFault, OSError, EOFError, ValueError):
            await self.stop()
            return None

    async def stop(self) -> None:
        """End the server."""
        self._is_dead = True
        running, self._running = self._running, None
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        for answer in self._answers.values():
            answer.cancel()
        if running is not None:
            await running.stop()

    async def _start(self) -> None:
        """Start the server, or wait until it is started. A caller that is cancelled does not end that."""
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._initialize())
        await asyncio.shield(self._starting)

    async def _initialize(self) -> None:
        kind = self._kind
        self._running = await ConfinedProgram.start(
            self._sandbox,
            self._root,
            self._words,
            readable=[*_expand(kind.readable), *_python_folders(self._python)],
            environment=dict(zip(kind.environment, _expand(kind.environment.values()), strict=True)),
        )
        self._reading = asyncio.get_running_loop().create_task(self._read_messages())
        uri = self._uri("")
        text_document = {
            "synchronization": {"didSave": True},
            "publishDiagnostics": {"versionSupport": True},
        }
        async with asyncio.timeout(_START_SECONDS):
            await self._request(
                "initialize",
                {
                    "processId": None,
                    "rootUri": uri,
                    "workspaceFolders": [{"uri": uri, "name": os.path.basename(self._root)}],
                    "capabilities": {
                        "textDocument": text_document,
                        "workspace": {"configuration": True, "workspaceFolders": True},
                    },
                },
            )
        self._send({"method": "initialized", "params": {}})

    async def _check(self, path: str, text: str) -> list[Diagnostic]:
        version = self._versions.get(path, 0)
        if version and self._texts[path] == text and self._checked.get(path, 0) >= version:
            return self._errors.get(path, [])
        version += 1
        document: JsonObject = {"uri": self._uri(path), "version": version}
        self._versions[path], self._texts[path] = version, text
        if version == 1:
            language = self._kind.languages[path.rpartition(".")[2].lower()]
            document |= {"languageId": language, "text": text}
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        else:
            changes = [{"text": text}]
            self._send(
                {"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": changes}}
            )
        await self._wait_for(path, version)
        return self._errors.get(path, [])

    async def _wait_for(self, path: str, version: int) -> None:
        """Wait until the errors of a version are published, and no more follow for a moment."""
        while self._checked.get(path, 0) < version:
            await self._next_publication()
        with suppress(TimeoutError):
            while True:
                async with asyncio.timeout(_QUIET_SECONDS):
                    await self._next_publication()

    async def _next_publication(self) -> None:
        self._published.clear()
        await self._published.wait()
        if self._is_dead:
            raise EOFError

    # --- the protocol ------------------------------------------------------------------------------------------------

    def _uri(self, path: str) -> str:
        base = self._root if self._sandbox.unsandboxed else INSIDE
        return f"file://{quote(os.path.join(base, path).rstrip('/'))}"

    def _path(self, uri: object) -> str:
        base = f"{self._uri('')}/"
        text = uri if isinstance(uri, str) else ""
        return (
            unquote(text.replace("%3A", ":"))[len(unquote(base)) :] if unquote(text).startswith(unquote(base)) else ""
        )

    async def _request(self, method: str, parameters: JsonObject) -> object:
        self._last_id += 1
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._answers[self._last_id] = answer
        self._send({"id": self._last_id, "method": method, "params": parameters})
        return await answer

    def _send(self, message: JsonObject) -> None:
        running = self._running
        if running is None or running.process.stdin is None or running.process.stdin.is_closing():
            raise EOFError
        body = encode({"jsonrpc": "2.0", **message})
        running.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read_messages(self) -> None:
        running = self._running
        assert running is not None
        assert running.process.stdout is not None
        try:
            while True:
                self._receive(await _read_message(running.process.stdout))
        except (EOFError, ValueError, OSError, msgspec.DecodeError):
            pass
        finally:
            self._is_dead = True
            self._published.set()
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(EOFError())
                    answer.exception()  # mark it as retrieved

    def _receive(self, message: JsonObject) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None:
            answer = self._answers.pop(number, None) if isinstance(number, int) else None
            if answer is not None and not answer.done():
                answer.set_result(message.get("result"))
        elif number is not None:
            self._send({"id": number, "result": self._answer(str(method), as_object(message.get("params")))})
        elif method == "textDocument/publishDiagnostics":
            parameters = as_object(message.get("params"))
            path = self._path(parameters.get("uri"))
            version = parameters.get("version")
            errors = read_diagnostics(path, parameters)
            left_out = self._kind.unresolved if not self._has_packages else frozenset[str]()
            self._errors[path] = [error for error in errors if error.code not in left_out]
            self._checked[path] = version if isinstance(version, int) else self._versions.get(path, 0)
            self._published.set()

    def _settings(self, section: object) -> JsonObject:
        if section != "python" or self._python is None:
            return {}
        base = self._root if self._sandbox.unsandboxed else INSIDE
        return {"pythonPath": os.path.join(base, os.path.relpath(self._python, self._root))}

    def _answer(self, method: str, parameters: JsonObject) -> Any:
        """Answer a request of the server. Its settings are the defaults, and the Python of the project."""
        if method == "workspace/configuration":
            return [self._settings(item.get("section")) for item in as_objects(parameters.get("items"))]
        if method == "workspace/workspaceFolders":
            return [{"uri": self._uri(""), "name": os.path.basename(self._root)}]
        return None


def _expand(paths: Iterable[str]) -> list[str]:
    return [os.path.expanduser(path) for path in paths]


def _python_folders(python: str | None) -> list[str]:
    """Return the installation that the Python of a project belongs to, if it looks like one."""
    real = os.path.realpath(python) if python is not None else ""
    above = os.path.dirname(os.path.dirname(real))
    is_installation = os.path.basename(real).startswith("python") and os.path.isdir(os.path.join(above, "lib"))
    return list(program_folders(real)) if is_installation else []


async def _read_message(stream: asyncio.StreamReader) -> JsonObject:
    """Read a message: its head with the length, and its body. Raises EOFError at the end of the stream."""
    length = 0
    while True:
        line = await stream.readline()
        if not line:
            raise EOFError
        if len(line) > _MAX_HEADER:
            raise ValueError("A header of the language server is too long.")
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
        if not line.strip():
            break
    if not 0 < length <= _MAX_MESSAGE:
        raise ValueError("A message of the language server is too long.")
    return as_object(msgspec.json.decode(await stream.readexactly(length)))
